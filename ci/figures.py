"""The figures of docs/experiments: curves of results.jsonl, and maps of what heads attend to and how codes lie. Drawn by Debian's interpreter, as ci/pictures."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

from curves import costs, curves_of, damaged, encodings, folder, judged_falls, judged_orders, published, tables, tasks, told, top
from drawing import np, plt, save_lines, sextant, table

maps = top / "build/experiments"
mutants = {
    "bfloat16-positions": "rope-bfloat16-positions",
    "float16-positions": "rope-float16-positions",
    "bfloat16-angle": "rope-bfloat16-angle",
    "wrong-pairing": "rope-pairing-ignored",
    "off-by-one": "rope-decode-one-too-far",
    "float16-table": "rope-float16-table",
    "yarn-factor-twice": "rope-factor-squared",
}


def horizon(mutant):
    """The last position before the first violation of accuracy, by an audit under the models' claim; -1 where position 0 is wrong."""
    spec = {"encoding": "rope", "head_dim": 16}
    if mutant == "rope-pairing-ignored":
        # That mutant pairs channels 32 apart, the halves of a head of 64.
        spec |= {"pairing": "interleaved", "head_dim": 64}
    if mutant == "rope-factor-squared":
        spec["rope_scaling"] = {"rope_type": "yarn", "factor": 16, "original_max_position_embeddings": 64}
    with tempfile.TemporaryDirectory() as directory:
        command = [sextant, "audit", f"mutant:{mutant}", "--spec", json.dumps(spec), "--only", "accuracy", "--profile", "quick", "--report", directory]
        if subprocess.run(command, stdout=subprocess.DEVNULL).returncode not in (0, 1):
            sys.exit(f"ci/experiments: no audit of mutant:{mutant}")
        report = json.loads((pathlib.Path(directory) / "report.json").read_text())
    return report["properties"][0]["horizon"]


def between(page, marker, text):
    """Puts the text between a page's two markers."""
    before, first, _, last, after = re.split(rf"(<!-- {marker} -->\n)(.*?)(<!-- end of {marker} -->)", page.read_text(), flags=re.DOTALL)
    page.write_text(before + first + text + "\n" + last + after)


def curve(axes, positions, values, label, **style):
    (line,) = axes.plot(positions, np.mean(values, axis=0), label=label, marker=".", **style)
    axes.fill_between(positions, np.min(values, axis=0), np.max(values, axis=0), color=line.get_color(), alpha=0.15)


def chance(axes):
    axes.axhline(1 / 16, color="#777777", linestyle=":", linewidth=1)
    axes.set(ylim=(0, 1.05), ylabel="accuracy (dotted: chance)")
    axes.grid(alpha=0.3)


def draw_lengths(models, task, path):
    figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
    solid, dashed = iter(plt.get_cmap("tab10").colors), iter(plt.get_cmap("Dark2").colors)
    for (of, encoding, rule), values in curves_of(models).items():
        if of == task:
            style = {"linestyle": "-", "color": next(solid)} if rule == "none" else {"linestyle": "--", "color": next(dashed)}
            curve(axes, models[task, encoding][0]["lengths"], values, told(encoding, rule), **style)
    axes.axvline(64, color="#999999", linewidth=0.8)
    lengths = next(seeds[0]["lengths"] for (of, _), seeds in models.items() if of == task)
    axes.set_xscale("log", base=2)
    axes.set_xticks(lengths, map(str, lengths))
    chance(axes)
    axes.set(xlabel="length of the test, in tokens; trained to 64", title=f"{task}: mean, and least and most of the seeds")
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    save_lines(figure, path)


def draw_defects(trained, horizons, path):
    figure, axes = plt.subplots(figsize=(9, 4.6), layout="constrained")
    axes.set_prop_cycle(color=["black", *plt.get_cmap("tab10").colors])
    for name in trained[0]["defects"]:
        last = horizons.get(name)
        known = "" if last is None else f", horizon {last}" if last >= 0 else ", wrong everywhere"
        curve(axes, np.array(trained[0]["starts"]) + 1, [model["defects"][name] for model in trained], name + known)
    chance(axes)
    axes.set_xscale("log", base=2)
    axes.set(xlabel="first position of the 64 tokens, plus 1", title="before, rope: a defect put in at inference")
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    save_lines(figure, path)


