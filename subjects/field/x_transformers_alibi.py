"""x-transformers: AlibiPositionalBias, asked by positions."""

import torch
from sextant.library import only, versions
from x_transformers.x_transformers import AlibiPositionalBias

framework = "torch"
name, version = "x-transformers AlibiPositionalBias", versions("x-transformers", "torch")
torch.set_num_threads(1)


@only("num_heads", "mask")
def bias(query_positions, key_positions, spec):
    return AlibiPositionalBias(spec["num_heads"]).forward_custom_pos(query_positions, key_positions)
