"""timm: RotaryEmbeddingDinoV3 and apply_rot_embed_cat in halves."""

import torch
from sextant.library import called, only, shell, versions

shell("timm", "timm.layers")
from timm.layers.pos_embed_sincos import RotaryEmbeddingDinoV3, apply_rot_embed_cat

framework = "torch"
name, version = "timm RotaryEmbeddingDinoV3", versions("timm", "torch")
torch.set_num_threads(1)


@called(layout="bhnd")
@only("head_dim", "rope_theta", "sections", "extents", "dtype", frequencies="per_axis", coordinates="normalized")
def rotate(x, positions, spec):
    if spec["sections"] != [spec["head_dim"] // 4] * 2:
        return None
    rows, columns = spec["extents"]
    table = RotaryEmbeddingDinoV3(spec["head_dim"], temperature=spec["rope_theta"]).eval().get_embed([rows, columns])
    return apply_rot_embed_cat(x, table[positions[0] * columns + positions[1]][:, None], half=True)
