"""sextant.library: claims that a library does not have never reach it; ways of calling; imports without a package's extras."""

from __future__ import annotations

import contextlib
import importlib
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Iterator

import numpy as np

from sextant import _command, library
from sextant._worker import Unsupported
from sextant.library import absent, called, only, shell

ROPE = {
    "encoding": "rope",
    "head_dim": 8,
    "rotary_dim": 8,
    "rope_theta": 10000.0,
    "pairing": "half",
    "output_pairing": "half",
    "rotary_layout": "prefix",
    "direction": "counterclockwise",
    "rope_scaling": None,
    "dtype": "float32",
    "min_position": 0,
    "max_position": 64,
    "accuracy": "float32-angle",
}
LEAST = {
    "sinusoidal": {"dim": 8},
    "sinusoidal_2d": {"dim": 8, "height": 2, "width": 3},
    "sinusoidal_nd": {"dim": 8, "extents": [2, 3]},
    "rope": {"head_dim": 8},
    "rotary_table": {"head_dim": 8},
    "rope_nd": {"head_dim": 8, "sections": [2, 2]},
    "xpos": {"head_dim": 8},
    "alibi": {"num_heads": 4},
    "relative_bias": {},
    "window_bias": {"window": [2, 3]},
}


class Only(unittest.TestCase):
    def test_the_defaults_are_those_of_the_command(self) -> None:
        for encoding, least in LEAST.items():
            filled = _command.filled_spec({"encoding": encoding, **least})
            with self.subTest(encoding=encoding):
                self.assertIsNone(library.refused(filled, tuple(least), {}))
                known = {*library.DEFAULTS[encoding], *least, "dtype", *library._OF_THE_JUDGE}
                self.assertEqual(set(filled) - known, set())
                self.assertEqual(set(library.DEFAULTS[encoding]) - set(filled), set())
        self.assertEqual(set(LEAST), set(library.DEFAULTS))

    def test_other_claims_are_refused_by_name(self) -> None:
        rotate = only("head_dim", "rope_theta", pairing="interleaved", rope_scaling=(None, "linear"))(lambda x, positions, spec: x)
        right = {**ROPE, "pairing": "interleaved", "output_pairing": "interleaved"}
        for spec in (right, {**right, "rope_theta": 5.0, "max_position": 9}, {**right, "rope_scaling": {"rope_type": "linear", "factor": 2.0}},
                     {**right, "rope_scaling": {"rope_type": "default"}}):
            self.assertEqual(rotate(1, 2, spec), 1)
            self.assertEqual(rotate(1, 2, spec=spec), 1)
        for spec, field in (
            (ROPE, "pairing"),
            ({**right, "output_pairing": "half"}, "output_pairing"),
            ({**right, "rotary_dim": 4}, "rotary_dim"),
            ({**right, "dtype": "float16"}, "dtype"),
            ({**right, "rope_scaling": {"rope_type": "yarn"}}, "rope_scaling"),
            ({**right, "position_dtype": "float32"}, "position_dtype"),
        ):
            with self.assertRaisesRegex(Unsupported, f"no {field} "):
                rotate(1, 2, spec)

    def test_a_condition_may_be_a_function_of_the_value(self) -> None:
        rotate = only("head_dim", rotary_dim=lambda width: width % 4 == 0)(lambda x, spec: x)
        self.assertEqual(rotate(1, {**ROPE, "rotary_dim": 4}), 1)
        with self.assertRaises(Unsupported):
            rotate(1, {**ROPE, "rotary_dim": 6})


class Called(unittest.TestCase):
    def test_by_offset_and_by_layout(self) -> None:
        @called(layout="bhnd", positions="offset")
        @only("head_dim")
        def rotate(x: Any, start: int, spec: Any) -> Any:
            assert x.shape[1] == 3 and spec["head_dim"] == 8
            return x + start + np.arange(x.shape[2])[:, None]

        x = np.zeros((2, 4, 3, 8))
        positions = np.array([[5, 6, 9, 10], [0, 1, 2, 3]])
        np.testing.assert_array_equal(rotate(x, positions, ROPE), np.broadcast_to(positions[:, :, None, None], x.shape))

    def test_from_zero_every_row_is_as_long_as_the_longest(self) -> None:
        lengths = []

        @called(positions="from_zero")
        def rotate(x: Any, spec: Any) -> Any:
            lengths.append(x.shape[1])
            return x

        rotate(np.zeros((2, 1, 1, 8)), np.array([[3], [6]]), ROPE)
        self.assertEqual(set(lengths), {7})

    def test_without_a_spec_it_is_refused_at_once(self) -> None:
        with self.assertRaisesRegex(TypeError, "parameter spec"):
            called()(lambda x, positions: x)


class Imports(unittest.TestCase):
    @contextlib.contextmanager
    def library(self, files: dict[str, str]) -> Iterator[None]:
        before = set(sys.modules)
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            sys.path.insert(0, folder)
            try:
                yield
            finally:
                sys.path.remove(folder)
                for name in set(sys.modules) - before:
                    del sys.modules[name]
                importlib.invalidate_caches()

    def test_a_package_whose_own_import_fails(self) -> None:
        files = {"heavy/__init__.py": "import nothing_of_that_name", "heavy/inner/__init__.py": "import neither", "heavy/inner/leaf.py": "from ..near import value",
                 "heavy/near.py": "value = 7"}
        with self.library(files):
            shell("heavy", "heavy.inner")
            self.assertEqual(importlib.import_module("heavy.inner.leaf").value, 7)
            with self.assertRaisesRegex(ImportError, "heavy.other: there is no package"):
                shell("heavy.other")

    def test_what_is_imported_and_never_called(self) -> None:
        text = "from missing.deep import Base, decorate, log\nlogger = log(__name__)\nclass Leaf(Base): pass\n"
        with self.library({"light.py": text}):
            absent("missing", "missing.deep")
            self.assertIsInstance(importlib.import_module("light").Leaf(), object)


if __name__ == "__main__":
    unittest.main()
