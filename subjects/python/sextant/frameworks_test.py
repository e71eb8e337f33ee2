"""Audits of torch's and JAX's functions. Each is skipped, by name, where the framework is not installed."""

from __future__ import annotations

import importlib.util
import unittest
from typing import Any

import sextant
from sextant import Verdict, adapt

CLAIM = {"encoding": "rope", "head_dim": 8, "max_position": 512}
QUICK: dict[str, Any] = {"profile": "quick", "judges": 2}


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


@unittest.skipUnless(has("torch"), "torch is not installed")
class Torch(unittest.TestCase):
    def setUp(self) -> None:
        import torch

        class Rotary(torch.nn.Module):
            """A module that keeps its frequencies, in float64, and rotates the pairs of halves."""

            def __init__(self, base: float = 10000.0) -> None:
                super().__init__()
                self.register_buffer("frequencies", base ** (-torch.arange(0, 8, 2, dtype=torch.float64) / 8))

            def forward(self, x: Any, positions: Any) -> Any:
                angle = positions[:, None, :, None] * self.frequencies
                first, second = x.double().chunk(2, -1)
                cos, sin = angle.cos(), angle.sin()
                return torch.cat([first * cos - second * sin, first * sin + second * cos], -1).to(x.dtype)

        self.torch, self.Rotary = torch, Rotary

    def test_a_module_is_audited_as_the_program_left_it(self) -> None:
        module = self.Rotary()
        only = ["accuracy", "linearity", "history"]
        for dtype in ("float32", "float16", "bfloat16"):
            result = sextant.audit(module, {**CLAIM, "dtype": dtype}, layout="bhnd", only=only, **QUICK)
            self.assertTrue(result.holds, result.explanation())
        module.frequencies[1] *= 1.01
        result = sextant.audit(module, CLAIM, layout="bhnd", only=["accuracy", "frequencies"], **QUICK)
        self.assertEqual([one.verdict for one in result], [Verdict.VIOLATED] * 2)
        self.assertIn("pair 1", result["frequencies"].simplest.finding)

    def test_threads_of_the_program_do_not_hang_its_forks(self) -> None:
        one = self.torch.ones(1500, 1500)
        (one @ one).sum().item()  # starts the pool of threads
        module = self.Rotary()

        def rotate(x: Any, positions: Any) -> Any:
            (one @ one).sum().item()
            return module(x, positions)

        result = sextant.audit(rotate, CLAIM, framework="torch", layout="bhnd", only=["identity_at_zero"], timeout=60, **QUICK)
        self.assertTrue(result.holds, result.explanation())

    def test_autograd_answers_backward(self) -> None:
        claim = {**CLAIM, "dtype": "float32"}
        only = ["adjoint", "rotation_gradient"]
        self.assertTrue(sextant.audit(self.Rotary(), claim, layout="bhnd", gradient="autograd", only=only, **QUICK).holds)

        torch = self.torch
        module = self.Rotary()

        class Detached(torch.autograd.Function):  # type: ignore[name-defined,misc]
            """The rotation with the identity for its gradient."""

            @staticmethod
            def forward(ctx: Any, x: Any, positions: Any) -> Any:
                return module(x, positions)

            @staticmethod
            def backward(ctx: Any, grad: Any) -> Any:
                return grad, None

        result = sextant.audit(
            lambda x, positions: Detached.apply(x, positions), claim, framework="torch", layout="bhnd", gradient="autograd", only=only, **QUICK
        )
        self.assertIs(result["rotation_gradient"].verdict, Verdict.VIOLATED, result.headline)

    def test_a_cache_of_complex_numbers(self) -> None:
        torch = self.torch
        frequencies = 10000.0 ** (-torch.arange(0, 8, 2, dtype=torch.float64) / 8)
        table = torch.polar(torch.ones(512, 4, dtype=torch.float64), torch.outer(torch.arange(512), frequencies))

        def apply(x: Any, rows: Any) -> Any:
            pairs = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2))
            return torch.view_as_real(pairs * rows[None, :, None]).flatten(3).to(x.dtype)

        claim = {**CLAIM, "pairing": "interleaved"}
        for function in (sextant.freqs_cis(table, apply), sextant.freqs_cis(table)):
            result = sextant.audit(function, claim, only=["accuracy", "isometry"], **QUICK)
            self.assertTrue(result.holds, result.explanation())
        wrong = table.clone()
        wrong[300] = table[299]
        result = sextant.audit(sextant.freqs_cis(wrong), claim, only=["accuracy"], **QUICK)
        self.assertIn("position 300", result["accuracy"].simplest.finding)

    def test_the_framework_is_found(self) -> None:
        self.assertEqual(adapt.guess_framework(self.Rotary()), "torch")
        self.assertEqual(adapt.guess_framework(self.Rotary().forward), "torch")


@unittest.skipUnless(has("jax"), "JAX is not installed")
class Jax(unittest.TestCase):
    def test_a_jitted_function_is_audited_in_threads(self) -> None:
        import jax
        import jax.numpy as jnp

        @jax.jit
        def rotate(x: Any, positions: Any) -> Any:
            angle = positions[:, :, None, None] * jnp.asarray(10000.0, x.dtype) ** (-jnp.arange(0, 8, 2) / 8)
            first, second = jnp.split(x, 2, -1)
            cos, sin = jnp.cos(angle), jnp.sin(angle)
            return jnp.concatenate([first * cos - second * sin, first * sin + second * cos], -1).astype(x.dtype)

        # Each shape is compiled, so a few cases are asked.
        case = "accuracy:position=257,tokens=1,batch=1,heads=1,fill=0"
        self.assertTrue(sextant.audit(rotate, CLAIM, replay=case).holds)
        result = sextant.audit(lambda x, positions: rotate(x, positions * 2), CLAIM, framework="jax", replay=case)
        self.assertIs(result["accuracy"].verdict, Verdict.VIOLATED)
        self.assertEqual(result["accuracy"].simplest.calls()[0].inputs["positions"].tolist(), [[257]])


if __name__ == "__main__":
    unittest.main()
