#include "lib/numeric/standard_arithmetic.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace sextant {
namespace {

// Whether the environment is the default one already; false where that is not known. fegetenv and fesetenv take 200 ns
// on x86, for the sake of x87, which FLT_EVAL_METHOD == 0 leaves unused.
bool in_force() noexcept {
#if defined(__x86_64__)
  // MXCSR: bits 0-5 are flags, 6 denormals-are-zero, 7-12 the exceptions masked, 13-14 the rounding, 15 flush-to-zero.
  constexpr unsigned flags = 0x3F;
  constexpr unsigned standard = 0x1F80;
  return (_mm_getcsr() & ~flags) == standard;
#else
  return false;
#endif
}

}  // namespace

StandardArithmetic::StandardArithmetic() noexcept : replaced_(!in_force()), callers_() {
  if (!replaced_) return;
  std::fegetenv(&callers_);
  std::fesetenv(FE_DFL_ENV);
}

StandardArithmetic::~StandardArithmetic() {
  if (replaced_) std::fesetenv(&callers_);
}

}  // namespace sextant
