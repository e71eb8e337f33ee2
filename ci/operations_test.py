"""What ci/operations.py counts, in disassembly as objdump prints it."""

import sys
import unittest

sys.dont_write_bytecode = True
from operations import function_of, functions_of, is_by_hand, loops_of, per_line  # noqa: E402

# Two lines of 16 float32 scaled and added, one converted, with what is rare placed behind the loop, inside a loop of rows.
disassembly = """
0000000000001000 <void sextant::N_AVX3::Turn<(sextant::Caching)1>(float*)>:
    1000:	xor    %eax,%eax
    1002:	vmovaps (%rsi,%rax,1),%zmm1
    1008:	vmulps 0x40(%rsi,%rax,1),%zmm1,%zmm2
    1010:	vcvtps2pd %ymm2,%zmm3
    1016:	vmovaps %zmm3,-0x40(%rsp)
    101e:	jne    1050 <void sextant::N_AVX3::Turn<(sextant::Caching)1>(float*)+0x50>
    1020:	vbroadcastss (%rdx),%zmm4
    1026:	vaddps %zmm4,%zmm2,%zmm2
    1029:	vcvtdq2ps %zmm2,%zmm5
    102c:	vmovntps %zmm1,(%rdi,%rax,1)
    1033:	vmovntps %zmm2,0x40(%rdi,%rax,1)
    103b:	add    $0x80,%rax
    103f:	jne    1002 <void sextant::N_AVX3::Turn<(sextant::Caching)1>(float*)+0x2>
    1041:	jne    1000 <void sextant::N_AVX3::Turn<(sextant::Caching)1>(float*)>
    1043:	ret
    1050:	vdivps %zmm1,%zmm2,%zmm2
    1056:	jmp    1020 <void sextant::N_AVX3::Turn<(sextant::Caching)1>(float*)+0x20>

0000000000002000 <void sextant::N_AVX2::Turn<(sextant::Caching)1>(float*)>:
    2000:	ret
"""
functions = functions_of(disassembly)
turn = "void sextant::N_AVX3::Turn<(sextant::Caching)1>(float*)"


class Loops(unittest.TestCase):
    def test_functions_are_told_apart(self):
        self.assertEqual(len(functions), 2)
        self.assertEqual(functions[turn][0], (0x1000, "xor    %eax,%eax"))

    def test_operations_and_bytes_of_the_loop_within(self):
        # A product, a conversion to double for two, a sum, a conversion that has no double; loads, broadcasts, the stack and the division behind the loop are left out.
        self.assertEqual(loops_of(functions[turn]), [(5, 128)])

    def test_operations_of_a_line(self):
        self.assertEqual(per_line(functions, r"%::Turn<.*Caching\)1>", "AVX3"), 2.5)

    def test_no_such_function_or_no_loop(self):
        self.assertIsNone(per_line(functions, r"%::Turn<.*Caching\)0>", "AVX3"))
        self.assertIsNone(per_line(functions, r"%::Turn<.*Caching\)1>", "AVX2"))
        self.assertIsNone(per_line(functions, None, "AVX3"))


class Functions(unittest.TestCase):
    def test_names_of_benchmarks_name_their_loop(self):
        self.assertEqual(function_of("sinusoidal/float32/interleaved/certified/262144x128"),
                         r"%::EncodeBothSides<.*Float32, .*Rounding\)0, .*Order\)0, .*Caching\)1>")
        self.assertIn(r"TurnNarrow<.*BFloat16, .*PairBounds.*Rounding\)0, .*Pairing\)0", function_of("xpos/bfloat16/interleaved_in_place/certified/64x16x128"))
        self.assertEqual(function_of("alibi/float32/causal/certified/12x2048x2048"), 0)
        self.assertIsNone(function_of("sinusoidal/float32/interleaved/sleef/262144x128"))
        self.assertEqual(function_of("learned/float32/gradient/certified/4096x768"), 16)

    def test_what_is_counted_by_hand_is_said_to_be(self):
        self.assertTrue(is_by_hand("learned/float32/gradient/certified/4096x768"))
        for name in ("alibi/float32/causal/certified/12x2048x2048", "sinusoidal/float32/interleaved/certified/262144x128", "binary/float32/digits/certified/524288x63"):
            self.assertFalse(is_by_hand(name))


if __name__ == "__main__":
    unittest.main()
