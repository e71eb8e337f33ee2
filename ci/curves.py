"""What ci/experiments knows of its results: the models of docs/experiments/results.jsonl, their spread over seeds, what theory said of them, where a defect begins
to cost answers, and whether another seed agrees. Accuracies come from ci/training.py; nothing here needs more than Python."""

import collections
import json
import math
import pathlib

top = pathlib.Path(__file__).resolve().parent.parent
folder = top / "docs/experiments"
results = folder / "results.jsonl"
tasks = {"before": "400", "copy": "800", "reversal": "800"}  # and the steps of each
encodings = ("none", "learned", "sinusoidal", "rope", "alibi", "t5", "xpos")


def published():
    """{(task, encoding): its models, one for each seed}, in the order of `tasks` and `encodings`."""
    lines = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    found = {(task, encoding): {} for task in tasks for encoding in encodings}
    for model in lines:
        found[model["task"], model["encoding"]][model["seed"]] = model
    return {name: [seeds[seed] for seed in sorted(seeds)] for name, seeds in found.items() if seeds}


def spread(values):
    low, high = min(values), max(values)
    return f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"


def curves_of(models):
    """{(task, encoding, rule): [the curve of each seed]}."""
    found = collections.defaultdict(list)
    for (task, encoding), seeds in models.items():
        for model in seeds:
            for rule, curve in model["accuracy"].items():
                found[task, encoding, rule].append(curve)
    return found


def told(encoding, rule):
    return encoding if rule == "none" else f"{encoding}, {rule}"


