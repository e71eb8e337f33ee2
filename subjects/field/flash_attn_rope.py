"""flash-attention: RotaryEmbedding, its caches in the dtype of queries and its Triton kernel."""

import functools

import torch
from sextant.library import called, only, shell, versions

shell("flash_attn", "flash_attn.ops", "flash_attn.ops.triton", "flash_attn.layers")
from flash_attn.layers.rotary import RotaryEmbedding

framework = "torch"
name, version = "flash-attention RotaryEmbedding", versions("flash-attn", "triton", "torch")


@functools.lru_cache(maxsize=None)
def module(dim, base, interleaved):
    return RotaryEmbedding(dim, base=base, interleaved=interleaved, device="cuda")


@called(positions="offset")
@only("head_dim", "rotary_dim", "rope_theta", "pairing", "dtype")
def rotate(x, start, spec):
    if start < 0:
        return None  # before its caches the kernel reads what is not theirs
    queries = x.cuda().clone()  # which it writes over
    batch, tokens, heads, width = queries.shape
    keys_and_values = torch.zeros(batch, tokens, 2, heads, width, dtype=queries.dtype, device="cuda")
    rotary = module(spec["rotary_dim"], spec["rope_theta"], spec["pairing"] == "interleaved")
    return rotary(queries, keys_and_values, seqlen_offset=start)[0].cpu()
