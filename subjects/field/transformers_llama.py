"""Hugging Face transformers: LlamaRotaryEmbedding and apply_rotary_pos_emb, called as the model's forward pass calls them."""

import inspect

import torch
import transformers
from transformers.models.llama.modeling_llama import LlamaConfig, LlamaRotaryEmbedding, apply_rotary_pos_emb

framework = "torch"
name = "transformers LlamaRotaryEmbedding"
version = f"transformers {transformers.__version__}, torch {torch.__version__}"

torch.set_num_threads(1)
_modules = {}


def rotary_embedding(spec):
    key = (spec["head_dim"], spec["rope_theta"], spec["max_position"])
    if key not in _modules:
        rope = {"rope_type": "default", "rope_theta": spec["rope_theta"]}
        sizes = {"hidden_size": 2 * spec["head_dim"], "num_attention_heads": 2, "head_dim": spec["head_dim"],
                 "max_position_embeddings": spec["max_position"]}
        if "rope_parameters" in inspect.signature(LlamaConfig.__init__).parameters or hasattr(LlamaConfig(), "rope_parameters"):
            config = LlamaConfig(**sizes, rope_parameters=rope)
        else:
            config = LlamaConfig(**sizes, rope_theta=spec["rope_theta"])
        _modules[key] = LlamaRotaryEmbedding(config=config)
    return _modules[key]


def rotate(x, positions, spec):
    default = (spec["pairing"], spec["output_pairing"], spec["rotary_layout"], spec["direction"]) == ("half", "half", "prefix", "counterclockwise")
    if not default or spec["rotary_dim"] != spec["head_dim"]:
        return None
    with torch.no_grad():
        cos, sin = rotary_embedding(spec)(x, positions)
        return apply_rotary_pos_emb(x, x, cos, sin, unsqueeze_dim=2)[0]
