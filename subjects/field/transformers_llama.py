"""Hugging Face transformers: LlamaRotaryEmbedding and apply_rotary_pos_emb, called as the model's forward pass calls them, on the device of
SEXTANT_FIELD_DEVICE, the processor unless set.
"""

import inspect
import json
import os

import torch
import transformers
from transformers.models.llama.modeling_llama import LlamaConfig, LlamaRotaryEmbedding, apply_rotary_pos_emb

framework = "torch"
DEVICE = os.environ.get("SEXTANT_FIELD_DEVICE", "cpu")
name = "transformers LlamaRotaryEmbedding" + (f", {DEVICE}" if DEVICE != "cpu" else "")
version = f"transformers {transformers.__version__}, torch {torch.__version__}"

torch.set_num_threads(1)
_modules = {}


def rotary_embedding(spec):
    rule = spec["rope_scaling"] or {"rope_type": "default"}
    rule = {name: value for name, value in rule.items() if value is not None}
    # Its `dynamic` measures a call against the model's own length.
    longest = rule.pop("original_max_position_embeddings") if rule["rope_type"] == "dynamic" else spec["max_position"]
    key = (spec["head_dim"], spec["rope_theta"], longest, json.dumps(rule))
    if key not in _modules:
        rope = {**rule, "rope_theta": spec["rope_theta"]}
        sizes = {"hidden_size": 2 * spec["head_dim"], "num_attention_heads": 2, "head_dim": spec["head_dim"],
                 "max_position_embeddings": longest}
        if "rope_parameters" in inspect.signature(LlamaConfig.__init__).parameters or hasattr(LlamaConfig(), "rope_parameters"):
            config = LlamaConfig(**sizes, rope_parameters=rope)
        else:
            config = LlamaConfig(**sizes, rope_theta=spec["rope_theta"], rope_scaling=rule if spec["rope_scaling"] else None)
        _modules[key] = LlamaRotaryEmbedding(config=config).to(DEVICE)
    return _modules[key]


def rotate(x, positions, spec):
    default = (spec["pairing"], spec["output_pairing"], spec["rotary_layout"], spec["direction"]) == ("half", "half", "prefix", "counterclockwise")
    if not default or spec["rotary_dim"] != spec["head_dim"]:
        return None
    if spec["rope_scaling"] and spec["rope_scaling"]["rope_type"] == "ntk":  # which it does not have
        return None
    with torch.no_grad():
        x, positions = x.to(DEVICE), positions.to(DEVICE)
        cos, sin = rotary_embedding(spec)(x, positions)
        return apply_rotary_pos_emb(x, x, cos, sin, unsqueeze_dim=2)[0].cpu()
