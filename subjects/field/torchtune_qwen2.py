"""torchtune: Qwen2RotaryPositionalEmbeddings."""

import functools

import torch
from sextant.library import only, shell, versions

shell("torchtune", "torchtune.models", "torchtune.models.qwen2")
from torchtune.models.qwen2._positional_embeddings import Qwen2RotaryPositionalEmbeddings

framework = "torch"
name, version = "torchtune Qwen2RotaryPositionalEmbeddings", versions("torchtune", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(Qwen2RotaryPositionalEmbeddings)


@only("head_dim", "rope_theta", "dtype")
def rotate(x, positions, spec):
    return module(spec["head_dim"], spec["max_position"], spec["rope_theta"])(x, input_pos=positions)
