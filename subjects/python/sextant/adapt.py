"""How a function that was written for its own purpose answers the operations of docs/protocol.md: layouts, positions, caches.

Every adapter gives a function of the protocol's arguments. What a function cannot be asked it refuses by raising Unsupported, which is no fault.
Over 400 lines: one adapter after the other, each of which is read alone.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence

import numpy as np

from ._worker import Unsupported, worker

Function = Callable[..., Any]

# The axes of what an operation is given, in the protocol's order.
NATIVE_LAYOUTS = {"rotate": "bnhd", "attend": "bhnd"}
POSITIONS = ("explicit", "shared", "offset", "from_zero")
# What a call that is made longer, to reach a position, may hold: 512 MiB of float32.
LARGEST_CALL = 1 << 27
# Fields of a claim that do not change what a function computes.
NOT_COMPUTED = ("min_position", "max_position", "accuracy", "libm", "trained_positions")


@dataclass(frozen=True)
class Way:
    """How a subject is called."""

    layout: Optional[str] = None  # of x, or of q, k and v: "bhnd", "nhd", ...; the protocol's unless given
    positions: Optional[str] = None  # one of POSITIONS; explicit unless the subject says otherwise
    framework: Optional[str] = None  # numpy, torch or jax; found out unless given
    device: str = "cpu"  # torch's
    gradient: Optional[str] = None  # "autograd": torch's gradient of the function is its backward
    in_place: bool = False
    threads: bool = False


@dataclass(frozen=True)
class Subject:
    """What serves an audit: the protocol's functions, and what the subject says of itself."""

    functions: Mapping[str, Function]
    framework: Optional[str]
    device: str
    name: str
    version: str
    in_place: bool
    threads: bool
    _arrays: list[Any] = field(default_factory=list, repr=False)

    def arrays(self) -> Any:
        """How arrays are given to the functions and taken from them."""
        if not self._arrays:
            self._arrays.append(worker.TorchArrays(self.device) if self.framework == "torch" else worker.arrays_of(self.framework))
        return self._arrays[0]


def subject_of(thing: Any, operation: str, claim: Mapping[str, Any], way: Way = Way(), name: Optional[str] = None) -> Subject:
    """The subject that an object is: one with methods (or a module with functions) called encode, rotate, ... answers these; a function `operation`.

    `claim` is the spec that is audited: a function without a parameter `spec` is asked nothing else. Raises TypeError for what is neither, ValueError for
    a way of calling that the operation does not have.
    """
    way = replace(way, positions=way.positions or str(getattr(thing, "positions", "explicit")))
    if way.positions not in POSITIONS:
        raise ValueError(f"positions {way.positions!r}: expected one of {', '.join(POSITIONS)}")
    named = {key: getattr(thing, key, None) for key in worker.OPERATIONS}
    found = {key: function for key, function in named.items() if callable(function)}
    if not (found.keys() & {"encode", "table", "rotate", "qk_norm_rope", "bias", "attend"}):
        if not callable(thing):
            raise TypeError(f"{thing!r}: expected a function, or an object with any of {', '.join(worker.OPERATIONS)}")
        found[operation] = thing
    functions: dict[str, Function] = {}
    for key, function in found.items():
        functions[key] = _adapted(key, function, claim, way) if key in worker.ARGUMENTS else function
        if functions[key] is not function:
            functions[key].audited = function  # whose line a report names
    framework = way.framework or guess_framework(thing if operation not in found else found[operation])
    if way.gradient is not None:
        if way.gradient != "autograd" or framework != "torch":
            raise ValueError(f"gradient {way.gradient!r}: expected 'autograd', of a torch function")
        functions["backward"] = _autograd(functions)
    return Subject(
        functions=functions,
        framework=framework,
        device=way.device,
        name=name or str(getattr(thing, "name", "") or importable_name(thing) or getattr(thing, "__qualname__", type(thing).__name__)),
        version=str(getattr(thing, "version", "") or ""),
        in_place=way.in_place or getattr(thing, "in_place", False) is True,
        threads=way.threads or getattr(thing, "threads", False) is True,
    )


