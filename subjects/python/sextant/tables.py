"""True values: of the tables of sines and cosines that the command knows, correctly rounded, or enclosed."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from ._command import SpecLike, output_of, spec_argument
from ._worker import worker

Table = Union[np.ndarray, dict[str, np.ndarray]]


@dataclass(frozen=True)
class Enclosure:
    """lower <= true value <= upper, in float64, of each entry; they are neighbours of the nearest float64 or that value itself."""

    lower: np.ndarray
    upper: np.ndarray

    def contains(self, values: Any) -> np.ndarray:
        """Whether each value is between the two."""
        wide = np.asarray(values, np.float64)
        return np.asarray((self.lower <= wide) & (wide <= self.upper))


def truth(spec: SpecLike, positions: Union[int, Sequence[int], np.ndarray], dtype: Optional[str] = None) -> Table:
    """The correctly rounded values at the positions (an int: at 0, 1, ... below it): [n, dim] of a sinusoidal encoding; of rope {"cos": ..., "sin": ...},
    each [n, pairs], times the attention factor where its scaling has one.

    dtype: float64, float32, float16 or bfloat16 (as ml_dtypes.bfloat16 where that is installed, else as uint16 bits); the spec's unless given.
    Raises SextantError where the encoding has no such table, and ValueError for positions that are no integers of one axis.
    """
    asked = np.arange(positions) if isinstance(positions, (int, np.integer)) else np.asarray(positions)
    if asked.ndim != 1 or (asked.size and not np.issubdtype(asked.dtype, np.integer)):
        raise ValueError(f"positions: expected whole numbers of one axis, got {asked.dtype} of shape {list(asked.shape)}")
    with tempfile.TemporaryDirectory() as folder:
        listed, out = Path(folder, "positions"), Path(folder, "table.safetensors")
        # A row for a position at least tells the shape of none.
        listed.write_text("\n".join(map(str, asked.tolist() or [0])))
        chosen = ["--dtype", dtype] if dtype is not None else []
        output_of(["table", "--spec", spec_argument(spec), "--positions", str(listed), *chosen, "--out", str(out)])
        with open(out, "rb") as file:
            _, tensors = worker.read_blob(file)
    tables = {key: array[: asked.size] for key, array in tensors.items()}
    return tables["encoding"] if set(tables) == {"encoding"} else tables


def oracle(spec: SpecLike, positions: Union[int, Sequence[int], np.ndarray]) -> Union[Enclosure, dict[str, Enclosure]]:
    """Enclosures of the true real values, as truth has their nearest float64. Raises what truth raises.

    The nearest float64 v is at most half the distance to a neighbour away, so the neighbours enclose the truth; where v is one of the values that sine and
    cosine take exactly, 0, 1 and -1 at position 0, they do as well.
    """
    nearest = truth(spec, positions, "float64")
    if isinstance(nearest, Mapping):
        return {key: _around(values) for key, values in nearest.items()}
    return _around(nearest)


def _around(nearest: np.ndarray) -> Enclosure:
    return Enclosure(np.nextafter(nearest, -np.inf), np.nextafter(nearest, np.inf))
