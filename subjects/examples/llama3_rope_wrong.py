"""The rotary encoding of Llama 3.1 in NumPy, with a planted bug: docs/tutorial.md finds it."""

import math

import numpy as np

name = "Llama 3.1's rotary encoding"


def frequencies(spec):
    d, scaling = spec["head_dim"], spec["rope_scaling"]
    w = spec["rope_theta"] ** (-np.arange(0, d, 2) / d)
    wavelength = 2 * math.pi / w
    length, low, high = scaling["original_max_position_embeddings"], scaling["low_freq_factor"], scaling["high_freq_factor"]
    # Short wavelengths stay, long ones are stretched, those between are blended.
    smooth = np.clip((length / wavelength - low) / (high - low), 0, 1)
    blended = smooth * w / scaling["factor"] + (1 - smooth) * w
    return np.where(wavelength < length / high, w, np.where(wavelength > length / low, w / scaling["factor"], blended))


def rotate(x, positions, spec):  # x: [batch, n, heads, head_dim]; positions: [batch, n], int64
    if not spec["rope_scaling"] or spec["rope_scaling"]["rope_type"] != "llama3" or spec["pairing"] != "half":
        return None  # other claims are unsupported, which is no fault
    angle = positions[:, :, None, None] * frequencies(spec)  # [batch, n, 1, head_dim/2], float64
    first, second = np.split(x, 2, axis=-1)
    cos, sin = np.cos(angle), np.sin(angle)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1).astype(x.dtype)
