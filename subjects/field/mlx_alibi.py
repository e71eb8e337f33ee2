"""MLX: nn.ALiBi.create_alibi_matrix, of queries that begin at an offset."""

import mlx.core as mx
import mlx.nn
import numpy as np
from sextant.library import called, only, versions

name, version = "MLX ALiBi", versions("mlx")
mx.set_default_device(mx.cpu)


@called("bias", positions="from_zero")
@only("num_heads", "mask")
def bias(queries, keys, spec):
    return np.array(mlx.nn.ALiBi.create_alibi_matrix(queries, keys, spec["num_heads"], 0, mx.float32))[0]
