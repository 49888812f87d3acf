"""Constants, and defaults of functions and data classes, change only on purpose in packages of few other such tests.

The packages themselves gave the values in recorded_definitions.json. After an intended change, run

    python -m tests.test_definitions

and review the difference before you commit it.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from tests.recorded import assert_recorded, describe_names, to_plain, write_recorded

RECORDED = Path(__file__).with_name("recorded_definitions.json")
PACKAGES = ("cli", "native", "plots")


@pytest.mark.needs("native")  # Without the extension module, one of the modules is missing.
@pytest.mark.parametrize("name", PACKAGES)
def test_constants_and_defaults_change_only_on_purpose(name: str) -> None:
    assert_recorded(to_plain(describe_names(import_module(f"rankscope.{name}"))), RECORDED, name)


if __name__ == "__main__":
    write_recorded(
        RECORDED, {name: to_plain(describe_names(import_module(f"rankscope.{name}"))) for name in PACKAGES}
    )
