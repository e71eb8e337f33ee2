"""KerasHub: layers.RotaryEmbedding on JAX, by explicit positions."""

import functools

import keras_hub
from sextant.library import called, only, versions

framework = "jax"
name, version = "KerasHub RotaryEmbedding", versions("keras-hub", "keras", "jax")


@functools.lru_cache(maxsize=None)
def module(base, factor):
    return keras_hub.layers.RotaryEmbedding(max_wavelength=base, scaling_factor=factor)


@called(positions="shared")
@only("head_dim", "rope_theta", rope_scaling=(None, "linear"))
def rotate(x, positions, spec):
    factor = spec["rope_scaling"]["factor"] if spec["rope_scaling"] and "factor" in spec["rope_scaling"] else 1.0
    return module(spec["rope_theta"], factor)(x, positions=positions)
