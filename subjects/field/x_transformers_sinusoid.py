"""x-transformers: ScaledSinusoidalEmbedding, whose scale begins as dim^-1/2."""

import functools

import torch
from sextant.library import only, versions
from x_transformers.x_transformers import ScaledSinusoidalEmbedding

framework = "torch"
name, version = "x-transformers ScaledSinusoidalEmbedding", versions("x-transformers", "torch")
torch.set_num_threads(1)


@functools.lru_cache(maxsize=None)
def module(dim, base, scale):
    made = ScaledSinusoidalEmbedding(dim, theta=base)
    made.scale.data.fill_(scale)
    return made


@only("dim", "base", "scale", layout="concatenated")
def encode(positions, spec):
    with torch.no_grad():
        return module(spec["dim"], spec["base"], spec["scale"])(torch.zeros(1, len(positions), spec["dim"]), pos=positions)
