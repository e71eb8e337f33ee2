"""torchscale: XPOS, from position 0."""

import functools

import torch
from sextant.library import called, only, shell, versions

shell("torchscale", "torchscale.component")
from torchscale.component.xpos_relative_position import XPOS

framework = "torch"
name, version = "torchscale XPOS", versions("torchscale", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(XPOS)


@called(layout="bnd", positions="from_zero")
@only("head_dim", "scale_base", "role", pairing="interleaved", centre="ceil_half")
def rotate(x, spec):
    return module(spec["head_dim"], spec["scale_base"])(x, downscale=spec["role"] == "key")
