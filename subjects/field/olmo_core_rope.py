"""OLMo-core: RotaryEmbedding with its rules of scaling."""

import torch
from sextant.library import absent, called, only, shell, versions

shell("olmo_core", "olmo_core.nn")
absent("olmo_core.config", "olmo_core.exceptions", "olmo_core.utils", "olmo_core.nn.config")
from olmo_core.nn import rope

framework = "torch"
name, version = "OLMo-core RotaryEmbedding", versions("ai2-olmo-core", "torch")
torch.set_num_threads(1)
modules = {}


def scaling(rule):
    if rule is None or rule["rope_type"] == "default":
        return None
    if rule["rope_type"] == "linear":
        return rope.PIRoPEScalingConfig(factor=rule["factor"])
    if rule["rope_type"] == "yarn":
        return rope.YaRNRoPEScalingConfig(factor=rule["factor"], beta_fast=rule["beta_fast"], beta_slow=rule["beta_slow"],
                                          old_context_len=rule["original_max_position_embeddings"])
    return rope.StepwiseRoPEScalingConfig(factor=rule["factor"], low_freq_proportion=1 - 1 / rule["low_freq_factor"],
                                          high_freq_proportion=1 / rule["high_freq_factor"], old_context_len=rule["original_max_position_embeddings"])


@called(positions="offset")
@only("head_dim", "rotary_dim", "rope_theta", "dtype", rope_scaling=(None, "linear", "yarn", "llama3"))
def rotate(x, start, spec):
    rule = spec["rope_scaling"]
    if rule and rule["rope_type"] == "yarn" and (not rule["truncate"] or rule["mscale"] or rule["attention_factor"]):
        return None
    key = (spec["head_dim"], spec["rotary_dim"], spec["rope_theta"], str(rule))
    if key not in modules:
        modules[key] = rope.RotaryEmbedding(head_size=spec["head_dim"], theta=spec["rope_theta"], scaling=scaling(rule),
                                            partial_rotary_factor=spec["rotary_dim"] / spec["head_dim"])
    return modules[key](x, x, head_first=False, start_pos=start)[0]