def named_subject(text: str, operation: str, claim: Mapping[str, Any]) -> Subject:
    """The subject of "package.module:function,layout=bhnd,positions=from_zero". Raises ValueError for a name of another form, and what an import does."""
    name, *options = text.split(",")
    way: dict[str, Any] = {}
    for option in options:
        key, _, value = option.partition("=")
        if key not in ("layout", "positions", "framework", "device", "gradient", "in_place", "threads") or not value:
            raise ValueError(f"{text}: {option!r}: expected layout=, positions=, framework=, device=, gradient=, in_place=true or threads=true")
        way[key] = value == "true" if key in ("in_place", "threads") else value
    return subject_of(imported(name), operation, claim, Way(**way))


def imported(name: str) -> Any:
    """The object "package.module:name.of.object". Raises ImportError or AttributeError if it is not there."""
    module, _, path = name.partition(":")
    thing: Any = importlib.import_module(module)
    for part in path.split("."):
        thing = getattr(thing, part)
    return thing


def importable_name(thing: Any) -> Optional[str]:
    """ "package.module:function" where a new interpreter finds the object under that name, else None."""
    module, path = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if not module or not path or module == "__main__" or "<" in path or module not in sys.modules:
        return None
    found: Any = sys.modules[module]
    for part in path.split("."):
        found = getattr(found, part, None)
    return f"{module}:{path}" if found is thing else None


def options_of(way: Way) -> str:
    """What stands behind the name of an object for this way of calling it: ",layout=bhnd"."""
    plain = Way()
    words = []
    for key in ("layout", "positions", "framework", "device", "gradient", "in_place", "threads"):
        value = getattr(way, key)
        if value != getattr(plain, key):
            words.append(f",{key}={'true' if value is True else value}")
    return "".join(words)


def guess_framework(thing: Any) -> Optional[str]:
    """ "torch" or "jax" where a function's code, its annotations or an object's class refers to it, else None: NumPy."""
    said = getattr(thing, "framework", None)
    if isinstance(said, str):
        return said
    while isinstance(thing, functools.partial):
        thing = thing.func
    function = inspect.unwrap(getattr(thing, "__func__", thing)) if callable(thing) else thing
    names = {base.__module__.split(".")[0] for base in type(thing).__mro__}
    if not inspect.isroutine(function):
        function = getattr(type(thing), "__call__", None)
    code = getattr(function, "__code__", None)
    if code is not None:
        known = getattr(function, "__globals__", {})
        values = [known.get(word) for word in _words_of(code)]
        values += [cell.cell_contents for cell in getattr(function, "__closure__", None) or () if _is_filled(cell)]
        for value in values:
            names.add(str(getattr(value, "__name__", "") if inspect.ismodule(value) else type(value).__module__).split(".")[0])
            if inspect.isroutine(value) or inspect.isclass(value):
                names.add(str(getattr(value, "__module__", "") or "").split(".")[0])
        names |= {str(note).replace("<class '", "").split(".")[0] for note in getattr(function, "__annotations__", {}).values()}
    return "torch" if "torch" in names else "jax" if names & {"jax", "jaxlib"} else None


def _words_of(code: Any) -> set[str]:
    """The global names that a function's code and the functions in it refer to."""
    inner = (word for constant in code.co_consts if inspect.iscode(constant) for word in _words_of(constant))
    return set(code.co_names) | set(inner)


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def adapted(operation: str, function: Function, way: Way) -> Function:
    """A function of the protocol's arguments, of one with a parameter `spec` that is called in this way."""
    if "spec" not in _parameters(function):
        raise TypeError(f"{function!r}: expected a parameter spec")
    return _adapted(operation, function, {}, way)


def _adapted(operation: str, function: Function, claim: Mapping[str, Any], way: Way) -> Function:
    if way.layout is not None:
        _check_layout(operation, way.layout)
    told = _told(function, claim)
    if operation == "rotate":
        return _rotation(told, way)
    if operation == "attend":
        return _attention(told, function, claim, way)
    if operation in ("encode", "table"):
        return _encoding(operation, told, way.positions or "explicit")
    if operation == "bias":
        return _bias(told, function, way.positions or "explicit")
    return lambda *arguments: told(*arguments[:-1], spec=arguments[-1])


