"""x-transformers: RotaryEmbedding and apply_rotary_pos_emb, as its Attention calls them; xPos too, a query."""

import functools

import torch
from sextant.library import called, only, versions
from x_transformers.x_transformers import RotaryEmbedding, apply_rotary_pos_emb

framework = "torch"
name, version = "x-transformers RotaryEmbedding", versions("x-transformers", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(RotaryEmbedding)


@called(layout="bhnd")
@only("head_dim", "rotary_dim", "rope_theta", "rope_scaling", "scale_base", "role", "dtype", pairing="interleaved", centre="floor_half")
def rotate(x, positions, spec):
    rule = spec.get("rope_scaling") or {"rope_type": "default"}
    if rule["rope_type"] not in ("default", "linear", "ntk"):
        return None
    factor = rule.get("factor", 1.0)
    rescaled, interpolated = (factor, 1.0) if rule["rope_type"] == "ntk" else (1.0, factor)
    xpos = {"use_xpos": True, "scale_base": spec["scale_base"]} if spec["encoding"] == "xpos" else {}
    rotary = module(spec["rotary_dim"], base=spec["rope_theta"], interpolation_factor=interpolated, base_rescale_factor=rescaled, **xpos)
    if positions.numel() == 0:
        return x
    freqs, scale = rotary(positions)
    return apply_rotary_pos_emb(x, freqs, scale if spec.get("role") != "key" else scale**-1)
