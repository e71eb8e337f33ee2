#include "lib/rope_nd/rope_nd.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/kernels/truth_test.hpp"
#include "lib/rope/rope.hpp"
#include "reference/rope_nd.hpp"

namespace sextant::rope_nd_test {
namespace {

using reference::Enclosure;
using reference::Precision;

RopeNd with(std::vector<std::int64_t> sections, SectionOrder order, Pairing pairing) {
  RopeNd encoding;
  for (const std::int64_t section : sections) encoding.rope.rotary_dim += 2 * section;
  encoding.rope.head_dim = encoding.rope.rotary_dim;
  encoding.sections = std::move(sections);
  encoding.section_order = order;
  encoding.rope.pairing = encoding.rope.output_pairing = pairing;
  return encoding;
}

// positions: [axes, tokens], x: [1, tokens, heads, head_dim].
void expect_truth(const RopeNd& encoding, const Tensor& x, const std::vector<std::int64_t>& positions) {
  const Tensor y = RopeNdEncoder(encoding).rotate(x, positions);
  reference::RopeNdReference truth(encoding);
  const Rope& rope = encoding.rope;
  const std::int64_t tokens = x.shape[1];
  const std::int64_t length = reference::sequence_length(positions);
  for (std::int64_t token = 0; token < tokens; ++token) {
    std::vector<std::int64_t> position;
    for (std::int64_t axis = 0; axis < axes(encoding); ++axis)
      position.push_back(positions[static_cast<std::size_t>(axis * tokens + token)]);
    for (std::int64_t head = 0; head < x.shape[2]; ++head) {
      const std::int64_t start = (token * x.shape[2] + head) * rope.head_dim;
      for (const auto& [output, input] : passthrough_channels(rope))
        ASSERT_EQ(y.at(start + output), x.at(start + input)) << token << " channel " << output;
      for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
        const Channels from = channels_of_pair(rope, rope.pairing, pair);
        const Channels to = channels_of_pair(rope, rope.output_pairing, pair);
        const auto turned = [&](Precision precision) {
          const reference::RealPair real{Enclosure(x.at(start + from.first), precision),
                                         Enclosure(x.at(start + from.second), precision)};
          return reference::RopeReference::rotate(truth.rotation(position, pair, length, precision), real);
        };
        const auto scaled = [&](Enclosure reference::RealPair::*component) {
          return nearest(x.dtype, [&](Precision precision) {
            return truth.attention_factor(precision) * turned(precision).*component;
          });
        };
        ASSERT_EQ(y.at(start + to.first), scaled(&reference::RealPair::first)) << token << " pair " << pair;
        ASSERT_EQ(y.at(start + to.second), scaled(&reference::RealPair::second)) << token << " pair " << pair;
      }
    }
  }
}

std::vector<std::int64_t> some_positions(std::int64_t count) {
  const std::int64_t far = std::int64_t{1} << 53;
  std::vector<std::int64_t> list{0, 1, -1, 131071, std::int64_t{1} << 31, std::int64_t{1} << 40, far, -far};
  std::mt19937_64 random(7);
  while (std::ssize(list) < count) list.push_back(static_cast<std::int64_t>(random() >> (12 + random() % 50)));
  list.resize(static_cast<std::size_t>(count));
  return list;
}

TEST(RopeNdEncoder, EqualsTheOracle) {
  for (const Dtype dtype : floating_dtypes) {
    for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
      // M-RoPE as in Qwen2-VL and Qwen3-VL in small, and axial 2-D.
      expect_truth(with({4, 6, 6}, SectionOrder::blocked, pairing), random_tensor(dtype, {1, 8, 2, 32}, 1),
                   some_positions(24));
      expect_truth(with({6, 5, 5}, SectionOrder::interleaved, pairing), random_tensor(dtype, {1, 8, 2, 32}, 2),
                   some_positions(24));
      expect_truth(with({4, 4}, SectionOrder::blocked, pairing), random_tensor(dtype, {1, 12, 1, 16}, 3),
                   some_positions(24));
    }
  }
}

