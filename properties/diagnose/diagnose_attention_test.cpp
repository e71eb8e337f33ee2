// Attention with one defect, right in double but for it, each with the sentence that names it. Over 400 lines, since
// all defects are fields of one implementation.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/diagnose/diagnose.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "reference/relative_bias.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::identify_diagnose_attention_test {
namespace {

struct Place {
  std::int64_t row;
  std::int64_t head;
  std::int64_t token;
};

// A query and a key, by their tokens and by what the call says of their positions.
struct Seen {
  std::int64_t query;
  std::int64_t key;
  double query_position;
  double key_position;
  std::int64_t head;
  std::int64_t row = 0;
  bool is_of_step = false;
};

enum class Softmax { over_keys, over_queries, left_out };
enum class Turned { both, queries_alone };
enum class Sinks { as_given, left_out, valued };
enum class Padding { hidden, seen, counted };

struct Attending {
  std::function<Place(const Attention&, const Place&)> key = [](const Attention& of, const Place& at) {
    return Place{at.row, kv_head(of, at.head), at.token};
  };
  std::function<Place(const Attention&, const Place&)> query = [](const Attention&, const Place& at) { return at; };
  std::function<bool(const Attention&, const Seen&)> sees = [](const Attention& of, const Seen& at) {
    return (!of.causal || at.key <= at.query) && (!of.window || std::abs(at.query - at.key) < *of.window);
  };
  std::function<double(double)> product = [](double sum) { return sum; };
  std::function<double(const Attention&)> scale = [](const Attention& of) { return score_scale(of); };
  std::function<double(double)> distance = [](double value) { return std::fabs(value); };
  std::function<std::int64_t(std::int64_t)> bias_head = [](std::int64_t head) { return head; };
  std::function<std::int64_t(std::int64_t bucket, std::int64_t head, std::int64_t buckets, std::int64_t heads)> weight =
      [](std::int64_t bucket, std::int64_t head, std::int64_t, std::int64_t heads) { return bucket * heads + head; };
  std::function<double(double)> exponential = [](double score) { return std::exp(score); };
  std::function<double(double)> result = [](double value) { return value; };
  double base = 10000;
  double base_of_keys = 0;  // where it is another one
  Softmax softmax = Softmax::over_keys;
  Turned turned = Turned::both;
  Sinks sinks = Sinks::as_given;
  Padding padding = Padding::hidden;
  bool has_mean_heads = false;
  bool subtracts_greatest = true;
};

// The elements of a tensor [rows, heads, tokens, channels].
class Vectors {
 public:
  explicit Vectors(const Tensor& x) : shape_(x.shape), values_(static_cast<std::size_t>(x.elements())) {
    x.read(0, values_);
  }

  std::int64_t rows() const { return shape_[0]; }
  std::int64_t tokens() const { return shape_[2]; }

  std::span<double> of_row(std::int64_t row) {
    const std::int64_t size = shape_[1] * shape_[2] * shape_[3];
    return std::span(values_).subspan(static_cast<std::size_t>(row * size), static_cast<std::size_t>(size));
  }

  std::span<const double> at(const Place& at) const {
    const std::int64_t first = ((at.row * shape_[1] + at.head) * shape_[2] + at.token) * shape_[3];
    return std::span(values_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(shape_[3]));
  }

  void take_mean_of_heads() {
    const auto heads = static_cast<std::size_t>(shape_[1]);
    const std::size_t of_head = values_.size() / static_cast<std::size_t>(shape_[0]) / heads;
    for (std::int64_t row = 0; row < rows(); ++row) {
      const std::span<double> x = of_row(row);
      for (std::size_t i = 0; i < of_head; ++i) {
        double sum = 0;
        for (std::size_t head = 0; head < heads; ++head) sum += x[head * of_head + i];
        for (std::size_t head = 0; head < heads; ++head) x[head * of_head + i] = sum / static_cast<double>(heads);
      }
    }
  }

 private:
  std::vector<std::int64_t> shape_;
  std::vector<double> values_;
};

class Call {
 public:
  Call(const Attending& with, const Attention& of, const Tensors& inputs)
      : with_(with),
        of_(of),
        inputs_(inputs),
        k_(inputs.at("k")),
        q_(inputs.at("q")),
        v_(inputs.at("v")),
        positions_(inputs.at("positions").integers()),
        is_step_(inputs.contains("query_positions")),
        scale_(with.scale(of)) {
    if (with.has_mean_heads) {
      k_.take_mean_of_heads();
      v_.take_mean_of_heads();
    }
  }

