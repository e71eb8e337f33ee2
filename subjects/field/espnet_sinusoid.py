"""ESPnet: PositionalEncoding, whose table grows, and is kept in the dtype of the last call."""

import functools

import torch
from sextant.library import absent, called, only, shell, versions

shell("espnet", "espnet.nets", "espnet.nets.pytorch_backend", "espnet.nets.pytorch_backend.transformer")
absent("espnet2", "espnet2.asr", "espnet2.asr.frontend", "espnet2.asr.frontend.cnn")
from espnet.nets.pytorch_backend.transformer.embedding import PositionalEncoding

framework = "torch"
name, version = "ESPnet PositionalEncoding", versions("espnet", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(lambda dim: PositionalEncoding(dim, 0.0).eval())


@called("encode", positions="from_zero")
@only("dim", "dtype")
def encode(length, spec):
    """Added to zeros, it is the table itself."""
    return module(spec["dim"])(torch.zeros(1, length, spec["dim"], dtype=getattr(torch, spec["dtype"])))[0]
