"""Sextant: audits of positional encodings against proofs instead of tolerances, from Python. docs/python.md is the guide.

    result = sextant.audit(rotate, "llama-3.1-8b", layout="bhnd")
    result.assert_holds()
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._audit import audit, mark
    from ._command import SextantError, get_include, properties_of
    from .adapt import cos_sin, freqs_cis, queries_and_keys
    from .result import Call, Counterexample, PropertyResult, Result, Verdict
    from .tables import Enclosure, oracle, truth

__all__ = [
    "Call",
    "Counterexample",
    "Enclosure",
    "PropertyResult",
    "Result",
    "SextantError",
    "Verdict",
    "audit",
    "cos_sin",
    "freqs_cis",
    "get_include",
    "mark",
    "oracle",
    "properties_of",
    "queries_and_keys",
    "truth",
]

# Where each name is. They are imported when somebody asks for one: the command, which is started by way of this package, needs no NumPy.
_MODULES = {
    "_audit": ("audit", "mark"),
    "_command": ("SextantError", "get_include", "properties_of"),
    "adapt": ("cos_sin", "freqs_cis", "queries_and_keys"),
    "result": ("Call", "Counterexample", "PropertyResult", "Result", "Verdict"),
    "tables": ("Enclosure", "oracle", "truth"),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        return getattr(importlib.import_module(f".{_MODULE_OF[name]}", __name__), name)
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
