"""Hugging Face transformers: M2M100SinusoidalPositionalEmbedding, a table that grows with the calls, of a module of each dtype; positions begin behind the padding index."""

import functools

import torch
from sextant.library import called, only
from transformers.models.m2m_100.modeling_m2m_100 import M2M100SinusoidalPositionalEmbedding

from transformers_rules import version

framework = "torch"
name = "transformers M2M100SinusoidalPositionalEmbedding"
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(lambda dim, padding, dtype: M2M100SinusoidalPositionalEmbedding(1024, dim, padding).to(getattr(torch, dtype)))


@called("encode", positions="from_zero")
@only("dim", "position_offset", "dtype", layout="concatenated", denominator="half_minus_one")
def encode(length, spec):
    padding = spec["position_offset"] - 1
    return module(spec["dim"], padding, spec["dtype"])(input_ids=torch.full((1, length), padding + 1))[0]
