"""MONAI: build_sincos_position_embedding, a grid's table in two or three dimensions."""

import torch
from sextant.library import only, shell, versions

shell("monai", "monai.networks", "monai.networks.blocks")
from monai.networks.blocks.pos_embed_utils import build_sincos_position_embedding

framework = "torch"
name, version = "MONAI build_sincos_position_embedding", versions("monai", "torch")
torch.set_num_threads(1)


@only("dim", "extents", "base", layout="concatenated", axis_order=([1, 0], [1, 0, 2]), channels=lambda channels: len(set(channels)) == 1)
def encode(positions, spec):
    extents = spec["extents"]
    table = build_sincos_position_embedding(extents, spec["dim"], spatial_dims=len(extents), temperature=spec["base"])[0]
    return table.reshape(*extents, -1)[tuple(positions)]
