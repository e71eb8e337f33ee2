import numpy as np

name = "norm of queries and keys, then rotation"  # Zhang and Sennrich 2019, then Su et al. 2021, in NumPy


def normalized(x, weight, spec):  # x: [batch, n, heads, head_dim]; weight: [head_dim]
    wide = x.astype(np.float64)
    mean = np.mean(wide * wide, axis=-1, keepdims=True)
    return wide / np.sqrt(mean + spec["epsilon"]) * (spec["weight_offset"] + weight.astype(np.float64))


def turned(x, positions, spec):
    d = spec["head_dim"]
    angle = positions[:, :, None, None] * spec["rope_theta"] ** (-np.arange(0, d, 2) / d)
    cos, sin = np.cos(angle), np.sin(angle)
    first, second = x[..., : d // 2], x[..., d // 2 :]
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


def qk_norm_rope(q, k, positions, q_weight, k_weight, spec):  # keys may have fewer heads than queries
    plain = {"rotary_dim": spec["head_dim"], "pairing": "half", "output_pairing": "half", "direction": "counterclockwise", "rope_scaling": None}
    if any(spec[field] != value for field, value in plain.items()) or q.dtype == np.uint16:
        return None  # other claims are unsupported, which is no fault
    both = ((q, q_weight), (k, k_weight))
    return tuple(turned(normalized(x, weight, spec), positions, spec).astype(x.dtype) for x, weight in both)