  Tensors attended() const {
    Tensor out = inputs_.at("q");
    for (std::int64_t row = 0; row < q_.rows(); ++row) {
      for (std::int64_t head = 0; head < of_.num_heads; ++head) attend_head(out, row, head);
    }
    return {{"out", out}};
  }

 private:
  std::int64_t keys() const { return k_.tokens(); }
  std::int64_t queries() const { return q_.tokens(); }
  std::int64_t edge(const char* name, std::int64_t row, std::int64_t none) const {
    return inputs_.contains(name) ? inputs_.at(name).integers()[static_cast<std::size_t>(row)] : none;
  }
  // The index among the keys of the token of query 0: a step's are the last of the sequence.
  std::int64_t first_query(std::int64_t row) const { return is_step_ ? edge("ends", row, keys()) - queries() : 0; }

  double position(std::int64_t row, std::int64_t token) const {
    return static_cast<double>(positions_[static_cast<std::size_t>(row * keys() + token)]);
  }

  std::vector<double> turned(std::span<const double> given, double position, double base) const {
    std::vector<double> x(given.begin(), given.end());
    if (carried<Rope>(of_) == nullptr) return x;
    const std::size_t half = x.size() / 2;
    for (std::size_t i = 0; i < half; ++i) {
      const double angle = position * std::pow(base, -static_cast<double>(i) / static_cast<double>(half));
      const double a = x[i];
      const double b = x[i + half];
      x[i] = a * std::cos(angle) - b * std::sin(angle);
      x[i + half] = a * std::sin(angle) + b * std::cos(angle);
    }
    return x;
  }

  std::vector<double> key_at(const Place& at) const {
    const std::span<const double> given = k_.at(with_.key(of_, at));
    if (with_.turned == Turned::queries_alone) return {given.begin(), given.end()};
    return turned(given, position(at.row, at.token), with_.base_of_keys == 0 ? with_.base : with_.base_of_keys);
  }

  double bias(const Seen& at) const {
    const std::int64_t head = with_.bias_head(at.head);
    if (head < 0) return 0;
    if (const auto* alibi = carried<Alibi>(of_))
      return -std::exp2(-8.0 * static_cast<double>(head + 1) / static_cast<double>(alibi->num_heads)) *
             with_.distance(at.query_position - at.key_position);
    if (const auto* t5 = carried<RelativeBias>(of_)) {
      const std::int64_t bucket =
          reference::bucket(*t5, static_cast<std::int64_t>(at.key_position - at.query_position));
      return inputs_.at("weight").at(with_.weight(bucket, head, t5->num_buckets, of_.num_heads));
    }
    return 0;
  }

