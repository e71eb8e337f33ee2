#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/kernels/target_test.hpp"
#include "lib/rope/job.hpp"
#include "lib/rope/oracle_test.hpp"
#include "lib/rope/rope.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/rope/next_row_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/rope/tiers/float32-inl.h"
#include "lib/rope/tiers/float64-inl.h"
#include "lib/rope/tiers/narrow-inl.h"
#include "lib/rope/tiers/narrow_row-inl.h"

// Target-independent, so declared before the file is taken once per target.
#ifndef SEXTANT_LIB_ROPE_NEXT_ROW_TEST_ROWS
#define SEXTANT_LIB_ROPE_NEXT_ROW_TEST_ROWS
namespace sextant {
struct FilledRow {
  std::vector<double> cos;
  std::vector<double> sin;
  std::vector<double> cos_low;
  std::vector<double> sin_low;
  double bound;
  int turns;
};
}  // namespace sextant
#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

template <class Kernel>
void FillRowsOf(const RowSource& source, std::vector<FilledRow>& rows) {
  const std::size_t pairs = source.turns.frequencies->pairs();
  const auto copied = [&](const double* entries) { return std::vector<double>(entries, entries + pairs); };
  typename Kernel::Row row;
  for (std::int64_t token = 0; token < source.tokens; ++token) {
    Kernel::template Fill<Pairing::half, Pairing::half>(source, token, 0, pairs, row);
    rows.push_back({copied(row.cos), copied(row.sin), {}, {}, row.bounds.bound, row.turns});
    if constexpr (Kernel::Row::precise) {
      rows.back().cos_low = copied(row.cos_low);
      rows.back().sin_low = copied(row.sin_low);
    }
  }
}

