#include "reference/cephes.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

namespace sextant::reference {
namespace {

// By Horner's rule, the highest power's coefficient first.
float polynomial(std::span<const float> coefficients, float x) {
  float sum = coefficients.front();
  for (const float coefficient : coefficients.subspan(1)) sum = std::fma(sum, x, coefficient);
  return sum;
}

// |x| less a multiple of pi/4 that leaves -pi/4 to pi/4, and the multiple, which is even.
struct Reduced {
  float rest;
  std::uint32_t octants;
};

Reduced reduced(float magnitude) {
  const std::uint32_t octants = (static_cast<std::uint32_t>(magnitude * 1.27323954473516F) + 1) & ~1U;
  const auto multiple = static_cast<float>(octants);
  float rest = magnitude;
  // pi/4 in three parts.
  for (const float part : {0.78515625F, 2.4187564849853515625e-4F, 3.77489497744594108e-8F})
    rest = std::fma(multiple, -part, rest);
  return {rest, octants};
}

// On -pi/4 to pi/4.
float sine_of(float x) {
  constexpr std::array coefficients{-1.9515295891e-4F, 8.3321608736e-3F, -1.6666654611e-1F};
  const float square = x * x;
  return std::fma(x, polynomial(coefficients, square) * square, x);
}

float cosine_of(float x) {
  constexpr std::array coefficients{2.443315711809948e-5F, -1.388731625493765e-3F, 4.166664568298827e-2F};
  const float square = x * x;
  return std::fma(square, -0.5F, polynomial(coefficients, square) * square * square) + 1;
}

}  // namespace

float cephes_exponential(float x) {
  constexpr std::array coefficients{1.535336188319500e-4F,
                                    1.339887440266574e-3F,
                                    9.618437357674640e-3F,
                                    5.550332471162809e-2F,
                                    2.402264791363012e-1F,
                                    6.931472028550421e-1F,
                                    1.0F};
  const float exponent = x * 1.442695F;
  const float whole = std::floor(exponent + 0.5F);
  const auto bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(whole) + 127) << 23;
  return std::bit_cast<float>(bits) * polynomial(coefficients, exponent - whole);
}

float cephes_sine(float x) {
  const auto [rest, octants] = reduced(std::fabs(x));
  const float magnitude = (octants & 2) != 0 ? cosine_of(rest) : sine_of(rest);
  return (x < 0) != ((octants & 4) != 0) ? -magnitude : magnitude;
}

float cephes_cosine(float x) {
  const auto [rest, octants] = reduced(std::fabs(x));
  const float magnitude = (octants & 2) != 0 ? sine_of(rest) : cosine_of(rest);
  return ((octants - 2) & 4) != 0 ? magnitude : -magnitude;
}

}  // namespace sextant::reference
