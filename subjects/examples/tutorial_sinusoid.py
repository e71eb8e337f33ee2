"""The sinusoidal encoding as the PyTorch tutorial "Language Modeling with nn.Transformer" made it universal, in NumPy:
float32 positions times exp(arange(0, d, 2) * -(log(10000) / d)), all in float32."""

import math

import numpy as np

name = "tutorial sinusoid (float32, exp of log)"


def encode(positions, spec):
    known = {"layout": "interleaved", "first": "sin", "denominator": "dim", "dtype": "float32"}
    if not known.items() <= spec.items() or "angle_scale" in spec:
        return None
    d = spec["dim"]
    position = (positions + spec["position_offset"]).astype(np.float32)[:, None]
    frequency = np.exp(np.arange(0, d, 2, dtype=np.float32) * np.float32(-math.log(spec["base"]) / d))
    table = np.zeros((len(positions), d), dtype=np.float32)
    table[:, 0::2] = np.sin(position * frequency)
    table[:, 1::2] = np.cos(position * frequency)
    return table * np.float32(spec["scale"])
