"""speechbrain: RelPosEncXL, the sinusoids of distances of Transformer-XL, from the farthest behind to the farthest ahead."""

import functools

import torch
from sextant.library import absent, only, shell, versions

shell("speechbrain", "speechbrain.nnet", "speechbrain.dataio", "speechbrain.utils")
absent("speechbrain.dataio.dataio", "speechbrain.utils.logger")
from speechbrain.nnet.attention import RelPosEncXL

framework = "torch"
name, version = "speechbrain RelPosEncXL", versions("speechbrain", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(lambda dim, dtype: RelPosEncXL(dim, getattr(torch, dtype)))


@only("dim", "dtype")
def encode(positions, spec):
    """Row i of the table is the distance length - 1 - i."""
    length = max(spec["max_position"], 1 - spec["min_position"])
    return module(spec["dim"], spec["dtype"]).make_pe(length)[0][length - 1 - positions]
