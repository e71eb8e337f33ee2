"""torchtune: Phi3RotaryPositionalEmbeddings."""

import functools

import torch
from sextant.library import only, shell, versions

shell("torchtune", "torchtune.models", "torchtune.models.phi3")
from torchtune.models.phi3._position_embeddings import Phi3RotaryPositionalEmbeddings

framework = "torch"
name, version = "torchtune Phi3RotaryPositionalEmbeddings", versions("torchtune", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(Phi3RotaryPositionalEmbeddings)


@only("head_dim", "rope_theta", "dtype")
def rotate(x, positions, spec):
    return module(spec["head_dim"], spec["max_position"], spec["rope_theta"])(x, input_pos=positions)
