"""Names of measures in other programs: trec_eval, pytrec_eval, BEIR, MTEB and ranx, in upper or lower case.

``P_5``, ``ndcg_cut_10``, ``ndcg_at_10``, ``mrr@10``, ``recall_1000``, ``hit_rate@5`` and ``NDCG@10`` all name a
measure and a cutoff; results show the requested name.
"""

from __future__ import annotations

import re
from collections.abc import Collection

SPELLINGS = {
    "AP": ("map", "average_precision", "mean_average_precision", "map_cut"),
    "RR": ("mrr", "recip_rank", "reciprocal_rank", "mean_reciprocal_rank"),
    "P": ("precision",),
    "R": ("recall",),
    "Rprec": ("r-precision", "r_precision"),
    "nDCG": ("ndcg_cut",),
    "nDCG(gains=exp2)": ("ndcg_burges",),
    "DCG(gains=exp2)": ("dcg_burges",),
    "Success": ("hit_rate", "hitrate", "hit"),
    "GMAP": ("gm_map",),
    "GMBpref": ("gm_bpref",),
    "IPrec": ("iprec_at_recall",),
    "AvgIPrec": ("11pt_avg",),
    "IdealDCG": ("ideal_dcg",),
    "RnDCG": ("Rndcg",),
    "RprecMult": ("Rprec_mult",),
    "RelP": ("relative_P",),
    "SetP": ("set_P",),
    "SetR": ("set_recall",),
    "SetF": ("set_F", "f1"),
    "SetAP": ("set_map",),
    "SetRelP": ("set_relative_P",),
    "Unjudged": ("unj",),
    "NumQ": ("num_q",),
    "NumRet": ("num_ret",),
    "NumRel": ("num_rel",),
    "NumRelRet": ("num_rel_ret", "hits"),
    "NumNonrelRet": ("num_nonrel_judged_ret",),
    "alpha_nDCG": ("alpha-nDCG",),
    "ERR_IA": ("ERR-IA",),
    "AP_IA": ("MAP-IA",),
    "P_IA": ("P-IA",),
    "StRec": ("strec", "subtopic_recall"),
}
"""Alternative names by our name and parameters; case-insensitive."""

_LOWER = {other.lower(): name for name, others in SPELLINGS.items() for other in others}
_WORD = re.compile(
    r"(?P<name>[\w-]+?)(?:(?:_at_|[_.@])(?P<cutoff>\d+(?:\.\d+)?))?(?P<rest>\s*[(@].*)?", re.DOTALL
)
_NAME = re.compile(r"(?P<name>[\w-]+)(?P<cutoff>)(?P<rest>[(@].*)?")


def respelled(text: str, known: Collection[str]) -> str | None:
    """Translate an alternative name of one of the ``known`` measures into our grammar, or return None.

    >>> [respelled(text, ["AP", "P", "nDCG"]) for text in ("map", "P_5", "ndcg_cut_10", "NDCG @20", "bm25")]
    ['AP', 'P@5', 'nDCG@10', 'nDCG @20', None]
    """
    text = text.strip()
    for pattern in (_WORD, _NAME):
        match = pattern.fullmatch(text)
        name = match and _find_name(match["name"], known)
        if match and name:
            cutoff = f"@{match['cutoff']}" if match["cutoff"] else ""
            return name + cutoff + (match["rest"] or "")
    return None


def _find_name(name: str, known: Collection[str]) -> str | None:
    lower = name.lower()
    translation = _LOWER.get(lower)
    if translation is not None and translation.partition("(")[0] in known:
        return translation
    return next((candidate for candidate in known if candidate.lower() == lower), None)


def alternative_names(name: str) -> tuple[str, ...]:
    """Return the alternative names of a measure.

    >>> alternative_names("RR")
    ('mrr', 'recip_rank', 'reciprocal_rank', 'mean_reciprocal_rank')
    """
    return SPELLINGS.get(name, ())
