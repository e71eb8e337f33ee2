"""ESPnet: StreamPositionalEncoding, from any first position; its table is kept in the dtype of the last call."""

import functools

import numpy as np
import torch
from sextant.library import absent, only, shell, versions

shell("espnet", "espnet.nets", "espnet.nets.pytorch_backend", "espnet.nets.pytorch_backend.transformer")
absent("espnet2", "espnet2.asr", "espnet2.asr.frontend", "espnet2.asr.frontend.cnn")
from espnet.nets.pytorch_backend.transformer.embedding import StreamPositionalEncoding

framework = "torch"
name, version = "ESPnet StreamPositionalEncoding", versions("espnet", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(lambda dim: StreamPositionalEncoding(dim, 0.0).eval())


@only("dim", "dtype")
def encode(positions, spec):
    """By runs of consecutive positions."""
    dtype = getattr(torch, spec["dtype"])
    runs = np.split(positions.numpy(), np.flatnonzero(np.diff(positions.numpy()) != 1) + 1)
    parts = [module(spec["dim"])(torch.zeros(1, len(run), spec["dim"], dtype=dtype), start_idx=int(run[0]))[0] for run in runs if len(run)]
    return torch.cat(parts) if parts else torch.zeros(0, spec["dim"], dtype=dtype)
