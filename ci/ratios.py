"""Ratios of rates to that of memory, of several repetitions each: what ci/bench says of one run and of two."""

import dataclasses
import math
import statistics

most_lost = 0.05
free_core = 0.9  # of the best throughput of fused operations in the run


@dataclasses.dataclass
class Case:
    """The repetitions of one benchmark. A ratio is not a number where memory's own speed varied too much; a peer of another program has rates alone."""

    rates: list = dataclasses.field(default_factory=list)
    ratios: list = dataclasses.field(default_factory=list)
    fused: list = dataclasses.field(default_factory=list)
    vector_operations: list = dataclasses.field(default_factory=list)  # that the cores took in a second

    def extend(self, other):
        self.rates += other.rates
        self.ratios += other.ratios
        self.fused += other.fused
        self.vector_operations += other.vector_operations

    def rate(self):
        return statistics.median(self.rates)

    def known(self):
        return sorted(ratio for ratio in self.ratios if not math.isnan(ratio))

    def ratio(self):
        """The median, or None where half of the repetitions or more have none."""
        known = self.known()
        return statistics.median(known) if 2 * len(known) > len(self.ratios) else None

    def of_ports(self, per_line):
        """The best rate over the one at which the cores took operations of vectors at most, `per_line` of them for 64 bytes: what another process takes is missing from
        rates, and not from the short measurements of arithmetic. None where memory's speed varied too much, or nothing is counted."""
        known = [operations for operations in self.vector_operations if not math.isnan(operations)]
        if not known or not per_line or self.ratio() is None:
            return None
        return max(self.rates) / 64 * per_line / statistics.median(known)

    def best_fused(self):
        return max((fused for fused in self.fused if not math.isnan(fused)), default=0)

    def is_shared(self, best):
        """Whether a neighbour took arithmetic around most repetitions."""
        fused = [fused for fused in self.fused if not math.isnan(fused)]
        return bool(fused) and statistics.median(fused) < free_core * best


def ratio_text(case, best):
    if not case.ratios:
        return ""
    if case.ratio() is None:
        return "unknown"
    known = case.known()
    return f"{case.ratio():.2f} ({known[0]:.2f}-{known[-1]:.2f})" + (" shared" if case.is_shared(best) else "")


def comparison(old, new):
    """A table of the cases that both have, and the names of those that lost more than most_lost: each ratio known, on cores that nobody shared."""
    best = max((case.best_fused() for cases in (old, new) for case in cases.values()), default=0)
    lines = ["| case | threads | old | new | new / old |", "|---|---|---|---|---|"]
    losses = []
    for name in old:
        if name not in new or not old[name].ratios:
            continue
        before, after = old[name].ratio(), new[name].ratio()
        change = ""
        if before is not None and after is not None:
            change = f"{after / before:.2f}"
            if after < (1 - most_lost) * before and not (old[name].is_shared(best) or new[name].is_shared(best)):
                change += " lost"
                losses.append(name)
        title, threads = name.rsplit("/threads:", 1)
        lines.append(f"| `{title}` | {threads} | {ratio_text(old[name], best)} | {ratio_text(new[name], best)} | {change} |")
    return "\n".join(lines), losses
