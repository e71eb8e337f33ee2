#pragma once

#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"

// Encodings and positions drawn over the whole of what specs allow, for the oracle's own tests.

namespace sextant::reference {

/// `count` times SEXTANT_TEST_MULTIPLIER, where that is set.
inline std::int64_t multiplied(std::int64_t count) {
  const char* multiplier = std::getenv("SEXTANT_TEST_MULTIPLIER");
  return count * (multiplier != nullptr ? std::max(1, std::atoi(multiplier)) : 1);
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  std::int64_t integer(std::int64_t first, std::int64_t last) {
    return first + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(last - first + 1));
  }
  double real(double first, double last) {
    return first + (last - first) * static_cast<double>(random_() >> 11) * 0x1p-53;
  }
  /// Log-uniform.
  double magnitude(double first, double last) { return std::exp(real(std::log(first), std::log(last))); }
  bool coin() { return random_() % 2 == 0; }

  /// Of every magnitude up to 2^53, of both signs, near powers of two half of the time.
  std::int64_t position() {
    const std::int64_t any = static_cast<std::int64_t>(random_()) >> integer(10, 63);
    if (coin()) return any;
    const std::int64_t power = (std::int64_t{1} << integer(0, 52)) + integer(-1, 1);
    return coin() ? power : -power;
  }

  Sinusoidal sinusoidal() {
    Sinusoidal encoding;
    encoding.dim = 2 * integer(1, 64);
    encoding.base = magnitude(1, 1e9);
    encoding.downscale_freq_shift = encoding.dim > 2 && coin() ? 1 : 0;
    encoding.position_offset = coin() ? 0 : integer(-1000, 1000);
    return encoding;
  }

  /// Any scaling rule, partial rotary of both layouts, both directions.
  Rope rope() {
    while (true) {
      Rope encoding;
      encoding.head_dim = 2 * integer(1, 64);
      encoding.rotary_dim = coin() ? encoding.head_dim : 2 * integer(1, encoding.head_dim / 2);
      encoding.rotary_layout = coin() ? RotaryLayout::prefix : RotaryLayout::spread;
      encoding.rope_theta = magnitude(1, 1e9);
      encoding.direction = coin() ? Direction::counterclockwise : Direction::clockwise;
      encoding.rope_scaling = scaling(encoding);
      Spec spec;
      spec.encoding = encoding;
      try {
        validate(spec);
        return encoding;
      } catch (const SpecError&) {
        // A rule and a layout that exclude each other, or ends of a ramp in the wrong order: drawn again.
      }
    }
  }

 private:
  RopeScaling scaling(const Rope& encoding) {
    const double factor = coin() ? static_cast<double>(integer(1, 64)) : magnitude(1, 100);
    const std::int64_t length = coin() ? std::int64_t{1} << integer(8, 17) : integer(2, 200000);
    switch (integer(0, 7)) {
      case 0: return DefaultScaling{};
      case 1: return LinearScaling{factor};
      case 2: return NtkScaling{factor};
      case 3:
        return DynamicScaling{factor, length, LengthScope::call, coin() ? LengthSteps::every : LengthSteps::doublings};
      case 4: {
        YarnScaling yarn;
        yarn.factor = factor;
        yarn.original_max_position_embeddings = length;
        yarn.beta_slow = magnitude(0.25, 4);
        yarn.beta_fast = yarn.beta_slow * magnitude(1.5, 64);
        yarn.truncate = coin() ? Truncate::yes : Truncate::no;
        if (coin()) {
          yarn.mscale = magnitude(0.1, 2);
          yarn.mscale_all_dim = coin() ? *yarn.mscale : magnitude(0.1, 2);
        } else if (coin()) {
          yarn.attention_factor = magnitude(0.5, 2);
        }
        return yarn;
      }
      case 5: {
        LongropeScaling longrope;
        longrope.original_max_position_embeddings = length;
        for (std::int64_t i = 0; i < pairs(encoding); ++i) {
          longrope.short_factor.push_back(magnitude(0.8, 4));
          longrope.long_factor.push_back(magnitude(1, 64));
        }
        if (coin()) {
          longrope.factor = factor;
        } else if (coin()) {
          longrope.short_mscale = magnitude(0.5, 2);
          longrope.long_mscale = magnitude(0.5, 2);
        } else {
          longrope.attention_factor = magnitude(0.5, 2);
        }
        return longrope;
      }
      case 6: {
        const double low = magnitude(0.25, 4);
        return Llama3Scaling{factor, length, low, low * magnitude(1.5, 16)};
      }
      default: return ProportionalScaling{factor};
    }
  }

  std::mt19937_64 random_;
};

}  // namespace sextant::reference
