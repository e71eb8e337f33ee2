// A row for each sentence that is told of a subject that computes as the built-in one does but for its inputs, or for
// what it makes of the answers.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <ostream>
#include <string>
#include <vector>

#include "properties/diagnose/diagnose.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::identify_diagnose_sentences_test {
namespace {

using Asked = std::function<void(Tensors& inputs)>;
using Answered = std::function<void(Tensors& outputs, const Tensors& inputs)>;

struct Sentence {
  std::string name;
  std::string claim;
  Asked asked;
  Answered answered;
  std::string words;
  std::function<void(Spec& spec)> opened = [](Spec&) {};  // what is computed in place of the claim
};

void PrintTo(const Sentence& sentence, std::ostream* stream) { *stream << sentence.name; }

const Asked as_asked = [](Tensors&) {};
const Answered as_answered = [](Tensors&, const Tensors&) {};

constexpr auto rope = R"({"encoding":"rope","head_dim":64,"max_position":4096})";
constexpr auto attention = R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":32,"causal":true,
    "position":{"encoding":"rope","head_dim":32},"max_position":600})";
constexpr auto normalized = R"({"encoding":"qk_norm_rope","head_dim":64,"max_position":600})";
constexpr auto table = R"({"encoding":"sinusoidal","dim":64,"max_position":4096})";

// Each row of positions [batch, tokens], or all of them.
Asked of_rows(const std::function<void(std::vector<std::int64_t>& row)>& changed) {
  return [changed](Tensors& inputs) {
    Tensor& positions = inputs.at("positions");
    const std::vector<std::int64_t> all = positions.integers();
    const std::int64_t tokens = positions.shape.back();
    std::vector<std::int64_t> made;
    for (auto start = all.begin(); start != all.end(); start += tokens) {
      std::vector<std::int64_t> row(start, start + tokens);
      changed(row);
      made.insert(made.end(), row.begin(), row.end());
    }
    positions = Tensor::of_integers(positions.shape, made);
  };
}

Answered of_values(const std::function<double(double y, double x)>& changed) {
  return [changed](Tensors& outputs, const Tensors& inputs) {
    Tensor& y = outputs.begin()->second;
    const auto x = inputs.find("x");
    for (std::int64_t i = 0; i < y.elements(); ++i) y.set(i, changed(y.at(i), x == inputs.end() ? 0 : x->second.at(i)));
  };
}

// A table of 64 channels, of other angles.
Answered of_angles(const std::function<double(double position, double pair, double tokens)>& angle) {
  return [angle](Tensors& outputs, const Tensors& inputs) {
    Tensor& y = outputs.begin()->second;
    const std::vector<std::int64_t> positions = inputs.at("positions").integers();
    for (std::int64_t i = 0; i < y.elements(); ++i) {
      const auto p = static_cast<double>(positions[static_cast<std::size_t>(i / 64)]);
      const double of_pair = angle(p, static_cast<double>(i % 64 / 2), static_cast<double>(y.shape[0]));
      y.set(i, i % 2 == 0 ? std::sin(of_pair) : std::cos(of_pair));
    }
  };
}

// A table of 64 channels, base 10000, whose cosines have the exponents of their own channels.
Answered of_channels(Layout layout) {
  return [layout](Tensors& outputs, const Tensors& inputs) {
    Tensor& y = outputs.begin()->second;
    const std::vector<std::int64_t> positions = inputs.at("positions").integers();
    for (std::size_t row = 0; row < positions.size(); ++row) {
      for (std::int64_t pair = 0; pair < 32; ++pair) {
        const double angle =
            static_cast<double>(positions[row]) * std::pow(10000.0, -(static_cast<double>(pair) + 0.5) / 32);
        y.set(static_cast<std::int64_t>(row) * 64 + (layout == Layout::concatenated ? 32 + pair : 2 * pair + 1),
              std::cos(angle));
      }
    }
  };
}

// Some heads of an answer [batch, tokens, heads, width] as they were.
Answered left(const std::function<bool(std::int64_t head, std::int64_t heads)>& is_left) {
  return [is_left](Tensors& outputs, const Tensors& inputs) {
    Tensor& y = outputs.at("y");
    const std::int64_t heads = y.shape[2];
    for (std::int64_t i = 0; i < y.elements(); ++i) {
      if (is_left(i / y.shape[3] % heads, heads)) y.set(i, inputs.at("x").at(i));
    }
  };
}

