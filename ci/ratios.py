"""Ratios of rates to that of memory, of several repetitions each: what ci/bench says of one run and of two."""

import dataclasses
import math
import statistics

most_lost = 0.05
free_core = 0.9  # of the best throughput of fused operations in the run
least_of_fewer_threads = 0.1  # of memory's rate, or of its own where that is unknown, on the fewest threads
most_varied = 2  # the greatest rate of one benchmark's repetitions over the least, where their median says something

beside_memory, beside_eigen = "memory", "eigen"


@dataclasses.dataclass
class Case:
    """The repetitions of one benchmark. A ratio is not a number where memory's own speed varied too much; a peer of another program has rates alone."""

    rates: list = dataclasses.field(default_factory=list)
    ratios: list = dataclasses.field(default_factory=list)
    fused: list = dataclasses.field(default_factory=list)
    vector_operations: list = dataclasses.field(default_factory=list)  # that the cores took in a second
    beside: str = beside_memory

    def extend(self, other):
        self.rates += other.rates
        self.ratios += other.ratios
        self.fused += other.fused
        self.vector_operations += other.vector_operations

    def rate(self):
        """The median, or None where the repetitions are too far apart: a process that waits for a core seems to run at a hundredth of its speed."""
        return statistics.median(self.rates) if self.rates and max(self.rates) <= most_varied * min(self.rates) else None

    def known(self):
        return sorted(ratio for ratio in self.ratios if not math.isnan(ratio))

    def ratio(self):
        """The median, or None where half of the repetitions or more have none."""
        known = self.known()
        return statistics.median(known) if 2 * len(known) > len(self.ratios) else None

    def of_ports(self, per_line):
        """The best rate over the one at which the cores took operations of vectors at most, `per_line` of them for 64 bytes: what another process takes is missing from
        rates, and not from the short measurements of arithmetic. None where memory's speed or the rate varied too much, or nothing is counted."""
        known = [operations for operations in self.vector_operations if not math.isnan(operations)]
        if not known or not per_line or self.ratio() is None or self.rate() is None:
            return None
        return max(self.rates) / 64 * per_line / statistics.median(known)

    def best_fused(self):
        return max((fused for fused in self.fused if not math.isnan(fused)), default=0)

    def is_shared(self, best):
        """Whether a neighbour took arithmetic around most repetitions."""
        fused = [fused for fused in self.fused if not math.isnan(fused)]
        return bool(fused) and statistics.median(fused) < free_core * best


def title_and_threads(name):
    """Attention's benchmarks run on all cores, and their names have no number of threads."""
    title, _, threads = name.partition("/threads:")
    return title, threads


def judged(cases):
    """The cases, without the rates and ratios of those whose threads waited for cores that other processes had: memory itself then has, repetition for repetition, a small
    part of its rate on the fewest threads."""
    by_title = {}
    for name, case in cases.items():
        title, threads = title_and_threads(name)
        by_title.setdefault(title, []).append((int(threads or 0), name, case))
    found = dict(cases)
    for group in by_title.values():
        _, _, fewest = min(group, key=lambda entry: entry[0])
        for _, name, case in group:
            ratios = (fewest.ratio(), case.ratio()) if fewest.ratio() and case.ratio() else (1, 1)
            if max(case.rates) / ratios[1] < least_of_fewer_threads * statistics.median(fewest.rates) / ratios[0]:
                found[name] = Case(ratios=[math.nan] * len(case.ratios), beside=case.beside)
    return found


def number_text(value, decimals=1):
    """So many decimals, but never fewer than two significant digits: 12.3, 0.058."""
    return f"{value:.{decimals}f}" if value >= 0.95 * 10.0 ** (1 - decimals) else f"{value:#.2g}"


def ratio_text(case, best):
    if not case.ratios:
        return ""
    if case.ratio() is None:
        return "unknown"
    known = case.known()
    spread = [number_text(ratio, 2) for ratio in (case.ratio(), known[0], known[-1])]
    return f"{spread[0]} ({spread[1]}-{spread[2]})" + (" shared" if case.is_shared(best) else "")


def comparison(old, new):
    """A table of the cases that both have, and lines of what it cannot show; the names of those that lost more than most_lost, each ratio known, on cores that nobody
    shared; of how many cases that could be judged, and how many there are."""
    old, new = judged(old), judged(new)
    best = max((case.best_fused() for cases in (old, new) for case in cases.values()), default=0)
    lines = ["| case | threads | old | new | new / old |", "|---|---|---|---|---|"]
    losses, became_unknown, could_be = [], [], 0
    both = [name for name in old if name in new and old[name].ratios and new[name].ratios]
    for name in both:
        before, after = old[name].ratio(), new[name].ratio()
        change = ""
        if before is not None and after is not None:
            change = f"{after / before:.2f}"
            is_own = not (old[name].is_shared(best) or new[name].is_shared(best))
            could_be += is_own
            if is_own and after < (1 - most_lost) * before:
                change += " lost"
                losses.append(name)
        elif before is not None:
            became_unknown.append(name)
        title, threads = title_and_threads(name)
        lines.append(f"| `{title}` | {threads} | {ratio_text(old[name], best)} | {ratio_text(new[name], best)} | {change} |")
    notes = [("unknown in NEW alone, not judged", became_unknown), ("in OLD alone", [name for name in old if name not in both]),
             ("in NEW alone", [name for name in new if name not in both])]
    lines += [f"\n{what}: " + ", ".join(f"`{name}`" for name in names) for what, names in notes if names]
    return "\n".join(lines), losses, could_be, len(both)
