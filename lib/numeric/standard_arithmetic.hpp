#pragma once

#include <cfenv>
#include <cfloat>

// What every bound in lib/ is derived for: IEEE 754 arithmetic on doubles and floats as written, rounded to nearest,
// ties to even, with subnormals. The compiler has to keep to it, and so does the thread's floating-point environment.

#ifdef __FAST_MATH__
#error "Sextant's bounds do not hold under -ffast-math: compile lib/ without it"
#endif
static_assert(FLT_EVAL_METHOD == 0,
              "Sextant's bounds need each operation rounded to its own type: compile for SSE2 or later, not for x87");

namespace sextant {

/// While it lives, this thread rounds to nearest, keeps subnormals (no flush-to-zero, no denormals-are-zero) and traps
/// nothing; then the caller's floating-point environment is back. Costs some nanoseconds where that is so already. What
/// the compiler may move across its ends is no arithmetic on memory: keep arithmetic on values that it can see in
/// registers in a function of its own.
///
/// The encoders set it wherever they compute, in constructors too, and so do the functions that read, check and write
/// specs, and each worker of a parallel loop: a thread of OpenMP's pool has the environment of whoever made the pool,
/// not of whoever calls. The vocabulary's own arithmetic (round_to, load and store of dtype.hpp, Tensor, ulp.hpp) is
/// done in the caller's.
class StandardArithmetic {
 public:
  StandardArithmetic() noexcept;
  ~StandardArithmetic();
  StandardArithmetic(const StandardArithmetic&) = delete;
  StandardArithmetic& operator=(const StandardArithmetic&) = delete;

 private:
  bool replaced_;
  std::fenv_t callers_;
};

}  // namespace sextant
