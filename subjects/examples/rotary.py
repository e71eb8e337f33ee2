import numpy as np

name = "rotary, half pairing"  # Su et al. 2021, in NumPy, with the angle in float64


def rotate(x, positions, spec):  # x: [batch, n, heads, head_dim]; positions: [batch, n], int64
    d = spec["head_dim"]
    if spec["rotary_dim"] != d or spec["rope_scaling"] or {spec["pairing"], spec["output_pairing"]} != {"half"}:
        return None  # other claims are unsupported, which is no fault
    frequency = spec["rope_theta"] ** (-np.arange(0, d, 2) / d)
    angle = positions[:, :, None, None] * frequency  # [batch, n, 1, d/2]
    first, second = x[..., : d // 2], x[..., d // 2 :]
    cos, sin = np.cos(angle), np.sin(angle) if spec["direction"] == "counterclockwise" else -np.sin(angle)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1).astype(x.dtype)
