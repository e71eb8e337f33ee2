"""sextant.adapt: whatever way a function is called, it answers as the protocol's own form of it."""

from __future__ import annotations

import random
import unittest
from typing import Any

import numpy as np

from sextant import adapt
from sextant._worker import Unsupported, worker
from sextant.adapt import Way

CLAIM = {"encoding": "rope", "head_dim": 6, "dtype": "float64", "max_position": 64}


def native(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """A rotation whose every channel, head and row differs, so that no two of them can be exchanged unseen."""
    frequency = 0.3 ** np.arange(1, 4)
    angle = positions[:, :, None, None] * frequency
    first, second = x[..., :3], x[..., 3:]
    return np.concatenate([first * np.cos(angle) - second * np.sin(angle), first * np.sin(angle) + second * np.cos(angle)], -1)


def function_in(layout: str, positions: str) -> Any:
    """The same for x in a layout, called in a way."""

    def rotate(x: np.ndarray, *place: Any) -> np.ndarray:
        whole = x
        axes = layout
        for missing in (axis for axis in "bnhd" if axis not in layout):
            whole, axes = whole[None], missing + axes
        whole = whole.transpose([axes.index(axis) for axis in "bnhd"])
        batch, n = whole.shape[:2]
        if positions == "explicit":
            at = place[0] if "b" in layout else place[0][None]
            assert at.shape == (batch, n), (at.shape, whole.shape)
        elif positions == "shared":
            assert place[0].shape == (n,)
            at = np.broadcast_to(place[0], (batch, n))
        elif positions == "offset":
            assert isinstance(place[0], int)
            at = np.broadcast_to(place[0] + np.arange(n), (batch, n))
        else:
            assert not place
            at = np.broadcast_to(np.arange(n), (batch, n))
        y = native(whole, at).transpose(["bnhd".index(axis) for axis in axes])
        return y.reshape(x.shape)

    return rotate


def functions(thing: Any, operation: str, claim: Any = CLAIM, **way: Any) -> Any:
    return adapt.subject_of(thing, operation, claim, Way(**way)).functions


class Rotations(unittest.TestCase):
    def test_each_layout_and_way_of_positions_is_the_same_rotation(self) -> None:
        random.seed(1)
        generator = np.random.default_rng(1)
        layouts = ["bnhd", "bhnd", "nbhd", "hbdn", "nhd", "hnd", "dhn", "bnd", "bdn", "nd", "dn"]
        for layout in layouts:
            for positions in adapt.POSITIONS:
                rotate = functions(function_in(layout, positions), "rotate", layout=layout, positions=positions)["rotate"]
                for batch, n, heads in ((1, 1, 1), (2, 5, 3), (3, 4, 2), (0, 3, 1), (2, 0, 1), (1, 3, 0)):
                    x = generator.standard_normal((batch, n, heads, 6))
                    drawn = generator.integers(0, 9, (batch, n))
                    for at in (drawn, np.broadcast_to(np.arange(n), (batch, n)), np.broadcast_to(np.arange(n)[::-1] + 3, (batch, n))):
                        with self.subTest(layout=layout, positions=positions, shape=x.shape, at=at.tolist()):
                            np.testing.assert_array_equal(rotate(x, at, CLAIM), native(x, at))

    def test_positions_that_a_function_cannot_be_asked_are_unsupported(self) -> None:
        x = np.zeros((1, 2, 1, 6))
        rotate = functions(function_in("bnhd", "from_zero"), "rotate", positions="from_zero")["rotate"]
        with self.assertRaisesRegex(Unsupported, "none below"):
            rotate(x, np.array([[0, -1]]), CLAIM)
        with self.assertRaisesRegex(Unsupported, "takes a call of"):
            rotate(x, np.array([[0, 1 << 40]]), CLAIM)
        with self.assertRaisesRegex(Unsupported, "one axis"):
            rotate(x, np.zeros((2, 1, 2), np.int64), CLAIM)

    def test_several_axes_reach_a_function_that_takes_positions(self) -> None:
        seen = []
        rotate = functions(lambda x, at: seen.append((x.shape, at.shape)) or x, "rotate", layout="hnd")["rotate"]
        rotate(np.zeros((2, 5, 3, 6)), np.zeros((3, 2, 5), np.int64), CLAIM)
        self.assertEqual(seen, [((3, 5, 6), (3, 5))] * 2)

    def test_a_function_without_spec_has_the_claim_only(self) -> None:
        rotate = functions(native, "rotate")["rotate"]
        x, at = np.ones((1, 2, 1, 6)), np.array([[0, 1]])
        rotate(x, at, {**CLAIM, "max_position": 5, "accuracy": "faithful"})
        for other in ({**CLAIM, "rope_theta": 500.0}, {**CLAIM, "dtype": "float32"}):
            with self.assertRaisesRegex(Unsupported, "no parameter spec"):
                rotate(x, at, other)
        told = functions(lambda x, positions, spec: x * spec["rope_theta"], "rotate")["rotate"]
        np.testing.assert_array_equal(told(x, at, {"rope_theta": 3}), 3 * x)

    def test_none_and_a_rotation_in_place_pass_through(self) -> None:
        def in_place(x: np.ndarray, positions: np.ndarray) -> None:
            x *= 2

        for layout in ("bnhd", "bhnd", "nhd", "hnd", "nd"):
            x = np.ones((2, 3, 2, 6))
            self.assertIsNone(functions(in_place, "rotate", layout=layout, in_place=True)["rotate"](x, np.zeros((2, 3), np.int64), CLAIM))
            self.assertTrue((x == 2).all(), layout)


class Others(unittest.TestCase):
    def test_encodings_from_zero_are_rows_of_their_table(self) -> None:
        table = np.random.default_rng(2).standard_normal((50, 4))
        encode = functions(lambda n: table[:n], "encode", positions="from_zero")["encode"]
        at = np.array([7, 0, 49, 7])
        np.testing.assert_array_equal(encode(at, CLAIM), table[at])
        self.assertEqual(encode(np.zeros(0, np.int64), CLAIM).shape, (0, 4))
        with self.assertRaises(Unsupported):
            encode(np.array([-1]), CLAIM)

    def test_biases_from_zero_are_parts_of_the_whole(self) -> None:
        whole = np.random.default_rng(3).standard_normal((2, 20, 20))
        queries, keys = np.array([3, 19, 3]), np.array([0, 5])
        expected = whole[:, queries][:, :, keys]
        for function in (lambda q, k: whole[:, :q, :k], lambda n: whole[:, :n, :n]):
            bias = functions(function, "bias", positions="from_zero")["bias"]
            np.testing.assert_array_equal(bias(queries, keys, CLAIM), expected)
        with self.assertRaisesRegex(Unsupported, "for each head"):
            bias(np.array([1 << 20]), keys, CLAIM)

    def test_attention_has_its_layout_and_what_comes_by_name(self) -> None:
        generator = np.random.default_rng(4)
        q, k, v = (generator.standard_normal((2, heads, n, 6)) for heads, n in ((4, 3), (2, 5), (2, 5)))
        at = np.broadcast_to(np.arange(5), (2, 5))

        def attend(q: np.ndarray, k: np.ndarray, v: np.ndarray, *place: Any, query_positions: Any = None) -> np.ndarray:
            assert q.shape == (2, 3, 4, 6) and k.shape == v.shape == (2, 5, 2, 6)
            return q * 2 + (0 if query_positions is None else query_positions.sum())

        for positions in ("explicit", "shared", "from_zero"):
            named = functions(attend, "attend", layout="bnhd", positions=positions)["attend"]
            np.testing.assert_array_equal(named(q, k, v, at, CLAIM), q * 2)
            np.testing.assert_array_equal(named(q, k, v, at, CLAIM, query_positions=np.array([[3]])), q * 2 + 3)
            with self.assertRaisesRegex(Unsupported, "takes no sinks"):
                named(q, k, v, at, CLAIM, sinks=np.zeros(4))
        with self.assertRaises(Unsupported):
            functions(attend, "attend", {**CLAIM, "position": {}}, layout="bnhd", positions="from_zero")["attend"](q, k, v, at + 1, CLAIM)
        functions(attend, "attend", {**CLAIM, "position": None}, layout="bnhd", positions="from_zero")["attend"](q, k, v, at + 1, {**CLAIM, "position": None})

    def test_caches_turn_as_what_they_hold(self) -> None:
        positions = np.array([[5, 0, 2], [1, 1, 9]])
        x = np.random.default_rng(5).standard_normal((2, 3, 2, 6))
        angle = np.arange(10)[:, None] * 0.3 ** np.arange(1, 4)
        cos, sin = np.cos(angle), np.sin(angle)
        expected = native(x, positions)
        interleaved = x.reshape(2, 3, 2, 2, 3).swapaxes(-1, -2).reshape(x.shape)
        expected_interleaved = expected.reshape(2, 3, 2, 2, 3).swapaxes(-1, -2).reshape(x.shape)
        doubled = np.concatenate([cos, cos], -1), np.concatenate([sin, sin], -1)
        repeated = np.repeat(cos, 2, -1), np.repeat(sin, 2, -1)

        def apply(x: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
            turned = np.concatenate([-x[..., 3:], x[..., :3]], -1)
            return x * cos[None, :, None] + turned * sin[None, :, None]

        for cache, apply_, pairing in (
            ((cos, sin), None, "half"),
            (doubled, None, "half"),
            (lambda at: (cos[at], sin[at]), None, "half"),
            (doubled, apply, "half"),
            (repeated, None, "interleaved"),
        ):
            rotate = functions(adapt.cos_sin(cache, apply_, pairing), "rotate")["rotate"]
            given, truth = (interleaved, expected_interleaved) if pairing == "interleaved" else (x, expected)
            np.testing.assert_allclose(rotate(given, positions, CLAIM), truth, rtol=0, atol=8 * np.finfo(float).eps * np.abs(x).max())
        rotate = functions(adapt.freqs_cis(cos + 1j * sin), "rotate")["rotate"]
        np.testing.assert_allclose(rotate(interleaved, positions, CLAIM), expected_interleaved, rtol=0, atol=8 * np.finfo(float).eps * np.abs(x).max())
        with self.assertRaisesRegex(Unsupported, "positions 0 to 9"):
            rotate(interleaved, positions + 5, CLAIM)

    def test_queries_and_keys_must_come_out_alike(self) -> None:
        x, at = np.ones((1, 2, 1, 6)), np.array([[0, 1]])
        alike = adapt.queries_and_keys(lambda q, k, positions: (q * 2, k * 2))
        np.testing.assert_array_equal(functions(alike, "rotate")["rotate"](x, at, CLAIM), 2 * x)
        with self.assertRaisesRegex(ValueError, "differently"):
            adapt.queries_and_keys(lambda q, k, positions: (q, k + 1))(x, at)

    def test_frameworks_are_found_in_code(self) -> None:
        def plain(x: Any) -> Any:
            return np.sin(x)

        self.assertIsNone(adapt.guess_framework(plain))
        self.assertIsNone(adapt.guess_framework(adapt))
        scope: dict[str, Any] = {"torch": unittest, "jax": unittest}
        for framework in ("torch", "jax"):
            module = type(unittest)(framework)
            scope[framework] = module
            exec(f"def f(x):\n    return [{framework}.sin(y) for y in x]\n", scope)
            self.assertEqual(adapt.guess_framework(scope["f"]), framework)

    def test_names_of_objects_have_options(self) -> None:
        subject = adapt.named_subject("os.path:join,layout=bhnd,positions=from_zero,in_place=true", "rotate", CLAIM)
        self.assertTrue(subject.in_place)
        self.assertEqual(adapt.options_of(Way(layout="bhnd", in_place=True)), ",layout=bhnd,in_place=true")
        for text in ("os.path:join,layout", "os.path:join,colour=red", "os.path:join,layout=xyz"):
            with self.assertRaises(ValueError):
                adapt.named_subject(text, "rotate", CLAIM)
        with self.assertRaises(AttributeError):
            adapt.named_subject("os.path:no_such_function", "rotate", CLAIM)
        self.assertEqual(adapt.importable_name(adapt.Way), "sextant.adapt:Way")
        self.assertIsNone(adapt.importable_name(lambda: 0))

    def test_the_worker_knows_every_way_of_an_operation(self) -> None:
        self.assertEqual(set(worker.ARGUMENTS), {"encode", "table", "rotate", "qk_norm_rope", "bias", "bucket", "attend"})


if __name__ == "__main__":
    unittest.main()