// [batch, heads, tokens, width] or [batch, tokens], the last token first.
void reverse_tokens(Tensor& tensor) {
  const bool is_positions = tensor.shape.size() == 2;
  const std::int64_t tokens = tensor.shape[is_positions ? 1 : 2];
  const std::int64_t width = is_positions ? 1 : tensor.shape[3];
  const Tensor given = tensor;
  const std::vector<std::int64_t> whole = is_positions ? given.integers() : std::vector<std::int64_t>{};
  std::vector<std::int64_t> reversed = whole;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const std::int64_t token = i / width % tokens;
    const std::int64_t from = i + (tokens - 1 - 2 * token) * width;
    if (is_positions) {
      reversed[static_cast<std::size_t>(i)] = whole[static_cast<std::size_t>(from)];
    } else {
      tensor.set(i, given.at(from));
    }
  }
  if (is_positions) tensor = Tensor::of_integers(tensor.shape, reversed);
}

// Keys turned back by twice their positions, so that turning them by those leaves them turned back by as much.
void turn_keys_back(Tensors& inputs) {
  Tensor& k = inputs.at("k");
  const std::vector<std::int64_t> positions = inputs.at("positions").integers();
  const std::int64_t tokens = k.shape[2];
  for (std::int64_t start = 0; start < k.elements(); start += 32) {
    const std::int64_t row = start / 32 / tokens / k.shape[1];
    const auto p = static_cast<double>(positions[static_cast<std::size_t>(row * tokens + start / 32 % tokens)]);
    for (std::int64_t i = 0; i < 16; ++i) {
      const double angle = -2 * p * std::pow(10000.0, -static_cast<double>(i) / 16);
      const double a = k.at(start + i);
      const double b = k.at(start + 16 + i);
      k.set(start + i, a * std::cos(angle) - b * std::sin(angle));
      k.set(start + 16 + i, a * std::sin(angle) + b * std::cos(angle));
    }
  }
}

constexpr double epsilon_of_heads = 1e-3;

// Heads that were divided by the root of the mean of their squares + epsilon, and are divided by something else of the
// two means.
template <class Divisor>
void divide_heads_by(Tensors& outputs, const Tensors& inputs, Divisor divisor) {
  for (const char* name : {"q", "k"}) {
    const Tensor& x = inputs.at(name);
    Tensor& y = outputs.at(name);
    for (std::int64_t start = 0; start < x.elements(); start += 64) {
      double squares = 0;
      double sizes = 0;
      for (std::int64_t i = start; i < start + 64; ++i) {
        squares += x.at(i) * x.at(i) / 64;
        sizes += std::fabs(x.at(i)) / 64;
      }
      const double ratio = std::sqrt(squares + epsilon_of_heads) / divisor(squares, sizes);
      for (std::int64_t i = start; i < start + 64; ++i) y.set(i, y.at(i) * ratio);
    }
  }
}

void divide_by_root_and_epsilon(Tensors& outputs, const Tensors& inputs) {
  divide_heads_by(outputs, inputs, [](double squares, double) { return std::sqrt(squares) + epsilon_of_heads; });
}

void divide_by_mean_size_and_epsilon(Tensors& outputs, const Tensors& inputs) {
  divide_heads_by(outputs, inputs, [](double, double sizes) { return sizes + epsilon_of_heads; });
}

