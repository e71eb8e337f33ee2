"""Hugging Face transformers: GPTNeoXRotaryEmbedding and apply_rotary_pos_emb, called as the model's forward pass calls them."""

import torch
from sextant.library import only
from transformers.models.gpt_neox.configuration_gpt_neox import GPTNeoXConfig as Configuration
from transformers.models.gpt_neox.modeling_gpt_neox import GPTNeoXRotaryEmbedding as Module
from transformers.models.gpt_neox.modeling_gpt_neox import apply_rotary_pos_emb

from transformers_rules import RULES, configured, key_of, version

framework = "torch"
name = "transformers GPTNeoXRotaryEmbedding"
torch.set_num_threads(1)
modules = {}


@only("head_dim", "rope_theta", "rotary_dim", "dtype", rope_scaling=RULES)
def rotate(x, positions, spec):
    if int(spec["head_dim"] * (spec["rotary_dim"] / spec["head_dim"])) != spec["rotary_dim"]:
        return None
    module = modules.get(key_of(spec)) or modules.setdefault(key_of(spec), Module(configured(Configuration, spec)))
    with torch.no_grad():
        return apply_rotary_pos_emb(x, x, *module(x, positions), unsqueeze_dim=2)[0]
