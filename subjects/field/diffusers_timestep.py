"""diffusers: get_timestep_embedding."""

import torch
from diffusers.models.embeddings import get_timestep_embedding
from sextant.library import only, versions

framework = "torch"
name, version = "diffusers get_timestep_embedding", versions("diffusers", "torch")
torch.set_num_threads(1)


@only("dim", "base", "denominator", "downscale_freq_shift", "first", "angle_scale", "position_dtype", "position_step", layout="concatenated")
def encode(positions, spec):
    shift = spec.get("downscale_freq_shift", {"dim": 0, "half_minus_one": 1}.get(spec.get("denominator")))
    return get_timestep_embedding(positions, spec["dim"], flip_sin_to_cos=spec["first"] == "cos", downscale_freq_shift=shift,
                                  scale=spec.get("angle_scale", 1), max_period=spec["base"])
