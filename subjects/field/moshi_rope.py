"""moshi: apply_rope, uncompiled, in both of its pairings."""

import torch
from sextant.library import absent, called, only, shell, versions

shell("moshi", "moshi.modules", "moshi.utils")
absent("moshi.utils.compile")
import sys

sys.modules["moshi.utils.compile"].torch_compile_lazy = lambda function: function
from moshi.modules.rope import apply_rope

framework = "torch"
name, version = "moshi apply_rope", versions("moshi", "torch")
torch.set_num_threads(1)


@called(positions="offset")
@only("head_dim", "rope_theta", "pairing", "dtype")
def rotate(x, start, spec):
    interleaved = spec["pairing"] == "interleaved"
    return apply_rope(x, x, torch.tensor([start]), max_period=spec["rope_theta"], interleave=interleaved, time_before_heads=True)[0]
