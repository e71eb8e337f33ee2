"""A rotation as a model has it, with heads before tokens: docs/python.md audits it."""

import numpy as np


def rotate(x, positions):  # x: [batch, heads, n, head_dim]; positions: [batch, n]
    d = x.shape[-1]
    angle = positions[:, None, :, None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    first, second = x[..., : d // 2], x[..., d // 2 :]
    cos, sin = np.cos(angle), np.sin(angle)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1).astype(x.dtype)
