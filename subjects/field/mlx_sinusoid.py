"""MLX: nn.SinusoidalPositionalEncoding, whose default scale is the root of 2/dims."""

import functools

import mlx.core as mx
import mlx.nn
import numpy as np
from sextant.library import only, versions

name, version = "MLX SinusoidalPositionalEncoding", versions("mlx")
mx.set_default_device(mx.cpu)
module = functools.lru_cache(maxsize=None)(mlx.nn.SinusoidalPositionalEncoding)


@only("dim", "base", "first", "scale", layout="concatenated", denominator="half_minus_one")
def encode(positions, spec):
    made = module(spec["dim"], min_freq=1 / spec["base"], scale=spec["scale"], cos_first=spec["first"] == "cos")
    return np.array(made(mx.array(positions)))
