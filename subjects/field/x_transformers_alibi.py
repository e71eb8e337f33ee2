"""x-transformers: AlibiPositionalBias, asked by positions."""

import functools

import torch
from sextant.library import only, versions
from x_transformers.x_transformers import AlibiPositionalBias

framework = "torch"
name, version = "x-transformers AlibiPositionalBias", versions("x-transformers", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(AlibiPositionalBias)


@only("num_heads", "mask")
def bias(query_positions, key_positions, spec):
    return module(spec["num_heads"]).forward_custom_pos(query_positions, key_positions)
