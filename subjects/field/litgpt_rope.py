"""litgpt: build_rope_cache and apply_rope, as GPT keeps the one and CausalSelfAttention calls the other."""

import functools

import torch
from sextant.library import absent, only, shell, versions

shell("litgpt")
absent("litgpt.config", "litgpt.scripts", "litgpt.scripts.convert_hf_checkpoint")
from litgpt.model import apply_rope, build_rope_cache

framework = "torch"
name, version = "litgpt build_rope_cache and apply_rope", versions("litgpt", "torch")
torch.set_num_threads(1)
OF_LITGPT = {"original_max_position_embeddings": "original_max_seq_len"}


@functools.lru_cache(maxsize=None)
def cache(length, width, base, *rule):
    return build_rope_cache(length, width, base=base, extra_config=dict(rule) or None)


@only("head_dim", "rotary_dim", "rope_theta", "dtype", rope_scaling=(None, "linear", "llama3", "yarn"))
def rotate(x, positions, spec):
    rule = {OF_LITGPT.get(key, key): value for key, value in (spec["rope_scaling"] or {}).items() if value is not None and key != "rope_type"}
    if "attention_factor" in rule:
        return None
    turned = spec["rotary_dim"]
    cos, sin = cache(spec["max_position"], turned, spec["rope_theta"], *sorted(rule.items()))
    x = x.transpose(1, 2)
    y = torch.cat([apply_rope(x[..., :turned], cos[positions], sin[positions]), x[..., turned:]], dim=-1)
    return y.transpose(1, 2)
