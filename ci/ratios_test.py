"""What ci/ratios.py concludes: the ratio of a run, what it does not tell, and which losses there are."""

import sys
import unittest

sys.dont_write_bytecode = True
from ratios import Case, comparison, judged, number_text, ratio_text, title_and_threads  # noqa: E402

nan = float("nan")


def case(*ratios, fused=2.0):
    return Case([1e9] * len(ratios), list(ratios), [fused] * len(ratios))


class Ratio(unittest.TestCase):
    def test_the_median_and_its_spread(self):
        self.assertEqual(ratio_text(case(0.5, 0.9, 0.6), 2.0), "0.60 (0.50-0.90)")

    def test_unknown_where_half_of_the_repetitions_have_none(self):
        self.assertEqual(ratio_text(case(nan, 0.5, nan, 0.5), 2.0), "unknown")
        self.assertEqual(ratio_text(case(nan, 0.5, 0.5), 2.0), "0.50 (0.50-0.50)")

    def test_shared_where_a_neighbour_takes_a_tenth_of_the_arithmetic(self):
        self.assertEqual(ratio_text(case(0.5, fused=1.79), 2.0), "0.50 (0.50-0.50) shared")
        self.assertEqual(ratio_text(case(0.5, fused=1.81), 2.0), "0.50 (0.50-0.50)")

    def test_of_ports_by_the_best_rate(self):
        of = Case([1e9, 2e9, 1.5e9], [0.5] * 3, [2.0] * 3, [1e10, 2e10, 2e10])
        self.assertEqual(of.of_ports(32), 2e9 / 64 * 32 / 2e10)
        self.assertIsNone(of.of_ports(0))
        self.assertIsNone(of.of_ports(None))
        self.assertIsNone(Case([1e9], [nan], [2.0], [1e10]).of_ports(32))
        self.assertIsNone(case(0.5).of_ports(32))
        self.assertIsNone(Case([1e9, 3e9], [0.5] * 2, [2.0] * 2, [1e10] * 2).of_ports(32))

    def test_a_rate_that_varies_by_more_than_a_factor_of_two_is_unknown(self):
        self.assertEqual(Case([1e9, 2e9, 1.5e9]).rate(), 1.5e9)
        self.assertIsNone(Case([1e9, 2.01e9, 1.5e9]).rate())

    def test_threads_that_waited_for_cores(self):
        def run(two):
            return judged({"rope/threads:1": Case([50e9], [0.5]), "rope/threads:2": two})["rope/threads:2"]

        self.assertEqual(run(Case([6e9], [0.5])).rate(), 6e9)
        waited = run(Case([0.042e9, 0.05e9], [0.53, 0.53]))
        self.assertEqual((waited.rate(), waited.ratio(), waited.of_ports(21.5), ratio_text(waited, 2.0)), (None, None, None, "unknown"))
        self.assertIsNone(run(Case([3e9], [nan])).rate())
        self.assertEqual(run(Case([3e9], [0.02])).rate(), 3e9)  # memory has more than on one thread

    def test_two_significant_digits_at_least(self):
        self.assertEqual([number_text(value) for value in (123.45, 12.34, 1.04, 0.96, 0.94, 0.0577, 0.0004)], ["123.5", "12.3", "1.0", "1.0", "0.94", "0.058", "0.00040"])
        self.assertEqual([number_text(value, 2) for value in (1.234, 0.60, 0.094, 0.0042)], ["1.23", "0.60", "0.094", "0.0042"])

    def test_names_without_a_number_of_threads(self):
        self.assertEqual(title_and_threads("rope/half/threads:2"), ("rope/half", "2"))
        self.assertEqual(title_and_threads("attention/plain"), ("attention/plain", ""))

    def test_a_peer_has_no_ratio(self):
        self.assertEqual(ratio_text(Case([1e9]), 2.0), "")


class Comparison(unittest.TestCase):
    def losses(self, old, new):
        return comparison({"rope/threads:1": old}, {"rope/threads:1": new})[1]

    def test_a_loss_is_of_more_than_a_twentieth(self):
        self.assertEqual(self.losses(case(0.80), case(0.75)), ["rope/threads:1"])
        self.assertEqual(self.losses(case(0.80), case(0.77)), [])
        self.assertEqual(self.losses(case(0.80), case(0.99)), [])

    def test_what_is_unknown_or_shared_is_not_judged(self):
        self.assertEqual(self.losses(case(nan), case(0.1)), [])
        self.assertEqual(self.losses(case(0.80), case(nan)), [])
        self.assertEqual(self.losses(case(0.80), case(0.1, fused=1.0)), [])

    def test_cases_of_one_run_alone_are_told(self):
        text, losses, could_be, count = comparison({"rope/threads:1": case(0.5)}, {"xpos/threads:1": case(0.5)})
        self.assertIn("in OLD alone: `rope/threads:1`", text)
        self.assertIn("in NEW alone: `xpos/threads:1`", text)
        self.assertEqual((losses, could_be, count), ([], 0, 0))

    def test_a_ratio_that_became_unknown_is_told_and_is_no_loss(self):
        text, losses, could_be, count = comparison({"rope/threads:1": case(0.74)}, {"rope/threads:1": case(nan)})
        self.assertIn("unknown in NEW alone, not judged: `rope/threads:1`", text)
        self.assertEqual((losses, could_be, count), ([], 0, 1))
        self.assertNotIn("alone", comparison({"rope/threads:1": case(nan)}, {"rope/threads:1": case(0.5)})[0])


if __name__ == "__main__":
    unittest.main()
