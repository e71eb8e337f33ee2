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

# Lengths of the test: within training, or beyond it.
trained_to = 64
within, beyond = (lambda length: length <= trained_to), (lambda length: length > trained_to)

# What theory says of two codes: (page, what it says, tasks, (encoding, rule) that should do better, the one that should do worse, at which lengths).
rope = ("rope", "none")
orders = (
    ("order", "under a causal mask one layer does not see the order of what stood before", ["before"], rope, ("none", "none"), within),
    ("order", "more layers see some of it, and a code of positions says it", ["copy", "reversal"], rope, ("none", "none"), within),
    ("rotary", "scores see distances alone, and 3 is no new distance: rotary keeps more than sinusoids", ["before"], rope, ("sinusoidal", "none"), beyond),
    ("extrapolation", "linear blurs near distances: worse than no rule", ["before"], rope, ("rope", "linear"), beyond),
    ("extrapolation", "but keeps far angles within training: better where these are asked", ["copy", "reversal"], ("rope", "linear"), rope, beyond),
    ("extrapolation", "ntk nearly keeps fast pairs: better than no rule", list(tasks), ("rope", "ntk"), rope, beyond),
    ("extrapolation", "dynamic likewise", list(tasks), ("rope", "dynamic"), rope, beyond),
    ("extrapolation", "yarn keeps fast pairs and meets no new phase: better than no rule", list(tasks), ("rope", "yarn"), rope, beyond),
    ("extrapolation", "and better than ntk", list(tasks), ("rope", "yarn"), ("rope", "ntk"), beyond),
    ("extrapolation", "llama3 likewise: better than no rule", list(tasks), ("rope", "llama3"), rope, beyond),
    ("extrapolation", "and better than ntk", list(tasks), ("rope", "llama3"), ("rope", "ntk"), beyond),
    ("xpos", "what is far fades, so that more of it disturbs less", ["before"], ("xpos", "none"), rope, beyond),
    ("xpos", "and is found less where it is asked", ["copy", "reversal"], rope, ("xpos", "none"), beyond),
    ("biases", "ALiBi prefers the nearest tokens to the third", ["before"], rope, ("alibi", "none"), within),
    ("biases", "its lines go on beyond training as within", ["copy", "reversal"], ("alibi", "none"), rope, beyond),
    ("biases", "a reversal asks ever farther back, where ALiBi's lines count least", ["reversal"], rope, ("alibi", "none"), within),
)

# What theory says falls: (page, what it says, tasks, (encoding, rule), the length that should do better, the one that should do worse).
falls = (
    ("extrapolation", "rows of a learned table beyond training are noise", list(tasks), ("learned", "none"), 64, 128),
    ("extrapolation", "sinusoidal codes beyond training are new to the layers that read them", list(tasks), ("sinusoidal", "none"), 64, 128),
    ("extrapolation", "far distances are new to rotary's slow pairs", list(tasks), rope, 64, 128),
    ("biases", "distances beyond training share T5's buckets with ones that training met little or never", list(tasks), ("t5", "none"), 64, 128),
    ("biases", "ALiBi's flattest line, 1/256, hides a copy 512 before", ["copy"], ("alibi", "none"), 256, 1024),
)


def came(better, worse):
    """Whether every seed of the one is above every seed of the other, to the two digits that are printed."""
    better, worse = ([round(value, 2) for value in values] for values in (better, worse))
    return "yes" if min(better) > max(worse) else "reversed" if max(better) < min(worse) else "not told apart"


def judged_orders(models, said=orders):
    """Markdown: at which lengths each order of two codes came."""
    found = curves_of(models)
    lines = [row(["theory", "task", "should do better", "should do worse", "came so at", "not told apart at", "reversed at"]), "|---|---|---|---|---|---|---|"]
    for page, says, of, better, worse, where in said:
        for task in of:
            if (task, *better) not in found or (task, *worse) not in found:
                continue
            lengths = models[task, better[0]][0]["lengths"]
            at = {"yes": [], "not told apart": [], "reversed": []}
            for index, length in enumerate(lengths):
                if where(length):
                    at[came(*([curve[index] for curve in found[task, *name]] for name in (better, worse)))].append(str(length))
            lines.append(row([f"{says} ([{page}]({page}.md))", task, told(*better), told(*worse), *(", ".join(some) or "-" for some in at.values())]))
    return "\n".join(lines)


def judged_falls(models, said=falls):
    """Markdown: whether each curve falls where theory says so."""
    found = curves_of(models)
    lines = [row(["theory", "task", "code", "accuracy at", "and at", "fell"]), "|---|---|---|---|---|---|"]
    for page, says, of, name, *sides in said:
        for task in of:
            if (task, *name) not in found:
                continue
            indices = [models[task, name[0]][0]["lengths"].index(length) for length in sides]
            values = [[curve[index] for curve in found[task, *name]] for index in indices]
            cells = [f"{length}: {spread(value)}" for length, value in zip(sides, values)]
            lines.append(row([f"{says} ([{page}]({page}.md))", task, told(*name), *cells, came(*values)]))
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
