"""A planted bug, patterned on real ones: positions are rounded to bfloat16, the activation dtype, before the angle is
formed. Right for every position up to 256; then positions collide."""

import numpy as np

name = "sinusoid with bfloat16 positions"


def to_bfloat16(x):
    bits = np.asarray(x, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def encode(positions, spec):
    d = spec["dim"]
    position = to_bfloat16(positions)[:, None]
    angle = position * spec["base"] ** (-np.arange(0, d, 2) / d)
    table = np.zeros((len(positions), d), dtype=np.float32)
    table[:, 0::2] = np.sin(angle)
    table[:, 1::2] = np.cos(angle)
    return table
