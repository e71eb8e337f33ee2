"""x-transformers: ScaledSinusoidalEmbedding, whose scale begins as dim^-1/2."""

import torch
from sextant.library import only, versions
from x_transformers.x_transformers import ScaledSinusoidalEmbedding

framework = "torch"
name, version = "x-transformers ScaledSinusoidalEmbedding", versions("x-transformers", "torch")
torch.set_num_threads(1)


@only("dim", "base", "scale", layout="concatenated")
def encode(positions, spec):
    module = ScaledSinusoidalEmbedding(spec["dim"], theta=spec["base"])
    with torch.no_grad():
        module.scale.fill_(spec["scale"])
        return module(torch.zeros(1, len(positions), spec["dim"]), pos=positions)
