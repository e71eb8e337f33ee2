"""Hugging Face transformers: DINOv3ViTRopePositionEmbedding, the rotation of patches by the middles of a grid's cells."""

import functools

import torch
from sextant.library import called, only
from transformers.models.dinov3_vit.configuration_dinov3_vit import DINOv3ViTConfig
from transformers.models.dinov3_vit.modeling_dinov3_vit import DINOv3ViTRopePositionEmbedding, apply_rotary_pos_emb

from transformers_rules import version

framework = "torch"
name = "transformers DINOv3ViTRopePositionEmbedding"
torch.set_num_threads(1)


@functools.lru_cache(maxsize=None)
def module(dim, side, base):
    config = DINOv3ViTConfig(hidden_size=2 * dim, num_attention_heads=2, patch_size=1, image_size=side, rope_theta=base)
    return DINOv3ViTRopePositionEmbedding(config).eval()


@called(layout="bhnd")
@only("head_dim", "rope_theta", "sections", "extents", "dtype", frequencies="per_axis", coordinates="normalized")
def rotate(x, positions, spec):
    if spec["sections"] != [spec["head_dim"] // 4] * 2:
        return None
    rows, columns = spec["extents"]
    cos, sin = module(spec["head_dim"], max(rows, columns), spec["rope_theta"])(torch.zeros(1, 3, rows, columns, dtype=x.dtype))
    cells = positions[0] * columns + positions[1]
    return apply_rotary_pos_emb(x, x, cos[cells][:, None], sin[cells][:, None])[0]
