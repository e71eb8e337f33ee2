#include "subjects/host/environment.hpp"

#include <cfenv>
#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace sextant::host {
namespace {

const char* name_of_rounding(int mode) {
  switch (mode) {
    case FE_TONEAREST: return "to nearest";
    case FE_UPWARD: return "upward";
    case FE_DOWNWARD: return "downward";
    case FE_TOWARDZERO: return "toward zero";
    default: return "a mode of its own";
  }
}

// What the control register of vector arithmetic says, which fegetround need not look at.
struct Control {
  int rounding = FE_TONEAREST;
  bool flushes_results = false;  ///< to zero
  bool flushes_inputs = false;
};

Control control() {
#if defined(__SSE2__)
  // Intel's manual, volume 1, section 10.2.3: FZ is bit 15, DAZ bit 6, RC bits 13 and 14.
  const std::uint32_t bits = _mm_getcsr();
  constexpr int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  return {modes[bits >> 13 & 3], (bits & 0x8000) != 0, (bits & 0x40) != 0};
#elif defined(__aarch64__)
  // Arm's manual, FPCR: FZ is bit 24, for inputs and results alike; fegetround reads the rest.
  std::uint64_t bits = 0;
  asm volatile("mrs %0, fpcr" : "=r"(bits));
  return {std::fegetround(), (bits & std::uint64_t{1} << 24) != 0, false};
#else
  return {std::fegetround(), false, false};
#endif
}

std::optional<std::string> difference() {
  const Control now = control();
  if (now.flushes_results) return "left flush-to-zero on";
  if (now.flushes_inputs) return "left denormals-are-zero on";
  const int rounding = now.rounding != FE_TONEAREST ? now.rounding : std::fegetround();
  if (rounding != FE_TONEAREST) return std::string("left the rounding mode at ") + name_of_rounding(rounding);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> changed_environment() {
  const std::optional<std::string> changed = difference();
  if (changed) std::fesetenv(FE_DFL_ENV);
  return changed;
}

}  // namespace sextant::host
