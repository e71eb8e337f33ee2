"""speechbrain: PositionalEncoding, a table of fixed length."""

import functools

import torch
from sextant.library import absent, only, shell, versions

shell("speechbrain", "speechbrain.nnet", "speechbrain.lobes", "speechbrain.lobes.models", "speechbrain.lobes.models.transformer")
absent("speechbrain.nnet.activations", "speechbrain.nnet.attention", "speechbrain.nnet.CNN", "speechbrain.utils.checkpoints",
       "speechbrain.lobes.models.transformer.Branchformer", "speechbrain.lobes.models.transformer.Conformer")
from speechbrain.lobes.models.transformer.Transformer import PositionalEncoding

framework = "torch"
name, version = "speechbrain PositionalEncoding", versions("speechbrain", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(PositionalEncoding)


@only("dim")
def encode(positions, spec):
    table = module(spec["dim"], spec["max_position"])(torch.zeros(1, spec["max_position"], spec["dim"]))[0]
    return table[positions]
