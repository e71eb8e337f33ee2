"""torch.onnx.ops: rotary_embedding, ONNX's operator as torch computes it, given a cache of float64 values rounded to the dtype."""

import functools

import numpy as np
import torch
from sextant.library import called, only, versions

framework = "torch"
name, version = "torch.onnx.ops.rotary_embedding", versions("torch")
torch.set_num_threads(1)


@functools.lru_cache(maxsize=None)
def caches(length, width, base, dtype):
    angles = np.arange(length)[:, None] * base ** (-np.arange(0, width, 2) / width)
    return [torch.from_numpy(function(angles)).to(getattr(torch, dtype)) for function in (np.cos, np.sin)]


@called(layout="bhnd")
@only("head_dim", "rotary_dim", "rope_theta", "pairing", "dtype")
def rotate(x, positions, spec):
    cos, sin = caches(spec["max_position"], spec["rotary_dim"], spec["rope_theta"], spec["dtype"])
    width = spec["rotary_dim"] if spec["rotary_dim"] < spec["head_dim"] else 0
    return torch.onnx.ops.rotary_embedding(x, cos, sin, positions, interleaved=spec["pairing"] == "interleaved", rotary_embedding_dim=width)


# The first call in a process takes seconds, so that every session would.
rotate(torch.zeros(1, 1, 1, 2), torch.zeros(1, 1, dtype=torch.long), {"encoding": "rope", "head_dim": 2, "rotary_dim": 2, "rope_theta": 1.0, "pairing": "half", "max_position": 1,
                                                                       "dtype": "float32"})
