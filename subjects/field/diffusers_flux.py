"""diffusers: FluxPosEmbed, whose angles are float64, and apply_rotary_emb."""

import torch
from diffusers.models.embeddings import apply_rotary_emb
from diffusers.models.transformers.transformer_flux import FluxPosEmbed
from sextant.library import called, only, versions

framework = "torch"
name, version = "diffusers FluxPosEmbed", versions("diffusers", "torch")
torch.set_num_threads(1)


@called(layout="bnhd", positions="shared")
@only("head_dim", "rope_theta", "sections", "dtype", pairing="interleaved", frequencies="per_axis")
def rotate(x, positions, spec):
    module = FluxPosEmbed(spec["rope_theta"], [2 * pairs for pairs in spec["sections"]])
    return apply_rotary_emb(x, module(positions.T), sequence_dim=1)
