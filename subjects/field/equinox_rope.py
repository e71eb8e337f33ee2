"""equinox: nn.RotaryPositionalEmbedding, of a head's tokens from position 0."""

import equinox
import jax
from sextant.library import called, only, versions

framework = "jax"
name, version = "equinox RotaryPositionalEmbedding", versions("equinox", "jax")


@called(layout="nhd", positions="from_zero")
@only("head_dim", "rope_theta", "dtype")
def rotate(x, spec):
    return jax.vmap(equinox.nn.RotaryPositionalEmbedding(spec["head_dim"], theta=spec["rope_theta"]), in_axes=1, out_axes=1)(x)
