"""torchtune: RotaryPositionalEmbeddings of Llama 2 and 3, and Llama3ScaledRoPE."""

import functools

import torch
from sextant.library import only, shell, versions

shell("torchtune", "torchtune.modules", "torchtune.models", "torchtune.models.llama3_1")
from torchtune.models.llama3_1._position_embeddings import Llama3ScaledRoPE
from torchtune.modules.position_embeddings import RotaryPositionalEmbeddings

framework = "torch"
name, version = "torchtune RotaryPositionalEmbeddings and Llama3ScaledRoPE", versions("torchtune", "torch")
torch.set_num_threads(1)


@functools.lru_cache(maxsize=None)
def module(dim, base, length, *rule):
    if not rule:
        return RotaryPositionalEmbeddings(dim, max_seq_len=length, base=base)
    factor, low, high, original = rule
    return Llama3ScaledRoPE(dim, max_seq_len=length, base=base, scale_factor=factor, low_freq_factor=low, high_freq_factor=high, old_context_len=original)


@only("head_dim", "rope_theta", "dtype", pairing="interleaved", rope_scaling=(None, "llama3"))
def rotate(x, positions, spec):
    rule = spec["rope_scaling"] if spec["rope_scaling"] and spec["rope_scaling"]["rope_type"] == "llama3" else {}
    values = [rule[key] for key in ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings") if rule]
    return module(spec["head_dim"], spec["rope_theta"], spec["max_position"], *values)(x, input_pos=positions)
