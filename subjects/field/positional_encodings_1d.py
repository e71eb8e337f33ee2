"""positional-encodings: PositionalEncoding1D; a module keeps the table of its last call."""

import functools

import torch
from positional_encodings.torch_encodings import PositionalEncoding1D
from sextant.library import called, only, versions

framework = "torch"
name, version = "positional-encodings PositionalEncoding1D", versions("positional-encodings", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(PositionalEncoding1D)


@called("encode", positions="from_zero")
@only("dim", "dtype")
def encode(length, spec):
    return module(spec["dim"])(torch.zeros(1, length, spec["dim"], dtype=getattr(torch, spec["dtype"])))[0]
