"""Hugging Face transformers: T5Attention's buckets of relative positions."""

import torch
from sextant.library import only
from transformers.models.t5.modeling_t5 import T5Attention

from transformers_rules import version

framework = "torch"
name = "transformers T5Attention._relative_position_bucket"
torch.set_num_threads(1)


@only("num_buckets", "max_distance", "bidirectional", "dtype")
def bucket(relative, spec):
    return T5Attention._relative_position_bucket(relative, spec["bidirectional"], spec["num_buckets"], spec["max_distance"])


def bias(query_positions, key_positions, weight, spec):
    return weight[bucket(key_positions[None, :] - query_positions[:, None], spec)].permute(2, 0, 1)
