#include "lib/qk_norm_rope/qk_norm_rope.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "lib/kernels/guard_page_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/numeric/ulp.hpp"
#include "reference/qk_norm_rope.hpp"
#include "reference/rope.hpp"

namespace sextant::qk_norm_rope_test {
namespace {

QkNormRope encoding_of(const char* json) { return std::get<QkNormRope>(parse_spec(json).encoding); }

// Any values: neighbours differ in sign and size.
Tensor drawn(Dtype dtype, std::vector<std::int64_t> shape, double size) {
  Tensor tensor = Tensor::zeros(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, size * std::sin(1 + 2.7 * static_cast<double>(i)));
  return tensor;
}

// The largest error of a turned component in ULP of its pair's norm, and of another channel in its own.
double worst_error(const QkNormRope& encoding, const Tensor& x, const Tensor& weight,
                   const std::vector<std::int64_t>& positions, const Tensor& y) {
  using reference::Enclosure;
  const reference::Precision precision = reference::first_precision;
  const reference::HeadNorm norm(encoding);
  reference::RopeReference rope(encoding.rope);
  const std::int64_t width = encoding.rope.head_dim;
  const std::int64_t length = reference::sequence_length(positions);
  std::vector<double> head(static_cast<std::size_t>(width));
  double worst = 0;
  for (std::int64_t vector = 0; vector < x.elements() / width; ++vector) {
    x.read(vector * width, head);
    const Enclosure root = norm.inverse_root(head, precision);
    const auto normalized = [&](std::int64_t channel) {
      return norm.normalized(head[static_cast<std::size_t>(channel)], weight.at(channel), root);
    };
    const auto judge = [&](std::int64_t channel, const Enclosure& truth, double size) {
      const double got = y.at(vector * width + channel);
      worst = std::max(worst, abs(Enclosure(got, precision) - truth).upper() / ulp(x.dtype, size));
    };
    const std::int64_t position = positions[static_cast<std::size_t>(vector / x.shape[2])];
    for (std::int64_t pair = 0; pair < pairs(encoding.rope); ++pair) {
      const Channels from = channels_of_pair(encoding.rope, encoding.rope.pairing, pair);
      const Channels to = channels_of_pair(encoding.rope, encoding.rope.output_pairing, pair);
      const reference::RealPair n{normalized(from.first), normalized(from.second)};
      const reference::RealPair turned =
          reference::RopeReference::rotate(rope.rotation(position, pair, length, precision), n);
      const Enclosure factor = rope.attention_factor(length, precision);
      const double size = (factor * hypot(n.first, n.second)).lower();
      judge(to.first, factor * turned.first, size);
      judge(to.second, factor * turned.second, size);
    }
    for (const Passthrough& channel : passthrough_channels(encoding.rope)) {
      const Enclosure truth = normalized(channel.input);
      judge(channel.output, truth, truth.upper());
    }
  }
  return worst;
}

constexpr const char* specs[] = {
    R"({"encoding":"qk_norm_rope","head_dim":16})",
    R"({"encoding":"qk_norm_rope","head_dim":16,"weight_offset":1,"epsilon":1e-5,"pairing":"interleaved"})",
    R"({"encoding":"qk_norm_rope","head_dim":16,"rotary_dim":8,"rotary_layout":"suffix","direction":"clockwise"})",
    R"({"encoding":"qk_norm_rope","head_dim":16,"pairing":"interleaved","output_pairing":"half",)"
    R"("rope_scaling":{"rope_type":"yarn","factor":4,"original_max_position_embeddings":64}})",
    R"({"encoding":"qk_norm_rope","head_dim":16,"rope_scaling":{"rope_type":"dynamic","factor":2,)"
    R"("original_max_position_embeddings":64}})",
    R"({"encoding":"qk_norm_rope","head_dim":16,"rope_scaling":{"rope_type":"none"}})"};

// Those, and heads of several vectors that do not fill the last.
std::vector<const char*> with_wide_heads() {
  std::vector<const char*> every(std::begin(specs), std::end(specs));
  every.push_back(R"({"encoding":"qk_norm_rope","head_dim":70})");
  every.push_back(R"({"encoding":"qk_norm_rope","head_dim":80,"rotary_dim":44,"pairing":"interleaved"})");
  every.push_back(R"({"encoding":"qk_norm_rope","head_dim":80,"rotary_dim":44,"output_pairing":"interleaved",)"
                  R"("rotary_layout":"spread","direction":"clockwise"})");
  return every;
}

TEST(QkNormRopeEncoder, IsWithinHalfAnUlpAndALittle) {
  const std::vector<std::int64_t> positions{0, 1, 77, 130000, 5, 63};  // two rows
  for (const char* json : with_wide_heads()) {
    const QkNormRope encoding = encoding_of(json);
    const QkNormRopeEncoder encoder(encoding);
    const std::int64_t width = encoding.rope.head_dim;
    for (const Dtype dtype : {Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
      for (const double size : {1e-3, 1.0, 300.0}) {
        const Tensor q = drawn(dtype, {2, 3, 4, width}, size);
        const Tensor k = drawn(dtype, {2, 3, 2, width}, size / 3);
        const Tensor q_weight = drawn(dtype, {width}, 0.7);
        const Tensor k_weight = drawn(dtype, {width}, 1.3);
        const auto turned =
            encoder.apply({.q = q, .k = k, .q_weight = q_weight, .k_weight = k_weight, .positions = positions});
        EXPECT_LE(worst_error(encoding, q, q_weight, positions, turned.q), 0.51) << json << name_of(dtype);
        EXPECT_LE(worst_error(encoding, k, k_weight, positions, turned.k), 0.51) << json << name_of(dtype);
      }
    }
    const Tensor q = drawn(Dtype::float64, {2, 3, 4, width}, 1);
    const Tensor weight = drawn(Dtype::float64, {width}, 1);
    const auto turned = encoder.apply({.q = q, .k = q, .q_weight = weight, .k_weight = weight, .positions = positions});
    // Step 24 of docs/proofs/accuracy-classes.md, (d/2 + 2 + 7.5) u of the norm, and 4 ULP.
    EXPECT_LE(worst_error(encoding, q, weight, positions, turned.q), 4 + static_cast<double>(width) / 2 + 9.5);
  }
}

TEST(QkNormRopeEncoder, InPlaceAndWithStridesItIsTheSame) {
  const QkNormRope encoding = encoding_of(specs[1]);
  const QkNormRopeEncoder encoder(encoding);
  const Tensor x = drawn(Dtype::float32, {2, 3, 4, 16}, 1);
  const Tensor weight = drawn(Dtype::float32, {16}, 1);
  const std::vector<std::int64_t> positions{4, 5, 6, 10, 9, 8};
  const Tensor apart =
      encoder.apply({.q = x, .k = x, .q_weight = weight, .k_weight = weight, .positions = positions}).q;
  Tensor in_place = x;
  encoder.apply(heads_of(in_place), weight, positions);
  EXPECT_EQ(in_place.data, apart.data);
  // Heads before tokens.
  Tensor turned = Tensor::zeros(Dtype::float32, {2, 4, 3, 16});
  const Heads view{Dtype::float32, turned.data.data(), 2, 3, 4, 16, 4 * 3 * 16, 16, 3 * 16};
  encoder.apply(heads_of(x), weight, positions, view);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    const std::int64_t channel = i % 16;
    const std::int64_t head = i / 16 % 4;
    const std::int64_t token = i / 64 % 3;
    EXPECT_EQ(turned.at(((i / 192 * 4 + head) * 3 + token) * 16 + channel), apart.at(i));
  }
}

// Between pages that may not be touched, with and without room after each head, in slots of any dtype and in place.
TEST(QkNormRopeEncoder, WritesItsHeadsAndNothingElse) {
  const std::vector<std::int64_t> positions{3, 70001};
  for (const char* json : specs) {
    const QkNormRopeEncoder encoder(encoding_of(json));
    for (const Dtype from : floating_dtypes) {
      const Tensor x = drawn(from, {1, 2, 3, 16}, 2);
      const Tensor weight = drawn(from, {16}, 1);
      for (const Dtype to : floating_dtypes) {
        Tensor wanted = Tensor::zeros(to, x.shape);
        encoder.apply(heads_of(x), weight, positions, heads_of(wanted));
        for (const std::int64_t gap : {0, 3}) {
          const Heads view{to, nullptr, 1, 2, 3, 16, 0, 3 * (16 + gap), 16 + gap};
          const std::size_t head_bytes = 16 * size_of(to);
          const std::size_t slot_bytes = static_cast<std::size_t>(view.head_stride) * size_of(to);
          std::vector<std::byte> slots(5 * slot_bytes + head_bytes, std::byte{GuardedBytes::filler});
          const std::vector<std::byte> before = slots;
          for (std::size_t head = 0; head < 6; ++head)
            std::memcpy(slots.data() + head * slot_bytes, wanted.data.data() + head * head_bytes, head_bytes);
          for (const GuardedBytes::Against against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
            GuardedBytes source(x.data.size(), against);
            std::memcpy(source.data(), x.data.data(), source.size());
            GuardedBytes target(slots.size(), against);
            Heads y = view;
            y.data = target.data();
            encoder.apply(read_only(heads_of(x, {source.data(), source.size()})), weight, positions, y);
            ASSERT_EQ(std::memcmp(target.data(), slots.data(), slots.size()), 0)
                << json << name_of(from) << " to " << name_of(to) << ", gap " << gap;
            if (from != to) continue;
            std::memcpy(target.data(), before.data(), before.size());
            for (std::size_t head = 0; head < 6; ++head)
              std::memcpy(target.data() + head * slot_bytes, x.data.data() + head * head_bytes, head_bytes);
            encoder.apply(y, weight, positions);
            ASSERT_EQ(std::memcmp(target.data(), slots.data(), slots.size()), 0)
                << json << name_of(from) << " in place, gap " << gap;
          }
        }
      }
    }
  }
}

TEST(QkNormRopeEncoder, ZerosStayZerosAndANanStaysInItsHead) {
  const QkNormRopeEncoder encoder(encoding_of(specs[0]));
  Tensor x = Tensor::zeros(Dtype::float32, {1, 1, 2, 16});
  x.set(3, std::numeric_limits<double>::quiet_NaN());
  const Tensor weight = drawn(Dtype::float32, {16}, 1);
  Tensor y = x;
  encoder.apply(heads_of(y), weight, std::vector<std::int64_t>{7});
  for (std::int64_t i = 0; i < 16; ++i) {
    EXPECT_TRUE(std::isnan(y.at(i)));
    EXPECT_EQ(y.at(16 + i), 0);
  }
}

TEST(QkNormRopeEncoder, RefusesWhatDoesNotFit) {
  const QkNormRopeEncoder encoder(encoding_of(specs[0]));
  Tensor x = drawn(Dtype::float32, {1, 2, 1, 16}, 1);
  const Tensor before = x;
  const std::vector<std::int64_t> positions{0, 1};
  EXPECT_THROW(encoder.apply(heads_of(x), drawn(Dtype::float32, {8}, 1), positions), std::invalid_argument);
  EXPECT_THROW(encoder.apply(heads_of(x), drawn(Dtype::float16, {16}, 1), positions), std::invalid_argument);
  EXPECT_THROW(encoder.apply(heads_of(x), drawn(Dtype::float32, {16}, 1), std::vector<std::int64_t>{0}),
               std::invalid_argument);
  EXPECT_THROW(encoder.apply(heads_of(x), drawn(Dtype::float32, {16}, 1),
                             std::vector<std::int64_t>{0, (std::int64_t{1} << 53) + 1}),
               std::out_of_range);
  EXPECT_EQ(x.data, before.data);
  QkNormRope wrong = encoding_of(specs[0]);
  wrong.epsilon = 0;
  EXPECT_THROW(QkNormRopeEncoder{wrong}, SpecError);
}

TEST(QkNormRopeEncoder, EmptyCallsAreEmpty) {
  const QkNormRopeEncoder encoder(encoding_of(specs[0]));
  const Tensor weight = drawn(Dtype::float32, {16}, 1);
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{0, 2, 1, 16}, {2, 0, 1, 16}, {1, 2, 0, 16}}) {
    const Tensor x = Tensor::zeros(Dtype::float32, shape);
    const std::vector<std::int64_t> positions(static_cast<std::size_t>(shape[0] * shape[1]));
    const auto turned = encoder.apply({.q = x, .k = x, .q_weight = weight, .k_weight = weight, .positions = positions});
    EXPECT_EQ(turned.q.shape, shape);
    EXPECT_EQ(turned.k.elements(), 0);
  }
}

