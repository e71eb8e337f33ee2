"""Hugging Face transformers: Llama4TextRotaryEmbedding and apply_rotary_emb, complex numbers of float32."""

import torch
from sextant.library import only
from transformers.models.llama4.configuration_llama4 import Llama4TextConfig
from transformers.models.llama4.modeling_llama4 import Llama4TextRotaryEmbedding, apply_rotary_emb

from transformers_rules import RULES, configured, key_of, version

framework = "torch"
name = "transformers Llama4TextRotaryEmbedding"
torch.set_num_threads(1)
modules = {}


@only("head_dim", "rope_theta", "dtype", pairing="interleaved", rope_scaling=RULES)
def rotate(x, positions, spec):
    key = key_of(spec)
    if key not in modules:
        modules[key] = Llama4TextRotaryEmbedding(configured(Llama4TextConfig, spec))
    with torch.no_grad():
        return apply_rotary_emb(x, x, modules[key](x, positions))[0]
