"""What ci/bench does with arguments, files and programs that are not right, and what it prints of a run, with programs that stand for sextant-bench."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

sys.dont_write_bytecode = True
bench = pathlib.Path(__file__).resolve().parent / "bench"
loader = importlib.machinery.SourceFileLoader("bench", str(bench))
module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench", loader))
loader.exec_module(module)

nan = float("nan")
rope, cached = "rope/half/float32/certified/64x16x128/threads:1", "rope/half/float32/cached/64x16x128/threads:1"
alibi, plain = "alibi/float32/causal/certified/12x2048x2048/threads:2", "attention/float32/plain/8x1024x64"

# Lists and runs what `names` has: a rate and a ratio for each; `instead`, a line of code, is run in place of measuring.
program_text = """#!{python}
import json, pathlib, re, sys, time
here, nan = pathlib.Path(__file__), float("nan")
names, alone = {names!r}, {alone!r}
option = dict(argument.lstrip("-").split("=") if "=" in argument else (argument.lstrip("-"), "") for argument in sys.argv[1:])
try:
    pattern = re.compile(option["benchmark_filter"])
except re.error:
    print("Could not compile benchmark re: Mismatched brackets", file=sys.stderr); sys.exit(0)
found = [name for name in list(names) + alone if pattern.search(name)]
if not found:
    print("Failed to match any benchmarks against regex: " + pattern.pattern, file=sys.stderr); sys.exit(0)
if "benchmark_list_tests" in option:
    print("\\n".join(name + "/manual_time" * (name in names) for name in found)); sys.exit(0)
with open(str(here) + ".ran", "a") as file:
    file.write("ran ")
{instead}
entries = []
for name in found:
    for repetition in range(int(option["benchmark_repetitions"])):
        entry = dict(run_name=name + "/manual_time", run_type="iteration")
        rate, ratio = names.get(name, (1e9, 0.5))
        rate = rate[repetition % len(rate)] if isinstance(rate, list) else rate
        if name.startswith("attention"):
            entry |= dict(gflops=rate / 1e9, of_eigen_product=ratio)
        elif name in names:
            entry |= dict(bytes_per_second=rate, of_roofline=ratio)
        entries.append(entry)
