#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "lib/attention/attention.hpp"
#include "lib/attention/blocks.hpp"
#include "lib/attention/gradient.hpp"
#include "lib/attention/position_part.hpp"
#include "lib/attention/softmax_rows.hpp"
#include "lib/kernels/guard_page_test.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"

// What attention reads and writes: arrays as long as their extents say, between pages that may not be touched, of
// widths and lengths that end within a vector; products_test.cpp has those of the products.

namespace sextant::attention_memory_test {
namespace {

constexpr GuardedBytes::Against both_ends[] = {GuardedBytes::Against::start, GuardedBytes::Against::end};

class AttentionMemoryOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(AttentionMemoryOn);

template <class Value>
class GuardedArray {
 public:
  GuardedArray(std::span<const Value> values, GuardedBytes::Against against) : bytes_(values.size_bytes(), against) {
    if (!values.empty()) std::memcpy(bytes_.data(), values.data(), values.size_bytes());
  }
  Value* data() { return reinterpret_cast<Value*>(bytes_.data()); }
  std::vector<Value> values() { return {data(), data() + bytes_.size() / sizeof(Value)}; }

 private:
  GuardedBytes bytes_;
};

template <class Scalar>
std::vector<Scalar> drawn(std::int64_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-2, 2);
  std::vector<Scalar> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<Scalar>(uniform(random)));
  return values;
}

template <class Scalar>
void expect_scores_alone(std::size_t count) {
  const std::vector<Scalar> scores = drawn<Scalar>(static_cast<std::int64_t>(count), 1);
  const std::vector<Scalar> bias = drawn<Scalar>(static_cast<std::int64_t>(count), 2);
  const SoftmaxState<Scalar> before{std::numeric_limits<Scalar>::lowest(), 0};
  for (const bool is_biased : {false, true}) {
    std::vector<Scalar> wanted = scores;
    SoftmaxState<Scalar> state = before;
    take_scores(wanted.data(), is_biased ? bias.data() : nullptr, count, state);
    for (const GuardedBytes::Against against : both_ends) {
      GuardedArray<Scalar> own(scores, against);
      GuardedArray<Scalar> own_bias(bias, against);
      state = before;
      take_scores(own.data(), is_biased ? own_bias.data() : nullptr, count, state);
      ASSERT_EQ(own.values(), wanted) << count;
      ASSERT_EQ(own_bias.values(), bias) << count;
    }
  }
  std::vector<Scalar> capped = scores;
  cap_scores(capped.data(), count, Scalar(1.5));
  for (const GuardedBytes::Against against : both_ends) {
    GuardedArray<Scalar> own(scores, against);
    cap_scores(own.data(), count, Scalar(1.5));
    ASSERT_EQ(own.values(), capped) << count;
  }
}

TEST_P(AttentionMemoryOn, RowsOfScoresOfEveryLength) {
  target_in_use();
  for (std::size_t count = 1; count <= 70; ++count) {
    expect_scores_alone<float>(count);
    expect_scores_alone<double>(count);
    if (HasFatalFailure()) return;
  }
}

constexpr std::int64_t batch = 2;
constexpr std::int64_t heads = 4;
constexpr std::int64_t kv_heads = 2;

// A block of keys and some more.
constexpr std::int64_t tokens = keys_per_block + 5;

const char* const positions_of_encodings[] = {"null", R"({"encoding":"alibi","num_heads":4,"mask":"symmetric"})",
                                              R"({"encoding":"relative_bias","num_buckets":8})",
                                              R"({"encoding":"window_bias","window":[7,19]})"};

Attention encoding_of(std::int64_t width, const std::string& position, const std::string& fields) {
  const Spec spec = parse_spec(R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":)" +
                               std::to_string(width) + fields + R"(,"position":)" + position + "}");
  return std::get<Attention>(spec.encoding);
}

std::vector<std::int64_t> counted(std::int64_t count) {
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < batch * count; ++i) positions.push_back(i % count);
  return positions;
}

Tensor weight_of(const Attention& encoding) {
  const auto weight = signature_of(encoding).weight;
  return random_tensor(Dtype::float64, {weight ? weight->rows : 0, heads}, 4);
}

