"""timm: RotaryEmbeddingCat over a grid of features, in language mode, and apply_rot_embed_cat."""

import functools

import torch
from sextant.library import called, only, shell, versions

shell("timm", "timm.layers")
from timm.layers.pos_embed_sincos import RotaryEmbeddingCat, apply_rot_embed_cat

framework = "torch"
name, version = "timm RotaryEmbeddingCat", versions("timm", "torch")
torch.set_num_threads(1)


@functools.lru_cache(maxsize=None)
def table(dim, base, side):
    return RotaryEmbeddingCat(dim, temperature=base, in_pixels=False, feat_shape=[side, side]).get_embed()


@called(layout="bhnd")
@only("head_dim", "rope_theta", "sections", "dtype", pairing="interleaved", frequencies="per_axis")
def rotate(x, positions, spec):
    if spec["sections"] != [spec["head_dim"] // 4] * 2 or spec["max_position"] > 1024:
        return None
    rows = table(spec["head_dim"], spec["rope_theta"], spec["max_position"])[positions[0] * spec["max_position"] + positions[1]]
    return apply_rot_embed_cat(x, rows[:, None])
