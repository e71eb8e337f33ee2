"""Measures windows of images, codes of images, and sinusoids of distances and of sound.

A bias of a window is read off its table's row numbers; coordinates and sinusoids are what the modules themselves make.
"""

import importlib

import torch

import additions
import shrunk
from shrunk import MeasurementError, set_present

BIAS_TYPES = {"beit", "data2vec-vision", "donut-swin", "maskformer-swin", "swin"}
CODE_TYPES = {"conditional_detr", "deformable_detr", "detr", "table-transformer"}
SOUND_TYPES = {"qwen2_5_omni_audio_encoder", "qwen2_audio_encoder", "qwen3_omni_moe_audio_encoder"}
TYPES = BIAS_TYPES | CODE_TYPES | SOUND_TYPES | {"swinv2", "xlnet"}

CELLS = (5, 7)  # rows and columns of an image that DETR's code is measured of
POSITIONS_OF_SOUND = [0, 1, 7, 100]


def modeling_of(config):
    return importlib.import_module(type(config).__module__.replace("configuration_", "modeling_"))


def shrunk_image_model(full_config):
    config = type(full_config)(**full_config.to_dict())
    set_present(config, num_hidden_layers=2, hidden_size=24, num_attention_heads=2, intermediate_size=32)
    if config.model_type in ("beit", "data2vec-vision"):
        config.layer_scale_init_value = 0.1
        config.out_indices = config.segmentation_indices = [1, 2, 1, 2] if hasattr(config, "segmentation_indices") else [1]
    if hasattr(config, "depths"):
        config.embed_dim = 12
        config.num_heads = [1] * len(config.depths)
        config.depths = [min(depth, 2) for depth in config.depths]
    return config


def run(model, config):
    sides = shrunk.both_sides(config.image_size)
    with torch.no_grad():
        model(pixel_values=torch.randn(1, 3, *sides))


def rows_of_bias(model, config):
    """The table's row for each query and key, as every module with a table has it in a forward pass."""
    found = []
    modules = [module for module in model.modules() if hasattr(module, "relative_position_bias_table")]
    for module in modules:
        with torch.no_grad():
            rows = torch.arange(len(module.relative_position_bias_table), dtype=torch.float)
            module.relative_position_bias_table.copy_(rows[:, None].expand_as(module.relative_position_bias_table))
    for module in modules:
        if hasattr(module, "relative_position_index"):
            index = module.relative_position_index
            side = round(index.numel() ** 0.5)
            rows = index.reshape(side, side)
        else:
            patches = [side // config.patch_size for side in shrunk.both_sides(config.image_size)]
            with torch.no_grad():
                rows = module(tuple(patches), dim_size=patches[0] * patches[1] + 1)[0, 0].round().long()
        found.append((rows, len(module.relative_position_bias_table)))
    if any(not torch.equal(rows, found[0][0]) for rows, _ in found):
        raise MeasurementError("layers have biases of different windows")
    return found


def bias_claims(full_config):
    config = shrunk_image_model(full_config)
    model = shrunk.build(config)
    run(model, config)
    claims = []
    found = rows_of_bias(model, config)
    if found:
        rows, table_rows = found[0]
        tokens = len(rows)
        queries = sorted({0, 1, tokens // 2, tokens - 1})
        claims.append(
            {"operation": "bias", "rows": table_rows, "queries": queries, "buckets": [rows[q].tolist() for q in queries]}
        )
    full = shrunk.build_without_values(full_config)
    return claims + additions.parameter_claims(full)


def coordinate_claims(full_config):
    config = shrunk_image_model(full_config)
    model = shrunk.build(config)
    run(model, config)
    claims = []
    first = 0
    for depth, stage in zip(full_config.depths, model.encoder.layers):
        table = stage.blocks[0].attention.self.relative_coords_table[0] if hasattr(
            stage.blocks[0].attention, "self") else stage.blocks[0].attention.relative_coords_table[0]
        reach = (table.shape[0] - 1) // 2
        if not torch.equal(table[:, 0, 0], table[0, :, 1]):
            raise MeasurementError("rows and columns have different coordinates")
        claims.append(
            {
                "operation": "encode", "layers": list(range(first, first + depth)),
                "positions": list(range(-reach, reach + 1)), "values": table[:, 0, 0].double().tolist(),
            }
        )
        first += depth
    return claims + additions.parameter_claims(shrunk.build_without_values(full_config))


def code_claims(config):
    """What the code of an image of CELLS is; the model asks for it by its configuration's width alone."""
    modeling = modeling_of(config)
    name = next(name for name in dir(modeling) if name.endswith("SinePositionEmbedding"))
    if config.position_embedding_type != "sine":
        return [{"operation": "encode", "dim": config.d_model, "rows": 50}]
    module = getattr(modeling, name)(config.d_model // 2, normalize=True)
    if config.model_type == "table-transformer":
        code = module(torch.zeros(1, 3, *CELLS), torch.ones(1, *CELLS, dtype=torch.long))
    else:
        code = module((1, 3, *CELLS), "cpu", torch.float32)
    ends = code[0].flatten(1).T.double()[[0, 1, CELLS[1], CELLS[0] * CELLS[1] - 1]]
    return [{"operation": "encode", "dim": config.d_model, "values": ends[:, :8].tolist()}]


def distance_claims(full_config):
    config = type(full_config)(**full_config.to_dict())
    set_present(config, vocab_size=shrunk.VOCABULARY, n_layer=1, d_inner=32)
    model = shrunk.build(config)
    length = additions.TOKENS
    table = model.relative_positional_encoding(length, length)[:, 0]
    # The first row is that of the furthest key.
    places = [1, 2, 50] if config.attn_type == "uni" else [1, 2, 50, -1, -50]
    positions = [0, *places]
    rows = table[[length - position for position in positions]]
    ends = torch.cat([rows[:, : additions.END_CHANNELS], rows[:, -additions.END_CHANNELS :]], dim=1)
    return [
        {"operation": "encode", "dim": table.shape[1], "positions": positions, "values": ends.double().tolist()}
    ]


def sound_claims(full_config):
    config = type(full_config)(**full_config.to_dict())
    set_present(config, encoder_layers=1, encoder_ffn_dim=32)
    model = shrunk.build_without_values(config)
    if config.model_type == "qwen2_audio_encoder":
        rows, width = model.embed_positions.weight.shape
        return [{"operation": "encode", "dim": width, "rows": rows}]
    module = modeling_of(config).SinusoidsPositionEmbedding(config.max_source_positions, config.d_model)
    table = module.positional_embedding
    if model.positional_embedding.positional_embedding.shape != table.shape:
        raise MeasurementError("the model has another table")
    claim = {"operation": "encode", "dim": table.shape[1], "rows": table.shape[0]}
    return [claim | additions.ends_of_rows(table, POSITIONS_OF_SOUND)]


def window_claims(config):
    model_type = config.model_type
    if model_type in BIAS_TYPES:
        return bias_claims(config)
    if model_type in CODE_TYPES:
        return code_claims(config)
    if model_type in SOUND_TYPES:
        return sound_claims(config)
    return coordinate_claims(config) if model_type == "swinv2" else distance_claims(config)