const std::vector<Sentence>& sentences() {
  const auto sorted = [](std::vector<std::int64_t>& row) { std::ranges::sort(row); };
  const auto from_end = [](std::vector<std::int64_t>& row) {
    for (std::int64_t& p : row) p = std::ssize(row) - 1 - p;
  };
  const auto without_signs = [](std::vector<std::int64_t>& row) {
    for (std::int64_t& p : row) p = std::abs(p);
  };
  const auto consecutive_if_long = [](std::vector<std::int64_t>& row) {
    if (row.size() <= 70) return;
    for (std::size_t i = 1; i < row.size(); ++i) row[i] = row[0] + static_cast<std::int64_t>(i);
  };
  const auto in_float16 = [](Tensors& inputs) {
    Tensor& x = inputs.at("x");
    for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, round_to(Dtype::float16, x.at(i)));
  };
  const auto by_length = [](Tensors& outputs, const Tensors& inputs) {
    Tensor& y = outputs.at("y");
    const Tensor& x = inputs.at("x");
    for (std::int64_t start = 0; start < y.elements(); start += y.shape[3]) {
      double squares = 0;
      for (std::int64_t i = start; i < start + y.shape[3]; ++i) squares += x.at(i) * x.at(i);
      for (std::int64_t i = start; i < start + y.shape[3]; ++i) y.set(i, y.at(i) / std::sqrt(std::max(squares, 1e-60)));
    }
  };
  const auto squared = [](Tensors& inputs) {
    for (const char* name : {"q_weight", "k_weight"}) {
      Tensor& weight = inputs.at(name);
      for (std::int64_t i = 0; i < weight.elements(); ++i) weight.set(i, weight.at(i) * weight.at(i));
    }
  };
  const auto of_gamma = [](Tensors& outputs, const Tensors& inputs) {
    Tensor& y = outputs.at("y");
    const std::vector<std::int64_t> positions = inputs.at("positions").integers();
    for (std::int64_t i = 0; i < y.elements(); ++i) {
      const double part = static_cast<double>(i % 32) / 32;
      const auto p = static_cast<double>(positions[static_cast<std::size_t>(i / 64 / y.shape[2])]);
      y.set(i, y.at(i) * std::pow((part + 0.5) / 1.5 * 1.4 / (part + 0.4), p / 512));
    }
  };
  const auto by_row_length = [](Tensors& outputs, const Tensors&) {
    Tensor& y = outputs.begin()->second;
    for (std::int64_t start = 0; start < y.elements(); start += 16) {
      double squares = 0;
      for (std::int64_t i = start; i < start + 16; ++i) squares += y.at(i) * y.at(i);
      for (std::int64_t i = start; i < start + 16; ++i) y.set(i, y.at(i) / std::sqrt(squares));
    }
  };
  const auto clamped = [](std::vector<std::int64_t>& row) {
    for (std::int64_t& position : row) position = std::min<std::int64_t>(position, 255);
  };
  const auto wrapped = [](std::vector<std::int64_t>& row) {
    for (std::int64_t& position : row) position %= 300;
  };
  static constexpr const char* learned = R"({"encoding":"learned","dim":16,"max_positions":512})";
  // So short that ramps of other lengths and betas are the same.
  static constexpr const char* yarn =
      R"({"encoding":"rope","head_dim":64,"max_position":600,)"
      R"("rope_scaling":{"rope_type":"yarn","factor":4,"original_max_position_embeddings":150}})";
  static constexpr const char* llama3 =
      R"({"encoding":"rope","head_dim":64,"max_position":600,"rope_scaling":{"rope_type":"llama3","factor":8,)"
      R"("original_max_position_embeddings":8192,"low_freq_factor":1,"high_freq_factor":4}})";
  static constexpr const char* dynamic =
      R"({"encoding":"rope","head_dim":64,"max_position":600,)"
      R"("rope_scaling":{"rope_type":"dynamic","factor":4,"original_max_position_embeddings":150}})";
  const auto rope_of = [](Spec& spec) -> Rope& { return std::get<Rope>(spec.encoding); };
  static constexpr const char* real =
      R"({"encoding":"rope","head_dim":64,"max_position":512,"position_step":0.0009765625,"position_dtype":"float64"})";
  const auto whole = [](Tensors& inputs) {
    Tensor& positions = inputs.at("positions");
    for (std::int64_t i = 0; i < positions.elements(); ++i) positions.set(i, std::trunc(positions.at(i)));
  };
  const auto yarn_of = [](Spec& spec) -> YarnScaling& {
    return std::get<YarnScaling>(std::get<Rope>(spec.encoding).rope_scaling);
  };
  static const std::vector<Sentence> list{
      {"squared_weights", normalized, squared, as_answered, "heads are multiplied by the square of the weight"},
      {"keys_without_offset", R"({"encoding":"qk_norm_rope","head_dim":64,"weight_offset":1,"max_position":600})",
       [](Tensors& inputs) {
         Tensor& weight = inputs.at("k_weight");
         for (std::int64_t i = 0; i < weight.elements(); ++i) weight.set(i, weight.at(i) - 1);
       },
       as_answered, "weight_offset is left out of the keys' weight"},
      {"short_yarn", yarn, as_asked, as_answered, "computes rope_scaling.truncate false instead of true",
       [yarn_of](Spec& spec) { yarn_of(spec).truncate = Truncate::no; }},
      {"short_yarn_factor", yarn, as_asked, as_answered, "the attention factor is left out",
       [yarn_of](Spec& spec) { yarn_of(spec).attention_factor = 1; }},
      {"whole_positions", real, whole, as_answered, "positions are rounded down to whole numbers"},
      {"llama3_factor", llama3, as_asked, as_answered, "computes rope_scaling.factor 6 instead of 8",
       [rope_of](Spec& spec) { std::get<Llama3Scaling>(rope_of(spec).rope_scaling).factor = 6; }},
      {"llama3_high", llama3, as_asked, as_answered, "computes rope_scaling.high_freq_factor 3 instead of 4",
       [rope_of](Spec& spec) { std::get<Llama3Scaling>(rope_of(spec).rope_scaling).high_freq_factor = 3; }},
      {"llama3_base", llama3, as_asked, as_answered, "base 500000 measured, 10000 claimed",
       [rope_of](Spec& spec) { rope_of(spec).rope_theta = 500000; }},
      {"dynamic_factor", dynamic, as_asked, as_answered, "computes rope_scaling.factor 3 instead of 4",
       [rope_of](Spec& spec) { std::get<DynamicScaling>(rope_of(spec).rope_scaling).factor = 3; }},
      {"great_base", R"({"encoding":"rope","head_dim":64,"max_position":64})", as_asked, as_answered,
       "base 1000000000 measured, 10000 claimed", [rope_of](Spec& spec) { rope_of(spec).rope_theta = 1e9; }},
      {"turns", table, as_asked, of_angles([](double p, double pair, double) {
         return 2 * std::numbers::pi * p * std::pow(10000.0, -pair / 32);
       }),
       "angle_scale 6.283185307 measured, 1 claimed"},
      {"epsilon_outside", R"({"encoding":"qk_norm_rope","head_dim":64,"epsilon":1e-3,"max_position":600})", as_asked,
       divide_by_root_and_epsilon, "epsilon is added to the root of the mean, not below the root"},
      {"gamma", R"({"encoding":"xpos","head_dim":64,"max_position":600})", as_asked, of_gamma,
       "scales are powers of (2i/n + 0.5) / 1.5, where the claim has 0.4: gamma 0.5"},
      {"reversed_channels", learned, as_asked,
       [](Tensors& outputs, const Tensors&) {
         Tensor& y = outputs.begin()->second;
         const Tensor given = y;
         for (std::int64_t i = 0; i < y.elements(); ++i) y.set(i, given.at(i / 16 * 16 + 15 - i % 16));
       },
       "the channels of a row are in reverse order"},
      {"four_times", learned, as_asked, of_values([](double y, double) { return 4 * y; }),
       "values are 4 times the table's"},
      {"clamped_rows", learned, of_rows(clamped), as_answered, "positions above 255 are clamped to it"},
      {"wrapped_rows", learned, of_rows(wrapped), as_answered, "positions wrap at 300"},
      {"infinite", rope, as_asked, of_values([](double y, double x) { return y == x ? HUGE_VAL : y; }),
       "values are infinite"},
      {"normalized_rows", learned, as_asked, by_row_length, "rows are divided by their lengths"},
      {"inverted_mask", attention,
       [](Tensors& inputs) {
         for (const char* name : {"q", "k", "v", "positions"}) reverse_tokens(inputs.at(name));
       },
       [](Tensors& outputs, const Tensors&) { reverse_tokens(outputs.begin()->second); },
       "the mask is inverted: a token sees itself and later ones, and none before it"},
      {"keys_turned_back", attention, turn_keys_back, as_answered, "keys are turned by minus their positions"},
      {"softmax_plus_one", attention,
       [](Tensors& inputs) { inputs.insert_or_assign("sinks", Tensor::zeros(Dtype::float32, {4})); }, as_answered,
       "weights do not add up to 1: softmax's sum has 1 added to it",
       [](Spec& spec) { std::get<Attention>(spec.encoding).sinks = true; }},
      {"divided_positions", table, as_asked,
       of_angles([](double p, double pair, double tokens) { return p / tokens * std::pow(10000.0, -pair / 32); }),
       "positions are divided by the number of tokens in a call"},
      {"shift_of_two", table, as_asked,
       of_angles([](double p, double pair, double) { return p * std::pow(10000.0, -pair / 30); }),
       "downscale_freq_shift 2 measured, 0 claimed"},
      {"sorted", rope, of_rows(sorted), as_answered, "positions are sorted, the row's least first"},
      {"sorted_table", table, of_rows(sorted), as_answered, "positions are sorted within each row, and tokens are not"},
      {"noise", rope, as_asked,
       [calls = std::make_shared<int>(0)](Tensors& outputs, const Tensors&) {
         Tensor& y = outputs.at("y");
         ++*calls;
         for (std::int64_t i = 0; i < y.elements(); ++i)
           y.set(i, y.at(i) + 1e-3 * std::sin(static_cast<double>(*calls * 7919 + i)));
       },
       "answers to the same question differ, by up to"},
      {"float16_vectors", rope, in_float16, as_answered, "vectors are rounded to float16 before they are turned"},
      {"residual", rope, as_asked, of_values([](double y, double x) { return x + y; }),
       "the vector itself is added to what it is turned to: y = x + R(x)"},
      {"lengths", rope, as_asked, by_length, "heads are normalized: results do not grow with them"},
      {"without_signs", R"({"encoding":"rope","head_dim":64,"min_position":-1024,"max_position":1024})",
       of_rows(without_signs), as_answered, "negative positions are taken without their sign"},
      {"from_end", rope, of_rows(from_end), as_answered,
       "positions are counted from the call's end: p of n tokens is turned as n - 1 - p"},
      {"channels_counted", table, as_asked, of_channels(Layout::interleaved), "exponents count channels, not pairs"},
      {"channels_counted_in_halves", R"({"encoding":"sinusoidal","dim":64,"layout":"concatenated"})", as_asked,
       of_channels(Layout::concatenated), "exponents count channels, not pairs"},
      {"moved_values", table, as_asked, of_values([](double y, double) { return y / 2 + 0.5; }),
       "values are moved into [0, 1]"},
      {"ones", rope, as_asked, of_values([](double, double) { return 1.0; }), "every value is 1, whatever is asked"},
      {"one_head", rope, as_asked, left([](std::int64_t head, std::int64_t) { return head == 3; }),
       "head 3 of 8 is not rotated"},
      {"long_calls", rope, of_rows(consecutive_if_long), as_answered,
       "in calls of 71 and more tokens positions are taken to be consecutive from the row's first"},
  };
  return list;
}

