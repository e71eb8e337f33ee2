"""fair-esm: RotaryEmbedding, which rotates queries and keys of heads laid along the batch."""

import functools

import torch
from sextant.library import called, only, shell, versions

shell("esm")
from esm.rotary_embedding import RotaryEmbedding

framework = "torch"
name, version = "fair-esm RotaryEmbedding", versions("fair-esm", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(RotaryEmbedding)


@called(layout="bnd", positions="from_zero")
@only("head_dim")
def rotate(x, spec):
    return module(spec["head_dim"])(x, x)[0]
