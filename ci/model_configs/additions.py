"""Measures what is added: tables of positions to the embeddings, and biases to the scores of attention.

A table is found by what its module puts out in a forward pass. A bias is read off the attention's probabilities while
queries are zero, so that nothing but the bias tells keys apart.
"""

import copy
import math
import re
import sys

import torch
from transformers import ViTMAEForPreTraining

import shrunk
from shrunk import MeasurementError, set_present, token_ids

POSITIONS = [0, 1, 7, 100]
POSITIONS_OF_GRID = [0, 1, 2, 7, 14, 15, 100]
TOKENS = 120
END_CHANNELS = 8  # so many values at either end of a position's vector

SEQUENCE_OF_ALIBI = 24
HEAD_WIDTH_OF_ALIBI = 8
LARGEST_DISTANCE = 200
BUCKET_STEP = 0.25

TABLE_TYPES = {
    "albert", "bart", "bert", "biogpt", "blenderbot", "blenderbot-small", "camembert", "clip_text_model", "clip_vision_model",
    "distilbert", "electra", "gpt2", "gpt_bigcode", "gpt_neo", "layoutlmv3", "led", "longformer", "m2m_100", "marian", "mbart",
    "mpnet", "opt", "pegasus", "roberta", "siglip2_text_model", "siglip_text_model", "siglip_vision_model", "vit_mae",
    "whisper", "xglm", "xlm-roberta",
}
# Tables that are parameters, or interpolated to the image.
SHAPE_TYPES = {"dinov2", "internvl_vision", "siglip2_vision_model", "vit"}
ALIBI_TYPES = {"bloom", "falcon", "mpt"}
BUCKET_TYPES = {"longt5", "t5", "mt5", "umt5"}
# Buckets beside a table, of one bias for all layers.
COMMON_BUCKET_TYPES = {"layoutlmv3", "mpnet"}
BOXES = "[hwxy]_position_embeddings"  # of places on a page


def table_claim(module_name, dim, rows, first_row):
    claim = {"operation": "encode", "dim": dim, "rows": rows, "first_row": first_row}
    stack = module_name.split(".")[0]
    if stack in ("encoder", "decoder"):
        claim["stack"] = stack
    return claim


def ends_of_rows(table, positions):
    rows = table.detach().double()[positions]
    return {
        "positions": positions,
        "values": torch.cat([rows[:, :END_CHANNELS], rows[:, -END_CHANNELS:]], dim=1).tolist(),
    }


def is_sinusoidal(table):
    """Whether the squares of each row sum up to half the width, as those of as many sines as cosines do."""
    squares = (table.double() ** 2).sum(dim=1)
    return bool(((squares - table.shape[1] / 2).abs() < 1e-3 * table.shape[1]).all())


def rows_of(table, vectors):
    """The rows that are nearest to the vectors."""
    return [int((table - vector).abs().amax(dim=1).argmin()) for vector in vectors]


def table_in(module):
    return getattr(module, "weight", getattr(module, "weights", None))


def outputs_of_tables(model, inputs):
    """What each module with a table of positions puts out first, by its name."""
    outputs = {}
    handles = [
        module.register_forward_hook(lambda _module, _inputs, output, name=name: outputs.setdefault(name, output))
        for name, module in model.named_modules()
        if re.search("position|wpe|pos_emb", name.split(".")[-1]) and table_in(module) is not None
        and not re.fullmatch(BOXES, name.split(".")[-1])
    ]
    with torch.no_grad():
        model(**inputs)
    for handle in handles:
        handle.remove()
    return outputs


def inputs_of(config):
    if config.model_type in ("clip_vision_model", "siglip_vision_model"):
        return {"pixel_values": torch.zeros(1, 3, config.image_size, config.image_size)}
    if config.model_type in ("clip_text_model", "siglip2_text_model", "siglip_text_model"):
        return {"input_ids": token_ids(min(TOKENS, config.max_position_embeddings))}
    if config.model_type == "whisper":
        features = torch.zeros(1, config.num_mel_bins, 2 * config.max_source_positions)
        return {"input_features": features, "decoder_input_ids": token_ids(TOKENS)}
    if config.is_encoder_decoder:
        return {"input_ids": token_ids(TOKENS), "decoder_input_ids": token_ids(TOKENS)}
    return {"input_ids": token_ids(TOKENS)}