print(json.dumps(dict(context=dict(target="AVX2"), benchmarks=entries)))
"""


class Bench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, names, alone=(), instead="", name="program"):
        path = self.folder / name
        path.write_text(program_text.format(python=sys.executable, names=names, alone=list(alone), instead=instead))
        path.chmod(0o755)
        return path

    def file(self, cases, name):
        path = self.folder / name
        path.write_text(cases if isinstance(cases, str) else json.dumps({"cases": cases}))
        return path

    def run_bench(self, *arguments, **options):
        run = subprocess.run([bench, *map(str, arguments)], stderr=subprocess.PIPE, stdout=options.pop("stdout", subprocess.PIPE), text=True, timeout=60, **options)
        return run.returncode, run.stdout, run.stderr.splitlines()

    def fails(self, *arguments, word, code=2):
        """In one line, and nothing was measured."""
        found, printed, said = self.run_bench(*arguments)
        self.assertEqual((found, printed, len(said)), (code, "", 1), said)
        self.assertIn(word, said[0])
        self.assertEqual(list(self.folder.glob("*.ran")), [])


class Arguments(Bench):
    def test_are_seen_before_anything_is_measured(self):
        program = self.program({rope: (1e9, 0.5)}, alone=["oracle/fast"])
        for pattern in ("[", "*", "rope/(half"):
            self.fails("--program", program, pattern, word="no regular expression")
        self.fails("--program", program, "xpos", word="no benchmark of")
        self.fails("--program", program, "^oracle", word="timed by itself")
        for count in ("0", "-3", "x", "1001", "1e3"):
            self.fails("--program", program, f"--repetitions={count}", "rope", word="expected 1 to 1000")
            self.fails("compare", program, program, f"--repetitions={count}", word="expected 1 to 1000")
        self.fails("--program", program, "rope", "xpos", word="unrecognized arguments: xpos")
        self.fails("compare", program, word="required: NEW")

    def test_programs(self):
        self.fails("--program", self.folder / "none", word="No such file")
        self.fails("--program", self.folder, word="is a folder")
        self.fails("--program", self.file({}, "data"), word="Permission denied")
        for name in ("true", "echo"):
            self.fails("--program", f"/bin/{name}", word="it is no sextant-bench")
        self.fails("--program", "/bin/false", word="lists no benchmarks, as a sextant-bench does: it ended with exit code 1")
        self.fails("--program", "/bin/ls", word="lists no benchmarks, as a sextant-bench does")

    def test_where_a_run_is_saved(self):
        program = self.program({rope: (1e9, 0.5)})
        self.fails("--program", program, "--save", self.folder / "none/run", word="No such file")
        self.fails("--program", program, "--save", self.folder, word="is a folder")
        self.fails("--program", program, "--save", "/dev/null", word="no ordinary file")

    def test_help_has_a_text_for_each(self):
        for command in ([], ["compare"]):
            code, printed, said = self.run_bench(*command, "--help")
            self.assertEqual((code, said), (0, []))
            self.assertIn("unless given", printed)
        for words in ("quarter of an hour", "compare OLD NEW", "130"):
            self.assertIn(words, self.run_bench("--help")[1])


class Runs(Bench):
    def test_what_is_printed_and_saved(self):
        program = self.program({rope: (57e6, 0.5), cached: (114e6, nan), alibi: ([1e9, 3e9], 0.9), plain: (1e9, 1.25)})
        save = self.folder / "run"
        code, printed, said = self.run_bench("--program", program, "--save", save, "--repetitions", "2", "rope|alibi|attention")
        self.assertEqual(code, 0, said)
        self.assertIn("| case | 1 thread, GB/s | of memory | 2 threads, GB/s | of memory | operations a line | of ports | times the peers |", printed)
        self.assertIn(f"| `{rope.rsplit('/', 1)[0]}` | 0.057 | 0.50 (0.50-0.50) |  |  |  |  | 1 thread: 0.50 cached |", printed)
        self.assertIn(f"| `{cached.rsplit('/', 1)[0]}` | 0.11 | unknown |  |  |  |  |  |", printed)
        self.assertIn(f"| `{alibi.rsplit('/', 1)[0]}` |  |  | unknown | 0.90 (0.90-0.90) |", printed)
        self.assertIn(f"| `{plain}` | 1.25 (1.25-1.25) | attention |", printed)
        kept = json.loads(save.read_text(), parse_constant=self.fail)["cases"]
        self.assertEqual((kept[rope]["rates"], kept[cached]["ratios"]), ([57e6, 57e6], [None, None]))
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["program", "program.ran", "run"])
        self.assertEqual(self.run_bench("compare", save, save)[0], 0)

    def test_a_build_is_told_before_it_begins(self):
        (self.folder / "ci").mkdir()
        for name in ("bench", "ratios.py", "operations.py"):
            shutil.copy(bench.parent / name, self.folder / "ci")
        build = self.folder / "ci/build"
        build.write_text("#!/bin/sh\necho built >&2\nexit 2\n")
        build.chmod(0o755)
        run = subprocess.run([self.folder / "ci/bench", "rope"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        said = run.stderr.splitlines()
        self.assertEqual((run.returncode, said[1:]), (2, ["built", "ci/bench: sextant-bench could not be built"]))
        self.assertIn("brings sextant-bench up to date, which takes minutes", said[0])

    def test_copies_and_hand_counts(self):
        cases = {alibi: module.Case([1e9], [0.5]), "learned/float32/gradient/certified/4096x768/threads:1": module.Case([1e9], [0.5])}
        table = module.memory_table(cases, {alibi.rsplit("/", 1)[0]: 0, "learned/float32/gradient/certified/4096x768": 16})
        self.assertIn("| copied |", table)
        self.assertIn("| 16 by hand |", table)

    def test_programs_that_fail(self):
        for instead, word in (("print('out of memory', file=sys.stderr); sys.exit(3)", "out of memory"), ("print('no JSON'); sys.exit(0)", "no results of benchmarks"),
                              ("print('{\"benchmarks\": 3}'); sys.exit(0)", "no results of benchmarks"), ("import os; os.kill(os.getpid(), 9)", "signal 9")):
            code, printed, said = self.run_bench("--program", self.program({rope: (1e9, 0.5)}, instead=instead), "--save", self.folder / "run", "rope")
            self.assertEqual((code, printed), (2, ""))
            self.assertIn(word, said[-1])
            self.assertNotIn("Traceback", "".join(said))
            self.assertFalse((self.folder / "run").exists())

    def test_a_full_disk_does_not_lose_the_run(self):
        with open("/dev/full", "w") as full:
            code, _, said = self.run_bench("--program", self.program({rope: (1e9, 0.5)}), "--save", self.folder / "run", "rope", stdout=full)
            self.assertEqual((code, said[-1]), (2, "ci/bench: standard output: No space left on device"))
            self.assertIn(rope, (self.folder / "run").read_text())
            self.assertEqual(self.run_bench("--help", stdout=full)[0], 2)

    def test_interrupted(self):
        slow = self.program({rope: (1e9, 0.5)}, instead="time.sleep(60)")
        save = self.file("the run before", "run")
        for arguments in (["--program", slow, "--save", save, "rope"], ["compare", slow, slow]):
            for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
                ran = self.folder / "program.ran"
                ran.unlink(missing_ok=True)
                with subprocess.Popen([bench, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
                    while not ran.exists():
                        time.sleep(0.02)
                    run.send_signal(number)
                    _, said = run.communicate(timeout=20)
                self.assertEqual(run.returncode, code, said)
                self.assertNotIn("Traceback", said)
                self.assertEqual(save.read_text(), "the run before")
                self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["program", "program.ran", "run"])

    def test_progress_counts_repetitions(self):
        progress = module.Progress(2, 3)
        for name, iterations in (("a", 1), ("a", 10), ("b", 1), ("a", 10), ("b", 1), ("b", 1), ("a", 10)):
            progress.note(f"-- LOG(2): Running {name} for {iterations}")
        self.assertEqual(progress.begun, 6)

    def test_load(self):
        for load, lines in ((1.9, 0), (2.1, 1)):
            said = io.StringIO()
            with contextlib.redirect_stderr(said), unittest.mock.patch.object(os, "getloadavg", return_value=(load, 0, 0)):
                module.warn_of_load([rope, alibi])
            self.assertEqual(said.getvalue().count("warning: the load was"), lines)


class Compare(Bench):
    def saved(self, name, **ratios):
        """A run of rope and xpos, say, by ratio."""
        return self.file({f"{case}/float32/certified/threads:1": {"rates": [1e9], "ratios": [ratio]} for case, ratio in ratios.items()}, name)

    def test_files(self):
        run = self.saved("run", rope=0.5)
        self.fails("compare", run, self.folder / "none", word="No such file")
        self.fails("compare", run, self.folder, word="is a folder")
        self.fails("compare", run, self.program({rope: (1e9, 0.5)}), word="two programs or two saved runs")
        self.fails("compare", run, run, "[", word="no regular expression")
        no_run = "is no run that --save wrote: "
        for text, words in (
                ("", no_run + "no JSON"), ("\xff" * 9, no_run + "no JSON"), ("[" * 100000, no_run + "no JSON"), ("[]", no_run + "cases: expected an object"),
                ("3", no_run + "cases: expected an object"), ("{}", no_run + "cases: expected an object"), ('{"cases": 3}', no_run + "cases: expected an object"),
                ('{"cases": {"a": 3}}', no_run + "cases: a: expected an object of beside, fused, rates, ratios, vector_operations"),
                ('{"cases": {"a": {"rate": [1]}}}', no_run + "cases: a: expected an object of beside, fused, rates, ratios, vector_operations, not 'rate'")):
            broken = self.folder / "broken"
            broken.write_text(text, encoding="latin-1")
            self.fails("compare", run, broken, word=f"{broken} {words}")
        for entry, words in (
                ('"ratios": [1]', "rates: expected one for each repetition, and there is none"), ('"rates": []', "rates: expected one for each repetition"),
                ('"rates": "x"', "rates: expected a list of positive numbers"), ('"rates": [0], "ratios": [1]', "rates: expected a list of positive numbers"),
                ('"rates": [null]', "rates: expected a list of positive numbers"), ('"rates": [1], "ratios": [true]', "ratios: expected a list of positive numbers or null"),
                ('"rates": [1], "ratios": ["x"]', "ratios: expected a list of positive numbers or null"), ('"rates": [1], "fused": [-1]', "fused: expected a list"),
                ('"rates": [1, 2], "ratios": [1]', "ratios: expected as many as rates, 2, or none, got 1"),
                ('"rates": [1], "beside": []', "beside: expected 'memory' or 'eigen'")):
            broken.write_text('{"cases": {"a": {' + entry + "}}}")
            self.fails("compare", run, broken, word=f"{broken}: what it has of 'a' is not what a run gives: {words}")
        broken.write_text('{"cases": {"a/threads:x": {"rates": [1]}}}')
        self.fails("compare", run, broken, word="its name: expected words")

    def test_null_and_nan_are_not_known(self):
        for unknown in ("null", "NaN"):
            run = self.file('{"cases": {"a/x/certified/1": {"rates": [1, 1], "ratios": [0.5, %s]}, "b/x/certified/1": {"rates": [1], "ratios": [0.5]}}}' % unknown, "run")
            code, printed, said = self.run_bench("compare", run, run)
            self.assertEqual((code, said), (0, []))
            self.assertIn("1 of 2 could be judged.", printed)

    def test_nothing_in_common(self):
        self.fails("compare", self.saved("old", rope=0.5), self.saved("new", xpos=0.5), word="no case in common")
        self.fails("compare", self.saved("old", rope=0.5), self.saved("new", rope=0.5), "xpos", word="no case in common")
        self.fails("compare", self.program({rope: (1e9, 0.5)}, name="a"), self.program({alibi: (1e9, 0.5)}, name="b"), word="no case in common")

    def test_losses_and_what_is_not_judged(self):
        old, new = self.saved("old", rope=0.8, xpos=0.74, rope_nd=0.5, alibi=0.5), self.saved("new", rope=0.7, xpos=nan, rope_nd=0.5)
        code, printed, said = self.run_bench("compare", old, new)
        self.assertEqual((code, said), (1, ["ci/bench compare: more than 5 % lost: rope/float32/certified/threads:1"]))
        self.assertIn("in OLD alone: `alibi/float32/certified/threads:1`", printed)
        self.assertIn("unknown in NEW alone, not judged: `xpos/float32/certified/threads:1`", printed)
        code, printed, said = self.run_bench("compare", old, new, "^(xpos|rope_nd)/")
        self.assertEqual((code, said), (0, []))
        self.assertNotIn("`rope/", printed)

    def test_a_pass_says_how_many_were_judged_and_none_is_no_pass(self):
        old, new = self.saved("old", rope=0.8, xpos=0.74), self.saved("new", rope=0.8, xpos=nan)
        code, printed, said = self.run_bench("compare", old, new)
        self.assertEqual((code, said), (0, []))
        self.assertIn("1 of 2 could be judged.", printed)
        code, printed, said = self.run_bench("compare", old, new, "xpos")
        self.assertEqual((code, len(said)), (1, 1))
        self.assertIn("no case could be judged", said[0])
        self.assertIn("0 of 1 could be judged.", printed)

    def test_programs_in_turns(self):
        old, new = self.program({rope: (1e9, 0.8), plain: (1e9, 1.2)}, name="old"), self.program({rope: (1e9, 0.8), plain: (1e9, 1.0)}, name="new")
        code, printed, said = self.run_bench("compare", old, new, "--repetitions", "2")
        self.assertEqual((code, said[-1]), (1, f"ci/bench compare: more than 5 % lost: {plain}"))
        self.assertIn("| 1.00 |", printed)
        self.assertEqual((self.folder / "old.ran").read_text(), "ran ran ")


if __name__ == "__main__":
    unittest.main()