RopeNd spec_of(const std::string& fields) {
  return std::get<RopeNd>(parse_spec(R"({"encoding":"rope_nd",)" + fields + "}").encoding);
}

// FLUX's, Kimi's, Llama 4's and Pixtral's layouts in small, bases of their own, parts of a head, and scaling rules.
TEST(RopeNdEncoder, EqualsTheOracleForEveryField) {
  for (const std::string fields :
       {R"("head_dim":32,"sections":[4,6,6],"frequencies":"per_axis","pairing":"interleaved")",
        R"("head_dim":16,"sections":[4,4],"frequencies":"per_axis","section_order":"interleaved","axis_order":[1,0])",
        R"("head_dim":16,"sections":[4,4],"frequencies":"per_axis","axis_order":[1,0],"direction":"clockwise")",
        R"("head_dim":16,"sections":[4,4],"frequencies":"dealt")",
        R"("head_dim":24,"sections":[4,4,4],"frequencies":"dealt","axis_order":[2,0,1],"pairing":"interleaved")",
        R"("head_dim":16,"sections":[2,6],"frequencies":"per_axis","rope_thetas":[2,1e7])",
        R"("head_dim":32,"rotary_dim":16,"sections":[3,3,2],"section_order":"interleaved")",
        R"("head_dim":32,"rotary_dim":16,"sections":[2,3,3],"rotary_layout":"suffix","pairing":"interleaved")",
        R"("head_dim":32,"rotary_dim":16,"sections":[2,3,3],"rotary_layout":"spread")",
        R"("head_dim":16,"sections":[4,4],"pairing":"interleaved","output_pairing":"half")",
        R"("head_dim":16,"sections":[4,4],"pairing_scope":"axis","frequencies":"per_axis","axis_order":[1,0])",
        R"("head_dim":24,"sections":[4,4,4],"pairing_scope":"axis","rope_scaling":{"rope_type":"dynamic","factor":4,)"
        R"("original_max_position_embeddings":4096})",
        R"("head_dim":16,"sections":[4,4],"frequencies":"per_axis","rope_theta":100,"coordinates":"normalized",)"
        R"("extents":[14,1048576])",
        R"("head_dim":16,"sections":[4,4],"frequencies":"per_axis","rope_theta":100,"coordinates":"normalized",)"
        R"("extents":[14,1000],"coordinate_shifts":[0.25,-0.71484375],"coordinate_scales":[1.5,0.7071067811865476])",
        R"("head_dim":16,"sections":[4,4],"frequencies":"per_axis","rope_theta":100,"coordinates":"normalized",)"
        R"("extents":[7,1048576],"coordinate_shifts":[9.31322574615478515625e-10,1],"coordinate_scales":[64,0.015625])",
        R"("head_dim":16,"sections":[4,4],"coordinates":"normalized","extents":[12,9],"coordinate_scales":[0.75,2],)"
        R"("pairing":"interleaved")",
        R"("head_dim":16,"sections":[4,4],"frequencies":"dealt","direction":"clockwise","coordinates":"normalized",)"
        R"("extents":[1,3],"pairing_scope":"axis")",
        R"("head_dim":26,"rotary_dim":24,"rotary_layout":"suffix","pairing":"interleaved","sections":[4,4,4],)"
        R"("section_order":"interleaved","frequencies":"per_axis","ladder":"both_ends",)"
        R"("coordinates":"normalized_starts","extents":[125,64,64],"coordinate_shifts":[0.5,0,0],)"
        R"("coordinate_scales":[0.5,0.25,0.25])",
        R"("head_dim":16,"sections":[2,6],"frequencies":"per_axis","rope_thetas":[2,1e7],"ladder":"both_ends",)"
        R"("coordinates":"normalized","extents":[7,1048576],"coordinate_scales":[64,0.015625])",
        R"("head_dim":32,"sections":[8,8],"rope_scaling":{"rope_type":"yarn","factor":4,)"
        R"("original_max_position_embeddings":4096})",
        R"("head_dim":32,"sections":[8,8],"frequencies":"per_axis","rope_scaling":{"rope_type":"yarn","factor":4,)"
        R"("original_max_position_embeddings":4096,"attention_factor":1.3})",
        R"("head_dim":32,"sections":[8,8],"rope_scaling":{"rope_type":"dynamic","factor":4,)"
        R"("original_max_position_embeddings":4096})",
        R"("head_dim":8,"sections":[2,2],"frequencies":"per_axis","rope_scaling":{"rope_type":"longrope","factor":4,)"
        R"("original_max_position_embeddings":4096,"short_factor":[1,2],"long_factor":[3,4]})"}) {
    SCOPED_TRACE(fields);
    const RopeNd encoding = spec_of(fields);
    std::vector<std::int64_t> positions = some_positions(8 * axes(encoding));
    // Counts of normalized coordinates reach as far.
    int bits = 0;
    for (std::int64_t axis = 0; axis < std::ssize(encoding.extents); ++axis)
      bits = std::max(bits, shift_bits(encoding, axis));
    for (std::int64_t& position : positions) position /= encoding.extents.empty() ? 1 : std::int64_t{4} << bits;
    for (const Dtype dtype : floating_dtypes)
      expect_truth(encoding, random_tensor(dtype, {1, 8, 2, encoding.rope.head_dim}, 10), positions);
  }
}

