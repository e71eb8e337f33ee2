"""Loads a config.json, shrinks what does not act on positions, builds the model, and makes inputs to run it with.

The number of layers stays. The number of heads and the hidden size shrink together, so that the head's width stays;
the vocabulary, feed-forward layers, experts and low ranks shrink alone. `check_against_full` fails if that changed a
frequency or the width of a head.
"""

import copy
import dataclasses
import importlib
import math
import re

import numpy as np
import torch
from transformers import AutoConfig, AutoModel

VOCABULARY = 128

SMALL_SIZES = {
    **dict.fromkeys(("vocab_size", "vocab_size_per_layer_input"), VOCABULARY),
    **dict.fromkeys(("intermediate_size", "intermediate_size_mlp", "ffn_dim", "n_inner", "block_ff_dim"), 32),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size", "q_lora_rank", "kv_lora_rank"), 32),
    **dict.fromkeys(("num_experts", "n_routed_experts", "num_local_experts"), 4),
    **dict.fromkeys(("num_experts_per_tok", "num_experts_per_token", "top_k_experts"), 2),
    **dict.fromkeys(("n_group", "topk_group", "num_expert_group"), 1),
    **dict.fromkeys(("linear_key_head_dim", "linear_value_head_dim"), 16),
    **{"linear_num_key_heads": 1, "linear_num_value_heads": 2, "linear_num_heads": 2},
}

# CodeGen splits its heads into four groups; the experts of GPT-OSS need aligned rows.
HEADS = {"codegen": 4, "gpt_oss": 16}

# Towers that AutoModel does not know by their configuration.
TOWERS = {
    "Llama4VisionConfig": "Llama4VisionModel",
    "Qwen2VLVisionConfig": "Qwen2VisionTransformerPretrainedModel",
    "Qwen2_5OmniAudioEncoderConfig": "Qwen2_5OmniAudioEncoder",
    "Qwen2_5OmniTextConfig": "Qwen2_5OmniThinkerTextModel",
    "Qwen2_5OmniVisionEncoderConfig": "Qwen2_5OmniVisionEncoder",
    "Qwen3OmniMoeAudioEncoderConfig": "Qwen3OmniMoeAudioEncoder",
    "Qwen3OmniMoeTextConfig": "Qwen3OmniMoeThinkerTextModel",
    "Qwen3OmniMoeVisionEncoderConfig": "Qwen3OmniMoeVisionEncoder",
    "Siglip2TextConfig": "Siglip2TextModel",
    "SiglipTextConfig": "SiglipTextModel",
}

