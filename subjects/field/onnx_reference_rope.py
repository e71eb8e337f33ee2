"""onnx: the reference evaluator's rotary_embedding, given a cache of float64 values rounded to the dtype."""

import functools

import numpy as np
from onnx.reference.ops.op_rotary_embedding import rotary_embedding
from sextant.library import called, only, versions

name, version = "onnx.reference rotary_embedding", versions("onnx")


@functools.lru_cache(maxsize=None)
def caches(length, width, base, dtype):
    angles = np.arange(length)[:, None] * base ** (-np.arange(0, width, 2) / width)
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


@called(layout="bhnd")
@only("head_dim", "rotary_dim", "rope_theta", "pairing", dtype=("float32", "float16", "float64"))
def rotate(x, positions, spec):
    width = spec["rotary_dim"] if spec["rotary_dim"] < spec["head_dim"] else 0
    return rotary_embedding(x, *caches(spec["max_position"], spec["rotary_dim"], spec["rope_theta"], spec["dtype"]), position_ids=positions,
                            interleaved=int(spec["pairing"] == "interleaved"), rotary_embedding_dim=width)