// Sizes at which the products overflow and underflow, and pairs that cancel: x0 cos - x1 sin = 0 but for the last
// places of x.
TEST(RopeNdEncoder, EqualsTheOracleWhereRoundingIsHardest) {
  const RopeNd encoding = with({1, 1}, SectionOrder::blocked, Pairing::interleaved);
  for (const Dtype dtype : floating_dtypes) {
    const double least = std::ldexp(1.0, format_of(dtype).min_exponent - format_of(dtype).precision + 1);
    for (const double scale : {1.0, least, 37 * least, largest_finite(dtype) / 2, largest_finite(dtype)}) {
      Tensor x = random_tensor(dtype, {1, 8, 1, 4}, 4);
      for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, x.at(i) / 2 * scale);
      expect_truth(encoding, x, some_positions(16));
    }
    Tensor cancelling = Tensor::zeros(dtype, {1, 8, 1, 4});
    const std::vector<std::int64_t> positions{1, 2, 3, 4, 5, 6, 7, 8, 100, 200, 300, 400, 500, 600, 700, 800};
    for (std::int64_t token = 0; token < 8; ++token) {
      for (std::int64_t pair = 0; pair < 2; ++pair) {
        const double angle =
            static_cast<double>(positions[static_cast<std::size_t>(pair * 8 + token)]) * (pair == 0 ? 1.0 : 0.01);
        cancelling.set(token * 4 + 2 * pair, std::sin(angle));
        cancelling.set(token * 4 + 2 * pair + 1, std::cos(angle));
      }
    }
    expect_truth(encoding, cancelling, positions);
  }
}

TEST(RopeNdEncoder, BackwardIsTheAdjoint) {
  const RopeNd encoding = with({3, 3, 2}, SectionOrder::interleaved, Pairing::half);
  const Tensor grad = random_tensor(Dtype::float64, {1, 4, 1, 16}, 5);
  std::vector<std::int64_t> positions = some_positions(12);
  const Tensor back = RopeNdEncoder(encoding).backward(grad, positions);
  for (std::int64_t& position : positions) position = -position;
  EXPECT_EQ(back.data, RopeNdEncoder(encoding).rotate(grad, positions).data);
}

