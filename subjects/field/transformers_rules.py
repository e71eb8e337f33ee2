"""What the adapters of transformers share: a claim as the fields of a model's configuration."""

from sextant.library import versions

RULES = (None, "linear", "dynamic", "yarn", "longrope", "llama3")
version = versions("transformers", "torch")


def configured(config_class, spec, **more):
    """A configuration of two heads of the claim's width, with its rule of scaling."""
    rule = {key: value for key, value in (spec["rope_scaling"] or {"rope_type": "default"}).items() if value is not None and key != "length_scope"}
    # `dynamic` measures a call against the model's own length.
    longest = rule.pop("original_max_position_embeddings") if rule["rope_type"] == "dynamic" else spec["max_position"]
    rule["rope_theta"] = spec["rope_theta"]
    # GPT-NeoX' own default is a quarter.
    if spec["rotary_dim"] != spec["head_dim"] or config_class.__name__ == "GPTNeoXConfig":
        rule["partial_rotary_factor"] = spec["rotary_dim"] / spec["head_dim"]
    return config_class(hidden_size=2 * spec["head_dim"], num_attention_heads=2, head_dim=spec["head_dim"], max_position_embeddings=longest,
                        **{"rope_parameters": rule, **more})


def key_of(spec):
    """What a module depends on."""
    return str({key: value for key, value in spec.items() if key not in ("dtype", "accuracy", "evaluation", "min_position")})
