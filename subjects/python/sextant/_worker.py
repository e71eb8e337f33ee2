"""The worker, sextant_worker.py, as a module: the protocol is written once, in the file that an interpreter is given alone."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def _load() -> ModuleType:
    # In a worker it is there already: an exception that a function raises must be the worker's own.
    if "sextant_worker" in sys.modules:
        return sys.modules["sextant_worker"]
    package = Path(__file__).resolve().parent
    for folder in (package / "share" / "sextant" / "python", package.parent):
        file = folder / "sextant_worker.py"
        if file.is_file():
            spec = importlib.util.spec_from_file_location("sextant_worker", file)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules["sextant_worker"] = module
            spec.loader.exec_module(module)
            return module
    raise ImportError(f"sextant_worker.py is neither in nor beside {package}")


worker = _load()
Unsupported: type[Exception] = worker.Unsupported
