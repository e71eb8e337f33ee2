"""Hugging Face transformers: MarianSinusoidalPositionalEmbedding, computed in float64 and kept in float32, or in the dtype that a model is given."""

import functools

import torch
from sextant.library import only
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

from transformers_rules import version

framework = "torch"
name = "transformers MarianSinusoidalPositionalEmbedding"
torch.set_num_threads(1)


@functools.lru_cache(maxsize=None)
def module(positions, dim, dtype):
    made = MarianSinusoidalPositionalEmbedding(positions, dim)
    made.weight.data = made.create_weight()
    return made.to(getattr(torch, dtype))


@only("dim", "dtype", layout="concatenated")
def encode(positions, spec):
    return module(spec["max_position"], spec["dim"], spec["dtype"])(None, position_ids=positions).detach()