// As RopeEncoder has them where all coordinates are equal.
TEST(RopeNdEncoder, NaNAndInfinityStayInTheirPair) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const RopeNd encoding = with({1, 1}, SectionOrder::blocked, Pairing::interleaved);
  Tensor x = Tensor::zeros(Dtype::float32, {1, 2, 1, 4});
  const double values[] = {nan, 1, infinity, 2, -0.0, infinity, nan, -0.0};
  for (std::int64_t i = 0; i < 8; ++i) x.set(i, values[i]);
  const Tensor y = RopeNdEncoder(encoding).rotate(x, std::vector<std::int64_t>{3, 0, 5, 0});
  EXPECT_TRUE(std::isnan(y.at(0)) && std::isnan(y.at(1)));
  EXPECT_EQ(y.at(2), infinity);
  EXPECT_EQ(y.at(3), infinity);
  const Tensor rope = RopeEncoder(encoding.rope).rotate(x, std::vector<std::int64_t>{3, 0});
  EXPECT_TRUE(std::equal(y.data.begin() + 16, y.data.end(), rope.data.begin() + 16));
}

// More pairs than the kernels hold at a time, and seven axes in every vector.
TEST(RopeNdEncoder, EqualsTheRotaryEncodingOfEachAxis) {
  const RopeNd encoding = with(std::vector<std::int64_t>(7, 38), SectionOrder::interleaved, Pairing::half);
  const std::vector<std::int64_t> axis = axis_of_pairs(encoding);
  for (const Dtype dtype : floating_dtypes) {
    const Tensor x = random_tensor(dtype, {1, 40, 1, encoding.rope.head_dim}, 9);
    std::vector<std::int64_t> positions;
    for (std::int64_t a = 0; a < 7; ++a) {
      for (std::int64_t token = 0; token < 40; ++token) positions.push_back(a == 3 ? -token : 7 + token / (1 + a) * 5);
    }
    const Tensor y = RopeNdEncoder(encoding).rotate(x, positions);
    const RopeEncoder rope(encoding.rope);
    for (std::int64_t a = 0; a < 7; ++a) {
      const Tensor turned = rope.rotate(x, std::span(positions).subspan(static_cast<std::size_t>(40 * a), 40));
      for (std::int64_t i = 0; i < y.elements(); ++i) {
        if (axis[static_cast<std::size_t>(i % (encoding.rope.head_dim / 2))] != a) continue;
        ASSERT_EQ(y.at(i), turned.at(i)) << i;
      }
    }
  }
}

// Every 24th of a turn, at frequency 1 and at 100^(-1/2) = 1/10: components that are 0, half of an x that has no half
// (a subnormal's last place), or cancel. docs/proofs/rope.md, step 20.
TEST(RopeNdEncoder, IsExactAtPartsOfATurn) {
  for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
    RopeNd encoding = spec_of(R"("head_dim":4,"sections":[2],"rope_theta":100,"coordinates":"normalized",)"
                              R"("extents":[24])");
    encoding.rope.pairing = encoding.rope.output_pairing = pairing;
    std::vector<std::int64_t> positions;
    for (std::int64_t p = 0; p < 24; ++p) positions.push_back(p);  // counts -23, -21, ..., 23
    for (const std::int64_t extent : {24, 12, 3, 5, -12, -5}) {
      // Moved and multiplied coordinates too.
      encoding.extents = {std::abs(extent)};
      if (extent < 0) {
        encoding.coordinate_shifts = {0.25};
        encoding.coordinate_scales = {extent == -12 ? 1.5 : 5};
      }
      for (const Dtype dtype : floating_dtypes) {
        const double least = std::ldexp(1.0, format_of(dtype).min_exponent - format_of(dtype).precision + 1);
        for (const auto& [first, second] : {std::pair{1.0, 0.0},
                                            {0.0, -1.0},
                                            {1.5, 1.5},
                                            {-3.0, 3.0},
                                            {3 * least, 0.0},
                                            {-0.0, 5 * least},
                                            {least, least}}) {
          Tensor x = Tensor::zeros(dtype, {1, 24, 1, 4});
          for (std::int64_t i = 0; i < x.elements(); ++i) {
            const bool is_first = pairing == Pairing::half ? i % 4 < 2 : i % 2 == 0;
            x.set(i, is_first ? first : second);
          }
          expect_truth(encoding, x, positions);
        }
      }
    }
  }
}