def _check_layout(operation: str, layout: str) -> None:
    native = NATIVE_LAYOUTS.get(operation, "")
    needed = {"rotate": "nd", "attend": "bhnd"}.get(operation, "")
    if len(set(layout)) != len(layout) or not set(needed) <= set(layout) <= set(native):
        expected = f"the letters of {native!r} in any order, of which {needed!r} are needed" if native else "no layout"
        raise ValueError(f"layout {layout!r}: {operation} has {expected}")


def _told(function: Function, claim: Mapping[str, Any]) -> Function:
    """The function with `spec` by name, which it is given if it has a parameter of that name; if not it is asked for the claim's values alone."""
    parameters = _parameters(function)
    takes_spec = "spec" in parameters
    computed = {key: value for key, value in claim.items() if key not in NOT_COMPUTED}

    def call(*arguments: Any, spec: Mapping[str, Any], **named: Any) -> Any:
        if takes_spec:
            return function(*arguments, spec=spec, **named)
        if {key: value for key, value in spec.items() if key not in NOT_COMPUTED} != computed:
            raise Unsupported("the function has no parameter spec: it has the audit's claim only")
        return function(*arguments, **named)

    return call


def _parameters(function: Function) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def _rotation(told: Function, way: Way) -> Function:
    layout = way.layout or NATIVE_LAYOUTS["rotate"]

    def inner(x: Any, spec: Mapping[str, Any], *places: Any) -> Any:
        return _in_layout(lambda seen: told(seen, *places, spec=spec), x, layout)

    def explicit(x: Any, positions: Any, spec: Mapping[str, Any]) -> Any:
        if "b" in layout:
            return inner(x, spec, positions)
        return _rows(x, lambda row, b: inner(row, spec, positions[..., b, :]))

    def shared(x: Any, positions: Any, spec: Mapping[str, Any]) -> Any:
        known = _integers(positions)
        if "b" in layout and known.shape[-2] > 0 and (known == known[..., :1, :]).all():
            return inner(x, spec, positions[..., 0, :])
        return _rows(x, lambda row, b: inner(row, spec, positions[..., b, :]))

    def offset(x: Any, positions: Any, spec: Mapping[str, Any]) -> Any:
        known = _of_one_axis(positions)

        def runs(row: Any, b: int) -> Any:
            starts = [0, *(np.flatnonzero(np.diff(known[b]) != 1) + 1).tolist(), known.shape[1]]
            parts = [inner(row[:, start:end], spec, int(known[b, start])) for start, end in zip(starts, starts[1:]) if start < end]
            return _joined(parts, 1) if parts else row

        return _rows(x, runs)

    def from_zero(x: Any, positions: Any, spec: Mapping[str, Any]) -> Any:
        known = _of_one_axis(positions)
        if "b" in layout and (known == np.arange(known.shape[1])).all():
            return inner(x, spec)
        # Every row's call is as long as the longest: what a function makes of a length, it makes of the whole batch's.
        length = int(known.max(initial=-1)) + 1
        return _rows(x, lambda row, b: _placed(row, known[b], length, lambda longer: inner(longer, spec)))

    return {"explicit": explicit, "shared": shared, "offset": offset, "from_zero": from_zero}[way.positions or "explicit"]


def _placed(row: Any, positions: np.ndarray, length: int, rotate: Function) -> Any:
    """The rotation of the tokens of one row at these positions, by calls of this length, in which they stand where they belong."""
    if positions.size == 0:
        return row
    if positions.min() < 0:
        raise Unsupported("a function of positions from 0 has none below")
    if length * row.shape[2] * row.shape[3] > LARGEST_CALL:
        raise Unsupported(f"position {length - 1} takes a call of {length} tokens")
    # Of several tokens at one position each is in a call of its own.
    order = np.argsort(positions, kind="stable")
    ranks = np.empty(len(positions), np.int64)
    ranks[order] = np.arange(len(positions)) - np.searchsorted(positions[order], positions[order])
    parts, members = [], []
    for rank in range(int(ranks.max()) + 1):
        those = np.flatnonzero(ranks == rank)
        source = np.full(length, those[0])  # tokens in between are copies of one that is asked about
        source[positions[those]] = those
        rotated = rotate(_taken(row, source, 1))
        if rotated is None:
            return None
        parts.append(_taken(rotated, positions[those], 1))
        members.append(those)
    return _taken(_joined(parts, 1), np.argsort(np.concatenate(members)), 1)


