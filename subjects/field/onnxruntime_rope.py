"""onnxruntime: the processor's kernel of RotaryEmbedding in opset 23, given a cache of float64 values rounded to the dtype."""

import functools

import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from sextant.library import called, only, versions

name, version = "onnxruntime RotaryEmbedding, opset 23", versions("onnxruntime")
TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16}


@functools.lru_cache(maxsize=None)
def session(dtype, interleaved, width):
    value = TYPES[dtype]
    inputs = [helper.make_tensor_value_info("x", value, [None] * 4), helper.make_tensor_value_info("cos", value, [None] * 2),
              helper.make_tensor_value_info("sin", value, [None] * 2), helper.make_tensor_value_info("positions", TensorProto.INT64, [None] * 2)]
    node = helper.make_node("RotaryEmbedding", ["x", "cos", "sin", "positions"], ["y"], interleaved=interleaved, rotary_embedding_dim=width)
    graph = helper.make_graph([node], "rotary", inputs, [helper.make_tensor_value_info("y", value, [None] * 4)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


@functools.lru_cache(maxsize=None)
def caches(length, width, base, dtype):
    angles = np.arange(length)[:, None] * base ** (-np.arange(0, width, 2) / width)
    return np.cos(angles).astype(dtype), np.sin(angles).astype(dtype)


@called(layout="bhnd")
@only("head_dim", "rotary_dim", "rope_theta", "pairing", dtype=tuple(TYPES))
def rotate(x, positions, spec):
    width = spec["rotary_dim"] if spec["rotary_dim"] < spec["head_dim"] else 0
    cos, sin = caches(spec["max_position"], spec["rotary_dim"], spec["rope_theta"], spec["dtype"])
    feeds = {"x": np.ascontiguousarray(x), "cos": cos, "sin": sin, "positions": np.ascontiguousarray(positions)}
    return session(spec["dtype"], int(spec["pairing"] == "interleaved"), width).run(None, feeds)[0]
