"""mistral-inference: precompute_freqs_cis and apply_rotary_emb, of tokens laid end to end."""

import functools

import torch
from sextant.library import called, only, shell, versions

shell("mistral_inference")
from mistral_inference.rope import apply_rotary_emb, precompute_freqs_cis

framework = "torch"
name, version = "mistral-inference precompute_freqs_cis", versions("mistral-inference", "torch")
torch.set_num_threads(1)
table = functools.lru_cache(maxsize=None)(precompute_freqs_cis)


@called(layout="nhd", positions="explicit")
@only("head_dim", "rope_theta", "dtype", pairing="interleaved")
def rotate(x, positions, spec):
    return apply_rotary_emb(x, x, table(spec["head_dim"], spec["max_position"], spec["rope_theta"])[positions])[0]
