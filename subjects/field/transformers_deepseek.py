"""Hugging Face transformers: DeepseekV3RotaryEmbedding and apply_rotary_pos_emb_interleave, which takes neighbours as pairs and returns halves."""

import torch
from sextant.library import only
from transformers.models.deepseek_v3.configuration_deepseek_v3 import DeepseekV3Config
from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3RotaryEmbedding, apply_rotary_pos_emb_interleave

from transformers_rules import RULES, configured, key_of, version

framework = "torch"
name = "transformers DeepseekV3RotaryEmbedding"
torch.set_num_threads(1)
modules = {}


@only("head_dim", "rope_theta", "dtype", pairing="interleaved", output_pairing="half", rope_scaling=RULES)
def rotate(x, positions, spec):
    key = key_of(spec)
    if key not in modules:
        modules[key] = DeepseekV3RotaryEmbedding(configured(DeepseekV3Config, spec, qk_rope_head_dim=spec["head_dim"]))
    with torch.no_grad():
        return apply_rotary_pos_emb_interleave(x, x, *modules[key](x, positions), unsqueeze_dim=2)[0]
