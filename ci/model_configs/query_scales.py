"""Measures by what queries are multiplied at their positions, besides being turned.

Each layer's attention is run by itself, with its scale and without; what it hands to the scores tells the factor.
"""

import sys

import torch

import shrunk
from shrunk import MeasurementError

TYPES = {"llama4_text", "ministral3", "mistral4"}
BORDERS = [1, 2, 3, 5, 8]


class Cache:
    """So many tokens have been seen, and their keys do not matter."""

    def __init__(self, seen):
        self.seen = seen

    def get_seq_length(self, _layer):
        return self.seen

    def update(self, keys, values, *_arguments, **_named):
        return keys, values


def queries_at(attention, config, position, is_scaled):
    """What the attention multiplies with keys, of three tokens from `position` on."""
    modeling = sys.modules[type(attention).__module__]
    seen = []
    eager = modeling.eager_attention_forward

    def captured(module, query, *arguments, **named):
        seen.append(query.detach().double())
        return eager(module, query, *arguments, **named)

    modeling.eager_attention_forward = captured
    amount = None if attention.config.model_type == "llama4_text" else attention.config.rope_parameters
    beta = None if amount is None else amount["llama_4_scaling_beta"]
    try:
        if amount is None:
            attention.attn_temperature_tuning = is_scaled and config.attn_temperature_tuning
        else:
            amount["llama_4_scaling_beta"] = beta if is_scaled else 0.0
        generator = torch.Generator().manual_seed(1)
        hidden = torch.randn(1, 3, config.hidden_size, generator=generator)
        places = torch.arange(position, position + 3)[None]
        if amount is None:
            still = torch.ones(1, 3, config.head_dim // 2, dtype=torch.complex64)
        else:
            width = getattr(config, "qk_rope_head_dim", config.head_dim)
            still = (torch.ones(1, 3, width), torch.zeros(1, 3, width))
        with torch.no_grad():
            attention(
                hidden_states=hidden, position_embeddings=still, attention_mask=None, position_ids=places,
                cache=Cache(position),
            )
    finally:
        modeling.eager_attention_forward = eager
        if amount is not None:
            amount["llama_4_scaling_beta"] = beta
    return seen[0]


def factors_at(attention, config, position):
    factors = queries_at(attention, config, position, True) / queries_at(attention, config, position, False)
    of_tokens = factors.movedim(2, 0).flatten(1)
    if (of_tokens.amax(dim=1) - of_tokens.amin(dim=1)).max() > 1e-5:
        raise MeasurementError("channels or heads of a query are scaled differently")
    return of_tokens.mean(dim=1).tolist()


def query_scale_claims(full_config):
    """One claim of all layers that scale, at three positions around each of some borders."""
    model_type = full_config.model_type
    if model_type not in TYPES:
        return []
    config = shrunk.shrink(full_config)
    model = shrunk.build(config)
    is_llama = model_type == "llama4_text"
    period = config.floor_scale if is_llama else config.rope_parameters["original_max_position_embeddings"]
    starts = [0] + [border * period - 2 + (0 if is_llama else 1) for border in BORDERS]
    claims = {}
    for number, layer in enumerate(model.layers):
        factors = [factor for start in starts for factor in factors_at(layer.self_attn, config, start)]
        if max(factors) > 1.001:
            claims.setdefault(tuple(round(factor, 6) for factor in factors), []).append(number)
    positions = [start + token for start in starts for token in range(3)]
    return [
        {"operation": "query_scale", "layers": layers, "positions": positions, "scales": list(scales)}
        for scales, layers in claims.items()
    ]
