"""Hugging Face transformers: bloom's build_alibi_tensor, slopes times the positions of keys."""

import torch
from sextant.library import called, only
from transformers.models.bloom.modeling_bloom import build_alibi_tensor

from transformers_rules import version

framework = "torch"
name = "transformers bloom build_alibi_tensor"
torch.set_num_threads(1)


@called("bias", positions="from_zero")
@only("num_heads", "dtype", "slope_dtype", form="key_index")
def bias(queries, keys, spec):
    if spec["slope_dtype"] != None:
        return None
    return build_alibi_tensor(torch.ones(1, keys, dtype=torch.long), spec["num_heads"], getattr(torch, spec["dtype"])).expand(-1, queries, -1)
