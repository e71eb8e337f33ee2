"""Hugging Face transformers: MPT's build_mpt_alibi_tensor, the distances of the last query."""

import torch
from sextant.library import only
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

from transformers_rules import version

framework = "torch"
name = "transformers build_mpt_alibi_tensor"
torch.set_num_threads(1)


@only("num_heads", "bias_max")
def bias(query_positions, key_positions, spec):
    """Row by row: what a query adds is the table of a sequence that ends with it."""
    length = max(*query_positions.tolist(), 0, 0) + 1
    table = build_mpt_alibi_tensor(spec["num_heads"], length, spec["bias_max"])[:, 0]
    # Key k of query q is column length - 1 - (q - k); what follows the query is masked, and no column of the table.
    distance = (query_positions[:, None] - key_positions[None, :]).clamp(min=0)
    return table[:, length - 1 - distance]