// The double that is formed is the same whatever the result's dtype: it is rounded once.
TEST(QkNormRopeEncoder, ResultsOfAnotherDtypeAreTheSameDoublesRoundedOnce) {
  for (const char* spec : specs) {
    const QkNormRope encoding = encoding_of(spec);
    const QkNormRopeEncoder encoder(encoding);
    const std::vector<std::int64_t> positions{0, 1, 77, 130000};
    for (const Dtype dtype : {Dtype::float32, Dtype::bfloat16}) {
      const Tensor x = drawn(dtype, {1, 4, 3, 16}, 3);
      const Tensor weight = drawn(dtype, {16}, 1);
      Tensor wide = Tensor::zeros(Dtype::float64, x.shape);
      encoder.apply(heads_of(x), weight, positions, heads_of(wide));
      for (const Dtype result : {Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
        Tensor y = Tensor::zeros(result, {1, 8, 3, 16});  // every other slot
        Heads slots = heads_of(y);
        slots.tokens = 4;
        slots.token_stride *= 2;
        encoder.apply(heads_of(x), weight, positions, slots);
        for (std::int64_t i = 0; i < y.elements(); ++i) {
          const std::int64_t token = i / 48;
          const double expected = token % 2 == 0 ? round_to(result, wide.at(token / 2 * 48 + i % 48)) : 0;
          ASSERT_EQ(y.at(i), expected) << spec << ' ' << name_of(dtype) << " to " << name_of(result);
        }
      }
    }
  }
}

// Factors that leave double's range before others bring them back, in heads of float64: their gains are 2^200 and more
// apart from 1.
struct FarFactors {
  std::vector<double> x;
  std::vector<double> gains;
  double attention_factor;
  Dtype result;
  double wanted;  // of channel 0 at position 0
};

double first_of(const FarFactors& far) {
  QkNormRope encoding;
  encoding.rope.head_dim = encoding.rope.rotary_dim = std::ssize(far.x);
  YarnScaling scaling;
  scaling.factor = 1;
  scaling.original_max_position_embeddings = 4096;
  scaling.attention_factor = far.attention_factor;
  encoding.rope.rope_scaling = scaling;
  Tensor x = Tensor::zeros(Dtype::float64, {1, 1, 1, std::ssize(far.x)});
  Tensor weight = Tensor::zeros(Dtype::float64, {std::ssize(far.x)});
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    x.set(i, far.x[static_cast<std::size_t>(i)]);
    weight.set(i, far.gains[static_cast<std::size_t>(i)]);
  }
  Tensor y = Tensor::zeros(far.result, x.shape);
  QkNormRopeEncoder(encoding).apply(heads_of(std::as_const(x)), weight, std::vector<std::int64_t>{0}, heads_of(y));
  return y.at(0);
}

