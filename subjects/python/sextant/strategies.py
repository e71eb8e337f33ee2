"""Hypothesis strategies of positions, drawn as Sextant's own cases are (properties/gen/position.hpp)."""

from __future__ import annotations

import functools
import json
import math
from typing import Any

from hypothesis import strategies as st

from ._command import SpecLike, filled_spec, output_of, spec_argument


@functools.lru_cache(maxsize=None)
def _claim(argument: str) -> tuple[int, int, tuple[int, ...]]:
    """The first position, that beyond the last, and those where implementations break."""
    spec = filled_spec(argument)
    return spec["min_position"], spec["max_position"], tuple(json.loads(output_of(["list", "positions", "--json", "--spec", argument])))


def positions(spec: SpecLike) -> st.SearchStrategy[int]:
    """Positions of the spec's claim, by regime, as often each: those where implementations break, log-uniform in magnitude, uniform. They shrink towards 0.

    Raises SextantError if it is no spec.
    """
    first, last, special = _claim(spec_argument(spec))
    # Hypothesis shrinks to the first of a list, and integers to 0.
    nearest_first = sorted(special, key=lambda position: (abs(position), position < 0))

    def magnitudes(sign: int, largest: int) -> st.SearchStrategy[int]:
        least = max(1, sign * (first if sign > 0 else last - 1))
        binades = st.integers(least.bit_length() - 1, largest.bit_length() - 1)
        return binades.flatmap(lambda k: st.integers(max(least, 1 << k), min(largest, (2 << k) - 1))).map(lambda p: sign * p)

    signed = [magnitudes(sign, largest) for sign, largest in ((1, last - 1), (-1, -first)) if largest >= 1]
    uniform = st.integers(first, last - 1)
    return st.one_of(st.sampled_from(nearest_first), st.one_of(*signed) if signed else uniform, uniform)


def position_lists(spec: SpecLike, *, min_size: int = 0, max_size: int = 64) -> st.SearchStrategy[list[int]]:
    """Lists of positions, as tokens may have them: consecutive from any of them, or any in any order, repeated ones among them."""
    first, last, _ = _claim(spec_argument(spec))
    one = positions(spec)
    runs = st.tuples(one, st.integers(min_size, max_size)).map(lambda drawn: list(range(drawn[0], drawn[0] + drawn[1])))
    within = runs.map(lambda run: [min(max(position, first), last - 1) for position in run])
    return st.one_of(st.lists(one, min_size=min_size, max_size=max_size), within)


def pairs(spec: SpecLike) -> st.SearchStrategy[int]:
    """Pairs, 0 to pairs - 1, of an encoding that has them: the first, the last and those between.

    Raises ValueError where the spec has no width.
    """
    filled = filled_spec(spec)
    width = filled.get("rotary_dim") or filled.get("head_dim") or filled.get("dim")
    if not isinstance(width, int):
        raise ValueError(f"{filled['encoding']} has no pairs of channels")
    count = math.ceil(width / 2)
    return st.one_of(st.sampled_from(sorted({0, count - 1})), st.integers(0, count - 1))


def channels(spec: SpecLike, pair: int) -> tuple[int, int]:
    """The two channels that pair `pair` turns, of rope and xpos in their pairing. Raises ValueError for other encodings."""
    filled: dict[str, Any] = filled_spec(spec)
    if "pairing" not in filled:
        raise ValueError(f"{filled['encoding']} has no pairing")
    rotary = filled["rotary_dim"]
    return (2 * pair, 2 * pair + 1) if filled["pairing"] == "interleaved" else (pair, pair + rotary // 2)
