#pragma once

#include <cfenv>
#include <cstdint>
#include <functional>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

// Floating-point environments that callers may come with.

namespace sextant {

struct Environment {
  const char* name;
  std::function<void()> enter;
};

// Flush-to-zero and denormals-are-zero, as -ffast-math sets them at the start of a program, and PyTorch's
// set_flush_denormal.
#if defined(__x86_64__)
inline unsigned control() { return _mm_getcsr() & ~0x3FU; }
inline void flush_to_zero() { _mm_setcsr(_mm_getcsr() | 0x8040); }
#elif defined(__aarch64__)
inline std::uint64_t control() {
  std::uint64_t value = 0;
  asm volatile("mrs %0, fpcr" : "=r"(value));
  return value;
}
inline void flush_to_zero() { asm volatile("msr fpcr, %0" : : "r"(control() | std::uint64_t{1} << 24)); }
#else
inline int control() { return std::fegetround(); }
inline void flush_to_zero() {}
#endif

inline const std::vector<Environment>& environments() {
  static const std::vector<Environment> list{
      {"upward", [] { std::fesetround(FE_UPWARD); }},
      {"downward", [] { std::fesetround(FE_DOWNWARD); }},
      {"toward zero", [] { std::fesetround(FE_TOWARDZERO); }},
      {"flush to zero", flush_to_zero},
      {"flush to zero, upward",
       [] {
         flush_to_zero();
         std::fesetround(FE_UPWARD);
       }},
  };
  return list;
}

// What `ask` returns in another environment than the caller's, which is then back.
template <class Ask>
auto in(const Environment& environment, Ask ask) {
  std::fenv_t saved;
  std::fegetenv(&saved);
  environment.enter();
  auto answer = ask();
  std::fesetenv(&saved);
  return answer;
}

}  // namespace sextant
