"""What an audit found: report.json as typed values."""

from __future__ import annotations

import enum
import json
import os
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, Mapping, Optional, Union

import numpy as np


class Verdict(str, enum.Enum):
    """What came of a property."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNDECIDED = "undecided"
    NOT_APPLICABLE = "not_applicable"
    UNSUPPORTED = "unsupported"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Call:
    """One call of the subject, as the protocol has it: docs/protocol.md's shapes, before any layout."""

    operation: str
    inputs: Mapping[str, np.ndarray]
    outputs: Mapping[str, np.ndarray]  # empty if the call raised


@dataclass(frozen=True)
class Counterexample:
    """A case that violates a property. The errors are None where the property has none of that kind."""

    token: str  # the whole case: audit(..., replay=token) judges it alone
    replay: str  # what does so on a command line
    finding: str  # where it is wrong, what came out and what is true
    error_of_bound: Optional[float]
    error_absolute: Optional[float]
    error_ulps: Optional[float]
    error_conditioned_ulps: Optional[float]  # of the pair's norm for rotations: docs/reading-a-report.md
    _calls: Optional[Callable[[str], list[Call]]] = field(default=None, repr=False, compare=False)

    def calls(self) -> list[Call]:
        """The calls of the case, with their arrays: it is judged again. Raises ValueError of a report that was read from a file."""
        if self._calls is None:
            raise ValueError("the subject is not at hand: sextant.audit gives counterexamples that can be asked again")
        return self._calls(self.token)


@dataclass(frozen=True)
class PropertyResult:
    """What came of one property."""

    id: str
    title: str
    level: str  # law, contract or advice: docs/concepts.md
    verdict: Verdict
    reason: str  # why there is no other verdict, or what was measured
    cases: int
    horizon: Optional[int]  # the largest position below every violation; None where a violation names no position of its own
    worst: Optional[Counterexample]  # also of one that holds: the nearest to its bound
    simplest: Optional[Counterexample]
    seconds: float

    @property
    def failed(self) -> bool:
        """Whether the audit fails for it: advice alone does not."""
        return self.verdict in (Verdict.CRASHED, Verdict.TIMED_OUT) or (self.verdict is Verdict.VIOLATED and self.level != "advice")


@dataclass(frozen=True)
class Result:
    """A report. `exit_status` is that of the command: 0 every applicable property holds, 1 violated, 3 the subject failed, 4 nothing was decided."""

    subject: str
    spec: Mapping[str, Any]
    command: str
    exit_status: int
    headline: str
    properties: Mapping[str, PropertyResult]
    notes: tuple[str, ...] = ()

    def __getitem__(self, property_id: str) -> PropertyResult:
        return self.properties[property_id]

    def __iter__(self) -> Iterator[PropertyResult]:
        return iter(self.properties.values())

    @property
    def holds(self) -> bool:
        """Whether every applicable property holds; one that is undecided does not."""
        return self.exit_status == 0

    @property
    def violations(self) -> list[PropertyResult]:
        """The properties that are violated, advice among them, in the order of the report."""
        return [result for result in self if result.verdict is Verdict.VIOLATED]

    @property
    def worst(self) -> Optional[Counterexample]:
        """The case that is furthest beyond its bound, or nearest to it where everything holds; None if no property has measured one."""
        cases = [result.worst for result in self if result.worst is not None and result.worst.error_of_bound is not None]
        return max(cases, key=lambda case: case.error_of_bound or 0.0, default=None)

    @property
    def horizon(self) -> Optional[int]:
        """The largest position up to which every property holds whose horizon is known: the claim's last where none is violated."""
        if not self.violations and self.holds:
            return int(self.spec["max_position"]) - 1
        return min((result.horizon for result in self if result.horizon is not None), default=None)

    def failures(self) -> list[PropertyResult]:
        """The properties for which assert_holds raises: those that failed, or, where nothing was decided, those that were not."""
        failed = [result for result in self if result.failed]
        return failed or [result for result in self if self.exit_status == 4 and result.verdict in (Verdict.UNDECIDED, Verdict.UNSUPPORTED)]

    def assert_holds(self) -> "Result":
        """This result. Raises AssertionError, with counterexamples and how to replay them, unless every applicable property holds."""
        if not self.holds:
            raise AssertionError(self.explanation())
        return self

    def explanation(self) -> str:
        """The headline, and each failure with its counterexamples, a few lines each."""
        lines = [f"{self.subject}: {self.headline}"]
        for result in self.failures():
            lines.append(f"{result.id}: {result.verdict}: {result.reason or result.title}")
            for label, case in (("simplest", result.simplest), ("worst", result.worst)):
                if case is not None and not (label == "worst" and result.simplest is not None and case.token == result.simplest.token):
                    lines += [f"  {label:<9} {case.finding}", f"            replay: {case.replay}"]
        return "\n".join(lines)

    @classmethod
    def from_json(
        cls,
        report: Union[str, "os.PathLike[str]", Mapping[str, Any]],
        calls: Optional[Callable[[str], list[Call]]] = None,
        replay: Optional[Callable[[str], str]] = None,
    ) -> "Result":
        """Of a report.json: its path, or what it holds. `calls` answers Counterexample.calls, and `replay` says of a token how it is replayed.

        Raises ValueError for what is no report.
        """
        if isinstance(report, (str, os.PathLike)):
            with open(report, encoding="utf-8") as file:
                report = json.load(file)
        if not isinstance(report, Mapping) or report.get("format") != "sextant-report":
            raise ValueError("no report of Sextant's")
        results = {row["id"]: _property(row, calls, replay) for row in report["properties"]}
        return cls(
            subject=report["subject"]["argument"],
            spec=report["spec"],
            command=report["command"],
            exit_status=report["exit_status"],
            headline=report["headline"],
            properties=results,
            notes=tuple(report.get("notes") or ()),
        )


def _property(row: Mapping[str, Any], calls: Optional[Callable[[str], list[Call]]], replay: Optional[Callable[[str], str]]) -> PropertyResult:
    return PropertyResult(
        id=row["id"],
        title=row["title"],
        level=row["level"],
        verdict=Verdict(row["verdict"]),
        reason=row["reason"],
        cases=row["cases"],
        horizon=row["horizon"],
        worst=_case(row["worst"], calls, replay),
        simplest=_case(row["simplest"], calls, replay),
        seconds=row["seconds"],
    )


def _case(row: Optional[Mapping[str, Any]], calls: Optional[Callable[[str], list[Call]]], replay: Optional[Callable[[str], str]]) -> Optional[Counterexample]:
    if row is None:
        return None
    return Counterexample(
        token=row["token"],
        replay=replay(row["token"]) if replay else row["replay"],
        finding=row["finding"],
        error_of_bound=_number(row["error_of_bound"]),
        error_absolute=_number(row["error_absolute"]),
        error_ulps=_number(row["error_ulps"]),
        error_conditioned_ulps=_number(row.get("error_conditioned_ulps")),
        _calls=calls,
    )


def _number(value: Any) -> Optional[float]:
    """Exactly, by its hexadecimal digits; infinities and NaN are words there."""
    return None if value is None else float.fromhex(value["hex"])
