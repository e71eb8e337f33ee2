"""diffusers: get_3d_sincos_pos_embed, CogVideoX's table of frames, columns and rows."""

import functools

import torch
from diffusers.models.embeddings import get_3d_sincos_pos_embed
from sextant.library import only, versions

framework = "torch"
name, version = "diffusers get_3d_sincos_pos_embed", versions("diffusers", "torch")
torch.set_num_threads(1)


table = functools.lru_cache(maxsize=4)(get_3d_sincos_pos_embed)


@only("dim", "extents", axis_order=[0, 2, 1], layout="concatenated", scales=lambda scales: True, channels=lambda channels: True)
def encode(positions, spec):
    frames, rows, columns = spec["extents"]
    temporal, vertical, horizontal = spec["scales"] or [1.0] * 3
    if spec["channels"] != [spec["dim"] // 4, spec["dim"] * 3 // 8, spec["dim"] * 3 // 8] or vertical != horizontal:
        return None
    return table(spec["dim"], (columns, rows), frames, vertical, temporal, output_type="pt")[positions[0], positions[1] * columns + positions[2]].float()
