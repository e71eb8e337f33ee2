"""x-transformers: RelativePositionBias, T5's buckets."""

import torch
from sextant.library import only, versions
from x_transformers.x_transformers import RelativePositionBias

framework = "torch"
name, version = "x-transformers RelativePositionBias", versions("x-transformers", "torch")
torch.set_num_threads(1)


@only("num_buckets", "max_distance", "bidirectional", "dtype")
def bucket(relative, spec):
    return RelativePositionBias._relative_position_bucket(
        relative, causal=not spec["bidirectional"], num_buckets=spec["num_buckets"], max_distance=spec["max_distance"])


def bias(query_positions, key_positions, weight, spec):
    of = bucket(key_positions[None, :] - query_positions[:, None], spec)
    return weight[of].permute(2, 0, 1)
