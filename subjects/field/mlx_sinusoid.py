"""MLX: nn.SinusoidalPositionalEncoding, whose default scale is the root of 2/dims."""

import mlx.core as mx
import mlx.nn
import numpy as np
from sextant.library import only, versions

name, version = "MLX SinusoidalPositionalEncoding", versions("mlx")
mx.set_default_device(mx.cpu)


@only("dim", "base", "first", "scale", layout="concatenated", denominator="half_minus_one")
def encode(positions, spec):
    module = mlx.nn.SinusoidalPositionalEncoding(spec["dim"], min_freq=1 / spec["base"], scale=spec["scale"], cos_first=spec["first"] == "cos")
    return np.array(module(mx.array(positions)))
