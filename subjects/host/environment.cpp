#include "subjects/host/environment.hpp"

#include <array>
#include <cfenv>
#include <cstdint>
#include <span>

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

// A bit of a control register that a call began with otherwise, or a field of them, and what it then left.
struct Setting {
  std::uint64_t mask;
  std::uint64_t at_first;
  const char* left;
};

const char* changed(std::uint64_t bits, std::span<const Setting> settings) {
  for (const auto& [mask, at_first, left] : settings) {
    if ((bits & mask) != at_first) return left;
  }
  return nullptr;
}

#if defined(__SSE2__)
// Intel's manual, volume 1, sections 10.2.3 and 8.1.5: exceptions are masked by bits 7 to 12 of MXCSR and by bits 0 to
// 5 of x87's control word, each in the order below. Bits 0 to 5 of MXCSR only say what has happened.
constexpr std::array<Setting, 8> of_mxcsr{{{0x8000, 0, "left flush-to-zero on"},
                                           {0x0040, 0, "left denormals-are-zero on"},
                                           {0x0080, 0x0080, "left invalid operations unmasked, in MXCSR"},
                                           {0x0100, 0x0100, "left denormal operands unmasked, in MXCSR"},
                                           {0x0200, 0x0200, "left divisions by zero unmasked, in MXCSR"},
                                           {0x0400, 0x0400, "left overflows unmasked, in MXCSR"},
                                           {0x0800, 0x0800, "left underflows unmasked, in MXCSR"},
                                           {0x1000, 0x1000, "left inexact results unmasked, in MXCSR"}}};
constexpr std::array<Setting, 7> of_x87{{{0x300, 0x300, "left x87's precision at fewer than 64 bits"},
                                         {0x01, 0x01, "left invalid operations unmasked, in x87's control word"},
                                         {0x02, 0x02, "left denormal operands unmasked, in x87's control word"},
                                         {0x04, 0x04, "left divisions by zero unmasked, in x87's control word"},
                                         {0x08, 0x08, "left overflows unmasked, in x87's control word"},
                                         {0x10, 0x10, "left underflows unmasked, in x87's control word"},
                                         {0x20, 0x20, "left inexact results unmasked, in x87's control word"}}};

// How vectors are rounded, which fegetround need not look at: bits 13 and 14.
int rounding_of_vectors(std::uint64_t mxcsr) {
  constexpr int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
  return modes[mxcsr >> 13 & 3];
}
#elif defined(__aarch64__)
// Arm's manual, FPCR, where 0 is the default of each.
constexpr std::array<Setting, 5> of_fpcr{{{std::uint64_t{1} << 24, 0, "left flush-to-zero on"},
                                          {std::uint64_t{1} << 19, 0, "left flush-to-zero of float16 on"},
                                          {std::uint64_t{1} << 25, 0, "left default NaN on"},
                                          {std::uint64_t{1} << 26, 0, "left alternative float16 on"},
                                          {std::uint64_t{0x9F} << 8, 0, "left exceptions unmasked"}}};
#endif

std::optional<std::string> difference() {
  int rounding = std::fegetround();
  const char* left = nullptr;
#if defined(__SSE2__)
  const std::uint64_t mxcsr = _mm_getcsr();
  std::uint16_t x87 = 0;
  asm volatile("fnstcw %0" : "=m"(x87));
  if (rounding == FE_TONEAREST) rounding = rounding_of_vectors(mxcsr);
  left = changed(mxcsr, of_mxcsr);
  if (left == nullptr) left = changed(x87, of_x87);
#elif defined(__aarch64__)
  std::uint64_t fpcr = 0;
  asm volatile("mrs %0, fpcr" : "=r"(fpcr));
  left = changed(fpcr, of_fpcr);
#endif
  if (left != nullptr) return left;
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
