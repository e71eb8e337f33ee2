#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "lib/kernels/digest_test.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/rope_nd/rope_nd.hpp"
#include "reference/rope_nd.hpp"

// Qwen2-VL's rotation in small: 1536 tokens, a third of them text, the rest the frames of a film, every pair, in all
// dtypes.

namespace sextant::rope_nd_sweep_test {
namespace {

using reference::Enclosure;
using reference::Precision;

constexpr std::int64_t tokens = 1536;

RopeNd encoding_with(SectionOrder order) {
  RopeNd encoding;
  encoding.rope.head_dim = encoding.rope.rotary_dim = 32;
  encoding.sections =
      order == SectionOrder::blocked ? std::vector<std::int64_t>{4, 6, 6} : std::vector<std::int64_t>{6, 5, 5};
  encoding.section_order = order;
  encoding.rope.rope_theta = 1e6;
  encoding.rope.pairing = encoding.rope.output_pairing =
      order == SectionOrder::blocked ? Pairing::half : Pairing::interleaved;
  return encoding;
}

// [3, tokens]: on text the three coordinates are equal; a film has frames of 16 x 16. The last third is text again, far
// away.
std::vector<std::int64_t> positions() {
  std::vector<std::int64_t> list(3 * tokens);
  for (std::int64_t token = 0; token < tokens; ++token) {
    const std::int64_t text = token < tokens / 2 ? token : 131072 - tokens + token;
    const bool film = token >= tokens / 3 && token < 2 * tokens / 3;
    const std::int64_t coordinates[] = {film ? 700 + token / 256 : text, film ? 700 + token / 16 % 16 : text,
                                        film ? 700 + token % 16 : text};
    for (std::int64_t axis = 0; axis < 3; ++axis)
      list[static_cast<std::size_t>(axis * tokens + token)] = coordinates[axis];
  }
  return list;
}

Tensor vectors(Dtype dtype, std::int64_t head_dim) {
  Tensor x = Tensor::zeros(dtype, {1, tokens, 1, head_dim});
  for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, static_cast<double>(i * 40503 % 65521 - 32760) * 0x1p-14);
  return x;
}

TEST(RopeNdSweep, EveryPairOfEveryTokenEqualsTheOracle) {
  const std::vector<std::int64_t> places = positions();
  for (const SectionOrder order : {SectionOrder::blocked, SectionOrder::interleaved}) {
    const RopeNd encoding = encoding_with(order);
    const Rope& rope = encoding.rope;
    const RopeNdEncoder encoder(encoding);
    std::vector<Tensor> x;
    std::vector<Tensor> y;
    for (const Dtype dtype : floating_dtypes) {
      x.push_back(vectors(dtype, encoding.rope.head_dim));
      y.push_back(encoder.rotate(x.back(), places));
    }
    std::int64_t wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
      reference::RopeNdReference truth(encoding);
#pragma omp for schedule(static)
      for (std::int64_t token = 0; token < tokens; ++token) {
        const std::int64_t position[] = {places[static_cast<std::size_t>(token)],
                                         places[static_cast<std::size_t>(tokens + token)],
                                         places[static_cast<std::size_t>(2 * tokens + token)]};
        for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
          const Channels channels = channels_of_pair(rope, rope.pairing, pair);
          const std::int64_t first = token * encoding.rope.head_dim + channels.first;
          const std::int64_t second = token * encoding.rope.head_dim + channels.second;
          for (std::size_t d = 0; d < x.size(); ++d) {
            const auto turned = [&](Precision precision) {
              return reference::RopeReference::rotate(
                  truth.rotation(position, pair, precision),
                  {Enclosure(x[d].at(first), precision), Enclosure(x[d].at(second), precision)});
            };
            wrong += y[d].at(first) != nearest(x[d].dtype, [&](Precision precision) { return turned(precision).first; })
                         ? 1
                         : 0;
            wrong +=
                y[d].at(second) != nearest(x[d].dtype, [&](Precision precision) { return turned(precision).second; })
                    ? 1
                    : 0;
          }
        }
      }
    }
    EXPECT_EQ(wrong, 0);
  }
}

class RopeNdSweepOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(RopeNdSweepOn);

TEST_P(RopeNdSweepOn, RotationsHaveThePublishedDigests) {
  Digests digests;
  for (const SectionOrder order : {SectionOrder::blocked, SectionOrder::interleaved}) {
    const RopeNd encoding = encoding_with(order);
    const RopeNdEncoder encoder(encoding);
    for (const Dtype dtype : floating_dtypes) {
      digests[std::string(name_of(dtype)) +
              (order == SectionOrder::blocked ? " blocked half" : " interleaved interleaved")] =
          digest_on_threads([&] { return encoder.rotate(vectors(dtype, encoding.rope.head_dim), positions()); });
    }
  }
  const std::pair<std::string, std::string> others[] = {
      {"per axis", R"("head_dim":24,"frequencies":"per_axis","axis_order":[2,0,1],"rope_thetas":[100,10000,256])"},
      {"within axes", R"("head_dim":24,"pairing_scope":"axis")"},
      {"normalized", R"("head_dim":24,"frequencies":"per_axis","coordinates":"normalized","extents":[800,16,900])"},
      {"moved", R"("head_dim":24,"frequencies":"per_axis","coordinates":"normalized","extents":[800,16,900],)"
                R"("coordinate_shifts":[0.375,-0.03125,-1],"coordinate_scales":[1.9,0.61,1])"},
      {"rising", R"("head_dim":26,"rotary_dim":24,"rotary_layout":"suffix","pairing":"interleaved",)"
                 R"("section_order":"interleaved","frequencies":"per_axis","ladder":"both_ends",)"
                 R"("coordinates":"normalized_starts","extents":[800,16,900],"coordinate_shifts":[0.5,0,0],)"
                 R"("coordinate_scales":[0.5,0.25,0.25])"},
      {"dealt", R"("head_dim":24,"frequencies":"dealt","direction":"clockwise")"},
      {"partial yarn", R"("head_dim":36,"rotary_dim":24,"rotary_layout":"suffix","output_pairing":"interleaved",)"
                       R"("rope_scaling":{"rope_type":"yarn","factor":4,"original_max_position_embeddings":4096})"}};
  for (const auto& [name, fields] : others) {
    const Spec spec = parse_spec(R"({"encoding":"rope_nd","sections":[4,4,4],)" + fields + "}");
    const auto encoding = std::get<RopeNd>(spec.encoding);
    const RopeNdEncoder encoder(encoding);
    for (const Dtype dtype : floating_dtypes) {
      digests[std::string(name_of(dtype)) + " " + name] =
          digest_on_threads([&] { return encoder.rotate(vectors(dtype, encoding.rope.head_dim), positions()); });
    }
  }
  expect_published("rope_nd", digests);
}

}  // namespace
}  // namespace sextant::rope_nd_sweep_test
