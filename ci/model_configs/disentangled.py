"""Measures which row of its table of relative positions DeBERTa's attention and SEW-D's reads for a query and a key.

Queries and the table are such that a score of content with position is the number of the row that it was read from.
"""

import importlib
import inspect
import math

import torch

from shrunk import MeasurementError

TYPES = {"deberta", "deberta-v2", "sew-d"}
MODULES = {"deberta": "deberta.modeling_deberta", "deberta-v2": "deberta_v2.modeling_deberta_v2", "sew-d": "sew_d.modeling_sew_d"}


def row_claims(config):
    if not getattr(config, "relative_attention", False):
        return []
    config.pos_att_type = ["c2p"]
    config.share_att_key = True
    module = importlib.import_module("transformers.models." + MODULES[config.model_type])
    attention = module.DisentangledSelfAttention(config).eval()
    most = attention.max_relative_positions
    span = getattr(attention, "pos_ebd_size", most)
    length = config.max_position_embeddings
    heads = config.num_attention_heads
    width = config.hidden_size // heads
    project = attention.pos_proj if config.model_type == "deberta" else attention.key_proj
    rows = torch.zeros(2 * span, config.hidden_size)
    rows[:, ::width] = torch.arange(2 * span, dtype=torch.float32)[:, None]
    queries = torch.zeros(1, heads, length, width) if config.model_type == "deberta" else torch.zeros(heads, length, width)
    queries[..., 0] = 1
    with torch.no_grad():
        project.weight.copy_(torch.eye(config.hidden_size))
        if project.bias is not None:
            project.bias.zero_()
        if config.model_type == "deberta":
            places = module.build_relative_position(queries, queries)
            scores = attention.disentangled_att_bias(queries, queries, places, rows, 1)[0]
        else:
            between = (length, length) if "query_size" in inspect.signature(module.build_relative_position).parameters else (queries, queries)
            places = module.build_relative_position(*between, bucket_size=attention.position_buckets, max_position=most)
            scores = attention.disentangled_attention_bias(queries, queries, places, rows, 1)
            scores = scores.reshape(heads, length, length) * math.sqrt(width)
        # Of DeBERTa the rows are counted within the span of a call.
        numbers = scores.round().long()
    first = numbers[0]
    if not (numbers == first).all() or (scores - numbers).abs().max() > 1e-2:
        raise MeasurementError("a row differs between heads, or is no whole number")
    by_distance = {}
    for query in (0, length // 2, length - 1):
        for key in range(length):
            row = first[query, key].item()
            if by_distance.setdefault(key - query, row) != row:
                raise MeasurementError(f"the row of {key - query} differs between queries")
    return [
        {
            "operation": "bias",
            "layers": list(range(config.num_hidden_layers)),
            "buckets": [by_distance[relative] for relative in sorted(by_distance)],
            "relative_positions": [min(by_distance), max(by_distance)],
        }
    ]
