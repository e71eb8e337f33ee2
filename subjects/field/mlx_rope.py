"""MLX: fast.rope on the processor, by the offset of a call's first token."""

import mlx.core as mx
import numpy as np
from sextant.library import called, only, versions

name, version = "MLX fast.rope", versions("mlx")
mx.set_default_device(mx.cpu)


@called(layout="bhnd", positions="offset")
@only("head_dim", "rotary_dim", "rope_theta", "pairing", rope_scaling=(None, "linear"))
def rotate(x, start, spec):
    scale = 1 / spec["rope_scaling"]["factor"] if spec["rope_scaling"] and "factor" in spec["rope_scaling"] else 1.0
    turned = mx.fast.rope(mx.array(x), spec["rotary_dim"], traditional=spec["pairing"] == "interleaved", base=spec["rope_theta"], scale=scale, offset=start)
    return np.array(turned)
