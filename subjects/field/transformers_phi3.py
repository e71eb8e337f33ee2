"""Hugging Face transformers: Phi3RotaryEmbedding and apply_rotary_pos_emb, called as the model's forward pass calls them."""

import torch
from sextant.library import only
from transformers.models.phi3.configuration_phi3 import Phi3Config as Configuration
from transformers.models.phi3.modeling_phi3 import Phi3RotaryEmbedding as Module
from transformers.models.phi3.modeling_phi3 import apply_rotary_pos_emb

from transformers_rules import RULES, configured, key_of, version

framework = "torch"
name = "transformers Phi3RotaryEmbedding"
torch.set_num_threads(1)
modules = {}


def original(spec):
    """Which the configuration has by itself, beside its rule."""
    return (spec["rope_scaling"] or {}).get("original_max_position_embeddings", spec["max_position"])


@only("head_dim", "rope_theta", "rotary_dim", "dtype", rope_scaling=RULES)
def rotate(x, positions, spec):
    module = modules.get(key_of(spec)) or modules.setdefault(key_of(spec), Module(configured(Configuration, spec, original_max_position_embeddings=original(spec))))
    with torch.no_grad():
        return apply_rotary_pos_emb(x, x, *module(x, positions), unsqueeze_dim=2)[0]
