#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "lib/kernels/digest_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/relative_bias/relative_bias.hpp"
#include "reference/relative_bias.hpp"

// Every distance within 131072 of every setting of a list. The bucket of the formula never falls as the distance grows,
// on either side, so where the oracle gives both ends of a run of distances the run's bucket, it gives it throughout:
// the oracle is asked at the ends of the encoder's runs.

namespace sextant {
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

TEST(RelativeBiasSweep, TablesHaveThePublishedDigests) {
  struct Case {
    const char* name;
    RelativeBias encoding;
  };
  constexpr Case cases[] = {{"32 128 both ways", {32, 128, true}},
                            {"32 128 one way", {32, 128, false}},
                            {"256 131072 one way", {256, 131072, false}}};
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
}  // namespace sextant
