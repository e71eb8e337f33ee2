"""Hugging Face transformers: Gemma3RotaryEmbedding, whose layers of two kinds have rules of their own: here the global ones'."""

import torch
from sextant.library import only
from transformers.models.gemma3.configuration_gemma3 import Gemma3TextConfig
from transformers.models.gemma3.modeling_gemma3 import Gemma3RotaryEmbedding, apply_rotary_pos_emb

from transformers_rules import RULES, configured, key_of, version

framework = "torch"
name = "transformers Gemma3RotaryEmbedding"
torch.set_num_threads(1)
modules = {}


@only("head_dim", "rope_theta", "dtype", rope_scaling=RULES)
def rotate(x, positions, spec):
    key = key_of(spec)
    if key not in modules:
        config = configured(Gemma3TextConfig, spec, rope_parameters=None)
        rule = {name: value for name, value in (spec["rope_scaling"] or {"rope_type": "default"}).items() if value is not None and name != "length_scope"}
        if rule["rope_type"] == "dynamic":
            config.max_position_embeddings = rule.pop("original_max_position_embeddings")
        config.layer_types = ["full_attention", "sliding_attention"]
        config.rope_parameters = {"full_attention": {**rule, "rope_theta": spec["rope_theta"]}, "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}
        modules[key] = Gemma3RotaryEmbedding(config)
    with torch.no_grad():
        return apply_rotary_pos_emb(x, x, *modules[key](x, positions, "full_attention"), unsqueeze_dim=2)[0]