def _in_layout(call: Function, x: Any, layout: str) -> Any:
    """What call gives for x [b, n, h, d] in another layout, brought back. A layout without b is for one row; without h each head is asked alone."""
    if "h" not in layout:
        parts = [_in_layout_of(call, x[:, :, h], "bnd", layout) for h in range(x.shape[2])]
        if any(part is None for part in parts):
            return None
        return _stacked(parts, 2) if parts else x
    return _in_layout_of(call, x, "bnhd", layout)


def _in_layout_of(call: Function, x: Any, native: str, layout: str) -> Any:
    if "b" not in layout:
        y = _in_layout_of(call, x[0], native[1:], layout) if native[0] == "b" else _permuted_call(call, x, native, layout)
        return y[None] if y is not None and native[0] == "b" else y
    return _permuted_call(call, x, native, layout)


def _permuted_call(call: Function, x: Any, native: str, layout: str) -> Any:
    if native == layout:
        return call(x)
    y = call(_permuted(x, [native.index(axis) for axis in layout]))
    return None if y is None else _permuted(y, [layout.index(axis) for axis in native])


def _rows(x: Any, rotate: Callable[[Any, int], Any]) -> Any:
    parts = [rotate(x[b : b + 1], b) for b in range(x.shape[0])]
    if any(part is None for part in parts):
        return None
    return _joined(parts, 0) if parts else x


def _of_one_axis(positions: Any) -> np.ndarray:
    known = _integers(positions)
    if known.ndim != 2 or not np.issubdtype(known.dtype, np.integer):
        raise Unsupported("the function takes no positions: it has those of one axis, whole numbers")
    return known


def _integers(positions: Any) -> np.ndarray:
    return np.asarray(positions.cpu() if hasattr(positions, "cpu") else positions)


def _encoding(operation: str, told: Function, positions: str) -> Function:
    """Of rows of a code, or of a table's cosines and of its sines."""

    def encode(given: Any, *rest: Any) -> Any:
        *weight, spec = rest
        if positions in ("explicit", "shared"):
            return told(given, *weight, spec=spec)
        known = _integers(given)
        if known.ndim != 1 or not np.issubdtype(known.dtype, np.integer):
            raise Unsupported("the function takes no positions: it has those of one axis, whole numbers")
        if known.size == 0:
            return told(0, *weight, spec=spec)
        if known.min() < 0:
            raise Unsupported("a function of positions from 0 has none below")
        table = told(int(known.max()) + 1, *weight, spec=spec)
        if table is None:
            return None
        return tuple(_taken(part, known, 0) for part in table) if isinstance(table, (tuple, list)) else _taken(table, known, 0)

    if positions == "offset":
        raise ValueError(f"positions 'offset': {operation} has no such way of calling")
    return encode


