"""The pytest plugin: a test that takes the fixture `sextant` and is marked with @sextant.mark(spec=...) becomes one test for each property of its spec.

    @sextant.mark(spec="llama-2-7b", profile="quick")
    def test_rotate(sextant):
        sextant(rotate, layout="bhnd")
"""

from __future__ import annotations

import functools
import json
import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

import pytest

from . import SextantError, Verdict, audit
from ._audit import listed
from ._command import output_of, properties_of, spec_argument
from .result import Counterexample, PropertyResult


class SextantAdvice(pytest.PytestWarning):
    """Advice that a subject does not follow, which fails no audit unless `strict`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("sextant", "positional encodings")
    group.addoption("--sextant-report", metavar="DIR", help="directory for the report of each test of the fixture sextant")
    group.addoption("--sextant-replay", metavar="TOKEN", help="judge the one case of this token, in the tests of its property that are selected")
    group.addoption("--sextant-profile", choices=("quick", "standard", "exhaustive"), help="how much is asked, in place of what the marks say")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "sextant(spec, profile, **options): one test for each property of the spec; the options of sextant.audit")


@functools.lru_cache(maxsize=None)
def _ids_of(argument: str) -> tuple[str, ...]:
    return tuple(row["id"] for row in properties_of(argument))


@functools.lru_cache(maxsize=None)
def _every_id() -> frozenset[str]:
    return frozenset(row["id"] for row in json.loads(output_of(["list", "properties", "--json"])))


def _options(marker: pytest.Mark) -> dict[str, Any]:
    if marker.args or "spec" not in marker.kwargs:
        raise pytest.UsageError("sextant.mark: expected spec=..., and options of sextant.audit by name")
    return dict(marker.kwargs)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each property that applies to the mark's spec."""
    if "sextant" not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker("sextant")
    if marker is None:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: the fixture sextant needs the mark @sextant.mark(spec=...)")
    options = _options(marker)
    try:
        ids = list(_ids_of(spec_argument(options["spec"])))
    except SextantError as error:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: {error}") from error
    only, skip = (listed(options[key]) if key in options else none for key, none in (("only", None), ("skip", ())))
    token = metafunc.config.getoption("--sextant-replay")
    if token:
        only = [token.split(":", 1)[0]]
    for option, named in (("only", only or ()), ("skip", skip), ("--sextant-replay", only if token else ())):
        for one in named:
            if one not in _every_id():
                raise pytest.UsageError(f"{metafunc.definition.nodeid}: {option}: no property is called {one!r}; see sextant list properties")
    metafunc.parametrize("sextant", [one for one in ids if (only is None or one in only) and one not in skip], indirect=True)


@dataclass(frozen=True)
class Check:
    """What the fixture `sextant` is: one property, to be judged of the subject that it is called with."""

    property_id: str
    nodeid: str
    options: dict[str, Any]
    replay: Optional[str]
    report: Optional[Path]
    calls: list[None] = field(default_factory=list)  # one for each call that was made

    def __call__(self, subject: Any, **options: Any) -> PropertyResult:
        """Judges the property of the subject; `options` are those of sextant.audit, beside the mark's. Fails the test with the counterexamples where it is
        violated, undecided, or the subject fails; skips it where the subject does not support what is asked.
        """
        self.calls.append(None)
        asked = {**self.options, **options}
        spec = asked.pop("spec")
        for key in ("only", "skip"):
            asked.pop(key, None)
        result = audit(subject, spec, only=() if self.replay else [self.property_id], replay=self.replay, report=self.report, **asked)
        found = result[self.property_id]
        if found.failed or found.verdict is Verdict.UNDECIDED or (found.verdict is Verdict.VIOLATED and result.exit_status == 1):
            pytest.fail(self._explanation(found), pytrace=False)
        # Of the others a subject may lack what they ask; without this one nothing is known of its values.
        if found.verdict is Verdict.UNSUPPORTED and found.id == "accuracy":
            pytest.fail(f"{found.id}: {found.verdict}: {found.reason}", pytrace=False)
        if found.verdict in (Verdict.UNSUPPORTED, Verdict.NOT_APPLICABLE):
            pytest.skip(f"{found.verdict}: {found.reason}")
        if found.verdict is Verdict.VIOLATED and found.simplest is not None:
            warnings.warn(SextantAdvice(f"{found.id}: {found.title}: {found.simplest.finding}"), stacklevel=2)
        return found

    def _explanation(self, found: PropertyResult) -> str:
        lines = [f"{found.id}: {found.verdict}: {found.title}"]
        if found.reason:
            lines.append(found.reason)
        for label, case in (("simplest", found.simplest), ("worst", found.worst)):
            if case is None or (label == "worst" and found.simplest is not None and case.token == found.simplest.token):
                continue
            lines += [f"{label}: {case.finding}", f"    replay: pytest '{self.nodeid}' --sextant-replay '{case.token}'"]
            if label == "simplest":
                lines += [f"    {line}" for line in _shown_calls(case)]
        return "\n".join(lines)


def _shown_calls(case: Counterexample) -> list[str]:
    """The first calls of the case with their arrays, those that are large cut short."""
    import numpy as np

    try:
        calls = case.calls()
    except (SextantError, ValueError):
        return []
    lines = []
    for call in calls[:2]:
        lines.append(f"{call.operation}:")
        for key, array in [*call.inputs.items(), *call.outputs.items()]:
            text = np.array2string(array, threshold=16, edgeitems=4, max_line_width=10**6).replace("\n", "")
            lines.append(f"  {key} {array.dtype} {list(array.shape)} = {re.sub(r' +', ' ', text)}")
    return lines


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Any:
    """A test that asks for the fixture and does not call it has judged nothing."""
    outcome = yield
    check = pyfuncitem.funcargs.get("sextant")
    if outcome.excinfo is None and isinstance(check, Check) and not check.calls:
        outcome.force_exception(pytest.fail.Exception("the test does not call sextant(subject): nothing was judged", pytrace=False))


@pytest.fixture
def sextant(request: pytest.FixtureRequest) -> Check:
    """One property of the mark's spec: sextant(subject, **options) judges it."""
    marker = request.node.get_closest_marker("sextant")
    property_id = getattr(request, "param", None)
    if marker is None or property_id is None:
        raise pytest.UsageError("the fixture sextant needs the mark @sextant.mark(spec=...)")
    options = _options(marker)
    profile = request.config.getoption("--sextant-profile")
    if profile:
        options["profile"] = profile
    directory = request.config.getoption("--sextant-report")
    # One for each test, so that the processes of xdist do not share any.
    folder = re.sub(r"[^\w.\-]+", "-", request.node.nodeid.replace("::", ".")).strip("-.")
    report = Path(directory).resolve() / folder if directory else None
    return Check(property_id, request.node.nodeid, options, request.config.getoption("--sextant-replay"), report)
