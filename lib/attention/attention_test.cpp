#include "lib/attention/attention.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "lib/kernels/truth_test.hpp"
#include "reference/alibi.hpp"
#include "reference/attention.hpp"
#include "reference/relative_bias.hpp"
#include "reference/rope_nd.hpp"
#include "reference/xpos.hpp"

namespace sextant::attention_test {
namespace {

using reference::Enclosure;
using reference::RealPair;
using reference::RealVector;

constexpr reference::Precision precision{128};

Attention with(std::int64_t heads, std::int64_t kv_heads, std::int64_t head_dim, bool causal) {
  Attention encoding;
  encoding.num_heads = heads;
  encoding.num_kv_heads = kv_heads;
  encoding.head_dim = head_dim;
  encoding.causal = causal;
  return encoding;
}

Attention with(std::int64_t heads, std::int64_t kv_heads, std::int64_t head_dim, bool causal,
               const std::optional<PositionEncoding>& position) {
  Attention encoding = with(heads, kv_heads, head_dim, causal);
  if (position) encoding.position.emplace(*position);
  return encoding;
}

// Inputs and positions of one sequence.
struct Example {
  Tensor q;
  Tensor k;
  Tensor v;
  std::vector<std::int64_t> positions;
  Tensor weight;
  Tensor sinks;

  Example(const Attention& encoding, std::int64_t n, Dtype dtype)
      : q(random_tensor(dtype, {1, encoding.num_heads, n, encoding.head_dim}, 1)),
        k(random_tensor(dtype, {1, encoding.num_kv_heads, n, encoding.head_dim}, 2)),
        v(random_tensor(dtype, {1, encoding.num_kv_heads, n, encoding.head_dim}, 3)),
        weight(random_tensor(Dtype::float32, {8, encoding.num_heads}, 4)),
        sinks(random_tensor(dtype, {encoding.num_heads}, 5)) {
    const auto* rope_nd = encoding.position ? std::get_if<RopeNd>(&*encoding.position) : nullptr;
    for (std::int64_t axis = 0; axis < (rope_nd == nullptr ? 1 : axes(*rope_nd)); ++axis) {
      for (std::int64_t i = 0; i < n; ++i) positions.push_back(axis * 3 + i * (axis + 1));
    }
  }

  AttentionInputs inputs(const Attention& encoding) const {
    const bool weighted = encoding.position && std::holds_alternative<RelativeBias>(*encoding.position);
    return {q, k, v, positions, weighted ? &weight : nullptr, encoding.sinks ? &sinks : nullptr};
  }
};

// Vectors and biases as the position encoding makes them, enclosed.
class Truth {
 public:
  Truth(const Attention& encoding, const Example& example) : encoding_(encoding), example_(example) {
    if (!encoding.position) return;
    if (const auto* rope = std::get_if<Rope>(&*encoding.position)) {
      turn_by(*rope, [truth = std::make_shared<reference::RopeReference>(*rope)](std::span<const std::int64_t> at,
                                                                                 std::int64_t pair, const RealPair& x) {
        return reference::RopeReference::rotate(truth->rotation(at[0], pair, precision), x);
      });
    } else if (const auto* rope_nd = std::get_if<RopeNd>(&*encoding.position)) {
      axes_ = axes(*rope_nd);
      turn_by(rope_nd->rope, [truth = std::make_shared<reference::RopeNdReference>(*rope_nd)](
                                 std::span<const std::int64_t> at, std::int64_t pair, const RealPair& x) {
        return reference::RopeReference::rotate(truth->rotation(at, pair, precision), x);
      });
    } else if (const auto* alibi = std::get_if<Alibi>(&*encoding.position)) {
      alibi_.emplace(*alibi);
    }
  }