TEST(QkNormRopeEncoder, FactorsMayLeaveTheRangeOfDoubleBeforeOthersBringThemBack) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double half_root = std::sqrt(0.5);
  const FarFactors cases[] = {// x times the root is 2^-1098.5, the gain 2^1020.
                              {{0x1p-600, 0x1p499}, {0x1p1020, 1}, 1, Dtype::float32, std::ldexp(1 / half_root, -79)},
                              // The gain 2^-1060, the factor 2^1000.
                              {{1, 1}, {0x1p-1060, 1}, 0x1p1000, Dtype::float32, 0x1p-60},
                              // One channel of two, times the root 2^0.5, times the gain beyond range.
                              {{1, 0}, {0x1.8p1023, 1}, 0x1p-20, Dtype::float64, std::ldexp(0x1.8p0 / half_root, 1003)},
                              {{1, 0}, {0x1.8p1023, 1}, 0x1p-960, Dtype::float32, std::ldexp(0x1.8p0 / half_root, 63)},
                              {{-1, 0}, {0x1.8p1023, 1}, 1, Dtype::float64, -infinity},
                              {{0x1p-600, 0x1p499}, {infinity, 1}, 1, Dtype::float32, infinity}};
  for (const FarFactors& far : cases) {
    const double got = first_of(far);
    if (std::isinf(far.wanted)) {
      EXPECT_EQ(got, far.wanted);
    } else {
      // epsilon, 1e-6, and the last place.
      EXPECT_NEAR(got / far.wanted, 1, 2e-6) << far.gains[0] << ' ' << far.attention_factor;
    }
  }
}

}  // namespace
}  // namespace sextant::qk_norm_rope_test
