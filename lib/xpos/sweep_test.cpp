#include <gtest/gtest.h>

#include <vector>

#include "lib/kernels/digest_test.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/xpos/xpos.hpp"
#include "reference/xpos.hpp"

// 1024 positions, every pair, both roles, all dtypes.

namespace sextant::xpos_sweep_test {
namespace {

using reference::Enclosure;
using reference::Precision;

constexpr std::int64_t tokens = 1024;
constexpr std::int64_t head_dim = 16;

Xpos encoding_with(Role role) {
  Xpos encoding;
  encoding.rope.head_dim = head_dim;
  encoding.rope.rotary_dim = head_dim;
  encoding.rope.pairing = encoding.rope.output_pairing = Pairing::interleaved;
  encoding.role = role;
  return encoding;
}

// 0 to 511, a third of them negative, then every 63rd up to 33201.
std::vector<std::int64_t> positions() {
  std::vector<std::int64_t> list(tokens);
  for (std::int64_t i = 0; i < tokens; ++i)
    list[static_cast<std::size_t>(i)] = i < tokens / 2 ? (i % 3 == 2 ? -i : i) : (i - tokens / 2 + 16) * 63;
  return list;
}

Tensor vectors(Dtype dtype) {
  Tensor x = Tensor::zeros(dtype, {1, tokens, 1, head_dim});
  for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, static_cast<double>(i * 40503 % 65521 - 32760) * 0x1p-14);
  return x;
}

TEST(XposSweep, EveryPairOfEveryPositionEqualsTheOracle) {
  const std::vector<std::int64_t> list = positions();
  for (const Role role : {Role::query, Role::key}) {
    const Xpos encoding = encoding_with(role);
    const XposEncoder encoder(encoding);
    for (const Dtype dtype : floating_dtypes) {
      const Tensor x = vectors(dtype);
      const Tensor y = encoder.rotate(x, list);
      std::int64_t wrong = 0;
#pragma omp parallel reduction(+ : wrong)
      {
        reference::XposReference truth(encoding);
#pragma omp for schedule(static)
        for (std::int64_t token = 0; token < tokens; ++token) {
          for (std::int64_t pair = 0; pair < head_dim / 2; ++pair) {
            const std::int64_t first = token * head_dim + 2 * pair;
            const auto turned = [&](Precision precision) {
              const reference::RealPair real{Enclosure(x.at(first), precision), Enclosure(x.at(first + 1), precision)};
              return truth.turned(list[static_cast<std::size_t>(token)], pair, real, precision);
            };
            wrong +=
                y.at(first) != nearest(dtype, [&](Precision precision) { return turned(precision).first; }) ? 1 : 0;
            wrong += y.at(first + 1) != nearest(dtype, [&](Precision precision) { return turned(precision).second; })
                         ? 1
                         : 0;
          }
        }
      }
      EXPECT_EQ(wrong, 0) << name_of(dtype) << (role == Role::query ? " query" : " key");
    }
  }
}

class XposSweepOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(XposSweepOn);

TEST_P(XposSweepOn, RotationsHaveThePublishedDigests) {
  Digests digests;
  for (const Role role : {Role::query, Role::key}) {
    const XposEncoder encoder(encoding_with(role));
    for (const Dtype dtype : floating_dtypes) {
      digests[std::string(name_of(dtype)) + (role == Role::query ? " query" : " key")] =
          digest_on_threads([&] { return encoder.rotate(vectors(dtype), positions()); });
    }
  }
  Xpos centred = encoding_with(Role::query);
  centred.centre = HalfOfCall::ceil;
  digests["float32 query ceil_half"] =
      digest_on_threads([&] { return XposEncoder(centred).rotate(vectors(Dtype::float32), positions()); });
  centred.centre = std::int64_t{-1000};
  digests["bfloat16 query from -1000"] =
      digest_on_threads([&] { return XposEncoder(centred).rotate(vectors(Dtype::bfloat16), positions()); });
  expect_published("xpos", digests);
}

}  // namespace
}  // namespace sextant::xpos_sweep_test