  // Only xPos turns queries and keys differently.
  void take_role(Role role) {
    const auto* xpos = encoding_.position ? std::get_if<Xpos>(&*encoding_.position) : nullptr;
    if (xpos == nullptr) return;
    Xpos in_role = *xpos;
    in_role.role = role;
    turn_by(xpos->rope, [truth = std::make_shared<reference::XposReference>(in_role)](
                            std::span<const std::int64_t> at, std::int64_t pair, const RealPair& x) {
      return truth->turned(at[0], pair, x, precision);
    });
  }

  RealVector plain(const Tensor& x, std::int64_t head, std::int64_t index) const {
    RealVector vector;
    for (std::int64_t i = 0; i < encoding_.head_dim; ++i)
      vector.emplace_back(x.at((head * x.shape[2] + index) * encoding_.head_dim + i), precision);
    return vector;
  }

  RealVector turned(const Tensor& x, std::int64_t head, std::int64_t index) const {
    RealVector vector = plain(x, head, index);
    if (!turn_) return vector;
    std::vector<std::int64_t> at;
    for (std::int64_t axis = 0; axis < axes_; ++axis)
      at.push_back(example_.positions[static_cast<std::size_t>(axis * x.shape[2] + index)]);
    for (std::int64_t pair = 0; pair < pairs(rope_); ++pair) {
      const Channels channels = channels_of_pair(rope_, rope_.pairing, pair);
      Enclosure& first = vector[static_cast<std::size_t>(channels.first)];
      Enclosure& second = vector[static_cast<std::size_t>(channels.second)];
      const RealPair result = turn_(at, pair, RealPair{first, second});
      first = result.first;
      second = result.second;
    }
    return vector;
  }

  RealVector bias(std::int64_t head, std::int64_t query, std::int64_t n) {
    RealVector row;
    const auto* relative = encoding_.position ? std::get_if<RelativeBias>(&*encoding_.position) : nullptr;
    if (!alibi_ && relative == nullptr) return row;
    const auto position = [&](std::int64_t index) { return example_.positions[static_cast<std::size_t>(index)]; };
    for (std::int64_t key = 0; key < n; ++key) {
      row.push_back(
          alibi_ ? alibi_->bias(position(query), position(key), head, precision).value_or(Enclosure(0.0, precision))
                 : reference::bias(*relative, example_.weight, position(query), position(key), head, precision));
    }
    return row;
  }

 private:
  using Turn = std::function<RealPair(std::span<const std::int64_t> at, std::int64_t pair, const RealPair& x)>;
  void turn_by(const Rope& rope, Turn turn) {
    rope_ = rope;
    turn_ = std::move(turn);
  }

