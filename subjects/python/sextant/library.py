"""What a file needs that drives a library's own functions: which claims it refuses, how they are called, and imports without a package's extras.

    from sextant.library import called, only, shell

    shell("timm", "timm.layers")  # timm's own __init__ wants torchvision
    from timm.layers.pos_embed_sincos import ...

    @called(layout="bhnd", positions="offset")
    @only("head_dim", "rope_theta", pairing="interleaved")
    def rotate(x, start, spec): ...
"""

from __future__ import annotations

import functools
import importlib.machinery
import importlib.metadata
import sys
from types import ModuleType
from typing import Any, Callable, Mapping, Optional

from . import adapt
from ._worker import Unsupported

Function = Callable[..., Any]

# The fields of a filled spec that an encoding has without being told, as `sextant spec --spec '{"encoding": ...}'` writes them; a function is of the
# fields before. What is in no list is required, or written only where it is no default.
_ROPE = {
    "rotary_dim": lambda spec: spec["head_dim"],
    "rope_theta": 10000.0,
    "pairing": "half",
    "output_pairing": lambda spec: spec["pairing"],
    "rotary_layout": "prefix",
    "direction": "counterclockwise",
    "rope_scaling": None,
}
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "sinusoidal": {"base": 10000.0, "layout": "interleaved", "first": "sin", "denominator": "dim", "position_offset": 0, "scale": 1.0},
    "sinusoidal_2d": {"base": 10000.0, "layout": "interleaved", "axis_order": "height_first"},
    "sinusoidal_nd": {
        "channels": lambda spec: [2 * -(-spec["dim"] // (2 * len(spec["extents"])))] * len(spec["extents"]),
        "axis_order": lambda spec: list(range(len(spec["extents"]))),
        "base": 10000.0,
        "layout": "interleaved",
        "first": "sin",
        "denominator": "dim",
        "channel_order": "blocked",
        "position_offset": 0,
        "coordinates": "index",
        "epsilon": 0.0,
        "scales": None,
    },
    "rope": _ROPE,
    "rotary_table": {key: value for key, value in _ROPE.items() if key not in ("pairing", "output_pairing", "direction")},
    "rope_nd": {
        **_ROPE,
        "section_order": "blocked",
        "axis_order": lambda spec: list(range(len(spec["sections"]))),
        "frequencies": "shared",
        "pairing_scope": "head",
        "coordinates": "index",
        "extents": None,
        "rope_thetas": None,
    },
    "xpos": {**{key: value for key, value in _ROPE.items() if key != "rope_scaling"}, "scale_base": 512.0, "role": "query", "centre": 0},
    "alibi": {"mask": "causal", "form": "distance", "slopes": "released", "bias_max": 8, "slope_dtype": None},
    "relative_bias": {"num_buckets": 32, "max_distance": 128, "bidirectional": True, "later_keys": "at_zero", "buckets": "t5"},
    "window_bias": {"class_token": "none"},
}
# How a result is judged, and where: no library reads these.
_OF_THE_JUDGE = ("encoding", "min_position", "max_position", "accuracy", "evaluation", "libm", "trained_positions")


def only(*fields: str, **values: Any) -> Callable[[Function], Function]:
    """A function of a library that knows these fields, and of others the default: any other claim is unsupported, and never reaches it.

    A field by name has the value given, one of a tuple, or one of which a function is true. Of `rope_scaling` a value is None, or a rule's type. `dtype` is
    a field like the others, by default float32. The function's last argument is the spec.
    """

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def refusing(*arguments: Any, **named: Any) -> Any:
            spec = named["spec"] if "spec" in named else arguments[-1]
            field = refused(spec, fields, values)
            if field is not None:
                raise Unsupported(f"the library has no {field} {spec[field]!r}")
            return function(*arguments, **named)

        return refusing

    return decorate


def refused(spec: Mapping[str, Any], fields: tuple[str, ...], values: Mapping[str, Any]) -> Optional[str]:
    """The first field of a spec that is neither among the fields, nor has the value that it should have or the encoding's default; None if there is none."""
    defaults = {"dtype": "float32", **DEFAULTS.get(spec["encoding"], {})}
    for field, value in spec.items():
        if field in fields or field in _OF_THE_JUDGE:
            continue
        if field not in values and field not in defaults:
            return field
        expected = values[field] if field in values else defaults[field]
        if field == "rope_scaling" and value is not None:
            value = None if value["rope_type"] == "default" else value["rope_type"]
        if callable(expected):
            right = expected(value) if field in values else value == expected(spec)
        else:
            right = value in expected if isinstance(expected, tuple) else value == expected
        if not right:
            return field
    return None


def called(operation: str = "rotate", layout: Optional[str] = None, positions: str = "explicit") -> Callable[[Function], Function]:
    """A function of the protocol's arguments made of one that is called otherwise: docs/python.md has the layouts and the ways of giving positions.

    The function has a parameter `spec`, its last.
    """
    return lambda function: adapt.adapted(operation, function, adapt.Way(layout=layout, positions=positions))


def shell(*packages: str) -> None:
    """Puts empty modules in the places of these packages, outermost first, so that modules in them can be imported without what their __init__ imports."""
    for name in packages:
        parent, _, leaf = name.rpartition(".")
        found = importlib.machinery.PathFinder.find_spec(name, sys.modules[parent].__path__ if parent else None)
        if found is None or found.submodule_search_locations is None:
            raise ImportError(f"{name}: there is no package of that name")
        module = ModuleType(name)
        module.__path__ = list(found.submodule_search_locations)
        _enter(name, module)


def absent(*names: str) -> None:
    """Puts modules in the places of these that are not installed, whatever is imported from which is an empty class: for what an import names and nobody calls."""
    for name in names:
        module = ModuleType(name)
        module.__path__ = []
        setattr(module, "__getattr__", _empty_class)
        _enter(name, module)


def _empty_class(name: str) -> type:
    if name.startswith("__"):
        raise AttributeError(name)
    return type(name, (), {"__init__": lambda self, *arguments, **named: None})


def _enter(name: str, module: ModuleType) -> None:
    # Some libraries look whether another is installed by its spec.
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    sys.modules[name] = module
    parent, _, leaf = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], leaf, module)


def versions(*distributions: str) -> str:
    """ "timm 1.0.22, torch 2.13.0": what a report names."""
    return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in distributions)