template <class Scalar>
std::vector<Scalar> attended(const Attention& encoding, const CallShape& shape, GuardedBytes::Against against) {
  const std::int64_t width = encoding.head_dim;
  GuardedArray<Scalar> q(drawn<Scalar>(batch * heads * shape.queries * width, 1), against);
  GuardedArray<Scalar> k(drawn<Scalar>(batch * kv_heads * shape.keys * width, 2), against);
  GuardedArray<Scalar> v(drawn<Scalar>(batch * kv_heads * shape.keys * width, 3), against);
  GuardedArray<Scalar> sinks(drawn<Scalar>(heads, 5), against);
  GuardedArray<Scalar> scales(drawn<Scalar>(batch * shape.queries, 6), against);
  GuardedArray<Scalar> out(std::vector<Scalar>(static_cast<std::size_t>(batch * heads * shape.queries * width)),
                           against);
  GuardedArray<std::int64_t> positions(counted(shape.keys), against);
  GuardedArray<std::int64_t> query_positions(counted(shape.queries), against);
  const Tensor weight = weight_of(encoding);
  const auto span_of = [](GuardedArray<std::int64_t>& array, std::int64_t count) {
    return std::span<const std::int64_t>(array.data(), static_cast<std::size_t>(batch * count));
  };
  const Sequences sequences{span_of(positions, shape.keys), shape.keys, span_of(query_positions, shape.queries),
                            shape.queries};
  const auto bias = score_bias<Scalar>(encoding, sequences, &weight);
  attend_in_blocks(encoding,
                   AttentionArrays<Scalar>{shape, q.data(), k.data(), v.data(), bias.get(),
                                           encoding.sinks ? sinks.data() : nullptr, scales.data(), out.data()});
  return out.values();
}

TEST_P(AttentionMemoryOn, ArraysOfWholeCallsAndSteps) {
  target_in_use();
  const std::vector<std::int64_t> starts{0, 3};
  const std::vector<std::int64_t> ends{tokens - 1, tokens};
  const CallShape shapes[] = {
      {.batch = batch, .queries = tokens, .keys = tokens},
      {.batch = batch, .queries = tokens, .keys = tokens, .starts = starts, .ends = ends},
      {.batch = batch, .queries = 3, .keys = tokens, .kind = CallShape::Kind::step, .starts = starts, .ends = ends}};
  for (const std::int64_t width : {3, 17}) {
    for (const char* const position : positions_of_encodings) {
      for (const char* const fields :
           {"", R"(,"causal":true,"sinks":true)", R"(,"causal":true,"window":9,"logit_softcap":1.5)"}) {
        const Attention encoding = encoding_of(width, position, fields);
        for (const CallShape& shape : shapes) {
          EXPECT_EQ(attended<float>(encoding, shape, both_ends[0]), attended<float>(encoding, shape, both_ends[1]))
              << width << position << fields;
          EXPECT_EQ(attended<double>(encoding, shape, both_ends[0]), attended<double>(encoding, shape, both_ends[1]))
              << width << position << fields;
        }
      }
    }
  }
}

// Of every part of a row.
template <class Scalar>
void expect_bias_alone(const Attention& encoding) {
  constexpr std::int64_t keys = 19;
  const std::vector<std::int64_t> positions = counted(keys);
  const Tensor weight = weight_of(encoding);
  for (const GuardedBytes::Against against : both_ends) {
    GuardedArray<std::int64_t> own(positions, against);
    const std::span<const std::int64_t> all(own.data(), positions.size());
    const auto bias = score_bias<Scalar>(encoding, {all, keys, all, keys}, &weight);
    ASSERT_NE(bias, nullptr);
    for (const QueryToken& query : {QueryToken{0, 0, 0}, QueryToken{1, 3, keys - 1}, QueryToken{1, 2, 7}}) {
      std::vector<Scalar> made(keys);
      const Scalar* const row_of_all = bias->row(query, 0, made);
      const std::vector<Scalar> whole(row_of_all, row_of_all + keys);
      for (std::int64_t first = 0; first < keys; ++first) {
        for (std::int64_t count = 1; first + count <= keys; ++count) {
          GuardedArray<Scalar> room(std::vector<Scalar>(static_cast<std::size_t>(count)), against);
          const Scalar* const row = bias->row(query, first, {room.data(), static_cast<std::size_t>(count)});
          ASSERT_EQ(std::memcmp(row, whole.data() + first, static_cast<std::size_t>(count) * sizeof(Scalar)), 0)
              << first << " and " << count;
        }
      }
    }
  }
}

