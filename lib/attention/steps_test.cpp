#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "lib/attention/attention.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/rope/rope.hpp"

// Steps and padding against whole calls, whose own tests are attention_test.cpp's.

namespace sextant::attention_steps_test {
namespace {

constexpr std::int64_t batch = 2;
constexpr std::int64_t keys = 21;
constexpr std::int64_t width = 8;

const char* const positions_of_encodings[] = {
    "null",
    R"({"encoding":"rope","head_dim":8})",
    R"({"encoding":"rope","head_dim":8,"rope_scaling":{"rope_type":"dynamic","factor":4,)"
    R"("original_max_position_embeddings":8}})",
    R"({"encoding":"rope_nd","head_dim":8,"sections":[2,1,1]})",
    R"({"encoding":"xpos","head_dim":8})",
    R"({"encoding":"alibi","num_heads":4})",
    R"({"encoding":"relative_bias","num_buckets":8,"bidirectional":false})"};

Attention with(const std::string& position, const std::string& fields = "") {
  const Spec spec = parse_spec(R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":8,"causal":true,)" +
                               fields + R"("position":)" + position + "}");
  return std::get<Attention>(spec.encoding);
}

// Inputs of a whole call; of a step the last tokens of it.
struct Example {
  explicit Example(const Attention& encoding)
      : q(random_tensor(Dtype::float64, {batch, 4, keys, width}, 1)),
        k(random_tensor(Dtype::float64, {batch, 2, keys, width}, 2)),
        v(random_tensor(Dtype::float64, {batch, 2, keys, width}, 3)),
        weight(random_tensor(Dtype::float64, {8, 4}, 4)),
        is_weighted(signature_of(encoding).weight.has_value()) {
    for (std::int64_t i = 0; i < batch * keys * signature_of(encoding).axes; ++i)
      positions.push_back(5 * (i / keys) + i % keys);
  }

  AttentionInputs whole() const { return {q, k, v, positions, is_weighted ? &weight : nullptr}; }

