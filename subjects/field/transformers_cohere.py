"""Hugging Face transformers: CohereRotaryEmbedding and apply_rotary_pos_emb, called as the model's forward pass calls them."""

import torch
from sextant.library import only
from transformers.models.cohere.configuration_cohere import CohereConfig as Configuration
from transformers.models.cohere.modeling_cohere import CohereRotaryEmbedding as Module
from transformers.models.cohere.modeling_cohere import apply_rotary_pos_emb

from transformers_rules import RULES, configured, key_of, version

framework = "torch"
name = "transformers CohereRotaryEmbedding"
torch.set_num_threads(1)
modules = {}


@only("head_dim", "rope_theta", "dtype", pairing="interleaved", rope_scaling=RULES)
def rotate(x, positions, spec):
    module = modules.get(key_of(spec)) or modules.setdefault(key_of(spec), Module(configured(Configuration, spec)))
    with torch.no_grad():
        return apply_rotary_pos_emb(x, x, *module(x, positions), unsqueeze_dim=2)[0]
