"""What transformers makes of a null in each field of a config.json that a reading may depend on.

A configuration class may take a null for an absent field, take it as it is, or refuse it; where it takes it, the model
may still fail when it is built or run. Each model_type is asked once, of the first file that states it.
"""

import json
import pathlib
import tempfile

import shrunk

# The fields that a reading asks for, and those that classes check though no position depends on them.
FIELDS = """
    alibi attn_config attn_scale attn_temperature_tuning attn_type bi_data clamp_len d_kv d_model
    decoder_hidden_size depths dtype embed_dim embedding_size encoder_attention_type
    floor_scale full_attention_interval full_attn_idxs global_attn_every_n_layers global_head_dim global_rope_theta
    has_relative_attention_bias head_dim hidden_size image_size in_channels in_chans layer_types linear_attn_config local_attention
    local_rope_theta max_position_embeddings max_rel_pos max_relative_positions max_seq_len max_source_positions
    max_target_positions max_window_layers merge_kernel_size n_embd n_embed n_head n_heads n_layer n_layers n_positions
    no_rope_layer_interval no_rope_layers num_attention_heads num_channels num_heads num_hidden_layers
    num_key_value_heads num_kv_heads num_layers
    num_register_tokens original_max_position_embeddings pad_token_id
    partial_rotary_factor patch_size pos_att_type pos_emb_height pos_emb_width position_biased_input position_buckets
    position_embedding_size position_embedding_type pretrained_window_sizes qk_nope_head_dim qk_rope_head_dim
    rel_pos_bins relative_attention relative_attention_max_distance relative_attention_num_buckets rope_interleave
    rope_local_base_freq rope_parameters rope_scaling rope_theta rotary rotary_dim rotary_emb_base rotary_pct
    sliding_window sliding_window_pattern spatial_merge_size temporal_patch_size use_absolute_embeddings
    use_absolute_position_embeddings use_relative_position_bias use_shared_relative_position_bias use_sliding_window
    v_head_dim vt_hidden_size vt_num_attention_heads window_size
""".split()


# Its figures in measured.json follow from its formula: transformers does not run its files.
NOT_MEASURED = {"phimoe"}


def fields_of(part_config, stated):
    """Those of FIELDS that the class knows, by another name or not, or the file states."""
    return [name for name in FIELDS if name in stated or is_known(part_config, name)]


def is_known(part_config, name):
    try:
        return hasattr(part_config, name)
    except Exception:  # where layers have each a value of their own
        return True


def object_at(whole, path):
    for name in path:
        whole = whole[name]
    return whole


def path_of(whole, key):
    """Where the file has the part; nothing where the part's fields are not in an object of their own."""
    if not key:
        return []
    path = ["thinker_config", key] if "thinker_config" in whole else [key]
    return path if isinstance(whole.get(path[0]), dict) and key in object_at(whole, path[:-1]) else None


def outcomes_of(path, asked_types, measure):
    """By the field's path: "refused", "unchanged", or the claims that are made instead; and what was not measured."""
    whole = json.loads(path.read_text())
    outcomes, failures = {}, []
    try:
        parts = shrunk.parts_of(shrunk.load(path))
    except Exception:  # of a file that transformers refuses there is nothing to ask
        return outcomes, failures
    for key, part_config in parts.items():
        place = path_of(whole, key)
        if place is None or part_config.model_type in asked_types | NOT_MEASURED:
            continue
        known_claims = [claim for claim in measure(path)["claims"] if claim["part"] == key]
        if is_refused(known_claims):
            continue
        asked_types.add(part_config.model_type)
        for name in fields_of(part_config, object_at(whole, place)):
            dotted = ".".join([*place, name])
            try:
                claims = claims_with_null(whole, place, name, measure)
            except shrunk.MeasurementError as error:
                failures.append(f"{path.name}: {dotted}: not measured: {error}")
                continue
            except (AttributeError, TypeError):  # what the measuring computes of it as the class does
                outcomes[dotted] = "refused"
                continue
            outcomes[dotted] = outcome(claims, known_claims, key)
    return outcomes, failures


def claims_with_null(whole, place, name, measure):
    changed = json.loads(json.dumps(whole))
    object_at(changed, place)[name] = None
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "config.json"
        copy.write_text(json.dumps(changed))
        return measure(copy)["claims"]


def is_refused(claims):
    return any(claim["operation"] == "error" for claim in claims)


def outcome(claims, known_claims, key):
    own = [claim for claim in claims if claim["part"] in ("", key)]
    if is_refused(own):
        return "refused"
    return "unchanged" if own == known_claims else own


def text_of(outcomes):
    """JSON with one field a line."""
    texts = []
    for name, fields in sorted(outcomes.items()):
        lines = ",\n  ".join(f"{json.dumps(field)}: {json.dumps(what, separators=(',', ':'))}"
                             for field, what in sorted(fields.items()))
        texts.append(f" {json.dumps(name)}: {{\n  {lines}}}")
    return "{\n" + ",\n".join(texts) + "\n}\n"
