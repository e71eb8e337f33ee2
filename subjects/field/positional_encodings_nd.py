"""positional-encodings: PositionalEncoding2D and 3D, the codes of a whole grid; a module keeps the table of its last call."""

import functools

import torch
from positional_encodings.torch_encodings import PositionalEncoding2D, PositionalEncoding3D
from sextant.library import only, versions

framework = "torch"
name, version = "positional-encodings PositionalEncoding2D and 3D", versions("positional-encodings", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(lambda axes, dim: {2: PositionalEncoding2D, 3: PositionalEncoding3D}[axes](dim))


@only("dim", "extents", "dtype")
def encode(positions, spec):
    extents = spec["extents"]
    if len(extents) not in (2, 3):
        return None
    grid = module(len(extents), spec["dim"])(torch.zeros(1, *extents, spec["dim"], dtype=getattr(torch, spec["dtype"])))[0]
    return grid[tuple(positions)]