  void attend_head(Tensor& out, std::int64_t row, std::int64_t head) const {
    const double none = -std::numeric_limits<double>::infinity();
    std::vector<std::vector<double>> scores(static_cast<std::size_t>(queries()));
    std::vector<std::vector<double>> keys_turned(static_cast<std::size_t>(keys()));
    const bool is_hidden = with_.padding != Padding::seen;
    const std::int64_t start = is_hidden ? edge("starts", row, 0) : 0;
    const std::int64_t end = is_hidden ? edge("ends", row, keys()) : keys();
    const std::int64_t first = first_query(row);
    for (std::int64_t query = 0; query < queries(); ++query) {
      const std::int64_t token = first + query;
      Place from = with_.query(of_, {row, head, query});
      from.token = std::min(from.token, queries() - 1);
      const std::vector<double> q = turned(q_.at(from), position(row, token), with_.base);
      for (std::int64_t key = 0; key < keys(); ++key) {
        const Seen at{token, key, position(row, token), position(row, key), head, row, is_step_};
        if (!with_.sees(of_, at) || key < start || key >= end) {
          scores[static_cast<std::size_t>(query)].push_back(none);
          continue;
        }
        std::vector<double>& k = keys_turned[static_cast<std::size_t>(key)];
        if (k.empty()) k = key_at({row, head, key});
        double sum = 0;
        for (std::size_t c = 0; c < q.size(); ++c) sum += q[c] * k[c];
        scores[static_cast<std::size_t>(query)].push_back(with_.product(sum) * scale_ + bias(at));
      }
    }
    const std::vector<double> sums =
        with_.softmax == Softmax::over_queries ? sums_over_queries(scores) : std::vector<double>();
    for (std::int64_t query = 0; query < queries(); ++query) {
      std::vector<double> sum(static_cast<std::size_t>(of_.head_dim), 0.0);
      const bool has_sink = of_.sinks && with_.sinks != Sinks::left_out;
      double most = has_sink ? inputs_.at("sinks").at(head) : none;
      for (const double score : scores[static_cast<std::size_t>(query)]) most = std::max(most, score);
      if (!with_.subtracts_greatest) most = 0;
      double all = has_sink ? std::exp(inputs_.at("sinks").at(head) - most) : 0;
      for (const double score : scores[static_cast<std::size_t>(query)]) all += with_.exponential(score - most);
      if (with_.padding == Padding::counted) all += static_cast<double>(edge("starts", row, 0)) * std::exp(-most);
      if (has_sink && with_.sinks == Sinks::valued) {
        const std::span<const double> v = v_.at(with_.key(of_, {row, head, keys() - 1}));
        for (std::size_t c = 0; c < sum.size(); ++c)
          sum[c] += std::exp(inputs_.at("sinks").at(head) - most) / all * v[c];
      }
      for (std::int64_t key = 0; key < keys(); ++key) {
        const double score = scores[static_cast<std::size_t>(query)][static_cast<std::size_t>(key)];
        if (score == none) continue;
        double weight = with_.exponential(score - most) / all;
        if (with_.softmax == Softmax::left_out) weight = score;
        if (with_.softmax == Softmax::over_queries) weight = std::exp(score) / sums[static_cast<std::size_t>(key)];
        const std::span<const double> v = v_.at(with_.key(of_, {row, head, key}));
        for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += weight * v[c];
      }
      for (std::size_t c = 0; c < sum.size(); ++c)
        out.set(((row * of_.num_heads + head) * queries() + query) * of_.head_dim + static_cast<std::int64_t>(c),
                with_.result(sum[c]));
    }
  }

  static std::vector<double> sums_over_queries(const std::vector<std::vector<double>>& scores) {
    std::vector<double> sums(scores.front().size(), 0.0);
    for (const auto& of_query : scores) {
      for (std::size_t key = 0; key < sums.size(); ++key) sums[key] += std::exp(of_query[key]);
    }
    return sums;
  }