TEST(RopeNdEncoder, RefusesNormalizedCoordinatesBeyondItsReach) {
  const RopeNdEncoder encoder(spec_of(R"("head_dim":8,"sections":[2,2],"coordinates":"normalized","extents":[4,5])"));
  const Tensor x = random_tensor(Dtype::float32, {1, 1, 1, 8}, 11);
  const std::int64_t last = (std::int64_t{1} << 52) - (std::int64_t{1} << 20);
  EXPECT_NO_THROW(encoder.rotate(x, std::vector<std::int64_t>{last, -last}));
  EXPECT_THROW(encoder.rotate(x, std::vector<std::int64_t>{last, last + 1}), std::out_of_range);
  EXPECT_THROW(encoder.rotate(x, std::vector<std::int64_t>{-last - 1, 0}), std::out_of_range);
  const RopeNdEncoder moved(spec_of(R"("head_dim":8,"sections":[2,2],"coordinates":"normalized","extents":[4,5],)"
                                    R"("coordinate_shifts":[0.125,0])"));
  const std::int64_t sooner = (std::int64_t{1} << 49) - (std::int64_t{1} << 21);
  EXPECT_NO_THROW(moved.rotate(x, std::vector<std::int64_t>{sooner, last}));
  EXPECT_THROW(moved.rotate(x, std::vector<std::int64_t>{sooner + 1, 0}), std::out_of_range);
}

TEST(RopeNdEncoder, WritesToAnyAddress) {
  const RopeNdEncoder encoder(with({4, 6, 6}, SectionOrder::blocked, Pairing::half));
  const Tensor x = random_tensor(Dtype::float32, {1, 8, 1, 32}, 8);
  std::vector<std::byte> memory(x.data.size() + 1);
  encoder.rotate(x, some_positions(24), std::span(memory).subspan(1));
  EXPECT_TRUE(std::ranges::equal(encoder.rotate(x, some_positions(24)).data, std::span(memory).subspan(1)));
}

TEST(RopeNdEncoder, TheSameBitsOnAnyNumberOfThreads) {
  const RopeNdEncoder encoder(with({8, 12, 12}, SectionOrder::blocked, Pairing::half));
  const Tensor x = random_tensor(Dtype::bfloat16, {2, 20, 3, 64}, 6);
  expect_same_on_threads([&] { return encoder.rotate(x, some_positions(120)); });
}

TEST(RopeNdEncoder, RefusesWhatDoesNotFit) {
  const RopeNdEncoder encoder(with({1, 1}, SectionOrder::blocked, Pairing::half));
  const std::vector<std::int64_t> two{0, 0};
  Tensor x = Tensor::zeros(Dtype::float32, {1, 1, 1, 4});
  EXPECT_NO_THROW(encoder.rotate(x, two));
  EXPECT_THROW(encoder.rotate(x, std::vector<std::int64_t>{0}), std::invalid_argument);
  EXPECT_THROW(encoder.rotate(Tensor::zeros(Dtype::float32, {1, 1, 4}), two), std::invalid_argument);
  EXPECT_THROW(encoder.rotate(Tensor::zeros(Dtype::float32, {1, 1, 1, 6}), two), std::invalid_argument);
  EXPECT_THROW(encoder.rotate(Tensor::zeros(Dtype::int64, {1, 1, 1, 4}), two), std::invalid_argument);
  EXPECT_THROW(encoder.rotate(x, two, x.data), std::invalid_argument);
  EXPECT_THROW(encoder.rotate(x, std::vector<std::int64_t>{0, (std::int64_t{1} << 53) + 1}), std::out_of_range);
  EXPECT_THROW(RopeNdEncoder(RopeNd{}), SpecError);
}

}  // namespace
}  // namespace sextant::rope_nd_test
