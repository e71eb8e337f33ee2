"""Hugging Face transformers: GPTJRotaryEmbedding and apply_rotary_pos_emb, on the first rotary_dim channels as GPTJAttention does."""

import functools

import torch
from sextant.library import only
from transformers.models.gptj.configuration_gptj import GPTJConfig
from transformers.models.gptj.modeling_gptj import GPTJRotaryEmbedding, apply_rotary_pos_emb

from transformers_rules import version

framework = "torch"
name = "transformers GPTJRotaryEmbedding"
torch.set_num_threads(1)


@functools.lru_cache(maxsize=None)
def module(rotary_dim, positions):
    return GPTJRotaryEmbedding(GPTJConfig(rotary_dim=rotary_dim, n_positions=positions))


@only("head_dim", "rotary_dim", "dtype", pairing="interleaved")
def rotate(x, positions, spec):
    turned = spec["rotary_dim"]
    sin, cos = module(turned, spec["max_position"])(x, positions)
    return torch.cat([apply_rotary_pos_emb(x[..., :turned], sin, cos), x[..., turned:]], dim=-1)
