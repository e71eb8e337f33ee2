"""torchtitan: CosSinRoPE in halves and ComplexRoPE of neighbours."""

import functools

import torch
from sextant.library import absent, only, shell, versions

shell("torchtitan", "torchtitan.models", "torchtitan.models.common")
absent("spmd_types", "torchtitan.protocols", "torchtitan.protocols.module")
import sys

sys.modules["spmd_types"].no_typecheck = lambda: lambda function: function
sys.modules["spmd_types"].local_map = lambda **named: lambda function: function
sys.modules["torchtitan.protocols.module"].Module = type("Module", (torch.nn.Module,), {"Config": type("Config", (), {})})
from torchtitan.models.common.rope import ComplexRoPE, CosSinRoPE

framework = "torch"
name, version = "torchtitan CosSinRoPE and ComplexRoPE", versions("torchtitan", "torch")
torch.set_num_threads(1)


@functools.lru_cache(maxsize=None)
def module(kind, dim, length, base, *rule):
    return kind(kind.Config(dim=dim, max_seq_len=length, theta=base, **dict(rule)))


@only("head_dim", "rope_theta", "pairing", "dtype", rope_scaling=(None, "llama3", "yarn"))
def rotate(x, positions, spec):
    rule = spec["rope_scaling"] or {"rope_type": "default"}
    kind = ComplexRoPE if spec["pairing"] == "interleaved" else CosSinRoPE
    fields = {}
    if rule["rope_type"] == "llama3":
        if kind is CosSinRoPE:
            return None
        fields = {"scaling": "llama", "scaling_factor": rule["factor"], "low_freq_factor": rule["low_freq_factor"], "high_freq_factor": rule["high_freq_factor"],
                  "original_max_position_embeddings": rule["original_max_position_embeddings"]}
    if rule["rope_type"] == "yarn":
        if rule["attention_factor"] != 1:  # which the model folds into its softmax
            return None
        fields = {"scaling": "yarn", "rope_factor": rule["factor"], "beta_fast": rule["beta_fast"], "beta_slow": rule["beta_slow"], "truncate": rule["truncate"],
                  "original_seq_len": rule["original_max_position_embeddings"]}
    return module(kind, spec["head_dim"], spec["max_position"], spec["rope_theta"], *sorted(fields.items()))(x, x, positions)[0]
