"""rotary-embedding-torch: RotaryEmbedding.rotate_queries_or_keys, whose cache is filled by calls from position 0."""

import functools

import torch
from rotary_embedding_torch import RotaryEmbedding
from sextant.library import called, only, versions

framework = "torch"
name, version = "rotary-embedding-torch RotaryEmbedding", versions("rotary-embedding-torch", "torch")
torch.set_num_threads(1)
module = functools.lru_cache(maxsize=None)(RotaryEmbedding)


@called(layout="bhnd", positions="offset")
@only("head_dim", "rotary_dim", "rope_theta", "dtype", pairing="interleaved", rope_scaling=(None, "linear", "ntk"))
def rotate(x, start, spec):
    rule = spec["rope_scaling"] or {"rope_type": "default"}
    factor = rule.get("factor", 1.0)
    how = {"ntk": {"theta_rescale_factor": factor}, "linear": {"interpolate_factor": factor}}.get(rule["rope_type"], {})
    return module(spec["rotary_dim"], theta=spec["rope_theta"], **how).rotate_queries_or_keys(x, offset=start).detach()
