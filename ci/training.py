"""The models of ci/experiments: trains them and prints a line of JSON for each model. Needs torch, NumPy and the package `sextant`; ci/experiments provides
all three and is what to run.

A causal transformer of width 64 with 4 heads of 16 channels reads 16 kinds of tokens and is trained on sequences of 64 at most. Tasks:

    before      at each place: the token that stood 3 places before. One layer.
    copy        a b c | a b c: behind the mark, what stood before it, in order. Two layers.
    reversal    a b c | c b a. Two layers.

Codes come from sextant.truth: sinusoidal ones, and cosines and sines of rope and its scaling rules. ALiBi's slopes, T5's buckets and xPos' powers, of which it has
no tables, are their papers' formulas."""

import argparse
import functools
import json
import math
import pathlib
import time

import numpy as np
import sextant
import torch
from torch import nn
from torch.nn import functional

kinds, width, heads, head_dim, trained, longest, back = 16, 64, 4, 16, 64, 1024, 3
lengths = (16, 32, 64, 96, 128, 192, 256, 512, 1024)
encodings = ("none", "learned", "sinusoidal", "rope", "alibi", "t5", "xpos")
plain = {"encoding": "rope", "head_dim": head_dim}


def rule(name, length):
    """The scaling rule that a test at this length calls for; none within the trained length. LongRoPE's search is not done: its list here divides by the factor
    the pairs that did not go full circle in training."""
    factor = length / trained
    if name == "none" or factor <= 1:
        return None
    extent = {"original_max_position_embeddings": trained}
    slow = [factor if trained * 10000 ** (-2 * i / head_dim) < 2 * math.pi else 1 for i in range(head_dim // 2)]
    return {
        "linear": {"rope_type": "linear", "factor": factor},
        "ntk": {"rope_type": "ntk", "factor": factor},
        "dynamic": {"rope_type": "dynamic", "factor": 2, **extent},
        "yarn": {"rope_type": "yarn", "factor": factor, **extent},
        "llama3": {"rope_type": "llama3", "factor": factor, "low_freq_factor": 1, "high_freq_factor": 4, **extent},
        "longrope": {"rope_type": "longrope", "factor": factor, "short_factor": [1] * len(slow), "long_factor": slow, **extent},
    }[name]


rules = ("linear", "ntk", "dynamic", "yarn", "llama3", "longrope")


@functools.cache
def table_of(positions, scaling):
    table = sextant.truth({**plain, "rope_scaling": json.loads(scaling)}, np.array(positions))
    return torch.tensor(table["cos"]), torch.tensor(table["sin"])


def turns(positions, scaling=None):
    """(cosines, sines), each [positions, pairs], from Sextant's oracle."""
    return table_of(tuple(positions.tolist()), json.dumps(scaling))


def rotate(x, cosine, sine, pairing="half"):
    if pairing == "half":
        first, second = x.chunk(2, dim=-1)
        return torch.cat([first * cosine - second * sine, first * sine + second * cosine], dim=-1)
    first, second = x[..., ::2], x[..., 1::2]
    return torch.stack([first * cosine - second * sine, first * sine + second * cosine], dim=-1).flatten(-2)


class Places:
    """What a sequence of `length` tokens is told of its positions: codes to add, turns of queries and of keys, biases."""

    def __init__(self, encoding, length, scaling="none"):
        positions = np.arange(length)
        self.pairing, self.query, self.key, self.slopes, self.buckets, self.code = "half", None, None, None, None, None
        distance = torch.tensor(positions[:, None] - positions[None])
        if encoding == "sinusoidal":
            self.code = torch.tensor(sextant.truth({"encoding": "sinusoidal", "dim": width}, positions))
        if encoding in ("rope", "xpos"):
            self.query = self.key = turns(positions, rule(scaling, length))
        if encoding == "xpos":
            zeta = (2 * torch.arange(head_dim // 2) / head_dim + 0.4) / 1.4
            power = zeta ** (torch.tensor(positions, dtype=torch.float32)[:, None] / 512)
            cosine, sine = self.query
            self.query, self.key = (cosine * power, sine * power), (cosine / power, sine / power)
        if encoding == "alibi":
            self.slopes = -(2.0 ** (-8 * torch.arange(1, heads + 1) / heads))[:, None, None] * distance
        if encoding == "t5":
            near = distance.clamp(min=0)
            far = 16 + (torch.log(near.clamp(min=16) / 16) / math.log(128 / 16) * 16).floor().long()
            self.buckets = torch.where(near < 16, near, far.clamp(max=31))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.project, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.bias = nn.Embedding(32, heads)

    def attention(self, x, places):
        """(weights [batch, heads, queries, keys], values [batch, heads, keys, head_dim])."""
        batch, length, _ = x.shape
        q, k, v = self.project(self.before(x)).view(batch, length, 3, heads, head_dim).permute(2, 0, 3, 1, 4)
        if places.query is not None:
            q, k = rotate(q, *places.query, places.pairing), rotate(k, *places.key, places.pairing)
        scores = q @ k.transpose(-1, -2) / math.sqrt(head_dim)
        if places.slopes is not None:
            scores = scores + places.slopes
        if places.buckets is not None:
            scores = scores + self.bias(places.buckets).permute(2, 0, 1)
        later = torch.ones(length, length, dtype=torch.bool).triu(1)
        return scores.masked_fill(later, -torch.inf).softmax(dim=-1), v

    def forward(self, x, places):
        weights, v = self.attention(x, places)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(x.shape))
        return x + self.mlp(self.after(x))


class Model(nn.Module):
    def __init__(self, encoding, layers):
        super().__init__()
        self.encoding = encoding
        self.tokens, self.positions = nn.Embedding(kinds + 1, width), nn.Embedding(longest, width)
        self.blocks = nn.ModuleList(Block() for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, kinds)

    def embed(self, tokens, places):
        x = self.tokens(tokens)
        if self.encoding == "learned":
            x = x + self.positions.weight[: tokens.shape[1]]
        if places.code is not None:
            x = x + places.code
        return x

    def forward(self, tokens, places):
        x = self.embed(tokens, places)
        for block in self.blocks:
            x = block(x, places)
        return self.head(self.norm(x))


def sample(task, batch, length, generator):
    """(tokens, targets), targets -1 where nothing is asked."""
    if task == "before":
        tokens = torch.randint(kinds, (batch, length), generator=generator)
        targets = torch.full_like(tokens, -1)
        targets[:, back:] = tokens[:, :-back]
        return tokens, targets
    half = length // 2
    word = torch.randint(kinds, (batch, half), generator=generator)
    said = word if task == "copy" else word.flip(1)
    tokens = torch.cat([word, torch.full((batch, 1), kinds), said[:, :-1]], dim=1)
    targets = torch.full_like(tokens, -1)
    targets[:, half:] = said
    return tokens, targets


def accuracy(model, task, places, length, generator, batch):
    tokens, targets = sample(task, batch, length, generator)
    with torch.no_grad():
        found = model(tokens, places).argmax(dim=-1)
    asked = targets >= 0
    return ((found == targets) & asked).sum().item() / asked.sum().item()


def train(task, encoding, seed, steps):
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(1000 + seed)
    model = Model(encoding, layers=1 if task == "before" else 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps, pct_start=0.1)
    at = {}
    for step in range(steps):
        # Copies and reversals are of any even length, so that the distance to what is copied varies.
        length = trained if task == "before" else 2 * int(torch.randint(2, trained // 2 + 1, (1,), generator=generator))
        if length not in at:
            at[length] = Places(encoding, length)
        tokens, targets = sample(task, 32, length, generator)
        loss = functional.cross_entropy(model(tokens, at[length]).flatten(0, 1), targets.flatten(), ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model, loss.item()


def against_length(model, task, seed):
    """{rule: accuracies at `lengths`}, "none" alone but for rope."""
    found = {}
    for name in ("none", *rules) if model.encoding == "rope" else ("none",):
        generator = torch.Generator().manual_seed(5000 + seed)
        found[name] = [accuracy(model, task, Places(model.encoding, length, name), length, generator, 4096 // length) for length in lengths]
    return found


def attention_maps(model, task):
    """(tokens [64], weights [layers, heads, 64, 64]) of one sequence, the same for every model of the task."""
    tokens, _ = sample(task, 1, trained, torch.Generator().manual_seed(9000))
    places, found = Places(model.encoding, trained), []
    with torch.no_grad():
        x = model.embed(tokens, places)
        for block in model.blocks:
            found.append(block.attention(x, places)[0][0])
            x = block(x, places)
    return tokens[0].numpy(), torch.stack(found).numpy()


# What a defect costs: a window of 64 tokens that begins at each of these positions. Without a defect the model cannot tell them apart.
starts = (0, 64, 128, 192, 256, 320, 512, 1024, 1536, 2048, 2560, 4096, 8192, 16384)
defects = ("right", "bfloat16-positions", "float16-positions", "bfloat16-angle", "wrong-pairing", "off-by-one", "float16-table", "yarn", "yarn-factor-twice")


def defective(name, start):
    places = Places("none", trained)
    exact = np.arange(start, start + trained)
    if name in ("bfloat16-positions", "float16-positions"):
        dtype = torch.bfloat16 if name.startswith("b") else torch.float16
        exact = torch.tensor(exact).to(torch.float32).to(dtype).to(torch.int64).numpy()
    scaling = {"rope_type": "yarn", "factor": 16, "original_max_position_embeddings": trained} if name.startswith("yarn") else None
    places.query = places.key = turns(exact, scaling)
    if name == "bfloat16-angle":
        frequencies = 10000.0 ** (-torch.arange(head_dim // 2) * 2 / head_dim)
        angle = (torch.tensor(exact, dtype=torch.float32)[:, None] * frequencies).to(torch.bfloat16).to(torch.float32)
        places.query = places.key = (angle.cos(), angle.sin())
    if name == "wrong-pairing":
        places.pairing = "interleaved"
    if name == "off-by-one":
        places.query = turns(exact + 1)
    if name == "float16-table":
        places.query = places.key = tuple(part.to(torch.float16).to(torch.float32) for part in places.key)
    if name == "yarn-factor-twice":
        factor = 0.1 * math.log(16) + 1
        places.query = places.key = tuple(part * factor for part in places.key)
    return places


def cost_of_defects(model, seed):
    """{defect: accuracies at `starts`}, of the same 64 sequences everywhere."""

    def at(name, start):
        return accuracy(model, "before", defective(name, start), trained, torch.Generator().manual_seed(7000 + seed), 64)

    return {name: [at(name, start) for start in starts] for name in defects}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("task", choices=("before", "copy", "reversal"))
    parser.add_argument("--encodings", nargs="+", choices=encodings, default=encodings)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--maps", type=pathlib.Path, help="a folder that receives TASK-ENCODING-SEED.npz, what each head attends to")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for seed in arguments.seeds:
        for encoding in arguments.encodings:
            begun = time.process_time()
            model, loss = train(arguments.task, encoding, seed, arguments.steps)
            line = {"task": arguments.task, "encoding": encoding, "seed": seed, "steps": arguments.steps, "loss": loss}
            line |= {"lengths": lengths, "accuracy": against_length(model, arguments.task, seed)}
            if arguments.task == "before" and encoding == "rope":
                line |= {"starts": starts, "defects": cost_of_defects(model, seed)}
            if arguments.maps:
                tokens, weights = attention_maps(model, arguments.task)
                rows = model.positions.weight.detach().numpy() if encoding == "learned" else []
                np.savez_compressed(arguments.maps / f"{arguments.task}-{encoding}-{seed}.npz", tokens=tokens, weights=weights.astype(np.float16), rows=rows)
            print(json.dumps(line | {"cpu_seconds": round(time.process_time() - begun, 1)}), flush=True)


if __name__ == "__main__":
    main()