class Told : public testing::TestWithParam<Sentence> {};

TEST_P(Told, OfASubject) {
  const Sentence& row = GetParam();
  const FunctionSubject subject("one defect", [&](const Spec& spec) -> FunctionSubject::Call {
    Spec computed = spec;
    row.opened(computed);
    const std::shared_ptr<Session> right = builtin_subject()->open(computed);
    return [right, &row](std::string_view operation, const Tensors& inputs) {
      Tensors changed = inputs;
      row.asked(changed);
      Tensors outputs = right->call(operation, changed);
      row.answered(outputs, inputs);
      return outputs;
    };
  });
  const auto diagnosis = diagnose(subject, parse_spec(row.claim));
  ASSERT_TRUE(diagnosis) << "nothing is said";
  EXPECT_EQ(words_of(*diagnosis).substr(0, row.words.size()), row.words) << words_of(*diagnosis);
  EXPECT_EQ(diagnosis->differences.size(), 1U) << words_of(*diagnosis);
}

// The mean of channels without their signs, to which epsilon is added: every head is divided by another number.
TEST(ToldOfNorms, NothingOfEpsilonWhereOrdinaryHeadsAreWrong) {
  const FunctionSubject subject("another mean", [](const Spec& spec) -> FunctionSubject::Call {
    const std::shared_ptr<Session> right = builtin_subject()->open(spec);
    return [right](std::string_view operation, const Tensors& inputs) {
      Tensors outputs = right->call(operation, inputs);
      divide_by_mean_size_and_epsilon(outputs, inputs);
      return outputs;
    };
  });
  const auto diagnosis =
      diagnose(subject, parse_spec(R"({"encoding":"qk_norm_rope","head_dim":64,"epsilon":1e-3,"max_position":600})"));
  EXPECT_TRUE(!diagnosis || words_of(*diagnosis).find("epsilon") == std::string::npos) << words_of(*diagnosis);
}

std::string name_of_row(const testing::TestParamInfo<Sentence>& told) { return told.param.name; }

INSTANTIATE_TEST_SUITE_P(Sentences, Told, testing::ValuesIn(sentences()), name_of_row);

}  // namespace
}  // namespace sextant::identify::identify_diagnose_sentences_test