void FillRows(Dtype dtype, const RowSource& source, std::vector<FilledRow>& rows) {
  dtype == Dtype::float64   ? FillRowsOf<TurnFloat64<SharedBounds>>(source, rows)
  : dtype == Dtype::float32 ? FillRowsOf<TurnFloat32<SharedBounds>>(source, rows)
                            : FillRowsOf<TurnNarrow<Float16, SharedBounds>>(source, rows);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(FillRows);

using reference::Enclosure;
using reference::Precision;

class NextRowOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(NextRowOn);

// Equal distances, forwards, backwards and none, from 0, past 0, where a sine is 0 itself, and far out; then some that
// change.
std::vector<std::vector<std::int64_t>> sequences() {
  std::vector<std::vector<std::int64_t>> all;
  for (const std::int64_t distance : {1, -1, 0, 3, 1000003}) {
    for (const std::int64_t first :
         {std::int64_t{0}, std::int64_t{-45}, std::int64_t{131000}, (std::int64_t{1} << 52) + 1}) {
      std::vector<std::int64_t>& positions = all.emplace_back();
      for (std::int64_t token = 0; token < 90; ++token) positions.push_back(first + token * distance);
    }
  }
  all.push_back({5,
                 6,
                 7,
                 8,
                 100,
                 101,
                 102,
                 101,
                 100,
                 99,
                 99,
                 99,
                 99,
                 103,
                 107,
                 111,
                 112,
                 113,
                 std::int64_t{1} << 53,
                 -(std::int64_t{1} << 53),
                 std::int64_t{1} << 53,
                 0,
                 1,
                 2});
  return all;
}

double norm(const Enclosure& first, const Enclosure& second) { return sqrt(first * first + second * second).upper(); }

// The bounds on which the certificates rest, and that rows are turned from each other where they should be.
TEST_P(NextRowOn, IsAsNearAsItsBoundsSay) {
  for (const char* scaling :
       {"", R"(,"rope_scaling":{"rope_type":"yarn","factor":4,"original_max_position_embeddings":4096})"}) {
    const Rope encoding = rope_of(std::string(R"("head_dim":20)") + scaling);
    reference::RopeReference exact(encoding);
    const RopePlan plan(encoding, ladders_of(encoding), 1);
    const FrequencyPieces& frequencies = plan.frequencies;
    const AttentionFactor& factor = plan.factor;
    for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16}) {
      for (const std::vector<std::int64_t>& positions : sequences()) {
        const RowSource source{PairTurns(plan),  Direction::counterclockwise, Rounding::certified,
                               positions.data(), std::ssize(positions),       1000};
        std::vector<FilledRow> rows;
        HWY_DYNAMIC_DISPATCH(FillRows)(dtype, source, rows);
        ASSERT_EQ(rows.size(), positions.size());
        std::int64_t turned = 0;
        for (std::size_t token = 0; token < rows.size(); ++token) {
          const FilledRow& row = rows[token];
          turned += row.turns > 0 ? 1 : 0;
          const bool precise = dtype == Dtype::float64 || (dtype == Dtype::float32 && row.turns > 0);
          const double t = precise ? 1.01 : row.turns > 0 ? 66 : 7.75;
          // What both parts of an entry are off by: in float64 128 + 64 (128 + 29) units of 2^-106 if turned.
          const double in_double_double = dtype == Dtype::float32 ? 0x1p-91 : row.turns > 0 ? 0x1.4p-93 : 0x1.2p-99;
          if (dtype == Dtype::float64) {
            EXPECT_EQ(row.bound, (row.turns > 0 ? 0x1p-92 : 0x1p-98) * factor.high);
          } else {
            EXPECT_GE(row.bound, (t + 3.25) * 0x1p-53 * factor.high * (1 - 0x1p-40));
          }
          for (std::size_t pair = 0; pair < frequencies.pairs(); pair += positions[token] % 3 == 0 ? 1 : 4) {
            const Precision precision{256};
            const auto exactly = [&](double value) { return Enclosure(value, precision); };
            const reference::Rotation& truth =
                exact.rotation(positions[token], static_cast<std::int64_t>(pair), 1, precision);
            const Enclosure a = exact.attention_factor(precision);
            const Enclosure cos_error = exactly(row.cos[pair]) - a * truth.cos;
            const Enclosure sin_error = exactly(row.sin[pair]) - a * truth.sin;
            ASSERT_LE(norm(cos_error, sin_error), t * 0x1p-53 * factor.high)
                << "pair " << pair << " token " << token << " at " << positions[token];
            if (!precise) continue;
            ASSERT_LE(norm(cos_error + exactly(row.cos_low[pair]), sin_error + exactly(row.sin_low[pair])),
                      in_double_double * factor.high)
                << "pair " << pair << " token " << token << " at " << positions[token];
          }
        }
        // Of 90 at equal distances all but the first two, and in 16 bits one of 17.
        EXPECT_GE(turned, positions.size() == 90 ? 82 : 6);
      }
    }
  }
}

TEST_P(NextRowOn, ChangesNoValue) {
  constexpr std::int64_t heads = 16;
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    for (const char* fields :
         {R"("head_dim":128)", R"("head_dim":128,"rotary_dim":96,"direction":"clockwise","pairing":"interleaved")"}) {
      const Rope encoding = rope_of(fields);
      const RopeEncoder encoder(encoding);
      for (const std::vector<std::int64_t>& positions : sequences()) {
        Tensor x = Tensor::zeros(dtype, {1, std::ssize(positions), heads, 128});
        for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, i % 5 == 0 ? 0 : std::sin(static_cast<double>(i)) * 4);
        const Tensor together = encoder.rotate(x, positions);
        for (std::int64_t token = 0; token < std::ssize(positions); ++token) {
          Tensor one = Tensor::zeros(dtype, {1, 1, heads, 128});
          const std::size_t bytes = one.data.size();
          const auto at = static_cast<std::ptrdiff_t>(bytes) * token;
          std::copy_n(x.data.begin() + at, bytes, one.data.begin());
          const Tensor alone = encoder.rotate(one, {&positions[static_cast<std::size_t>(token)], 1});
          ASSERT_TRUE(std::equal(alone.data.begin(), alone.data.end(), together.data.begin() + at))
              << name_of(dtype) << " token " << token << " at " << positions[static_cast<std::size_t>(token)];
        }
      }
    }
  }
}

}  // namespace
}  // namespace sextant
#endif