TEST(AttentionMemory, BiasesOfEveryPartOfARow) {
  for (const char* const position : positions_of_encodings) {
    if (std::string(position) == "null") continue;
    expect_bias_alone<float>(encoding_of(8, position, ""));
    expect_bias_alone<double>(encoding_of(8, position, ""));
    if (HasFatalFailure()) return;
  }
}

std::vector<double> gradients_of(const Attention& encoding, GuardedBytes::Against against) {
  constexpr std::int64_t n = 21;
  const std::int64_t of_queries = batch * heads * n * encoding.head_dim;
  const std::int64_t of_keys = batch * kv_heads * n * encoding.head_dim;
  const auto array = [&](std::int64_t count, unsigned seed) {
    return GuardedArray<double>(drawn<double>(count, seed), against);
  };
  const auto zeros = [&](std::int64_t count) {
    return GuardedArray<double>(std::vector<double>(static_cast<std::size_t>(count)), against);
  };
  GuardedArray<double> q = array(of_queries, 1);
  GuardedArray<double> k = array(of_keys, 2);
  GuardedArray<double> v = array(of_keys, 3);
  GuardedArray<double> grad = array(of_queries, 4);
  GuardedArray<double> sinks = array(heads, 5);
  GuardedArray<double> scales = array(batch * n, 6);
  GuardedArray<double> grad_q = zeros(of_queries);
  GuardedArray<double> grad_k = zeros(of_keys);
  GuardedArray<double> grad_v = zeros(of_keys);
  GuardedArray<std::int64_t> positions(counted(n), against);
  const std::span<const std::int64_t> all(positions.data(), static_cast<std::size_t>(batch * n));
  const Tensor weight = weight_of(encoding);
  const auto bias = score_bias<double>(encoding, {all, n, all, n}, &weight);
  add_gradients(encoding,
                {batch, n, q.data(), k.data(), v.data(), grad.data(), bias.get(),
                 encoding.sinks ? sinks.data() : nullptr, scales.data(), grad_q.data(), grad_k.data(), grad_v.data()});
  std::vector<double> all_gradients;
  for (GuardedArray<double>* const each : {&grad_q, &grad_k, &grad_v}) {
    const std::vector<double> values = each->values();
    all_gradients.insert(all_gradients.end(), values.begin(), values.end());
  }
  return all_gradients;
}

TEST(AttentionMemory, ArraysOfGradients) {
  for (const std::int64_t width : {1, 3, 17}) {
    for (const char* const position : positions_of_encodings) {
      for (const char* const fields :
           {"", R"(,"causal":true,"sinks":true)", R"(,"causal":true,"window":9,"logit_softcap":1.5)"}) {
        const Attention encoding = encoding_of(width, position, fields);
        EXPECT_EQ(gradients_of(encoding, both_ends[0]), gradients_of(encoding, both_ends[1]))
            << width << position << fields;
      }
    }
  }
}

TEST(AttentionMemory, WritesItsResultAndNothingElse) {
  const DotProductAttention attention(encoding_of(6, R"({"encoding":"rope","head_dim":6})", R"(,"causal":true)"));
  for (const Dtype dtype : floating_dtypes) {
    const Tensor q = random_tensor(dtype, {batch, heads, 5, 6}, 1);
    const Tensor k = random_tensor(dtype, {batch, kv_heads, 5, 6}, 2);
    const std::vector<std::int64_t> positions = counted(5);
    const AttentionInputs inputs{q, k, k, positions};
    const Tensor wanted = attention.attend(inputs);
    for (const GuardedBytes::Against against : both_ends) {
      GuardedBytes memory(wanted.data.size() + 3, against);
      std::byte* const start = memory.data() + (against == GuardedBytes::Against::start ? 3 : 0);
      attention.attend(inputs, {start, wanted.data.size()});
      ASSERT_EQ(std::memcmp(start, wanted.data.data(), wanted.data.size()), 0) << name_of(dtype);
      const std::byte* const rest =
          against == GuardedBytes::Against::start ? memory.data() : start + wanted.data.size();
      for (std::size_t i = 0; i < 3; ++i) ASSERT_EQ(rest[i], std::byte{GuardedBytes::filler});
    }
  }
}

}  // namespace
}  // namespace sextant::attention_memory_test
