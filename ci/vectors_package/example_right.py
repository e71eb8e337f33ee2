"""ALiBi of a power of two of heads, causal (Press et al. 2022, section 3), and nothing else."""


def slopes(heads):
    return [2.0 ** (-8 * (head + 1) / heads) for head in range(heads)]


def bias(query_positions, key_positions, spec):
    heads = spec["num_heads"]
    usual = {"mask": "causal", "form": "distance", "bias_max": 8, "slope_dtype": None, "dtype": "float32"}
    if heads & (heads - 1) or any(spec[name] != value for name, value in usual.items()):
        return None
    return [[[-slope * (query - key) for key in key_positions] for query in query_positions] for slope in slopes(heads)]
