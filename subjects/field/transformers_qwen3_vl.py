"""Hugging Face transformers: Qwen3VLTextRotaryEmbedding, three axes of positions that share the pairs, interleaved."""

import torch
from sextant.library import only
from transformers.models.qwen3_vl.configuration_qwen3_vl import Qwen3VLTextConfig
from transformers.models.qwen3_vl.modeling_qwen3_vl import Qwen3VLTextRotaryEmbedding, apply_rotary_pos_emb

from transformers_rules import configured, key_of, version

framework = "torch"
name = "transformers Qwen3VLTextRotaryEmbedding"
torch.set_num_threads(1)
modules = {}


@only("head_dim", "rope_theta", "sections", "dtype", section_order="interleaved")
def rotate(x, positions, spec):
    if len(spec["sections"]) != 3:
        return None
    key = key_of(spec)
    if key not in modules:
        rule = {"rope_type": "default", "rope_theta": spec["rope_theta"], "mrope_section": spec["sections"]}
        modules[key] = Qwen3VLTextRotaryEmbedding(configured(Qwen3VLTextConfig, spec, rope_parameters=rule))
    with torch.no_grad():
        return apply_rotary_pos_emb(x, x, *modules[key](x, positions), unsqueeze_dim=2)[0]
