"""speechbrain: the rotation of RoPEMHA, from position 0."""

import torch
from sextant.library import absent, called, only, shell, versions

shell("speechbrain", "speechbrain.nnet", "speechbrain.dataio", "speechbrain.utils")
absent("speechbrain.dataio.dataio", "speechbrain.utils.logger")
from speechbrain.nnet.attention import _rope_rotate

framework = "torch"
name, version = "speechbrain _rope_rotate", versions("speechbrain", "torch")
torch.set_num_threads(1)


@called(positions="from_zero")
@only("head_dim", "dtype", pairing="interleaved")
def rotate(x, spec):
    return _rope_rotate(x)