def table_claims(full_config):
    if full_config.model_type == "vit_mae":
        return grid_table_claims(full_config)
    config = copy.deepcopy(full_config)
    shrunk.shrink_special_tokens(config)
    set_present(config, vocab_size=shrunk.VOCABULARY, num_hidden_layers=1, encoder_layers=1, decoder_layers=1)
    set_present(config, intermediate_size=32, ffn_dim=32, encoder_ffn_dim=32, decoder_ffn_dim=32)
    if getattr(config, "attention_window", None):  # of each layer
        config.attention_window = config.attention_window[:1]
    model = shrunk.build(config)
    claims = []
    for name, output in outputs_of_tables(model, inputs_of(config)).items():
        table = table_in(model.get_submodule(name)).detach()
        vectors = output if output.dim() == 2 else output[0]
        first_row, *next_rows = rows_of(table, vectors[:3])
        if next_rows != [first_row + 1, first_row + 2]:
            raise MeasurementError(f"{name} puts out rows {first_row}, {next_rows}")
        claim = table_claim(name, table.shape[1], table.shape[0], first_row)
        if is_sinusoidal(table[first_row:]):
            claim |= ends_of_rows(vectors, POSITIONS)
        claims.append(claim)
    return claims + (common_bucket_claims(full_config) if config.model_type in COMMON_BUCKET_TYPES else [])


def grid_table_claims(full_config):
    config = copy.deepcopy(full_config)
    set_present(config, num_hidden_layers=1, decoder_num_hidden_layers=1, mask_ratio=0.0)
    model = ViTMAEForPreTraining._from_config(config)
    embeddings = model.vit.embeddings
    patches = embeddings.patch_embeddings
    # The tables of a new model are zero, since they come with the weights; the modules' own initialisation fills them.
    for item in (patches.projection, *model.parameters()):
        item._is_hf_initialized = False
    with torch.no_grad():
        embeddings.initialize_weights()
        model.decoder.initialize_weights(patches.num_patches)
        for silent in (*patches.parameters(), embeddings.cls_token):
            silent.zero_()
        image = torch.zeros(1, config.num_channels, config.image_size, config.image_size)
        vectors = embeddings(image, noise=torch.arange(patches.num_patches, dtype=torch.float)[None])[0][0]
    tables = {"embeddings": vectors, "decoder": model.decoder.decoder_pos_embed[0]}
    return [
        table_claim(name, table.shape[1], table.shape[0], 0) | ends_of_rows(table, POSITIONS_OF_GRID)
        for name, table in tables.items()
    ]


def parameter_claims(model):
    """Of tables beside a rotation only the shape: what reads them interpolates or goes by coordinates."""
    return [
        {"operation": "encode", "dim": parameter.shape[-1], "rows": parameter.shape[-2]}
        for name, parameter in model.named_parameters()
        if re.search("pos(ition)?(al)?_?emb", name) and parameter.dim() >= 2
    ]


def log_probabilities(attention):
    """Of the first sequence: head, query, key; a bias up to a constant of each query."""
    return torch.log(attention[0].double())


def measured_slopes(attention):
    """How fast the last query's scores fall with the distance of the key, for each head."""
    scores = log_probabilities(attention)[:, -1]
    distances = torch.arange(scores.shape[1] - 1, 0, -1)
    return ((scores[:, -1:] - scores[:, :-1]) / distances).median(dim=1).values


def built_slopes(model, heads):
    """Those of the bias that the model makes: what it is one position away."""
    mask = torch.ones(1, SEQUENCE_OF_ALIBI, dtype=torch.long)
    if model.config.model_type == "mpt":
        bias = model.build_mpt_alibi_tensor(heads, SEQUENCE_OF_ALIBI, model.config.attn_config.alibi_bias_max)
    elif model.config.model_type == "bloom":
        bias = model.build_alibi_tensor(mask, heads, torch.float32)
    else:
        bias = sys.modules[type(model).__module__].build_alibi_tensor(mask, heads, torch.float32)
    return bias.reshape(heads, -1).double().abs().sort(dim=1).values[:, 1]