def row(cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def tables(models):
    """What the figures show, as Markdown: the least and the most of the seeds."""
    lines = []
    for task in tasks:
        rows = {(encoding, rule): curves for (of, encoding, rule), curves in curves_of(models).items() if of == task}
        if not rows:
            continue
        lengths = next(seeds[0]["lengths"] for (of, _), seeds in models.items() if of == task)
        lines += [f"{task}, accuracy at each length:", "", row(["encoding", "seeds", "steps", *lengths]), "|---|---:|---:|" + "---:|" * len(lengths)]
        for (encoding, rule), curves in rows.items():
            lines.append(row([told(encoding, rule), len(curves), models[task, encoding][0]["steps"], *(spread(values) for values in zip(*curves))]))
        lines.append("")
    trained = damaged(models)
    if trained:
        starts = trained[0]["starts"]
        lines += [f"before, rope, seeds: {len(trained)}, accuracy in windows that begin at:", "", row(["defect", *starts]), "|---|" + "---:|" * len(starts)]
        lines += [row([name, *(spread(values) for values in zip(*(model["defects"][name] for model in trained)))]) for name in trained[0]["defects"]]
    return "\n".join(lines).rstrip()


def damaged(models):
    """The models that were given defects."""
    return [model for model in models.get(("before", "rope"), []) if "defects" in model]


doubt = 0.025  # the chance of each of two checks of another seed to refuse what agrees
Reproduced = collections.namedtuple("Reproduced", "task encoding rule distance allowed within points")

# What theory says, as an order of two accuracies: (page, what it says, task, (encoding, rule, length) that should do better, the one that should do worse).
claims = (
    ("order", "a causal mask alone does not say which token was third before", "before", ("rope", "none", 64), ("none", "none", 64)),
    ("order", "nor where what is to be copied stands", "copy", ("rope", "none", 64), ("none", "none", 64)),
    ("extrapolation", "rows of a learned table beyond training are noise", "before", ("learned", "none", 64), ("learned", "none", 128)),
    ("extrapolation", "sinusoidal codes beyond training are new to the layers that read them", "before", ("sinusoidal", "none", 64), ("sinusoidal", "none", 128)),
    ("rotary", "scores see distances alone, and 3 is no new distance: rotary keeps more than sinusoids", "before", ("rope", "none", 128), ("sinusoidal", "none", 128)),
    ("extrapolation", "but far distances are new to its slow pairs", "before", ("rope", "none", 64), ("rope", "none", 256)),
    ("extrapolation", "the same, where far distances are asked", "copy", ("rope", "none", 64), ("rope", "none", 96)),
    ("extrapolation", "the same", "reversal", ("rope", "none", 64), ("rope", "none", 128)),
    ("extrapolation", "linear blurs near distances: worse than no rule", "before", ("rope", "none", 128), ("rope", "linear", 128)),
    ("extrapolation", "but keeps far angles within training: better where these are asked", "copy", ("rope", "linear", 96), ("rope", "none", 96)),
    ("extrapolation", "the same", "reversal", ("rope", "linear", 96), ("rope", "none", 96)),
    ("extrapolation", "ntk nearly keeps fast pairs", "before", ("rope", "ntk", 1024), ("rope", "none", 1024)),
    ("extrapolation", "dynamic likewise", "before", ("rope", "dynamic", 1024), ("rope", "none", 1024)),
    ("extrapolation", "yarn keeps fast pairs and meets no new phase: better than ntk", "before", ("rope", "yarn", 1024), ("rope", "ntk", 1024)),
    ("extrapolation", "llama3 likewise", "before", ("rope", "llama3", 1024), ("rope", "ntk", 1024)),
    ("extrapolation", "yarn better than no rule, of copies", "copy", ("rope", "yarn", 128), ("rope", "none", 128)),
    ("extrapolation", "llama3 likewise", "copy", ("rope", "llama3", 128), ("rope", "none", 128)),
    ("xpos", "what is far fades, so that more of it disturbs less", "before", ("xpos", "none", 1024), ("rope", "none", 1024)),
    ("xpos", "and is found less where it is asked", "copy", ("rope", "none", 128), ("xpos", "none", 128)),
    ("biases", "distances beyond training share T5's buckets with ones that training met little or never", "before", ("t5", "none", 64), ("t5", "none", 256)),
    ("biases", "ALiBi prefers the near and cannot point at the third", "before", ("rope", "none", 64), ("alibi", "none", 64)),
    ("biases", "its lines go on beyond training as within", "copy", ("alibi", "none", 128), ("rope", "none", 128)),
    ("biases", "but not where its flattest line, 1/256, hides a copy 512 before", "copy", ("alibi", "none", 256), ("alibi", "none", 1024)),
    ("biases", "a reversal asks ever farther back, where ALiBi's lines count least", "reversal", ("rope", "none", 64), ("alibi", "none", 64)),
)


def judged(models, said=claims):
    """Markdown: each claim, both accuracies, and whether it came so, to the two digits that are printed: every seed of the one is above every seed of the other."""
    found = curves_of(models)
    lines = [row(["theory", "task", "should do better", "should do worse", "came so (seeds)"]), "|---|---|---|---|---|"]
    for page, says, task, *sides in said:
        if not all((task, encoding, rule) in found for encoding, rule, _ in sides):
            continue
        lengths = models[task, sides[0][0]][0]["lengths"]
        better, worse = ([round(curve[lengths.index(length)], 2) for curve in found[task, encoding, rule]] for encoding, rule, length in sides)
        came = "yes" if min(better) > max(worse) else "no, the reverse" if max(better) < min(worse) else "not told apart"
        cells = [f"{told(encoding, rule)} at {length}: {spread(values)}" for (encoding, rule, length), values in zip(sides, (better, worse))]
        lines.append(row([f"{says} ([{page}]({page}.md))", task, *cells, f"{came} ({len(better)} : {len(worse)})"]))
    return "\n".join(lines)


def costs(models, horizons):
    """Markdown: the first window in which every seed answers fewer than the worst seed without the defect, beside the horizon of an audit."""
    trained = damaged(models)
    lines = [row(["defect", "answers stay in windows up to", "answers change from the window at", "horizon by an audit"]), "|---|---:|---:|---:|"]
    for name in trained[0]["defects"] if trained else ():
        if name in ("right", "yarn"):
            continue
        whole = "yarn" if name.startswith("yarn") else "right"
        least = [min(values) for values in zip(*(model["defects"][whole] for model in trained))]
        most = [max(values) for values in zip(*(model["defects"][name] for model in trained))]
        starts = trained[0]["starts"]
        first = next((i for i in range(len(starts)) if most[i] < least[i]), None)
        stays = starts[-1] if first is None else "none" if first == 0 else starts[first - 1]
        horizon = "none: wrong at 0" if horizons[name] < 0 else horizons[name]
        lines.append(row([name, stays, "none of these" if first is None else starts[first], horizon]))
    return "\n".join(lines)


def asked(task, length):
    """How many tokens an accuracy is of, as ci/training.py tests: 4096 tokens in all; before asks all but the first 3 of a sequence, the others half."""
    return 4096 // length * (length - 3 if task == "before" else length // 2)


def reproduction(models, fresh):
    """[(name of the curve, its distance, the distance allowed, points within the seeds' range, points that can be told)] of fresh models.

    Accuracies p are compared as y = asin(sqrt(p)), whose variance by sampling N tokens is 1/(4N) whatever p. At each length the n = 3 seeds have a mean and a variance s²,
    taken to be 1/(4N) at least. If the y of seeds are draws of one normal distribution, a further one is off their mean by s sqrt(1 + 1/n) times a draw of Student's t with
    n - 1 degrees of freedom. A curve's distance is the root of the mean square of that over its lengths, in units of the root of the mean of s² (1 + 1/n).
    Lengths of one model are not independent: the bound is that of lengths that all move together, which is one draw of t. Of m curves each is allowed to be refused
    wrongly with a chance of 0.025/m, so that all of them together have 0.025 at most. A point is told where the four seeds are not all equal."""
    known, new, rows = curves_of(models), curves_of(fresh), []
    total = sum(len(curves) for curves in new.values())
    # P(|T| < t) = t / sqrt(2 + t²) with 2 degrees of freedom.
    inside = 1 - doubt / max(1, total)
    allowed = inside * math.sqrt(2 / (1 - inside**2))
    for (task, encoding, rule), curves in new.items():
        seeds = known.get((task, encoding, rule), [])
        if len(seeds) != 3:
            raise ValueError(f"{task} {told(encoding, rule)}: expected 3 published seeds, got {len(seeds)}")
        for curve in curves:
            squares, variances, within, points = 0, 0, 0, 0
            for length, point, others in zip(fresh[task, encoding][0]["lengths"], curve, zip(*seeds)):
                y, *of_seeds = (math.asin(math.sqrt(p)) for p in (point, *others))
                mean = sum(of_seeds) / 3
                variances += max(sum((other - mean) ** 2 for other in of_seeds) / 2, 1 / (4 * asked(task, length)))
                squares += (y - mean) ** 2
                if len({point, *others}) > 1:
                    points += 1
                    within += min(others) <= point <= max(others)
            rows.append(Reproduced(task, encoding, rule, math.sqrt(squares / (variances * 4 / 3)), allowed, within, points))
    return rows


def within_range(rows):
    """(the mean over models of the share of points within the seeds' range, the least allowed, models).

    Four draws of one distribution that are not all equal have one least and one most at most, so a certain one of them lies between the others, ends included, with a chance of
    1/2 at least, whatever the distribution. A model's share has that mean then. If the models of n codes and tasks are independent (those of one seed do read the same tokens),
    their mean is below 1/2 by sqrt(log(1/0.025) / (2 n)) with a chance of 0.025 at most (Hoeffding's inequality), which says something of 8 models and more."""
    shares = collections.defaultdict(list)
    for row in rows:
        if row.points:
            shares[row.task, row.encoding].append(row.within / row.points)
    count = len(shares)
    mean = sum(sum(of_model) / len(of_model) for of_model in shares.values()) / max(1, count)
    return mean, max(0, 1 / 2 - math.sqrt(math.log(1 / doubt) / (2 * max(1, count)))), count
