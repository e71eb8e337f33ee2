"""kornia: PositionEncodingSine of LoFTR, added to features; a module of each dtype, whose table grows with the calls."""

import functools

import torch
from sextant.library import only, shell, versions

shell("kornia", "kornia.feature", "kornia.feature.loftr", "kornia.feature.loftr.utils")
from kornia.feature.loftr.utils.position_encoding import PositionEncodingSine

framework = "torch"
name, version = "kornia PositionEncodingSine", versions("kornia", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(lambda dim, dtype: PositionEncodingSine(dim).to(dtype))


@only("dim", "extents", "dtype", axis_order=[1, 0], channel_order="alternating", position_offset=1)
def encode(positions, spec):
    rows, columns = spec["extents"]
    dtype = getattr(torch, spec["dtype"])
    grid = module(spec["dim"], dtype)(torch.zeros(1, spec["dim"], rows, columns, dtype=dtype))[0]
    return grid[:, positions[0], positions[1]].T
