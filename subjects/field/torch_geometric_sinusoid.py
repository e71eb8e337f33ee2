"""PyTorch Geometric: nn.encoding.PositionalEncoding."""

import functools

import torch
from sextant.library import only, shell, versions

shell("torch_geometric", "torch_geometric.nn")
from torch_geometric.nn.encoding import PositionalEncoding

framework = "torch"
name, version = "torch_geometric PositionalEncoding", versions("torch_geometric", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(PositionalEncoding)
fields = ["dim", "base"]


@only("dim", "base", layout=("interleaved", "concatenated"), denominator=("dim", "half_minus_one"))
def encode(positions, spec):
    """Its page says sines and cosines by turns, and 2i/d; its code has the one form only, which both claims are held against."""
    return module(spec["dim"], base_freq=1 / spec["base"])(positions.float())
