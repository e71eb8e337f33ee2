"""Hugging Face transformers: Qwen2VLRotaryEmbedding, three axes of positions that share the pairs, blocked."""

import torch
from sextant.library import only
from transformers.models.qwen2_vl.configuration_qwen2_vl import Qwen2VLTextConfig
from transformers.models.qwen2_vl.modeling_qwen2_vl import Qwen2VLRotaryEmbedding, apply_rotary_pos_emb

from transformers_rules import configured, key_of, version

framework = "torch"
name = "transformers Qwen2VLRotaryEmbedding"
torch.set_num_threads(1)
modules = {}


@only("head_dim", "rope_theta", "sections", "dtype", section_order="blocked")
def rotate(x, positions, spec):
    if len(spec["sections"]) != 3:
        return None
    key = key_of(spec)
    if key not in modules:
        rule = {"rope_type": "default", "rope_theta": spec["rope_theta"], "mrope_section": spec["sections"]}
        modules[key] = Qwen2VLRotaryEmbedding(configured(Qwen2VLTextConfig, spec, rope_parameters=rule))
    with torch.no_grad():
        return apply_rotary_pos_emb(x, x, *modules[key](x, positions), unsqueeze_dim=2)[0]
