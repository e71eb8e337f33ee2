"""KerasHub: layers.SinePositionEncoding on JAX, from position 0."""

import jax.numpy as jnp
import keras_hub
from sextant.library import called, only, versions

framework = "jax"
name, version = "KerasHub SinePositionEncoding", versions("keras-hub", "keras", "jax")


@called("encode", positions="from_zero")
@only("dim", "base")
def encode(length, spec):
    return keras_hub.layers.SinePositionEncoding(max_wavelength=spec["base"])(jnp.zeros((1, length, spec["dim"]), jnp.float32))[0]