  const Attending& with_;
  const Attention& of_;
  const Tensors& inputs_;
  Vectors k_;
  Vectors q_;
  Vectors v_;
  std::vector<std::int64_t> positions_;
  bool is_step_;
  double scale_;
};

std::string said(const Attending& with, const std::string& claim) {
  const FunctionSubject subject("one defect", [with](const Spec& spec) -> FunctionSubject::Call {
    const Attention of = *held<Attention>(spec);
    return [with, of](std::string_view, const Tensors& inputs) { return Call(with, of, inputs).attended(); };
  });
  const auto diagnosis = diagnose(subject, parse_spec(claim));
  if (!diagnosis) return "nothing";
  const std::string remedy = remedy_of(*diagnosis);
  return words_of(*diagnosis) + (remedy.empty() ? "" : " | " + remedy);
}

// The words alone.
std::string words(const Attending& with, const std::string& claim) {
  const std::string all = said(with, claim);
  return all.substr(0, all.find(" | "));
}

std::string claim_of(const std::string& rest) {
  return R"({"encoding":"attention","num_heads":4,"head_dim":32,"max_position":600)" + rest + "}";
}
const std::string plain = claim_of(R"(,"causal":true)");
const std::string open = claim_of("");
const std::string grouped = claim_of(R"(,"num_kv_heads":2,"causal":true)");
const std::string rope = claim_of(R"(,"causal":true,"position":{"encoding":"rope","head_dim":32})");
const std::string grouped_rope =
    claim_of(R"(,"num_kv_heads":2,"causal":true,"position":{"encoding":"rope","head_dim":32})");
const std::string alibi = claim_of(R"(,"causal":true,"position":{"encoding":"alibi","num_heads":4})");
const std::string open_alibi = claim_of(R"(,"position":{"encoding":"alibi","num_heads":4,"mask":"symmetric"})");
const std::string t5 = claim_of(R"(,"position":{"encoding":"relative_bias"})");
const std::string window = claim_of(R"(,"causal":true,"window":5)");
const std::string sinks = claim_of(R"(,"causal":true,"sinks":true)");

TEST(DiagnosedAttention, IsNoneOfARightOne) {
  for (const std::string& claim : {plain, open, grouped, rope, grouped_rope, alibi, open_alibi, t5, window, sinks})
    EXPECT_EQ(said({}, claim), "nothing") << claim;
}

TEST(DiagnosedAttention, ReadsTheFirstBatchRow) {
  Attending with;
  with.key = [](const Attention& of, const Place& at) { return Place{0, kv_head(of, at.head), at.token}; };
  for (const std::string& claim : {plain, grouped_rope, alibi, t5, window, sinks})
    EXPECT_EQ(words(with, claim), "every batch row reads the keys and values of the first") << claim;
}

TEST(DiagnosedAttention, ReadsOtherKeyHeads) {
  Attending with;
  with.has_mean_heads = true;
  EXPECT_EQ(words(with, grouped),
            "every query head reads the keys and values of the mean of all key heads, where the claim has one for each "
            "group of 2");
  with = {};
  with.key = [](const Attention&, const Place& at) { return Place{at.row, 0, at.token}; };
  EXPECT_EQ(words(with, grouped_rope),
            "every query head reads the keys and values of key head 0: multi-query attention, where the claim has one "
            "for each group of 2");
  with.key = [](const Attention& of, const Place& at) { return Place{at.row, at.head % of.num_kv_heads, at.token}; };
  EXPECT_EQ(words(with, grouped),
            "query head h reads the keys and values of key head h mod 2, where the claim has floor(h / 2)");
  with.key = [](const Attention& of, const Place& at) {
    return Place{at.row, (kv_head(of, at.head) + 1) % of.num_kv_heads, at.token};
  };
  EXPECT_EQ(words(with, rope), "each query head reads the keys and values of the key head after its own");
  // Of three heads each.
  const std::string threes =
      R"({"encoding":"attention","num_heads":6,"num_kv_heads":2,"head_dim":32,"max_position":600})";
  with.key = [](const Attention&, const Place& at) {
    return Place{at.row, std::min<std::int64_t>((at.head + 1) / 3, 1), at.token};
  };
  EXPECT_EQ(words(with, threes),
            "query head h reads the keys and values of key head floor((h + 1) / 3), at most 1, where the claim has "
            "floor(h / 3)");
  with.key = [](const Attention&, const Place& at) { return Place{at.row, (at.head + 2) / 3 % 2, at.token}; };
  EXPECT_EQ(words(with, threes),
            "query head h reads the keys and values of key head floor((h + 2) / 3) mod 2, where the claim has "
            "floor(h / 3)");
}

TEST(DiagnosedAttention, HasAPrefixMask) {
  Attending with;
  with.sees = [](const Attention&, const Seen& at) { return at.key <= std::max<std::int64_t>(at.query, 3); };
  for (const std::string& claim : {plain, rope, alibi, sinks})
    EXPECT_EQ(said(with, claim),
              "the first 4 tokens see each other, as a prefix does, and the causal mask holds after them")
        << claim;
}

TEST(DiagnosedAttention, HasAPrefixMaskInOneRow) {
  Attending with;
  with.sees = [](const Attention&, const Seen& at) {
    return at.key <= std::max<std::int64_t>(at.query, at.row == 0 ? 3 : 0);
  };
  EXPECT_EQ(said(with, plain),
            "the first 4 tokens see each other, as a prefix does, and the causal mask holds after them, in batch row 0 "
            "alone");
}

TEST(DiagnosedAttention, SeesItsBlockAndThoseBefore) {
  Attending with;
  with.sees = [](const Attention&, const Seen& at) { return at.key / 8 <= at.query / 8; };
  EXPECT_EQ(said(with, plain), "tokens see all of their own block of 8, later ones too, and those before it");
}

TEST(DiagnosedAttention, RoundsExponentials) {
  Attending with;
  with.exponential = [](double score) { return round_to(Dtype::float16, std::exp(score)); };
  for (const std::string& claim : {plain, rope})
    EXPECT_EQ(said(with, claim), "exponentials of scores are rounded to float16 or TF32 before they are added up")
        << claim;
}

TEST(DiagnosedAttention, RepeatsSlopesOfKeyHeads) {
  Attending with;
  with.bias_head = [](std::int64_t head) { return head / 2 * 2 + 1; };
  EXPECT_EQ(
      said(with, claim_of(R"(,"num_kv_heads":2,"causal":true,"position":{"encoding":"alibi","num_heads":4})")),
      "heads of each group of 2 have the bias of its last one, as where the 2 key heads' slopes are repeated for 2 "
      "query heads each");
}

TEST(DiagnosedAttention, IsBlockLocal) {
  Attending with;
  with.sees = [](const Attention& of, const Seen& at) {
    return at.key / 8 == at.query / 8 && (at.key <= at.query || !of.causal);
  };
  for (const std::string& claim : {plain, open, rope, alibi, t5, window})
    EXPECT_EQ(said(with, claim), "tokens see those of their own block of 8 alone") << claim;
  with.sees = [](const Attention&, const Seen& at) { return at.key / 64 == at.query / 64 && at.key <= at.query; };
  for (const std::string& claim : {plain, rope})
    EXPECT_EQ(said(with, claim), "tokens see those of their own block of 64 alone") << claim;
}

TEST(DiagnosedAttention, HasAnotherMaskInWholeCallsAlone) {
  Attending with;
  with.sees = [](const Attention& of, const Seen& at) {
    if (at.key > at.query) return false;
    return at.is_of_step ? !of.window || at.query - at.key < *of.window : at.key / 8 == at.query / 8;
  };
  for (const std::string& claim : {plain, rope, window})
    EXPECT_EQ(said(with, claim), "tokens see those of their own block of 8 alone, in whole calls alone") << claim;
  with.sees = [](const Attention&, const Seen& at) {
    return at.key < at.query || (at.is_of_step && at.key == at.query);
  };
  EXPECT_EQ(said(with, plain), "a query does not see itself: the causal mask hides its own key, in whole calls alone");
  // Of a prefix, steps see what they would by the claim.
  with.sees = [](const Attention&, const Seen& at) { return at.key <= at.query || (!at.is_of_step && at.key < 4); };
  EXPECT_EQ(said(with, plain).find("whole calls"), std::string::npos);
}

TEST(DiagnosedAttention, HidesItself) {
  Attending with;
  with.sees = [](const Attention&, const Seen& at) { return at.key < at.query; };
  for (const std::string& claim : {plain, rope, alibi})
    EXPECT_EQ(said(with, claim), "a query does not see itself: the causal mask hides its own key") << claim;
  with.sees = [](const Attention& of, const Seen& at) {
    return at.query - at.key < *of.window && (at.key < at.query || at.query == 0) && at.key <= at.query;
  };
  EXPECT_EQ(said(with, window), "no query but the first sees itself: the causal mask hides their own keys");
}

TEST(DiagnosedAttention, SeesOneKeyMoreInOneHead) {
  Attending with;
  with.sees = [](const Attention&, const Seen& at) { return at.key <= at.query + (at.head == 2 ? 1 : 0); };
  EXPECT_EQ(said(with, plain),
            "a query sees one key more than the causal mask allows: the one after its own, in head 2 alone");
}

TEST(DiagnosedAttention, HasAnotherScale) {
  Attending with;
  with.scale = [](const Attention& of) { return 1 / std::sqrt(static_cast<double>(of.num_heads * of.head_dim)); };
  for (const std::string& claim : {plain, rope, alibi, t5}) {
    const std::string told = said(with, claim);
    EXPECT_EQ(told.find("scores are divided by the root of num_heads head_dim: softmax_scale 0.08838834765 measured, "
                        "0.1767766953 claimed | "),
              0U)
        << told;
    EXPECT_NE(told.find(" holds: a second, short audit"), std::string::npos) << told;
  }
  with.scale = [](const Attention&) { return 1.0; };
  EXPECT_EQ(words(with, rope),
            "products of queries and keys are not scaled: softmax_scale 1 measured, 0.1767766953 claimed");
  with.scale = [](const Attention&) { return 0.3; };
  for (const std::string& claim : {plain, rope, alibi}) {
    const std::string told = said(with, claim);
    EXPECT_EQ(told.find("softmax_scale 0.3 measured, 0.1767766953 claimed | "), 0U) << told;
    EXPECT_NE(told.find(" holds: a second, short audit"), std::string::npos) << told;
  }
}

TEST(DiagnosedAttention, HasAnotherBase) {
  Attending with;
  with.base = 1e9;
  const std::string told = said(with, rope);
  EXPECT_EQ(told.find("base 1000000000 measured, 10000 claimed | "), 0U) << told;
  EXPECT_NE(told.find(" holds: a second, short audit"), std::string::npos) << told;
}

TEST(DiagnosedAttention, HasNoSoftmax) {
  Attending with;
  with.softmax = Softmax::left_out;
  for (const std::string& claim : {plain, grouped_rope, alibi, t5})
    EXPECT_EQ(said(with, claim), "scores are the weights: there is no softmax") << claim;
  with.softmax = Softmax::over_queries;
  for (const std::string& claim : {plain, open, grouped_rope, alibi, t5})
    EXPECT_EQ(said(with, claim), "softmax is taken over queries, not over keys") << claim;
}

TEST(DiagnosedAttention, OverflowsWithLargeScores) {
  Attending with;
  with.subtracts_greatest = false;
  // float32's range ends at e^88.72, float16's at e^11.09, and double's, which few scores are beyond, at e^709.8.
  for (const std::string& claim : {plain, rope}) {
    with.exponential = [](double score) { return static_cast<float>(std::exp(score)); };
    EXPECT_EQ(said(with, claim), "scores above 88.72 overflow: the greatest is not subtracted before the exponential")
        << claim;
    with.exponential = [](double score) { return std::exp(score); };
    EXPECT_EQ(said(with, claim), "scores above 709.8 overflow: the greatest is not subtracted before the exponential")
        << claim;
    with.exponential = [](double score) { return score > 50 ? HUGE_VAL : std::exp(score); };
    EXPECT_EQ(said(with, claim), "values are NaN or infinite where scores are above 50") << claim;
  }
}

TEST(DiagnosedAttention, DropsSinks) {
  Attending with;
  with.sinks = Sinks::left_out;
  EXPECT_EQ(words(with, sinks), "sinks are left out of softmax's sum");
  with.sinks = Sinks::valued;
  EXPECT_EQ(words(with, sinks),
            "a sink's weight multiplies the value of the last key of the call, where the claim has none");
}

TEST(DiagnosedAttention, HasOtherHeadsBiases) {
  Attending with;
  with.bias_head = [](std::int64_t head) { return (head + 1) % 4; };
  for (const std::string& claim : {alibi, t5})
    EXPECT_EQ(said(with, claim), "each head has the bias of the head after it") << claim;
  with.bias_head = [](std::int64_t) { return std::int64_t{0}; };
  for (const std::string& claim : {alibi, t5})
    EXPECT_EQ(said(with, claim), "every head has the bias of head 0") << claim;
  with.bias_head = [](std::int64_t head) { return head % 2 == 0 ? head : std::int64_t{-1}; };
  for (const std::string& claim : {alibi, t5}) EXPECT_EQ(said(with, claim), "odd heads have no bias") << claim;
  with.bias_head = [](std::int64_t head) { return head == 3 ? std::int64_t{-1} : head; };
  for (const std::string& claim : {alibi, t5})
    EXPECT_EQ(said(with, claim), "the bias is left out, in head 3 alone") << claim;
}

TEST(DiagnosedAttention, CountsAWindowByPositions) {
  Attending with;
  with.sees = [](const Attention& of, const Seen& at) {
    return at.key <= at.query && (!of.window || at.query_position - at.key_position < static_cast<double>(*of.window));
  };
  EXPECT_EQ(said(with, R"({"encoding":"attention","num_heads":4,"head_dim":16,"causal":true,"window":8})"),
            "the window counts positions, where the claim counts tokens");
}

TEST(DiagnosedAttention, DividesWhereNothingDivides) {
  Attending with;
  with.scale = [](const Attention&) { return 0.25; };
  EXPECT_EQ(words(with, R"({"encoding":"attention","num_heads":4,"head_dim":16,"softmax_scale":1})"),
            "scores are divided by the root of head_dim, where the claim divides by nothing: softmax_scale 0.25 "
            "measured, 1 claimed");
}

TEST(DiagnosedAttention, CountsOtherDistances) {
  Attending with;
  with.distance = [](double d) { return d * d; };
  EXPECT_EQ(said(with, alibi), "distances are squared");
  with.distance = [](double d) { return std::log1p(std::fabs(d)); };
  EXPECT_EQ(said(with, alibi), "slopes multiply the logarithm of 1 + the distance");
  with.distance = [](double d) { return std::max(std::fabs(d) - 1, 0.0); };
  EXPECT_EQ(said(with, alibi), "distances are one off: a key next to the query counts as the query's own");
  // A memory of 5 tokens, which causal attention does not show.
  with.distance = [](double d) { return std::fabs(d + 5); };
  EXPECT_EQ(said(with, alibi), "nothing");
  EXPECT_EQ(said(with, open_alibi), "distances are 5 off: query - key = d counts as d + 5");
}

TEST(DiagnosedAttention, TransposesTheWeight) {
  Attending with;
  with.weight = [](std::int64_t bucket, std::int64_t head, std::int64_t buckets, std::int64_t) {
    return head * buckets + bucket;
  };
  EXPECT_EQ(said(with, t5), "the weight is read as if it had a row for each head: transposed");
}

TEST(DiagnosedAttention, PermutesQueries) {
  Attending with;
  with.query = [](const Attention&, const Place& at) { return Place{at.row, at.head, at.token ^ 1}; };
  for (const std::string& claim : {plain, rope, t5})
    EXPECT_EQ(said(with, claim), "every two neighbouring tokens have each other's queries") << claim;
}

TEST(DiagnosedAttention, TurnsQueriesAlone) {
  Attending with;
  with.turned = Turned::queries_alone;
  EXPECT_EQ(said(with, rope), "queries are turned by their positions, and keys are not");
}

TEST(DiagnosedAttention, TurnsKeysByAnotherBase) {
  Attending with;
  with.base_of_keys = 500000;
  EXPECT_EQ(said(with, rope), "keys alone are turned by base 500000, and queries as claimed");
  with = {};
  with.base = 500000;
  with.base_of_keys = 10000;
  EXPECT_EQ(said(with, rope), "queries alone are turned by base 500000, and keys as claimed");
}

// Roundings of a sum whose last bits lie in the middle of two numbers.
TEST(DiagnosedAttention, RoundsOrLimitsProducts) {
  Attending with;
  with.product = [](double sum) { return round_to(Dtype::float16, std::clamp(sum, -65504.0, 65504.0)); };
  EXPECT_EQ(said(with, plain), "products of queries and keys, not yet scaled, are rounded to float16 or TF32");
  with.product = [](double sum) { return std::clamp(sum, -65504.0, 65504.0); };
  for (const std::string& claim : {plain, rope, alibi})
    EXPECT_EQ(said(with, claim), "products of queries and keys are limited to 65504 before they are scaled") << claim;
}

// By so much that scores are beyond those whose weights are numbers of float32.
TEST(DiagnosedAttention, LimitsProductsFromBelow) {
  Attending with;
  with.product = [](double sum) { return std::max(sum, -1000.0); };
  EXPECT_EQ(said(with, plain), "products of queries and keys below -1000 are -1000, before they are scaled");
  with.product = [](double sum) { return std::max(sum, -3000.0); };
  EXPECT_EQ(said(with, plain),
            "values are wrong where all scores are hundreds below 0, and right where they are about 0");
}

TEST(DiagnosedAttention, RoundsResults) {
  Attending with;
  with.result = [](double value) { return round_to(Dtype::bfloat16, value); };
  for (const std::string& claim : {plain, rope, alibi, t5})
    EXPECT_EQ(said(with, claim), "results are rounded to bfloat16") << claim;
}

TEST(DiagnosedAttention, SeesPadding) {
  Attending with;
  with.padding = Padding::seen;
  for (const std::string& claim : {open, t5}) EXPECT_EQ(said(with, claim), "keys of padding are seen") << claim;
  // With zeros in it padding that is seen is as one that counts.
  with.padding = Padding::counted;
  for (const std::string& claim : {plain, open})
    EXPECT_EQ(said(with, claim),
              "keys of padding on the left count in softmax's sum as scores of 0, though neither they nor their values "
              "are read")
        << claim;
}

TEST(DiagnosedAttention, IsWrongInOneHeadOrFromATokenOn) {
  Attending with;
  with.query = [](const Attention&, const Place& at) {
    return Place{at.row, at.head, at.head == 1 ? at.token / 2 : at.token};
  };
  EXPECT_EQ(said(with, plain), "head 1 alone is wrong");
  with = {};
  with.query = [](const Attention&, const Place& at) { return Place{at.row, at.head, at.token < 64 ? at.token : 0}; };
  EXPECT_EQ(said(with, plain), "queries from token 64 of a call on are wrong, those before are right");
}

}  // namespace
}  // namespace sextant::identify::identify_diagnose_attention_test
