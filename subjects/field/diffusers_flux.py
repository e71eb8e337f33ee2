"""diffusers: FluxPosEmbed, whose angles are float64, and apply_rotary_emb."""

import functools

import torch
from diffusers.models.embeddings import apply_rotary_emb
from diffusers.models.transformers.transformer_flux import FluxPosEmbed
from sextant.library import called, only, versions

framework = "torch"
name, version = "diffusers FluxPosEmbed", versions("diffusers", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(lambda base, *sections: FluxPosEmbed(base, [2 * pairs for pairs in sections]))


@called(layout="bnhd", positions="shared")
@only("head_dim", "rope_theta", "sections", "dtype", pairing="interleaved", frequencies="per_axis")
def rotate(x, positions, spec):
    return apply_rotary_emb(x, module(spec["rope_theta"], *spec["sections"])(positions.T), sequence_dim=1)
