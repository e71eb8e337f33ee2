"""rotary-embedding-torch: RotaryEmbedding.rotate_queries_and_keys under use_xpos; a module keeps the scales of its longest call so far."""

import functools

import torch
from rotary_embedding_torch import RotaryEmbedding
from sextant.library import called, only, versions

framework = "torch"
name, version = "rotary-embedding-torch RotaryEmbedding, xPos", versions("rotary-embedding-torch", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(RotaryEmbedding)


@called(layout="bhnd", positions="from_zero")
@only("head_dim", "rope_theta", "scale_base", "role", pairing="interleaved", centre="floor_half")
def rotate(x, spec):
    rotary = module(spec["head_dim"], theta=spec["rope_theta"], use_xpos=True, xpos_scale_base=spec["scale_base"])
    query, key = rotary.rotate_queries_and_keys(x, x)
    return (query if spec["role"] == "query" else key).detach()
