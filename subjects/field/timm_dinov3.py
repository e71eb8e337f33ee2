"""timm: RotaryEmbeddingDinoV3 and apply_rot_embed_cat in halves."""

import functools

import torch
from sextant.library import called, only, shell, versions

shell("timm", "timm.layers")
from timm.layers.pos_embed_sincos import RotaryEmbeddingDinoV3, apply_rot_embed_cat

framework = "torch"
name, version = "timm RotaryEmbeddingDinoV3", versions("timm", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(lambda dim, base: RotaryEmbeddingDinoV3(dim, temperature=base).eval())


@called(layout="bhnd")
@only("head_dim", "rope_theta", "sections", "extents", "dtype", frequencies="per_axis", coordinates="normalized")
def rotate(x, positions, spec):
    if spec["sections"] != [spec["head_dim"] // 4] * 2:
        return None
    rows, columns = spec["extents"]
    table = module(spec["head_dim"], spec["rope_theta"]).get_embed([rows, columns])
    return apply_rot_embed_cat(x, table[positions[0] * columns + positions[1]][:, None], half=True)
