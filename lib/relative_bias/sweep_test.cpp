#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "lib/kernels/digest_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/relative_bias/relative_bias.hpp"
#include "reference/relative_bias.hpp"

// Every distance within 131072 of every setting of a list. The bucket of the formula never falls as the distance grows,
// on either side, so where the oracle gives both ends of a run of distances the run's bucket, it gives it throughout:
// the oracle is asked at the ends of the encoder's runs.

namespace sextant::relative_bias_sweep_test {
namespace {

constexpr std::int64_t reach = 131072;

// Distances 0 to reach on one side, `sign` of key - query.
void expect_truth(const RelativeBias& encoding, std::int64_t sign) {
  const RelativeBiasEncoder encoder(encoding);
  const auto expect_at = [&](std::int64_t distance) {
    EXPECT_EQ(encoder.bucket(sign * distance), reference::bucket(encoding, sign * distance))
        << encoding.num_buckets << " buckets to " << encoding.max_distance
        << (encoding.bidirectional ? " both ways" : " one way") << " at " << sign * distance;
  };
  expect_at(0);
  for (std::int64_t distance = 1; distance <= reach; ++distance) {
    if (encoder.bucket(sign * distance) == encoder.bucket(sign * (distance - 1))) continue;
    expect_at(distance - 1);
    expect_at(distance);
  }
  expect_at(reach);
}

TEST(RelativeBiasSweep, EveryDistanceEqualsTheOracle) {
  int settings = 0;
  for (const std::int64_t buckets : {2, 3, 4, 6, 8, 16, 31, 32, 48, 64, 128, 256, 1000}) {
    for (const std::int64_t max_distance : {2, 3, 17, 100, 128, 129, 256, 1000, 2048, 65536, 100000, 131072}) {
      for (const bool bidirectional : {false, true}) {
        const RelativeBias encoding{buckets, max_distance, bidirectional};
        // The domain of lib/spec/relative_bias.cpp: at least one bucket for exact distances, and a last distance beyond
        // them.
        const bool even = buckets % 2 == 0;
        const std::int64_t exact = (bidirectional ? buckets / 2 : buckets) / 2;
        if ((bidirectional && !even) || exact < 1 || max_distance <= exact) continue;
        expect_truth(encoding, -1);
        expect_truth(encoding, 1);
        ++settings;
      }
    }
  }
  EXPECT_EQ(settings, 223);
}

// The part of the way from the exact distances to max_distance, as deployed codes have it in float32: the logarithm of
// a distance there, over that of the whole way, times the steps. Logarithms are those of float64, rounded once.
float in_float32(double value) { return static_cast<float>(value); }
float logarithm(float value) { return in_float32(std::log(static_cast<double>(value))); }

struct Way {
  float at;      // distance / exact
  double whole;  // max_distance / exact
  float steps;
  float exact;
};
struct Deployed {
  const char* code;
  std::int64_t (*bucket)(const Way& way);
};
constexpr Deployed deployed[] = {
    // Mesh TensorFlow, transformers, x-transformers: the constant is float64's.
    {"mesh_tensorflow",
     [](const Way& way) {
       return static_cast<std::int64_t>(logarithm(way.at) / in_float32(std::log(way.whole)) * way.steps);
     }},
    // T5X: a little more than the quotient.
    {"t5x",
     [](const Way& way) {
       const float more = way.at + std::numeric_limits<float>::epsilon();
       return static_cast<std::int64_t>(logarithm(more) / in_float32(std::log(way.whole)) * way.steps);
     }},
    // ONNX Runtime: all in float32.
    {"onnxruntime",
     [](const Way& way) {
       return static_cast<std::int64_t>(logarithm(way.at) / logarithm(in_float32(way.whole)) * way.steps);
     }},
    // llama.cpp: the product first, and the sum rounded down.
    {"llama.cpp", [](const Way& way) {
       const double sum = way.exact + logarithm(way.at) * way.steps / std::log(way.whole);
       return static_cast<std::int64_t>(std::floor(in_float32(sum))) - static_cast<std::int64_t>(way.exact);
     }}};

// T5, mT5, Flan-T5, MPNet and Pop2Piano (both ways and one way); WavLM; Megatron's and x-transformers' usual ones; and
// round numbers around them. Float32 could put a distance beside a border into the next bucket; of these settings it
// puts none.
TEST(RelativeBiasSweep, DeployedFormulasGiveTheRealNumbersBuckets) {
  constexpr RelativeBias settings[] = {{32, 128, true},  {32, 128, false},  {320, 800, true}, {32, 256, true},
                                       {32, 256, false}, {64, 128, true},   {64, 256, true},  {32, 512, false},
                                       {32, 64, true},   {128, 512, true},  {16, 64, true},   {32, 1024, true},
                                       {48, 4096, true}, {64, 2048, false}, {32, 4096, false}};
  std::vector<std::string> open;
  for (const RelativeBias& encoding : settings) {
    const std::int64_t buckets = directed_buckets(encoding);
    const std::int64_t exact = buckets / 2;
    for (const Deployed& code : deployed) {
      for (std::int64_t distance = exact; distance <= 4 * encoding.max_distance; ++distance) {
        const auto e = static_cast<float>(exact);
        const Way way{static_cast<float>(distance) / e,
                      static_cast<double>(encoding.max_distance) / static_cast<double>(exact),
                      static_cast<float>(buckets - exact), e};
        const std::int64_t bucket = std::min(exact + code.bucket(way), buckets - 1);
        ASSERT_EQ(bucket, reference::bucket(encoding, -distance))
            << code.code << " of " << encoding.num_buckets << " to " << encoding.max_distance << " at " << distance;
      }
    }
    for (std::int64_t distance = 0; distance <= 4 * encoding.max_distance; ++distance) {
      if (reference::bucket_beside(encoding, -distance, {0x1p-24, 1}))
        open.push_back(fmt::format("{} to {} at {}", encoding.num_buckets, encoding.max_distance, distance));
    }
  }
  // Where another float32 might, so that a defect of that one distance would be none.
  EXPECT_EQ(open, std::vector<std::string>{"320 to 800 at 713"});
}

// Where a border is met by an integer they need not: 54 / 24 = (81 / 24)^(16 / 24), and of the codes one says so.
TEST(RelativeBiasSweep, AFormulaInFloat32CanMissABorder) {
  const Way way{54.0F / 24, 81.0 / 24, 24, 24};
  EXPECT_EQ(reference::bucket({48, 81, false}, -54), 24 + 16);
  EXPECT_EQ(reference::bucket({48, 81, false}, -53), 24 + 15);
  for (const Deployed& code : deployed)
    EXPECT_EQ(code.bucket(way), std::string_view(code.code) == "llama.cpp" ? 16 : 15) << code.code;
}

TEST(RelativeBiasSweep, EveryDistanceOfTheOtherRulesEqualsTheOracle) {
  for (const std::int64_t buckets : {8, 12, 16, 64, 256, 512, 1000}) {
    for (const std::int64_t max_distance : {4, 17, 128, 512, 513, 2048, 65536, 131072}) {
      if (max_distance <= buckets / 4 + 1) continue;
      const RelativeBias encoding{buckets, max_distance, true, LaterKeys::at_zero, BucketRule::log};
      expect_truth(encoding, -1);
      expect_truth(encoding, 1);
    }
    const RelativeBias clipped{buckets, buckets / 2, true, LaterKeys::at_zero, BucketRule::clipped};
    expect_truth(clipped, -1);
    expect_truth(clipped, 1);
  }
}

// transformers' make_log_bucket_position in float32, of n > m = position_buckets / 2; logarithms as above.
std::int64_t deberta_bucket(std::int64_t n, std::int64_t position_buckets, std::int64_t furthest) {
  const std::int64_t m = position_buckets / 2;
  const auto of_m = static_cast<double>(m);
  const float at = logarithm(static_cast<float>(n) / static_cast<float>(m));
  const float whole = logarithm(in_float32((static_cast<double>(furthest) - 1) / of_m));
  return m + static_cast<std::int64_t>(std::ceil(at / whole * static_cast<float>(m - 1)));
}

// DeBERTa-v2's, -v3's and SEW-D's 256 to 512, and round numbers around them. That float32 need not: a whole number of
// steps becomes one more, and one that is 1 less than a millionth above an integer becomes it.
TEST(RelativeBiasSweep, DebertasFormulaGivesTheRealNumbersRows) {
  const auto row_of = [](std::int64_t n, std::int64_t buckets, std::int64_t furthest) {
    return reference::bucket({2 * buckets, furthest, true, LaterKeys::at_zero, BucketRule::log}, -n) - buckets;
  };
  for (const auto& [buckets, furthest] : {std::pair(256, 512),
                                          {64, 512},
                                          {128, 512},
                                          {256, 1024},
                                          {256, 2048},
                                          {512, 1024},
                                          {32, 128},
                                          {32, 512},
                                          {320, 512},
                                          {64, 128}}) {
    for (std::int64_t n = buckets / 2 + 1; n < furthest; ++n)
      ASSERT_EQ(deberta_bucket(n, buckets, furthest), row_of(n, buckets, furthest)) << buckets << " at " << n;
  }
  EXPECT_EQ(row_of(112, 28, 114689), 17);
  EXPECT_EQ(deberta_bucket(112, 28, 114689), 18);
  EXPECT_EQ(row_of(614, 224, 2048), 178);
  EXPECT_EQ(deberta_bucket(614, 224, 2048), 177);
}

// Whatever the setting, what float32 makes of the formulas is the real numbers' bucket or the one that is open beside
// it, of which there are few.
TEST(RelativeBiasSweep, DeployedFormulasGiveABucketThatIsOpen) {
  constexpr reference::BucketArithmetic in_float32{0x1p-24, 1};
  std::int64_t open = 0;
  std::int64_t asked = 0;
  const auto expect_open = [&](const RelativeBias& encoding, std::int64_t n, std::int64_t given) {
    const std::int64_t real = reference::bucket(encoding, -n);
    const auto beside = reference::bucket_beside(encoding, -n, in_float32);
    ++asked;
    open += beside ? 1 : 0;
    EXPECT_TRUE(given == real || given == beside)
        << encoding.num_buckets << " to " << encoding.max_distance << " at " << n << ": " << given << " for " << real;
  };
  for (const std::int64_t rows : {4, 28, 50, 96, 160, 224, 300, 448, 512}) {
    for (const std::int64_t max_distance : {81, 300, 513, 1025, 2049, 4096}) {
      const RelativeBias log_rows{2 * rows, max_distance, true, LaterKeys::at_zero, BucketRule::log};
      if (max_distance <= rows / 2 + 1) continue;
      for (std::int64_t n = rows / 2 + 1; n <= max_distance + 3; ++n)
        expect_open(log_rows, n, std::min(rows + deberta_bucket(n, rows, max_distance), 2 * rows - 1));
      const RelativeBias one_way{rows, max_distance, false};
      const std::int64_t exact = rows / 2;
      for (std::int64_t n = exact; n <= max_distance + 3; ++n) {
        const Way way{static_cast<float>(n) / static_cast<float>(exact),
                      static_cast<double>(max_distance) / static_cast<double>(exact), static_cast<float>(rows - exact),
                      static_cast<float>(exact)};
        for (const Deployed& code : {deployed[0], deployed[2]})
          expect_open(one_way, n, std::min(exact + code.bucket(way), rows - 1));
      }
    }
  }
  EXPECT_LT(open, asked / 1000) << open << " of " << asked;
}

TEST(RelativeBiasSweep, MirroredKeysHaveTheBucketsOfThoseBefore) {
  const RelativeBias encoding{32, 128, false, LaterKeys::mirrored};
  const RelativeBiasEncoder encoder(encoding);
  const RelativeBiasEncoder before({32, 128, false});
  for (std::int64_t relative = -1000; relative <= 1000; ++relative) {
    ASSERT_EQ(encoder.bucket(relative), before.bucket(-std::abs(relative))) << relative;
    ASSERT_EQ(encoder.bucket(relative), reference::bucket(encoding, relative)) << relative;
  }
  EXPECT_EQ(encoder.bucket(std::numeric_limits<std::int64_t>::max()), 31);
  EXPECT_EQ(encoder.bucket(std::numeric_limits<std::int64_t>::min()), 31);
}

TEST(RelativeBiasSweep, TablesHaveThePublishedDigests) {
  struct Case {
    const char* name;
    RelativeBias encoding;
  };
  constexpr Case cases[] = {{"32 128 both ways", {32, 128, true}},
                            {"32 128 one way", {32, 128, false}},
                            {"256 131072 one way", {256, 131072, false}},
                            {"512 512 log", {512, 512, true, LaterKeys::at_zero, BucketRule::log}},
                            {"1024 512 clipped", {1024, 512, true, LaterKeys::at_zero, BucketRule::clipped}}};
  std::vector<std::int64_t> queries(64);
  for (std::size_t i = 0; i < queries.size(); ++i) queries[i] = static_cast<std::int64_t>(i) * 2000;
  std::vector<std::int64_t> keys(2048);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<std::int64_t>(i) * 64;
  Digests digests;
  for (const Case& entry : cases) {
    const RelativeBiasEncoder encoder(entry.encoding);
    for (const Dtype dtype : floating_dtypes) {
      Tensor weight = Tensor::zeros(dtype, {entry.encoding.num_buckets, 3});
      for (std::int64_t i = 0; i < weight.elements(); ++i) weight.set(i, static_cast<double>(i * 61 % 127 - 63) / 64);
      digests[std::string(name_of(dtype)) + " bias " + entry.name] =
          digest_on_threads([&] { return encoder.bias(queries, keys, weight); });
    }
  }
  expect_published("relative_bias", digests);
}

}  // namespace
}  // namespace sextant::relative_bias_sweep_test