def draw_attention(names, path):
    """What each head of each model attends to in one copy of 32 tokens."""
    found = [(name, np.load(maps / f"copy-{name}-1.npz")["weights"]) for name in names]
    layers, heads = found[0][1].shape[:2]
    figure, panels = plt.subplots(len(found), layers * heads, figsize=(9, 1.16 * len(found) + 0.5), layout="constrained")
    for index, axes in enumerate(panels[0]):
        axes.set_title(f"layer {index // heads + 1}, head {index % heads + 1}", fontsize=8)
    for row, (name, weights) in zip(panels, found):
        for axes, weight in zip(row, weights.reshape(-1, *weights.shape[2:])):
            # The root shows what is faint beside what is strong.
            axes.imshow(np.sqrt(weight.astype(float)), cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
            axes.set(xticks=[], yticks=[])
        row[0].set_ylabel(name, fontsize=9)
    figure.suptitle("copy, 64 tokens: root of the weights; across: keys, down: queries", fontsize=10)
    save_lines(figure, path)


def shares(names):
    """Markdown: how much of its weight a head puts where a copy has to look, mean over the queries of the copy; the best head of each kind."""
    lines = ["| encoding | second layer, on the token that comes next | first layer, on the token before | second layer, on the mark |", "|---|---:|---:|---:|"]
    for name in names:
        first, second = np.load(maps / f"copy-{name}-1.npz")["weights"].astype(float)
        queries, tokens = np.arange(32, 64), np.arange(1, 64)
        found = (second[:, queries, queries - 32], first[:, tokens, tokens - 1], second[:, queries[1:], 32])
        lines.append(f"| {name} | " + " | ".join(f"{of.mean(axis=1).max():.2f}" for of in found) + " |")
    return "\n".join(lines)


def codes():
    """{encoding: codes of positions 0 to 127, of mean square 1}, of those whose code of a position is a vector."""
    found = {"learned": np.load(maps / "copy-learned-1.npz")["rows"][:128].astype(float)}
    found["sinusoidal"] = table({"encoding": "sinusoidal", "dim": 64}, "0:128", "npy")
    turn = table({"encoding": "rope", "head_dim": 16}, "0:128", "safetensors")
    found["rope"] = np.concatenate([turn["cos"], turn["sin"]], axis=1)
    return {name: rows / np.sqrt((rows**2).mean()) for name, rows in found.items()}


def draw_similarity(path):
    found = codes()
    # xPos multiplies the score of a pair at distance k by zeta^(k/512), as ci/training.py has it.
    turn = found["rope"][:, :8] + 1j * found["rope"][:, 8:]
    distance = np.subtract.outer(np.arange(128), np.arange(128))
    zeta = (2 * np.arange(8) / 16 + 0.4) / 1.4
    faded = (np.einsum("pi,qi->pqi", turn, turn.conj()).real * zeta ** (np.abs(distance)[..., None] / 512)).sum(-1)
    alike = {name: rows @ rows.T for name, rows in found.items()} | {"xpos": faded}
    figure, panels = plt.subplots(1, len(alike), figsize=(11, 3.2), layout="constrained")
    for axes, (name, likeness) in zip(panels, alike.items()):
        image = axes.imshow(likeness / np.diag(likeness).max(), cmap="viridis", vmin=-0.2, vmax=1)
        axes.set(title=name, xlabel="position q", xticks=[0, 64, 127], yticks=[0, 64, 127])
        if name == "learned":
            axes.axvline(63.5, color="black", linewidth=0.7)
            axes.axhline(63.5, color="black", linewidth=0.7)
    panels[0].set_ylabel("position p")
    figure.colorbar(image, ax=panels, label="c(p) · c(q), over the most", shrink=0.9)
    save_lines(figure, path)


# t-SNE of rows that come by standard input, by scikit-learn in the experiments' environment.
tsne = """
import io, sys, numpy as np
from sklearn.manifold import TSNE
rows = np.load(io.BytesIO(sys.stdin.buffer.read()))
np.save(sys.stdout.buffer, TSNE(perplexity=15, init="pca", random_state=1).fit_transform(rows))
"""


def neighbours(python, rows):
    with tempfile.TemporaryDirectory() as directory:
        given, taken = pathlib.Path(directory) / "rows.npy", pathlib.Path(directory) / "plane.npy"
        np.save(given, rows)
        with given.open("rb") as source, taken.open("wb") as sink:
            subprocess.run([python, "-c", tsne], stdin=source, stdout=sink, check=True)
        return np.load(taken)


def draw_positions(python, path):
    found = codes()
    figure, panels = plt.subplots(2, len(found), figsize=(9.5, 6), layout="constrained")
    for (above, below), (name, rows) in zip(panels.T, found.items()):
        left, values, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
        share = (values**2 / (values**2).sum())[:2].sum()
        for axes, plane in ((above, left[:, :2] * values[:2]), (below, neighbours(python, rows))):
            axes.plot(*plane.T, color="#cccccc", linewidth=0.6, zorder=0)
            image = axes.scatter(*plane.T, c=np.arange(len(rows)), cmap="viridis", s=10)
            axes.set(xticks=[], yticks=[])
        above.set_title(f"{name}: {share:.0%} of the variance", fontsize=9)
    panels[0, 0].set_ylabel("principal components")
    panels[1, 0].set_ylabel("t-SNE")
    figure.colorbar(image, ax=panels, label="position", shrink=0.8)
    save_lines(figure, path)


def draw(interpreter):
    """All figures and tables. `interpreter` finds, or makes, the Python that has scikit-learn."""
    models = published()
    for task in tasks:
        if any(of == task for of, _ in models):
            draw_lengths(models, task, folder / f"{task}.png")
    horizons = {name: horizon(mutant) for name, mutant in mutants.items()}
    if damaged(models):
        draw_defects(damaged(models), horizons, folder / "defects.png")
    missing = [name for name in encodings if not (maps / f"copy-{name}-1.npz").exists()]
    if "learned" not in missing:
        draw_attention([name for name in encodings if name not in missing], folder / "attention.png")
        draw_similarity(folder / "similarity.png")
        draw_positions(interpreter(), folder / "positions.png")
    if not missing:
        between(folder / "README.md", "shares", shares(encodings))
    if missing:
        print(f"ci/experiments: no maps of {', '.join(missing)} in build/experiments, where training of copy with seed 1 leaves them", file=sys.stderr)
    plt.close("all")
    between(folder / "README.md", "results", tables(models))
    theory = top / "docs/theory/results.md"
    between(theory, "orders", judged_orders(models))
    between(theory, "falls", judged_falls(models))
    between(theory, "costs", costs(models, horizons))