  Tensor q;
  Tensor k;
  Tensor v;
  Tensor weight;
  bool is_weighted;
  std::vector<std::int64_t> positions;
};

Tensor last_tokens(const Tensor& x, std::int64_t count) {
  Tensor part = Tensor::zeros(x.dtype, {x.shape[0], x.shape[1], count, x.shape[3]});
  for (std::int64_t i = 0; i < part.elements(); ++i) {
    const std::int64_t line = i / x.shape[3] / count;
    const std::int64_t token = x.shape[2] - count + i / x.shape[3] % count;
    part.set(i, x.at((line * x.shape[2] + token) * x.shape[3] + i % x.shape[3]));
  }
  return part;
}

std::vector<std::int64_t> last_positions(const std::vector<std::int64_t>& positions, std::int64_t count) {
  std::vector<std::int64_t> part;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (static_cast<std::int64_t>(i) % keys >= keys - count) part.push_back(positions[i]);
  }
  return part;
}

// Through bfloat16, so that every dtype has the same values.
Tensor in_dtype(const Tensor& x, Dtype dtype) {
  Tensor rounded = Tensor::zeros(Dtype::bfloat16, x.shape);
  Tensor result = Tensor::zeros(dtype, x.shape);
  for (std::int64_t i = 0; i < x.elements(); ++i) {
    rounded.set(i, x.at(i));
    result.set(i, rounded.at(i));
  }
  return result;
}

// Sums of few terms in another order: some 2^-53 of values below 1.
void expect_equal(const Tensor& got, const Tensor& truth) {
  ASSERT_EQ(got.shape, truth.shape);
  for (std::int64_t i = 0; i < got.elements(); ++i) ASSERT_NEAR(got.at(i), truth.at(i), 1e-13) << i;
}

TEST(AttentionSteps, AreTheLastTokensOfWholeCalls) {
  for (const char* position : positions_of_encodings) {
    for (const char* fields : {"", R"("window":4,)"}) {
      const Attention encoding = with(position, fields);
      const DotProductAttention attention(encoding);
      const Example example(encoding);
      const Tensor whole = attention.attend(example.whole());
      for (const std::int64_t count : {std::int64_t{1}, std::int64_t{3}, keys}) {
        const Tensor q = last_tokens(example.q, count);
        const std::vector<std::int64_t> query_positions = last_positions(example.positions, count);
        AttentionInputs step{q, example.k, example.v, example.positions, example.whole().weight};
        step.query_positions = query_positions;
        expect_equal(attention.attend(step), last_tokens(whole, count));
      }
    }
  }
}

TEST(AttentionSteps, TakeKeysThatACacheKeepsRotated) {
  Attention encoding = with(R"({"encoding":"rope","head_dim":8})");
  const Example example(encoding);
  const Tensor whole = DotProductAttention(encoding).attend(example.whole());
  encoding.cached_keys = CachedKeys::rotated;
  const RopeEncoder rope(std::get<Rope>(*encoding.position));
  Tensor cached = example.k;
  for (std::int64_t row = 0; row < batch * 2; ++row) {
    Tensor sequence = Tensor::zeros(Dtype::float64, {1, keys - 3, 1, width});
    for (std::int64_t i = 0; i < sequence.elements(); ++i) sequence.set(i, example.k.at(row * keys * width + i));
    const auto first = example.positions.begin() + row / 2 * keys;
    const Tensor turned = rope.rotate(sequence, std::vector<std::int64_t>(first, first + keys - 3));
    for (std::int64_t i = 0; i < turned.elements(); ++i) cached.set(row * keys * width + i, turned.at(i));
  }
  const Tensor q = last_tokens(example.q, 3);
  const std::vector<std::int64_t> query_positions = last_positions(example.positions, 3);
  AttentionInputs step{q, cached, example.v, example.positions};
  step.query_positions = query_positions;
  expect_equal(DotProductAttention(encoding).attend(step), last_tokens(whole, 3));
}

TEST(AttentionSteps, In16BitsAreThoseOfFloat32RoundedOnce) {
  Attention encoding = with(R"({"encoding":"rope","head_dim":8})");
  for (const CachedKeys cached : {CachedKeys::plain, CachedKeys::rotated}) {
    encoding.cached_keys = cached;
    const Example example(encoding);
    const std::vector<std::int64_t> query_positions = last_positions(example.positions, 3);
    const auto attend = [&](Dtype dtype) {
      const Tensor q = in_dtype(last_tokens(example.q, 3), dtype);
      const Tensor k = in_dtype(example.k, dtype);
      const Tensor v = in_dtype(example.v, dtype);
      AttentionInputs step{q, k, v, example.positions};
      step.query_positions = query_positions;
      return DotProductAttention(encoding).attend(step);
    };
    const Tensor narrow = attend(Dtype::bfloat16);
    EXPECT_EQ(narrow.data, in_dtype(attend(Dtype::float32), Dtype::bfloat16).data);
  }
}

TEST(AttentionSteps, DoNotReadPaddingAndGiveItZeros) {
  const Attention encoding = with(R"({"encoding":"alibi","num_heads":4})", R"("window":9,)");
  const DotProductAttention attention(encoding);
  Example example(encoding);
  const std::vector<std::int64_t> starts{0, 5};
  const std::vector<std::int64_t> ends{keys - 2, keys};
  const auto ask = [&] {
    AttentionInputs padded = example.whole();
    padded.starts = starts;
    padded.ends = ends;
    return attention.attend(padded);
  };
  const Tensor before = ask();
  for (Tensor* tensor : {&example.k, &example.v}) {
    for (std::int64_t i = 0; i < tensor->elements(); ++i) {
      const std::int64_t row = i / width / keys / 2;
      const std::int64_t token = i / width % keys;
      if (token < starts[static_cast<std::size_t>(row)] || token >= ends[static_cast<std::size_t>(row)])
        tensor->set(i, std::numeric_limits<double>::quiet_NaN());
    }
  }
  const Tensor after = ask();
  for (std::int64_t i = 0; i < before.elements(); ++i) {
    const std::int64_t row = i / width / keys / 4;
    const std::int64_t token = i / width % keys;
    const bool is_padding =
        token < starts[static_cast<std::size_t>(row)] || token >= ends[static_cast<std::size_t>(row)];
    ASSERT_EQ(after.at(i), is_padding ? 0 : before.at(i)) << i;
  }
}

TEST(AttentionSteps, OfNoQueriesHaveNoResult) {
  for (const char* position :
       {"null", R"({"encoding":"rope","head_dim":8})", R"({"encoding":"alibi","num_heads":4})"}) {
    const Attention encoding = with(position);
    const Example example(encoding);
    const Tensor none = last_tokens(example.q, 0);
    const Tensor result = DotProductAttention(encoding).attend(
        {.q = none, .k = example.k, .v = example.v, .positions = example.positions});
    EXPECT_EQ(result.shape, none.shape);
    EXPECT_TRUE(result.data.empty());
  }
}

TEST(AttentionSteps, RefuseSequencesOutsideOfTheirKeys) {
  const Attention encoding = with("null");
  const DotProductAttention attention(encoding);
  const Example example(encoding);
  const std::vector<std::int64_t> good{0, 1};
  const auto refuses = [&](const std::vector<std::int64_t>& starts, const std::vector<std::int64_t>& ends) {
    AttentionInputs inputs = example.whole();
    inputs.starts = starts;
    inputs.ends = ends;
    EXPECT_THROW(attention.attend(inputs), std::invalid_argument);
  };
  refuses({0}, {});
  refuses({-1, 0}, {});
  refuses(good, {keys, keys + 1});
  refuses({3, 3}, {2, 5});
  const Tensor q = last_tokens(example.q, 4);
  AttentionInputs step{q, example.k, example.v, {}};
  const std::vector<std::int64_t> short_rows{3, keys};
  step.ends = short_rows;
  EXPECT_THROW(attention.attend(step), std::invalid_argument);
  EXPECT_THROW(attention.backward(step, q), std::invalid_argument);
}

}  // namespace
}  // namespace sextant::attention_steps_test
