"""fair-esm: SinusoidalPositionalEmbedding, whose positions begin behind the padding index; a module of each dtype, whose table grows with the calls."""

import functools

import torch
from sextant.library import called, only, shell, versions

shell("esm")
from esm.modules import SinusoidalPositionalEmbedding

framework = "torch"
name, version = "fair-esm SinusoidalPositionalEmbedding", versions("fair-esm", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(lambda dim, padding, dtype: SinusoidalPositionalEmbedding(dim, padding).to(getattr(torch, dtype)))


@called("encode", positions="from_zero")
@only("dim", "position_offset", "dtype", layout="concatenated", denominator="half_minus_one")
def encode(length, spec):
    padding = spec["position_offset"] - 1
    return module(spec["dim"], padding, spec["dtype"])(torch.full((1, length), padding + 1))[0]