  Attention encoding_;
  const Example& example_;
  std::int64_t axes_ = 1;
  Rope rope_;
  Turn turn_;
  std::optional<reference::AlibiReference> alibi_;
};

double size_of_score(const Attention& encoding, const RealVector& q, const RealVector& k) {
  Enclosure sum(0.0, precision);
  for (std::size_t i = 0; i < q.size(); ++i) sum = sum + abs(q[i]) * abs(k[i]);
  if (encoding.softmax_scale) return (sum * Enclosure(*encoding.softmax_scale, precision)).upper();
  return (sum / sqrt(Enclosure(static_cast<double>(q.size()), precision))).upper();
}

double largest(const RealVector& vector) {
  double size = 0;
  for (const Enclosure& x : vector) size = std::max(size, abs(x).upper());
  return size;
}

// Every channel of some queries of each head lies within the stated bound of the oracle's enclosure.
void expect_truth(const Attention& encoding, std::int64_t n, Dtype dtype, const std::vector<std::int64_t>& rows) {
  const Example example(encoding, n, dtype);
  const Tensor out = DotProductAttention(encoding).attend(example.inputs(encoding));
  ASSERT_EQ(out.shape, example.q.shape);
  ASSERT_EQ(out.dtype, dtype);
  Truth real(encoding, example);
  for (std::int64_t head = 0; head < encoding.num_heads; ++head) {
    std::vector<RealVector> keys;
    std::vector<RealVector> values;
    real.take_role(Role::key);
    for (std::int64_t i = 0; i < n; ++i) {
      keys.push_back(real.turned(example.k, kv_head(encoding, head), i));
      values.push_back(real.plain(example.v, kv_head(encoding, head), i));
    }
    real.take_role(Role::query);
    for (const std::int64_t row : rows) {
      const RealVector query = real.turned(example.q, head, row);
      const RealVector bias = real.bias(head, row, n);
      const std::optional<double> sink = encoding.sinks ? std::optional(example.sinks.at(head)) : std::nullopt;
      std::optional<std::int64_t> position;
      if (encoding.query_scale) position = example.positions[static_cast<std::size_t>(row)];
      const RealVector truth = reference::attend(
          encoding, {keys_seen(encoding, row, {0, n}), query, keys, values, bias, sink, position}, precision);
      const double of_query =
          position ? reference::query_scale(*encoding.query_scale, *position, precision).upper() : 1;
      AttentionMagnitudes magnitudes{0, std::max(largest(bias), std::fabs(sink.value_or(0))), 0};
      for (std::size_t i = 0; i < keys.size(); ++i) {
        magnitudes.score = std::max(magnitudes.score, of_query * size_of_score(encoding, query, keys[i]) * (1 + 1e-12));
        magnitudes.value = std::max(magnitudes.value, largest(values[i]));
      }
      const double bound = attention_error(encoding, n, dtype, magnitudes);
      EXPECT_LT(bound, magnitudes.value / 50) << "the bound says little";
      for (std::int64_t i = 0; i < encoding.head_dim; ++i) {
        const double got = out.at((head * n + row) * encoding.head_dim + i);
        const double error = abs(Enclosure(got, precision) - truth[static_cast<std::size_t>(i)]).upper();
        ASSERT_LE(error, bound) << "head " << head << " row " << row << " channel " << i << " " << name_of(dtype);
      }
    }
  }
}

std::vector<std::optional<PositionEncoding>> acting_encodings() {
  Rope rope;
  rope.head_dim = rope.rotary_dim = 8;
  RopeNd rope_nd;
  rope_nd.rope = rope;
  rope_nd.sections = {2, 1, 1};
  Xpos xpos;
  xpos.rope = rope;
  xpos.rope.pairing = xpos.rope.output_pairing = Pairing::interleaved;
  return {std::nullopt, rope, rope_nd, xpos, Alibi{2, Mask::symmetric, AlibiForm::distance}, RelativeBias{8, 20, true}};
}

TEST(DotProductAttention, IsWithinItsBoundOfTheOracle) {
  for (const auto& position : acting_encodings()) {
    for (const bool causal : {false, true}) {
      for (const Dtype dtype : floating_dtypes) {
        expect_truth(with(2, 2, 8, causal, position), 9, dtype, {0, 3, 8});
        // More keys than a block of them, more queries than a block of those.
        expect_truth(with(2, 1, 8, causal, position), 150, dtype, {0, 64, 149});
      }
    }
  }
  for (const AlibiForm form : {AlibiForm::distance, AlibiForm::key_index}) {
    expect_truth(with(4, 2, 8, true, Alibi{4, Mask::causal, form}), 140, Dtype::float32, {0, 70, 139});
  }
}

TEST(DotProductAttention, IsWithinItsBoundWithWhatElseModelsHave) {
  for (const auto& position : acting_encodings()) {
    for (const bool causal : {false, true}) {
      for (const Dtype dtype : floating_dtypes) {
        Attention encoding = with(2, 1, 8, causal, position);
        encoding.window = 70;
        encoding.softmax_scale = 0.3;
        expect_truth(encoding, 150, dtype, {0, 64, 149});
        encoding.logit_softcap = 1.25;
        encoding.window = 1;
        expect_truth(encoding, 9, dtype, {0, 8});
        encoding.window.reset();
        encoding.sinks = true;
        expect_truth(encoding, 130, dtype, {0, 129});
      }
    }
  }
}

TEST(DotProductAttention, IsWithinItsBoundWhereQueriesAreScaled) {
  for (const auto& position : acting_encodings()) {
    if (position && std::holds_alternative<RopeNd>(*position)) continue;
    for (const Dtype dtype : floating_dtypes) {
      Attention encoding = with(2, 1, 8, true, position);
      encoding.query_scale = QueryScale{.amount = 0.1, .period = 64, .offset = 1};
      expect_truth(encoding, 150, dtype, {0, 62, 63, 64, 127, 149});
      encoding.query_scale = QueryScale{.offset = 1, .rule = QueryScaleRule::log_n, .length = 63};
      expect_truth(encoding, 150, dtype, {0, 62, 63, 64, 127, 149});
      encoding.query_scale = QueryScale{.amount = 1, .period = 3, .offset = 0};
      encoding.logit_softcap = 1.25;
      expect_truth(encoding, 9, dtype, {0, 2, 3, 8});
    }
  }
}

TEST(DotProductAttention, AQueryIsScaledByItsPositionInAStep) {
  Attention encoding = with(1, 1, 4, true);
  encoding.query_scale = QueryScale{.amount = 0.5, .period = 8, .offset = 1};
  const Example example(encoding, 9, Dtype::float64);
  const Tensor whole = DotProductAttention(encoding).attend(example.inputs(encoding));
  Tensor last = Tensor::zeros(Dtype::float64, {1, 1, 1, 4});
  for (std::int64_t i = 0; i < 4; ++i) last.set(i, example.q.at(8 * 4 + i));
  const std::vector<std::int64_t> at{8};
  const Tensor step = DotProductAttention(encoding).attend(
      {.q = last, .k = example.k, .v = example.v, .positions = example.positions, .query_positions = at});
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_NEAR(step.at(i), whole.at(8 * 4 + i), 1e-15);
  EXPECT_THROW(DotProductAttention(encoding).attend({example.q, example.k, example.v, {}}), std::invalid_argument);
}

TEST(DotProductAttention, IsWithinItsBoundForEveryShape) {
  for (const std::int64_t width : {1, 2, 3, 7, 16, 33, 64}) {
    for (const std::int64_t n : {1, 2, 17, 128, 129})
      expect_truth(with(2, 2, width, n % 2 == 1), n, Dtype::float32, {0, n / 2, n - 1});
  }
}

TEST(DotProductAttention, LargeScoresAreOneKeysWeight) {
  const Attention encoding = with(1, 1, 4, false);
  Example example(encoding, 5, Dtype::float32);
  for (std::int64_t i = 0; i < 4; ++i) {
    example.q.set(4 * 2 + i, 1e4);
    example.k.set(4 * 3 + i, 1e4);
  }
  const Tensor out = DotProductAttention(encoding).attend(example.inputs(encoding));
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(out.at(4 * 2 + i), example.v.at(4 * 3 + i));
}

TEST(DotProductAttention, NaNReachesTheTokensThatSeeItAndNoOther) {
  for (const std::int64_t n : {5, 300}) {
    const Attention encoding = with(2, 2, 8, true);
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      Example example(encoding, n, Dtype::float32);
      example.q.set(8 * 1, std::numeric_limits<double>::quiet_NaN());
      example.v.set(8 * 3, bad);
      const Tensor out = DotProductAttention(encoding).attend(example.inputs(encoding));
      for (std::int64_t token = 0; token < n; ++token) {
        EXPECT_EQ(std::isfinite(out.at(token * 8)), token != 1 && token < 3) << token;
        EXPECT_EQ(std::isfinite(out.at(token * 8 + 1)), token != 1) << token;
        EXPECT_TRUE(std::isfinite(out.at((n + token) * 8))) << "the other head, " << token;
      }
    }
    Example example(encoding, n, Dtype::float32);
    example.k.set(8 * 2, std::numeric_limits<double>::quiet_NaN());
    const Tensor out = DotProductAttention(encoding).attend(example.inputs(encoding));
    for (std::int64_t token = 0; token < n; ++token) EXPECT_EQ(std::isnan(out.at(token * 8)), token >= 2) << token;
  }
}

TEST(DotProductAttention, EncodingsThatAreAddedToTheInputChangeNothingHere) {
  const Attention plain = with(2, 1, 8, false);
  const Example example(plain, 20, Dtype::float32);
  const Tensor expected = DotProductAttention(plain).attend(example.inputs(plain));
  Sinusoidal sinusoidal;
  sinusoidal.dim = 8;
  for (const PositionEncoding& added : {PositionEncoding(Integer{1, true}), PositionEncoding(Binary{5, false}),
                                        PositionEncoding(sinusoidal), PositionEncoding(Learned{8, 1})}) {
    EXPECT_EQ(DotProductAttention(with(2, 1, 8, false, added)).attend(example.inputs(plain)).data, expected.data);
  }
}

TEST(DotProductAttention, TheSameBitsOnAnyNumberOfThreads) {
  for (const auto& position : acting_encodings()) {
    const Attention encoding = with(2, 1, 8, true, position);
    const DotProductAttention attention(encoding);
    const Example example(encoding, 200, Dtype::float32);
    expect_same_on_threads([&] { return attention.attend(example.inputs(encoding)); });
  }
}

// Positions far apart have no table of relative positions.
TEST(DotProductAttention, SparsePositionsHaveTheSameBias) {
  const Attention encoding = with(2, 2, 8, false, RelativeBias{8, 20, true});
  Example example(encoding, 12, Dtype::float64);
  const Tensor near = DotProductAttention(encoding).attend(example.inputs(encoding));
  for (std::int64_t& position : example.positions)
    position += position == 11 ? 1000000 : 0;  // beyond max_distance from all but itself
  const Tensor far = DotProductAttention(encoding).attend(example.inputs(encoding));
  example.positions[11] = 11 + 30;
  const Tensor table = DotProductAttention(encoding).attend(example.inputs(encoding));
  EXPECT_EQ(far.data, table.data);
  EXPECT_NE(far.data, near.data);
}

TEST(DotProductAttention, RefusesWhatDoesNotFit) {
  const Attention encoding = with(4, 2, 8, false, RelativeBias{8, 20, true});
  const DotProductAttention attention(encoding);
  const Example good(encoding, 3, Dtype::float32);
  EXPECT_NO_THROW(attention.attend(good.inputs(encoding)));
  const auto refused = [&](auto spoil) {
    Example example = good;
    spoil(example);
    EXPECT_THROW(attention.attend(example.inputs(encoding)), std::invalid_argument);
  };
  refused([](Example& example) { example.q = Tensor::zeros(Dtype::float32, {1, 4, 3, 6}); });
  refused([](Example& example) { example.q = Tensor::zeros(Dtype::float32, {4, 3, 8}); });
  refused([](Example& example) { example.k = Tensor::zeros(Dtype::float32, {1, 4, 3, 8}); });
  refused([](Example& example) { example.v = Tensor::zeros(Dtype::float64, {1, 2, 3, 8}); });
  refused([](Example& example) { example.positions.pop_back(); });
  refused([](Example& example) { example.weight = Tensor::zeros(Dtype::float32, {8, 3}); });
  refused([](Example& example) { example.q = example.k = example.v = Tensor::zeros(Dtype::int64, {1, 4, 3, 8}); });
  EXPECT_THROW(attention.attend({good.q, good.k, good.v, good.positions, nullptr}), std::invalid_argument);
  std::vector<std::byte> memory(5);
  EXPECT_THROW(attention.attend(good.inputs(encoding), memory), std::invalid_argument);
  Example far = good;
  far.positions[0] = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW(attention.attend(far.inputs(encoding)), std::out_of_range);
  EXPECT_THROW(DotProductAttention(with(3, 2, 8, false)), SpecError);
  EXPECT_TRUE(attention.attend(Example(encoding, 0, Dtype::float32).inputs(encoding)).data.empty());
}

}  // namespace
}  // namespace sextant::attention_test
