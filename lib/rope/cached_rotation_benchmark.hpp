#pragma once

#include <cstddef>
#include <functional>

#include "lib/kernels/heads_benchmark.hpp"
#include "lib/spec/spec.hpp"

// The rotation that inference engines have: sines and cosines of every position in two float32 tables, made once, and a
// loop of fused operations over heads in place, in vectors of the best instruction set of the processor. Values are as
// good as the float32 tables and two float32 roundings are, 16 bits one more; nothing is certified, and a NaN may
// become another value in 16 bits. Positions are those of the tables. Rounding to bfloat16 is written out: the
// processor's own conversion (AVX512_BF16) takes subnormals for zero.

namespace sextant {

/// What turns `shape` at `x`, float32 or bfloat16, at positions 0, 1, ...; the tables are made here, once.
std::function<void()> cached_rotation(Dtype dtype, Pairing pairing, const HeadsShape& shape, std::byte* x);

}  // namespace sextant