def _bias(told: Function, function: Function, positions: str) -> Function:
    if positions == "offset":
        raise ValueError("positions 'offset': bias has no such way of calling")
    needed = [one for one in _parameters(function).values() if one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    takes_one_length = len([one for one in needed if one.name != "spec"]) == 1

    def bias(query_positions: Any, key_positions: Any, *rest: Any) -> Any:
        *weight, spec = rest
        if positions in ("explicit", "shared"):
            return told(query_positions, key_positions, *weight, spec=spec)
        queries, keys = _integers(query_positions), _integers(key_positions)
        if min(queries.min(initial=0), keys.min(initial=0)) < 0:
            raise Unsupported("a function of positions from 0 has none below")
        lengths = [int(known.max(initial=-1)) + 1 for known in (queries, keys)]
        if takes_one_length:
            lengths = [max(lengths)]
        if np.prod([float(length) for length in (lengths * 2)[:2]]) > LARGEST_CALL:
            raise Unsupported(f"these positions take a bias of {' x '.join(map(str, (lengths * 2)[:2]))} for each head")
        whole = told(*lengths, *weight, spec=spec)
        return None if whole is None else _taken(_taken(whole, queries, 1), keys, 2)

    return bias


def _attention(told: Function, function: Function, claim: Mapping[str, Any], way: Way) -> Function:
    layout = way.layout or NATIVE_LAYOUTS["attend"]
    if way.positions == "offset":
        raise ValueError("positions 'offset': attend has no such way of calling")
    parameters = _parameters(function)
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())

    def attend(q: Any, k: Any, v: Any, positions: Any, *rest: Any, **named: Any) -> Any:
        *weight, spec = rest
        for key in named:
            if not takes_all and key not in parameters:
                raise Unsupported(f"attend takes no {key}")
        order = [NATIVE_LAYOUTS["attend"].index(axis) for axis in layout]
        places = [positions]
        if way.positions != "explicit":
            known = _integers(positions)
            if way.positions == "shared":
                if known.shape[-2] == 0 or not (known == known[..., :1, :]).all():
                    raise Unsupported("the function takes the same positions for each row of a batch")
                places = [positions[..., 0, :]]
            else:
                if claim.get("position") is not None and not (known == np.arange(known.shape[-1])).all():
                    raise Unsupported("the function takes no positions: it has 0, 1, 2, ...")
                places = []
        out = told(*(_permuted(one, order) for one in (q, k, v)), *places, *weight, spec=spec, **named)
        return None if out is None else _permuted(out, [layout.index(axis) for axis in NATIVE_LAYOUTS["attend"]])

    return attend


def _autograd(functions: Mapping[str, Function]) -> Function:
    """torch's gradient of a function's result, by the inputs that the protocol asks it of."""

    def backward(of: str, inputs: Mapping[str, Any], grad: Any, spec: Mapping[str, Any]) -> Any:
        function = functions.get(of)
        if function is None:
            raise Unsupported(f"the subject defines no {of}")
        leaves = [key for key in (("q", "k", "v") if of == "attend" else ("weight",) if "weight" in inputs else ("x",)) if key in inputs]
        given = {key: value.clone().requires_grad_() if key in leaves else value for key, value in inputs.items()}
        named = {key: given[key] for key in worker.BY_NAME.get(of, ()) if key in given}
        extra = [given["weight"]] if "weight" in given else []
        result = function(*(given[key] for key in worker.ARGUMENTS[of]), *extra, spec, **named)
        if result is None or not result.requires_grad:
            return None
        result.backward(grad)
        return [given[key].grad for key in leaves] if len(leaves) > 1 else given[leaves[0]].grad

    return backward


def queries_and_keys(function: Function) -> Function:
    """A rotation by a function of queries and keys, function(q, k, ...) -> (q, k): x is both. It raises ValueError if they do not come out alike."""

    @functools.wraps(function)
    def rotate(x: Any, *places: Any) -> Any:
        copy = x.clone() if hasattr(x, "clone") else x.copy()
        q, k = function(x, copy, *places)
        if not bool(((q == k) | ((q != q) & (k != k))).all()):
            raise ValueError("the same queries and keys came out of the function differently")
        return q

    return rotate


def freqs_cis(freqs: Any, apply: Optional[Function] = None) -> Function:
    """A rotation by a cache of complex numbers, as of Meta's Llama: row p of `freqs` [positions, pairs], or freqs(positions), is e^(i w p).

    `apply(x, rows)` is given x [1, n, heads, head_dim] and rows [n, pairs] of the cache. Without it the cache itself is what is audited: pairs 2i, 2i+1 are
    multiplied in float64. The rotation is called with positions "shared".
    """
    if apply is None:

        def rotate(x: Any, positions: Any) -> Any:
            rows = _plain(_rows_of(freqs, positions)).astype(np.complex128)
            return _turned(x, rows.real, rows.imag, "interleaved")

        return _said(rotate, freqs, "numpy")
    return _said(lambda x, positions: apply(x, _rows_of(freqs, positions)), apply, guess_framework(apply) or _framework_of(freqs))


