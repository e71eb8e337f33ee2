"""KerasHub: layers.SinePositionEncoding on JAX, from position 0."""

import functools

import jax.numpy as jnp
import keras_hub
from sextant.library import called, only, versions

framework = "jax"
name, version = "KerasHub SinePositionEncoding", versions("keras-hub", "keras", "jax")
module = functools.lru_cache(maxsize=None)(keras_hub.layers.SinePositionEncoding)


@called("encode", positions="from_zero")
@only("dim", "base")
def encode(length, spec):
    return module(max_wavelength=spec["base"])(jnp.zeros((1, length, spec["dim"]), jnp.float32))[0]
