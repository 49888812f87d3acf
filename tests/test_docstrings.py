"""Docstrings of public functions, validated by numpydoc."""

from __future__ import annotations

import inspect
import warnings

import pytest
from numpydoc.validate import validate

import rankscope as rs

CHECKS = {
    "GL08": "there is a docstring",
    "PR01": "every parameter is documented",
    "PR02": "every documented parameter exists",
    "PR07": "every parameter has a description",
    "PR09": "descriptions of parameters end with a full stop",
    "RT01": "there is a section Returns",
    "RT03": "the returned value is described",
    "EX01": "there is an example",
}
"""Checks that apply; types are in the signature, and the section Commands is ours."""

FUNCTIONS = [
    f"rankscope{prefix}.{name}"
    for prefix, module in (("", rs), (".lab", rs.lab))
    for name in module.__all__
    if inspect.isroutine(getattr(module, name))
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_numpydoc_accepts_the_docstring(name: str) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Unknown section Commands")
        errors = validate(name)["errors"]
    assert [(code, text) for code, text in errors if code in CHECKS] == []
