"""Liger Kernel: its Triton kernel of rotary embeddings, on the cosines and sines of transformers' LlamaRotaryEmbedding, as its patched models call it."""

import functools

import torch
from liger_kernel.transformers.rope import liger_rotary_pos_emb
from sextant.library import called, only, versions
from transformers.models.llama.modeling_llama import LlamaConfig, LlamaRotaryEmbedding

framework = "torch"
name, version = "Liger Kernel liger_rotary_pos_emb", versions("liger-kernel", "triton", "torch")


@functools.lru_cache(maxsize=None)
def module(dim, base):
    sizes = {"hidden_size": 2 * dim, "num_attention_heads": 2, "head_dim": dim}
    return LlamaRotaryEmbedding(LlamaConfig(**sizes, rope_parameters={"rope_type": "default", "rope_theta": base})).cuda()


@called(layout="bhnd")
@only("head_dim", "rope_theta", "dtype")
def rotate(x, positions, spec):
    # The kernel writes over queries and keys whose tokens lie one behind the other, so that each has a tensor of its own.
    queries, keys = x.cuda().clone(), x.cuda().clone()
    cos, sin = module(spec["head_dim"], spec["rope_theta"])(queries, positions.cuda())
    return liger_rotary_pos_emb(queries, keys, cos, sin)[0].cpu()
