"""Every measure by its name. The module of a family is loaded when one of its names is asked for."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankscope.measures.base import Measure

__all__ = ["FAMILIES", "Registry"]

FAMILIES = {
    "classic": "AP MAP GMAP RR MRR R Recall Rprec RPrec Bpref BPref bpref SetP SetPrecision SetR SetRecall SetF IPrec"
    " iprec infAP ERR Judged Success",
    "weighted": "P Precision RBP DCG nDCG NDCG",
    "continuation": "SDCG INSQ INST BPM NERR8 NERR9 NERR10 NERR11 Accuracy",
    "counts": "NumQ NumRet NumRel NumRelRet",
    "diversity": "StRec StRecall strec IA AP_IA MAP_IA P_IA alpha_DCG alpha_dcg α_DCG alpha_nDCG alpha_ndcg aNDCG"
    " α_nDCG NRBP nNRBP ERR_IA nERR_IA",
    "cube": "CT ACT nCT",
    "cumulated": "CG nCG NR SR SFT",
    "utility": "RBU TBG",
    "effort": "Rho BalancePoint SigmaPlus SigmaMinus Sigma Twist TwistTime BalanceTime CRP Rho2012 b_ratio CRP_min"
    " CRP_N",
    "global_gain": "D_nDCG DS_nDCG Dsharp_nDCG D DS Dsharp",
    "interval": "Interval",
    "similarity": "Compat",
    "terminal": "Terminal",
    "trec": "RprecMult RelP SetRelP SetAP Utility AvgIPrec GMBpref YAAP Unjudged NumNonrelRet BinG G IdealDCG nDCG_rel"
    " RnDCG TopicRBP RBPResidual",
}
"""The modules, in the order in which measures are listed, and the names that each defines. A name that is missing here
is found all the same, once everything is loaded."""

_HOME = {name: module for module, names in FAMILIES.items() for name in names.split()}


class Registry(dict[str, "Measure"]):
    """A dict of all measures, with their default parameters, that loads what it is asked for.

    Asked for one name it loads the family of that; asked for all, all of them, in the order of :data:`FAMILIES`, then
    those of the user's in the order in which they were defined.
    """

    def __init__(self) -> None:
        super().__init__()
        self._complete = False
        self._lock = RLock()

    def _find(self, name: object) -> None:
        """Load what a name needs to be known."""
        if self._complete or super().__contains__(name):
            return
        with self._lock:
            if isinstance(name, str) and name in _HOME:
                import_module(f"rankscope.measures.{_HOME[name]}")
            if not super().__contains__(name):
                self._load()

    def _load(self) -> None:
        """Load all families."""
        if self._complete:
            return
        with self._lock:
            places = {f"rankscope.measures.{module}": place for place, module in enumerate(FAMILIES)}
            for module in places:
                import_module(module)
            known = list(super().items())
            listed = sorted(known, key=lambda item: places.get(type(item[1]).__module__, len(places)))
            if listed != known:
                super().clear()
                super().update(listed)
            self._complete = True

    def __contains__(self, name: object) -> bool:
        self._find(name)
        return super().__contains__(name)

    def __getitem__(self, name: str) -> Measure:
        self._find(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Measure | None = None) -> Measure | None:  # type: ignore[override]
        """The measure of a name, or the default."""
        self._find(name)
        return super().get(name, default)

    def __iter__(self) -> Iterator[str]:
        self._load()
        return super().__iter__()

    def __len__(self) -> int:
        self._load()
        return super().__len__()

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """All names."""
        self._load()
        return super().keys()

    def values(self) -> ValuesView[Measure]:  # type: ignore[override]
        """All measures, those with several names several times."""
        self._load()
        return super().values()

    def items(self) -> ItemsView[str, Measure]:  # type: ignore[override]
        """All names with their measures."""
        self._load()
        return super().items()