POSITIONS = [0, 1, 2, 3, 5, 8, 13, 21, 50, 100, 333, 777, 1000]
POSITIONS_OF_THREE_AXES = [
    [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [2, 0, 0], [0, 2, 0], [0, 0, 2], [3, 7, 5], [11, 2, 9], [50, 60, 70],
    [100, 90, 80], [333, 300, 310], [777, 1000, 500],
]
PATCH_ROWS = 8
PATCH_COLUMNS = 12


class MeasurementError(Exception):
    """What was measured is not what the measuring takes for granted."""


@dataclasses.dataclass
class Inputs:
    """The arguments of a forward pass, and where its tokens are."""

    arguments: dict
    token_count: int
    coordinates: np.ndarray | None = None  # tokens times axes; None: those that the model hands to its rotary module
    first_token: int = 0  # the token of the first coordinates
    frequency_unit: float = 1.0  # of the model's frequencies, in radians
    sequence_length: int | None = None  # given where the rule depends on it


def load(path):
    return AutoConfig.from_pretrained(path)


def parts_of(config):
    """The configurations of the text and vision towers by their key, or the whole one by the empty key."""
    holder = getattr(config, "thinker_config", config)
    parts = {key: getattr(holder, key, None) for key in ("text_config", "vision_config")}
    if config.model_type == "gemma3n":
        del parts["vision_config"]  # a tower of timm's, which no reading has
    return {key: part for key, part in parts.items() if part is not None} or {"": config}


def set_present(config, **values):
    """Sets the fields that the configuration has and that are not null."""
    for name, value in values.items():
        if getattr(config, name, None) is not None:
            setattr(config, name, value)


def shrink_special_tokens(config):
    for name in ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id", "forced_eos_token_id"):
        token = getattr(config, name, None)
        if isinstance(token, int) and token >= VOCABULARY:
            setattr(config, name, 0)


def shrink_heads(config):
    width_name = "embed_dim" if type(config).__name__ == "Qwen2VLVisionConfig" else "hidden_size"
    width = getattr(config, width_name)
    heads = config.num_attention_heads
    small_heads = HEADS.get(config.model_type, 2)
    if config.model_type == "gemma4_text":
        # Its kinds of layers have different numbers of key-value heads, and their widths of a head are explicit.
        config.hidden_size = 64
        return
    if heads <= small_heads:
        return
    if width % heads == 0:
        setattr(config, width_name, width // heads * small_heads)
    else:
        setattr(config, width_name, 64)  # only an explicit width of a head leaves no whole quotient
    config.num_attention_heads = small_heads
    for name in ("num_key_value_heads", "num_kv_heads"):
        key_value_heads = getattr(config, name, None)
        set_present(config, **{name: small_heads if key_value_heads == heads else 1})


def shrink(full_config):
    config = copy.deepcopy(full_config)
    shrink_heads(config)
    set_present(config, use_cache=False, **SMALL_SIZES)
    if config.model_type == "llama4_text":
        config.num_experts_per_tok = 1
    if config.model_type == "dbrx":
        config.attn_config.kv_n_heads = 1
        config.ffn_config.hidden_size = config.hidden_size
        config.ffn_config.ffn_hidden_size, config.ffn_config.moe_num_experts, config.ffn_config.moe_top_k = 32, 2, 1
    if config.model_type == "gemma3n_text":
        config.intermediate_size = [32] * config.num_hidden_layers
    if getattr(config, "mamba_n_heads", None) and not getattr(config, "mamba_d_ssm", None):
        config.mamba_n_heads = config.mamba_expand * config.hidden_size // config.mamba_d_head
    if type(config).__name__ == "Llama4VisionConfig":
        config.intermediate_size = 4 * config.hidden_size  # what its pixel shuffle makes of a patch
        set_present(config, projector_input_dim=32, projector_output_dim=32, vision_output_dim=32)
    if getattr(config, "hidden_size_per_layer_input", None):
        config.hidden_size_per_layer_input = 8
    shrink_special_tokens(config)
    return config


def build(config):
    arguments = {"attn_implementation": "eager", "dtype": torch.float32}
    tower = TOWERS.get(type(config).__name__)
    if tower is None:
        return AutoModel.from_config(config, **arguments).eval()
    modeling = importlib.import_module(type(config).__module__.replace("configuration_", "modeling_"))
    return getattr(modeling, tower)._from_config(config, **arguments).eval()


def build_without_values(config):
    """The model with shapes only: it may be as large as the file says."""
    with torch.device("meta"):
        return build(config)


def is_rotary(module):
    return re.search("Rotary|Rope", type(module).__name__) is not None


def frequency_buffers(module):
    """The inverse frequencies by name, without the copies that rules keep of those they began with."""
    buffers = module.named_buffers()
    return {name: buffer for name, buffer in buffers if "inv_freq" in name and "original" not in name}


def widths_of_heads(model):
    attentions = [module for module in model.modules() if "ttention" in type(module).__name__]
    widths = [getattr(module, "head_dim", None) for module in attentions]
    return {width for width in widths if isinstance(width, int)}


def check_against_full(model, full_model, full_config):
    """Fails unless the shrunk model has the frequencies and the widths of heads of the full one."""
    for module in filter(is_rotary, model.modules()):
        buffers = frequency_buffers(module)
        if not buffers:
            continue
        full_buffers = frequency_buffers(type(module)(full_config))
        if not all(torch.equal(buffer, full_buffers[name]) for name, buffer in buffers.items()):
            raise MeasurementError("shrinking changed the frequencies")
    if widths_of_heads(model) != widths_of_heads(full_model):
        raise MeasurementError("shrinking changed the width of a head")


def token_ids(count):
    return torch.arange(count)[None] % 90 + 5


def text_inputs(positions, sequence_length=None):
    coordinates = np.array(positions, dtype=float).reshape(len(positions), -1)
    position_ids = torch.tensor(positions)
    # One row of positions, or one for each axis.
    position_ids = position_ids[None] if position_ids.dim() == 1 else position_ids.T[:, None].contiguous()
    arguments = {"input_ids": token_ids(len(positions)), "position_ids": position_ids}
    return Inputs(arguments, len(positions), coordinates, sequence_length=sequence_length)


def largest_positions_to_tell(config, rope_parameters):
    """One largest position for each case of a rule that depends on the sequence's length."""
    entries = [rope_parameters, *rope_parameters.values()]
    rules = {entry.get("rope_type") for entry in entries if isinstance(entry, dict)}
    if "longrope" in rules:
        return [POSITIONS[-1], rope_parameters["original_max_position_embeddings"]]
    if "dynamic" in rules:
        return [POSITIONS[-1], *(times * config.max_position_embeddings - 1 for times in (2, 4))]
    return []


def grid(rows, columns):
    """The row and column of each patch, row by row."""
    return np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2).astype(float)


def both_sides(size):
    """Height and width, which a configuration may state as one number."""
    return [size, size] if isinstance(size, int) else list(size)


def vision_inputs(config):
    patch = config.patch_size if isinstance(config.patch_size, int) else config.patch_size[0]
    count = PATCH_ROWS * PATCH_COLUMNS
    patch_grid = {"grid_thw": torch.tensor([[1, PATCH_ROWS, PATCH_COLUMNS]])}
    kind = type(config).__name__
    if kind == "Kimi_K25VisionConfig":
        return Inputs({"pixel_values": torch.randn(count, 3, patch, patch), **patch_grid}, count)
    if kind == "PixtralVisionConfig":
        return Inputs({"pixel_values": torch.randn(1, 3, PATCH_ROWS * patch, PATCH_COLUMNS * patch)}, count)
    if kind == "Gemma4VisionConfig":
        coordinates = grid(np.arange(9), np.arange(12))  # sides that its pooling by three divides
        pixels = torch.rand(1, len(coordinates), 3 * patch * patch)
        columns_and_rows = torch.tensor(coordinates[None, :, ::-1].copy(), dtype=torch.long)
        arguments = {"pixel_values": pixels, "pixel_position_ids": columns_and_rows}
        return Inputs(arguments, len(coordinates), coordinates)
    if kind == "Llama4VisionConfig":  # counts from one; the class token is last
        side = config.image_size // patch
        arguments = {"pixel_values": torch.randn(1, 3, config.image_size, config.image_size)}
        return Inputs(arguments, side**2 + 1, grid(np.arange(side) + 1, np.arange(side) + 1))
    if kind == "DINOv3ViTConfig":
        sides = [pixels // each for pixels, each in zip(both_sides(config.image_size), both_sides(config.patch_size))]
        arguments = {"pixel_values": torch.randn(1, 3, *both_sides(config.image_size))}
        centers = [(np.arange(side) + 0.5) / side * 2 - 1 for side in sides]  # the image goes from -1 to 1
        prefix = 1 + config.num_register_tokens
        return Inputs(arguments, math.prod(sides) + prefix, grid(*centers), prefix, frequency_unit=2 * math.pi)
    flat_patches = torch.randn(count, config.in_channels * config.temporal_patch_size * patch * patch)
    return Inputs({"hidden_states": flat_patches, **patch_grid}, count)


def inputs_of(config):
    """The inputs to measure a rotation with: one, or one for each case of a rule that depends on the length."""
    if hasattr(config, "patch_size"):
        return [vision_inputs(config)]
    rope_parameters = getattr(config, "rope_parameters", None) or {}
    if "mrope_section" in rope_parameters:
        return [text_inputs(POSITIONS_OF_THREE_AXES)]
    largest_positions = largest_positions_to_tell(config, rope_parameters)
    if not largest_positions:
        return [text_inputs(POSITIONS)]
    return [text_inputs([*POSITIONS[:-1], largest], largest + 1) for largest in largest_positions]
