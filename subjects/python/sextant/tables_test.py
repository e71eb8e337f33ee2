"""sextant.truth and sextant.oracle: tables that are right to the last bit."""

from __future__ import annotations

import math
import unittest
from fractions import Fraction

import numpy as np

import sextant

CLAIM = {"encoding": "sinusoidal", "dim": 8}


class Tables(unittest.TestCase):
    def test_rows_come_in_the_order_that_is_asked(self) -> None:
        whole = sextant.truth(CLAIM, 300)
        self.assertEqual((whole.shape, whole.dtype), ((300, 8), np.float32))
        at = np.array([257, 0, 5, 257])
        np.testing.assert_array_equal(sextant.truth(CLAIM, at), whole[at])
        np.testing.assert_array_equal(sextant.truth(CLAIM, [1, -1])[:, 0], np.float32(math.sin(1)) * np.array([1, -1], np.float32))
        self.assertEqual(sextant.truth(CLAIM, []).shape, (0, 8))
        self.assertEqual(sextant.truth(CLAIM, 0).shape, (0, 8))

    def test_rope_has_cosines_and_sines(self) -> None:
        tables = sextant.truth("llama-3.1-8b", [0, 131071], "float64")
        self.assertEqual({key: table.shape for key, table in tables.items()}, {"cos": (2, 64), "sin": (2, 64)})
        np.testing.assert_array_equal(tables["cos"][0], np.ones(64))
        self.assertAlmostEqual(tables["cos"][1, 0], math.cos(131071), delta=1e-12)

    def test_dtypes_are_roundings_of_each_other(self) -> None:
        at = [3, 1000, 131071]
        wide = sextant.truth(CLAIM, at, "float64")
        for dtype in ("float32", "float16"):
            narrow = sextant.truth(CLAIM, at, dtype)
            self.assertEqual(narrow.dtype, dtype)
            np.testing.assert_array_equal(narrow, wide.astype(dtype))
        self.assertEqual(sextant.truth(CLAIM, at, "bfloat16").itemsize, 2)

    def test_enclosures_contain_the_truth_and_little_else(self) -> None:
        enclosure = sextant.oracle(CLAIM, [0, 7, 131071])
        nearest = sextant.truth(CLAIM, [0, 7, 131071], "float64")
        self.assertTrue(enclosure.contains(nearest).all())
        self.assertTrue((enclosure.upper - enclosure.lower <= 2 * np.spacing(np.abs(nearest))).all())
        # sin(7) by its series in rational numbers: the terms alternate and fall, so two partial sums enclose it.
        partial, term, sums = Fraction(0), Fraction(7), []
        for k in range(1, 60):
            partial += term
            sums.append(partial)
            term *= Fraction(-49, 2 * k * (2 * k + 1))
        low, high = sorted(sums[-2:])
        self.assertLess(Fraction(float(enclosure.lower[1, 0])), low)
        self.assertLess(high, Fraction(float(enclosure.upper[1, 0])))
        both = sextant.oracle("llama-2-7b", 3)
        self.assertEqual(set(both), {"cos", "sin"})
        self.assertTrue((both["cos"].lower[0] < 1).all() and (both["cos"].upper[0] > 1).all())

    def test_what_has_no_table_is_refused(self) -> None:
        with self.assertRaisesRegex(sextant.SextantError, "of which it writes tables"):
            sextant.truth("t5-small", 4)
        with self.assertRaisesRegex(sextant.SextantError, "2\\^53"):
            sextant.truth(CLAIM, [1 << 60])
        with self.assertRaises(sextant.SextantError):
            sextant.truth(CLAIM, 3, "int8")
        for positions in ([0.5], [[1, 2]]):
            with self.assertRaises(ValueError):
                sextant.truth(CLAIM, positions)  # type: ignore[arg-type]


if __name__ == "__main__":
    unittest.main()
