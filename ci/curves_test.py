"""What ci/curves.py concludes: orders of curves, where a defect begins to cost, and whether a further seed agrees."""

import sys
import unittest

sys.dont_write_bytecode = True
from curves import Reproduced, costs, judged_falls, judged_orders, reproduction, within_range  # noqa: E402


def model(encoding, curve, seed=1, **fields):
    return {"task": "before", "encoding": encoding, "seed": seed, "steps": 400, "lengths": [16, 64, 128], "accuracy": {"none": curve}, **fields}


def seeds(encoding, *curves):
    return {("before", encoding): [model(encoding, curve, seed) for seed, curve in enumerate(curves, 1)]}


class Judged(unittest.TestCase):
    def row(self, rope, none):
        said = [("order", "positions help", ["before"], ("rope", "none"), ("none", "none"), lambda length: length > 16)]
        return judged_orders(seeds("rope", *rope) | seeds("none", *none), said).splitlines()[-1]

    def test_every_seed_above_every_other(self):
        self.assertIn("| rope | none | 64 | 128 | - |", self.row([[1, 0.9, 0], [1, 0.8, 0]], [[1, 0.7, 0], [1, 0.2, 0]]))

    def test_the_reverse(self):
        self.assertIn("| rope | none | - | 128 | 64 |", self.row([[1, 0.1, 0]], [[1, 0.7, 0]]))

    def test_less_than_is_printed(self):
        self.assertIn("| rope | none | - | 64, 128 | - |", self.row([[1, 0.901, 0]], [[1, 0.899, 0]]))

    def test_overlap(self):
        self.assertIn("| rope | none | - | 64, 128 | - |", self.row([[1, 0.9, 0], [1, 0.5, 0]], [[1, 0.7, 0], [1, 0.2, 0]]))

    def test_a_fall(self):
        said = [("order", "falls", ["before", "copy"], ("rope", "none"), 16, 64)]
        (line,) = judged_falls(seeds("rope", [1, 0.9, 0], [1, 0.8, 0]), said).splitlines()[2:]
        self.assertEqual(line, "| falls ([order](order.md)) | before | rope | 16: 1.00 | 64: 0.80 to 0.90 | yes |")


class Costs(unittest.TestCase):
    def table(self, *damaged):
        of = [model("rope", [1, 1, 1], starts=[0, 64, 128], defects={"right": [1, 0.98, 1], "float16-positions": curve}) for curve in damaged]
        return costs({("before", "rope"): of}, {"float16-positions": 100})

    def test_first_window_that_every_seed_loses(self):
        self.assertIn("| float16-positions | 64 | 128 | 100 |", self.table([1, 0.5, 0.5], [1, 0.99, 0.5]))

    def test_none_is_lost(self):
        self.assertIn("| float16-positions | 128 | none of these | 100 |", self.table([1, 0.98, 1]))

    def test_all_are(self):
        self.assertIn("| float16-positions | none | 0 | 100 |", self.table([0.5, 0.5, 0.5]))


class Reproduction(unittest.TestCase):
    known = seeds("rope", [1, 0.9, 0.5], [1, 0.92, 0.55], [1, 0.88, 0.45])

    def check(self, curve):
        (row,) = reproduction(self.known, seeds("rope", curve))
        return row.distance <= row.allowed, row.within, row.points

    def test_a_like_curve_agrees(self):
        self.assertEqual(self.check([1, 0.91, 0.52]), (True, 2, 2))

    def test_another_does_not(self):
        self.assertEqual(self.check([0.3, 0.2, 0.1]), (False, 0, 3))

    def test_allowed_is_student_t(self):
        # The 98.75 % quantile with 2 degrees of freedom, 6.2053 in tables.
        (row,) = reproduction(self.known, seeds("rope", [1, 0.9, 0.5]))
        self.assertAlmostEqual(row.allowed, 6.2053, places=4)

    def test_seeds_without_spread_are_compared_by_their_sampling(self):
        known = seeds("rope", [1, 1, 1], [1, 1, 1], [1, 1, 1])
        (row,) = reproduction(known, seeds("rope", [0.999, 0.999, 0.999]))
        self.assertLessEqual(row.distance, row.allowed)

    def test_points_that_are_all_equal_tell_nothing(self):
        (row,) = reproduction(self.known, seeds("rope", [1, 0.8, 0.5]))
        self.assertEqual((row.within, row.points), (1, 2))

    def test_many_models_outside_the_seeds_differ(self):
        def rows(within):
            return [Reproduced("copy", f"code{i}", "none", 0, 1, within, 2) for i in range(21)]

        share, least, count = within_range(rows(1))
        self.assertEqual((share, count), (0.5, 21))
        # 1/2 - sqrt(log(40) / 42)
        self.assertAlmostEqual(least, 0.2036, places=4)
        self.assertLess(within_range(rows(0))[0], least)

    def test_few_models_say_nothing(self):
        self.assertEqual(within_range([Reproduced("copy", "rope", "none", 0, 1, 0, 2)]), (0, 0, 1))

    def test_three_seeds_are_needed(self):
        with self.assertRaisesRegex(ValueError, "before rope: expected 3 published seeds, got 1"):
            reproduction(seeds("rope", [1, 1, 1]), seeds("rope", [1, 1, 1]))


if __name__ == "__main__":
    unittest.main()
