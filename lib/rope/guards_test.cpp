#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "lib/kernels/target_test.hpp"
#include "lib/rope/oracle_test.hpp"
#include "lib/rope/rope.hpp"

// Both ends of every guard that decides which tier serves a pair: the limits of tiers/*-inl.h, the attention
// factors and the magnitudes within which those and settle.cpp certify.

namespace sextant::rope_guards_test {
namespace {

constexpr std::int64_t head_dim = 128;
constexpr Pairing pairings[] = {Pairing::half, Pairing::interleaved};

// Yarn, for its factor; its ramp lies beyond the pairs, so that frequencies are those of the formula.
Rope with_factor(double factor) {
  Rope encoding = rope_of(R"("head_dim":128)");
  YarnScaling yarn;
  yarn.original_max_position_embeddings = 4096;
  yarn.attention_factor = factor;
  encoding.rope_scaling = yarn;
  return encoding;
}

using Pairs = std::vector<std::pair<double, double>>;

// The pairs in heads of 64, filled up with ordinary ones, against the oracle.
void expect_oracle(const Rope& given, Dtype dtype, std::int64_t position, const Pairs& all) {
  PairOracle oracle(given);
  constexpr std::int64_t per_head = head_dim / 2;
  const std::int64_t heads = (std::ssize(all) + per_head - 1) / per_head;
  const auto pair_of = [&](std::int64_t head, std::int64_t pair) {
    const auto index = static_cast<std::size_t>(head * per_head + pair);
    return index < all.size() ? all[index] : std::pair{1.0, 1.5};
  };
  std::vector<PairOracle::Values> truth;
  for (std::int64_t i = 0; i < heads * per_head; ++i) {
    const auto [first, second] = pair_of(i / per_head, i % per_head);
    truth.push_back(oracle.rotated(dtype, position, i % per_head, position + 1, first, second));
  }
  for (const Pairing pairing : pairings) {
    Rope encoding = given;
    encoding.pairing = encoding.output_pairing = pairing;
    Tensor x = Tensor::zeros(dtype, {1, 1, heads, head_dim});
    Tensor expected = x;
    for (std::int64_t i = 0; i < heads * per_head; ++i) {
      const Channels channels = channels_of_pair(encoding, pairing, i % per_head);
      const auto [first, second] = pair_of(i / per_head, i % per_head);
      const std::int64_t head = i / per_head * head_dim;
      x.set(head + channels.first, first);
      x.set(head + channels.second, second);
      expected.set(head + channels.first, truth[static_cast<std::size_t>(i)].first);
      expected.set(head + channels.second, truth[static_cast<std::size_t>(i)].second);
    }
    const Tensor y = RopeEncoder(encoding).rotate(x, std::vector<std::int64_t>{position});
    if (y.data == expected.data) continue;
    for (std::int64_t i = 0; i < y.elements(); ++i) {
      ASSERT_EQ(std::signbit(y.at(i)), std::signbit(expected.at(i))) << name_of(dtype) << " at " << i;
      ASSERT_EQ(y.at(i), expected.at(i)) << name_of(dtype) << ", position " << position << ", channel " << i % head_dim
                                         << " of " << std::hexfloat << x.at(i) << ", factor "
                                         << std::get<YarnScaling>(given.rope_scaling).attention_factor.value();
    }
  }
}

double below(double value) { return std::nextafter(value, 0.0); }
double above(double value) { return std::nextafter(value, std::numeric_limits<double>::infinity()); }

// Values of the dtype some places around |value|, of both signs.
std::vector<double> around(Dtype dtype, double value) {
  const Format format = format_of(dtype);
  std::vector<double> list;
  const int exponent = std::max(std::ilogb(value), format.min_exponent);
  const double place = std::ldexp(1.0, exponent - format.precision + 1);
  for (int step = -2; step <= 2; ++step) {
    const double near = round_to(dtype, value + step * place);
    if (!std::isfinite(near)) continue;
    list.push_back(near);
    list.push_back(-near);
  }
  return list;
}

class RopeGuardsOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(RopeGuardsOn);

// Calls visit(x, y) with one head whose channels are value(dtype, channel), and what Rounding::fast makes of it.
template <class Value, class Visit>
void each_rotated_fast(std::int64_t position, Value value, Visit visit) {
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    for (const Pairing pairing : pairings) {
      Rope encoding = with_factor(1.5);
      encoding.pairing = encoding.output_pairing = pairing;
      Tensor x = Tensor::zeros(dtype, {1, 1, 1, head_dim});
      for (std::int64_t i = 0; i < head_dim; ++i) x.set(i, value(dtype, i));
      visit(x, RopeEncoder(encoding).rotate(x, std::vector<std::int64_t>{position}, Rounding::fast));
    }
  }
}

// What is not certified is rounded like the rest: to infinity beyond the largest value.
TEST_P(RopeGuardsOn, FastOverflowsToInfinity) {
  const auto largest = [](Dtype dtype, std::int64_t channel) {
    return channel % 3 == 0 ? -largest_finite(dtype) : largest_finite(dtype);
  };
  each_rotated_fast(0, largest, [](const Tensor& x, const Tensor& y) {
    for (std::int64_t i = 0; i < head_dim; ++i)
      ASSERT_EQ(y.at(i), x.at(i) * HUGE_VAL) << name_of(x.dtype) << ", channel " << i;
  });
}

TEST_P(RopeGuardsOn, FastMakesNaNOfNaN) {
  const auto nan = [](Dtype, std::int64_t) { return std::numeric_limits<double>::quiet_NaN(); };
  each_rotated_fast(3, nan, [](const Tensor& x, const Tensor& y) {
    for (std::int64_t i = 0; i < head_dim; ++i)
      ASSERT_TRUE(std::isnan(y.at(i))) << name_of(x.dtype) << ", channel " << i << ": " << y.at(i);
  });
}

// QuickLimits: the least smaller y, the most of the larger one, and their ratio. At position 0 a pair is multiplied by
// the factor alone, so that y lies where it is put, exact ties among it.
TEST_P(RopeGuardsOn, LeastMostAndRatioOfTheQuickTier) {
  struct Limits {
    Dtype dtype;
    std::vector<double> least;
    std::vector<double> most;
    std::vector<double> ratios;
  };
  const std::vector<Limits> all{
      {Dtype::float32, {0x1p-126, 0x1p-126 * 6144, 1.0}, {0x1.fffffep127}, {6144, 6143, 6145}},
      {Dtype::float16, {0x1p-14, 0x1p-13, 1.0}, {65504.0, 32768.0}, {0x1p11, 0x1p10, 0x1p20}},
      {Dtype::bfloat16, {0x1p-100, 0x1p-99, 1.0, 0x1p-126}, {0x1p100, 0x1p86, 0x1p99}, {0x1p14, 0x1p13, 0x1p15}},
  };
  for (const Limits& limits : all) {
    for (const double factor : {1.0, 1.25, 1 + 0x1p-10, 0x1.000001p0}) {
      Pairs pairs;
      const auto put = [&](double small, double large) {
        pairs.emplace_back(small, large);
        pairs.emplace_back(large, small);
      };
      for (const double least : limits.least) {
        for (const double small : around(limits.dtype, least / factor)) {
          for (const double ratio : limits.ratios) {
            for (const double large : around(limits.dtype, std::fabs(small) * ratio)) put(small, large);
          }
          put(small, 0);
          put(small, small);
        }
      }
      for (const double most : limits.most) {
        for (const double large : around(limits.dtype, most / factor)) {
          put(large, large);
          for (const double ratio : limits.ratios) put(round_to(limits.dtype, large / ratio), large);
        }
      }
      expect_oracle(with_factor(factor), limits.dtype, 0, pairs);
      if (HasFatalFailure()) return;
      if (factor != 1.25) continue;
      expect_oracle(with_factor(factor), limits.dtype, 131071, pairs);
      if (HasFatalFailure()) return;
    }
  }
}

// Step 21 of docs/proofs/rope.md. At position 0 a pair is multiplied by the factor alone: 1 + 2^-52 puts 1.5 + k 2^-52
// at k 2^-104 from a tie, on both sides of the bound; others tie in half of the cases, and just above a power of two,
// where the gap below is half as large.
TEST_P(RopeGuardsOn, TiesOfDoubles) {
  for (const double factor : {1 + 0x1p-52, 1.5, 1.25, 1 - 0x1p-53, 0.75}) {
    Pairs pairs;
    for (int power = 0; power <= 12; ++power) {
      for (const int sign : {-1, 1}) {
        const double near = 1.5 + sign * std::ldexp(1.0, power - 52);
        pairs.emplace_back(near, -near);
        pairs.emplace_back(std::ldexp(near, 40), std::ldexp(near, -40));
        pairs.emplace_back((1 + sign * std::ldexp(1.0, power - 52)) / factor, above(1 / factor));
        pairs.emplace_back((2 + sign * std::ldexp(1.0, power - 51)) * near, 1.5);
      }
    }
    expect_oracle(with_factor(factor), Dtype::float64, 0, pairs);
    if (HasFatalFailure()) return;
    expect_oracle(with_factor(factor), Dtype::float64, 131071, pairs);
    if (HasFatalFailure()) return;
  }
}

// Components that all but cancel, to magnitudes below what is lost to rounding.
TEST_P(RopeGuardsOn, DoublesThatCancel) {
  const Rope encoding = with_factor(1.0);
  PairOracle oracle(encoding);
  for (const std::int64_t position : {std::int64_t{1}, std::int64_t{131071}, (std::int64_t{1} << 53) - 1}) {
    Pairs pairs;
    for (std::int64_t pair = 0; pair < 64; ++pair) {
      // What (1, 0) turned back is: its nearest doubles turn to 1 and about 2^-54.
      const PairOracle::Values turned = oracle.rotated(Dtype::float64, position, pair, position + 1, 1.0, 0.0);
      const double scale = std::ldexp(1.0, static_cast<int>(pair) - 32);
      pairs.emplace_back(turned.first * scale, -turned.second * scale);
    }
    expect_oracle(encoding, Dtype::float64, position, pairs);
    if (HasFatalFailure()) return;
  }
}

// Beyond [2^-20, 2^20] nothing is certified but by the last tier, half a millisecond each. From 2^996 on a factor
// cannot be split, which makes NaN of rows on targets without fused operations.
TEST_P(RopeGuardsOn, AttentionFactorsAtBothEnds) {
  for (const double end : {0x1p-20, 0x1p20, 0x1p995, 0x1p996, 0x1p1023, 0x1p-1022}) {
    for (const double factor : {below(end), end, above(end)}) {
      for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float64}) {
        Pairs pairs;
        const double unit = dtype == Dtype::float16 && end > 1 ? 0x1p-12 : 1.0;
        for (int i = 0; i < 64; ++i) {
          pairs.emplace_back(round_to(dtype, (1 + i * 0.37) * unit), round_to(dtype, (i * 0.71 - 20) * unit));
        }
        expect_oracle(with_factor(factor), dtype, 131071, pairs);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// SharedBounds and by_double_double: |x0| + |x1| in [2^-900, 2^900].
TEST_P(RopeGuardsOn, MagnitudesAtBothEndsOfDoubleDouble) {
  for (const double factor : {0x1p-20, 1.0, 1.25, 0x1p20}) {
    Pairs pairs;
    for (const double end : {0x1p-900, 0x1p900}) {
      for (const double first : {end / 2, below(end), end, above(end)}) {
        for (const double second : {end / 2, 0.0, below(end) * 0x1p-40, -end / 3, 0x1p-1074}) {
          pairs.emplace_back(first, second);
        }
      }
    }
    for (const std::int64_t position : {std::int64_t{0}, std::int64_t{7}, std::int64_t{1} << 53}) {
      expect_oracle(with_factor(factor), Dtype::float64, position, pairs);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace sextant::rope_guards_test