def alibi_claims(full_config):
    config = copy.deepcopy(full_config)
    heads = config.num_attention_heads
    width = HEAD_WIDTH_OF_ALIBI * heads
    set_present(config, vocab_size=shrunk.VOCABULARY, hidden_size=width, ffn_hidden_size=32, expansion_ratio=1)
    config.num_hidden_layers = 2
    model = shrunk.build(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if re.search("query_key_value|Wqkv", name):
                parameter.zero_()
        output = model(input_ids=token_ids(SEQUENCE_OF_ALIBI), output_attentions=True, use_cache=False)
    slopes = built_slopes(model, heads)
    is_falcon = config.model_type == "falcon"
    for attention in output.attentions:
        factors = measured_slopes(attention) / slopes
        # Falcon adds it twice in eager attention, divides it by the root of the head's width like the score, and has
        # rounded it to bfloat16.
        expected = factors.median() if is_falcon else torch.ones_like(slopes[0])
        if not torch.allclose(factors, expected, rtol=1e-2 if is_falcon else 1e-4):
            raise MeasurementError("the scores do not fall by the slopes that the model builds")
    return [{"operation": "bias", "layers": list(range(full_config.num_hidden_layers)), "slopes": slopes.tolist()}]


def measured_buckets(attentions):
    """By the key's position less the query's; the same in every layer and head, up to a constant."""
    buckets = {}
    for attention in attentions:
        scores = log_probabilities(attention) / BUCKET_STEP
        for query in (0, LARGEST_DISTANCE // 2, LARGEST_DISTANCE):
            for head_scores in scores[:, query] - scores[:, query, query, None]:
                for key in head_scores.isfinite().nonzero().flatten().tolist():
                    bucket = round(head_scores[key].item())
                    is_whole = abs(head_scores[key].item() - bucket) < 1e-2
                    if not is_whole or buckets.setdefault(key - query, bucket) != bucket:
                        raise MeasurementError(f"bucket of {key - query} differs between queries, heads or layers")
    return buckets


def bucket_claim(buckets, bucket_of_zero, **rest):
    known = [buckets[relative] + bucket_of_zero for relative in sorted(buckets)]
    return {"operation": "bias", **rest, "buckets": known, "relative_positions": [min(buckets), max(buckets)]}


def common_bucket_claims(full_config):
    """Of an encoder whose layers share one bias of a table's rows, which are asked for by the attention's scores."""
    if not getattr(full_config, "has_relative_attention_bias", True):
        return []
    config = copy.deepcopy(full_config)
    shrunk.shrink_special_tokens(config)
    set_present(config, vocab_size=shrunk.VOCABULARY, num_hidden_layers=2, intermediate_size=32)
    model = shrunk.build(config)
    divisor = 1.0
    with torch.no_grad():
        if config.model_type == "layoutlmv3":
            table = model.encoder.rel_pos_bias.weight  # a row for each head
            divisor = math.sqrt(config.hidden_size / config.num_attention_heads)
            table.copy_(divisor * BUCKET_STEP * torch.arange(table.shape[1])[None].expand_as(table))
        else:
            table = model.encoder.relative_attention_bias.weight
            table.copy_(BUCKET_STEP * torch.arange(len(table))[:, None].expand_as(table))
        for name, parameter in model.named_parameters():
            if re.search(r"\.(q|query)\.(weight|bias)$", name):
                parameter.zero_()
        output = model(input_ids=token_ids(LARGEST_DISTANCE + 1), output_attentions=True)
    # Bucket 0 is that of distance 0 in a table of both directions.
    return [bucket_claim(measured_buckets(output.attentions), 0, layers=list(range(full_config.num_hidden_layers)))]


def buckets_of_blocks(bias):
    """LongT5's encoder: the bias of a block of queries and the three blocks of keys around it."""
    length = LARGEST_DISTANCE // 2
    scores = bias.compute_bias(length)[0, 0, 0] / BUCKET_STEP
    return {
        key - length - query: round(scores[query, key].item()) for query in range(length) for key in range(3 * length)
    }


def bucket_claims(full_config):
    config = copy.deepcopy(full_config)
    set_present(config, vocab_size=shrunk.VOCABULARY, d_ff=32)
    config.num_layers = config.num_decoder_layers = 2
    model = shrunk.build(config)
    claims = []
    layers = {"encoder": full_config.num_layers, "decoder": full_config.num_decoder_layers}
    for name, layer_count in layers.items():
        stack = getattr(model, name)
        if full_config.model_type == "longt5" and name == "encoder":
            bias = next(module for module in stack.modules() if getattr(module, "has_relative_attention_bias", False))
            with torch.no_grad():
                table = bias.relative_attention_bias.weight
                table.copy_(BUCKET_STEP * torch.arange(len(table))[:, None].expand_as(table))
                buckets = buckets_of_blocks(bias)
            claims.append(bucket_claim(buckets, 0, stack=name, layers=list(range(layer_count))))
            continue
        bias = stack.block[0].layer[0].SelfAttention
        inputs = {} if name == "encoder" else {"encoder_hidden_states": torch.zeros(1, 3, config.d_model)}
        with torch.no_grad():
            for block in stack.block:
                attention = block.layer[0].SelfAttention
                attention.q.weight.zero_()
                if attention.has_relative_attention_bias:  # T5's first layer, each of UMT5's
                    table = attention.relative_attention_bias.weight
                    table.copy_(BUCKET_STEP * torch.arange(len(table))[:, None].expand_as(table))
            input_ids = token_ids(LARGEST_DISTANCE + 1)
            output = stack(input_ids=input_ids, output_attentions=True, use_cache=False, **inputs)
            bucket_of_zero = round(bias.compute_bias(1, 1)[0, 0, 0, 0].item() / BUCKET_STEP)
        buckets = measured_buckets(output.attentions)
        claims.append(bucket_claim(buckets, bucket_of_zero, stack=name, layers=list(range(layer_count))))
    return claims