def cos_sin(cache: Any, apply: Optional[Function] = None, pairing: str = "half") -> Function:
    """A rotation by a cache of cosines and sines: cache is (cos, sin), each [positions, pairs] or [positions, head_dim], or cache(positions) gives their rows.

    `apply(x, cos, sin)` is given x [1, n, heads, head_dim] and rows of the cache. Without it the cache itself is what is audited, by a rotation in float64
    of the pairing named, half or interleaved. The rotation is called with positions "shared".
    """
    if pairing not in ("half", "interleaved"):
        raise ValueError(f"pairing {pairing!r}: expected half or interleaved")

    def rows_at(positions: Any) -> Sequence[Any]:
        return cache(positions) if callable(cache) else [_rows_of(one, positions) for one in cache]

    if apply is None:

        def rotate(x: Any, positions: Any) -> Any:
            cos, sin = (_plain(rows).astype(np.float64) for rows in rows_at(positions))
            if cos.shape[-1] == x.shape[-1]:  # each pair's value stands at both of its channels
                each = slice(0, None, 2) if pairing == "interleaved" else slice(0, x.shape[-1] // 2)
                cos, sin = cos[..., each], sin[..., each]
            return _turned(x, cos, sin, pairing)

        return _said(rotate, cache, "numpy")
    framework = guess_framework(apply) or (None if callable(cache) else _framework_of(cache[0]))
    return _said(lambda x, positions: apply(x, *rows_at(positions)), apply, framework)


def _said(function: Function, of: Any, framework: Optional[str]) -> Function:
    """The function with what an audit reads of it."""
    setattr(function, "framework", framework or "numpy")
    setattr(function, "positions", "shared")
    setattr(function, "name", getattr(of, "__qualname__", "cache"))
    return function


def _rows_of(table: Any, positions: Any) -> Any:
    if callable(table):
        return table(positions)
    known = _integers(positions)
    if known.size and (known.min() < 0 or known.max() >= table.shape[0]):
        raise Unsupported(f"the cache has positions 0 to {table.shape[0] - 1}")
    return _taken(table, known, 0)


def _turned(x: np.ndarray, cos: np.ndarray, sin: np.ndarray, pairing: str) -> np.ndarray:
    """x [1, n, heads, head_dim] turned by the pairs' cosines and sines [n, pairs] in float64, rounded to its dtype."""
    if x.dtype == np.uint16:
        raise Unsupported("bfloat16 needs the package ml_dtypes")
    wide, half = x.astype(np.float64), x.shape[-1] // 2
    first, second = (wide[..., 0::2], wide[..., 1::2]) if pairing == "interleaved" else (wide[..., :half], wide[..., half:])
    cos, sin = cos[:, None, :], sin[:, None, :]
    parts = first * cos - second * sin, first * sin + second * cos
    y = np.stack(parts, -1).reshape(x.shape) if pairing == "interleaved" else np.concatenate(parts, -1)
    return y.astype(x.dtype)


# What NumPy, torch and JAX call differently.


def _framework_of(array: Any) -> Optional[str]:
    module = type(array).__module__.split(".")[0]
    return "torch" if module == "torch" else "jax" if module in ("jax", "jaxlib") else None


def _plain(array: Any) -> np.ndarray:
    """As a NumPy array, of anything that has __dlpack__ or __array__."""
    if _framework_of(array) == "torch":
        array = array.detach().cpu()
        array = array.float() if str(array.dtype) == "torch.bfloat16" else array
    if not isinstance(array, np.ndarray) and not hasattr(array, "__array__") and hasattr(array, "__dlpack__"):
        return np.from_dlpack(array)
    return np.asarray(array)


def _namespace(array: Any) -> Any:
    framework = _framework_of(array)
    return np if framework is None else importlib.import_module("torch" if framework == "torch" else "jax.numpy")


def _permuted(array: Any, order: Sequence[int]) -> Any:
    return array.permute(*order) if hasattr(array, "permute") else array.transpose(order)


def _joined(parts: Sequence[Any], axis: int) -> Any:
    return parts[0] if len(parts) == 1 else _namespace(parts[0]).concatenate(list(parts), axis)


def _stacked(parts: Iterable[Any], axis: int) -> Any:
    listed = list(parts)
    return _namespace(listed[0]).stack(listed, axis)


def _taken(array: Any, indices: np.ndarray, axis: int) -> Any:
    """Those of the axis, in this order."""
    framework = _framework_of(array)
    index = sys.modules["torch"].from_numpy(np.ascontiguousarray(indices)).to(array.device) if framework == "torch" else indices
    return array[(slice(None),) * axis + (index,)]
