#include <algorithm>
#include <bit>
#include <set>

#include "properties/catalogue.hpp"
#include "properties/gen/extent.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/attention_gradient.hpp"
#include "properties/model/attention_oracle.hpp"
#include "properties/model/family.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/reshaped.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

constexpr std::int64_t most_gradient_tokens = 1025;

// Elements of the keys of one head, and products of queries and keys of a group: the exact tier takes some microseconds
// each. Of calls that have more products few rows of the result have a gradient, and the gradients of the other queries
// are zero.
constexpr std::int64_t most_elements = std::int64_t{1} << 15;
constexpr std::int64_t most_products = std::int64_t{1} << 16;

gen::LargestCall largest_of(const Attention& encoding, std::int64_t tokens) {
  const std::int64_t most =
      std::min({tokens, most_elements / encoding.head_dim, longest_tokens(encoding, work_of_longest)});
  return {{most_rows, std::max<std::int64_t>(most, 1), 1}, std::max<std::int64_t>({most, most_rows, 1})};
}

// The last token, one where a tile may begin, and two that `fill` draws.
std::vector<std::int64_t> tokens_with_gradient(std::int64_t tokens, std::int64_t fill) {
  const auto drawn = [&](std::int64_t which) {
    return static_cast<std::int64_t>(gen::word(fill, which) >> 1) % tokens;
  };
  return {tokens - 1, static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(tokens - 1))), drawn(6),
          drawn(7)};
}

// That of the result of attention.
Tensor gradient_of(const Spec& spec, const Attention& encoding, const AttentionCase& request, std::int64_t fill) {
  Tensor grad = gen::values(spec.dtype, request.q.shape, 4 * fill + 5);
  const std::int64_t heads_of_group = encoding.num_heads / encoding.num_kv_heads;
  if (request.tokens * request.tokens * heads_of_group * encoding.head_dim <= most_products) return grad;
  const std::vector<std::int64_t> kept = tokens_with_gradient(request.tokens, fill);
  const std::int64_t bytes = request.q.shape[3] * static_cast<std::int64_t>(size_of(spec.dtype));
  for (std::int64_t row = 0; row * bytes < std::ssize(grad.data); ++row) {
    if (std::ranges::find(kept, row % request.tokens) == kept.end())
      std::fill_n(grad.data.begin() + row * bytes, bytes, std::byte{0});
  }
  return grad;
}

CasesOf<Question> gradient_sequences() {
  CasesOf<Question> cases = questions();
  cases.fields = [fields = cases.fields](const Spec& spec) {
    std::vector<FieldOf<Question>> list = fields(spec);
    for (FieldOf<Question>& field : list) {
      if (field.member == &Question::tokens)
        field.range.most = of<Attention>([](const Spec&, const Attention& encoding) {
          return largest_of(encoding, most_gradient_tokens).extents.tokens;
        })(spec);
    }
    return list;
  };
  cases.related = [](const Spec& spec, const Question& question) {
    return of<Attention>([&](const Spec&, const Attention& encoding) {
      return holds(largest_of(encoding, most_gradient_tokens),
                   {.position = 0, .tokens = question.tokens, .batch = question.batch});
    })(spec);
  };
  cases.first = [](const Spec& spec) -> std::vector<Question> {
    const std::int64_t near = gen::simplest_position({spec.min_position, last_position_of(spec)});
    std::vector<Question> list{{.position = near, .tokens = 5, .batch = 2, .fill = 1},
                               {.position = near, .tokens = 1, .fill = 1},
                               {.position = last_position_of(spec) - 1, .tokens = 3, .fill = 1},
                               {.position = near, .tokens = 33, .fill = 1},
                               {.position = near, .tokens = 40, .batch = 3, .fill = 1},
                               {.position = near, .tokens = 41, .batch = 3, .fill = every_key_counts}};
    // Each with the heads of another group.
    const gen::LargestCall largest = of<Attention>(
        [](const Spec&, const Attention& encoding) { return largest_of(encoding, most_gradient_tokens); })(spec);
    std::set<std::int64_t> lengths{65, 128, 129, 300, 1025};
    for (const std::int64_t tokens : gen::usual_extents()) {
      if (tokens > 33) lengths.insert(std::min(tokens, largest.extents.tokens));
    }
    for (const std::int64_t tokens : lengths)
      list.push_back(clipped({.position = near, .tokens = tokens, .fill = every_key_counts + tokens % 100}, largest));
    for (const std::int64_t batch : {9, 64})
      list.push_back(clipped({.position = near, .tokens = 5, .batch = batch, .fill = batch}, largest));
    list.push_back(clipped({.position = near, .tokens = 130, .fill = one_key_wins}, largest));
    return list;
  };
  cases.drawn = [drawn = cases.drawn](const Spec& spec) {
    constexpr std::int64_t one_large_in = 16;
    const gen::LargestCall largest =
        of<Attention>([](const Spec&, const Attention& encoding) { return largest_of(encoding, 300); })(spec);
    return of_many_shapes(drawn(spec), {spec.min_position, last_position_of(spec)}, largest, one_large_in);
  };
  return cases;
}

CheckOf<Question> gradient_check(const Spec& spec, const Attention& encoding) {
  return [spec, encoding, oracle = AttentionOracle(spec)](Session& session, const Question& question) mutable {
    const AttentionCase request = attention_case(spec, question);
    const Tensor grad = gradient_of(spec, encoding, request, question.fill);
    const AttendGradients got = backward(session, spec, request_of(request), grad);
    // The heads of one group: the last one, or one that fill draws.
    const std::int64_t groups = request.batch * encoding.num_kv_heads;
    const auto drawn = static_cast<std::int64_t>(gen::word(question.fill, 5) >> 1) % groups;
    const std::int64_t group = question.fill % 2 == 0 ? groups - 1 : drawn;
    const std::int64_t heads = encoding.num_heads / encoding.num_kv_heads;
    const GroupGradients truth =
        gradients_of_group(spec, oracle, request, grad, group / encoding.num_kv_heads, group % encoding.num_kv_heads);
    Judgement judgement;
    judge_gradient(judgement, {"dq", got.q, group * heads * request.tokens, truth.q});
    judge_gradient(judgement, {"dk", got.k, group * request.tokens, truth.k});
    judge_gradient(judgement, {"dv", got.v, group * request.tokens, truth.v});
    return judgement;
  };
}

}  // namespace

Property attention_gradient_property() {
  Property property;
  property.id = "attention_gradient";
  property.needs = Needs::live_subject;
  property.explanation = {
      "the gradients of attention by q, k and v are those of its formula",
      "dv_j = sum p_j do, ds_j = p_j (do . v_j - do . o), dq = sum_j ds_j k_j / sqrt(d), dk_j = sum ds_j q / sqrt(d), "
      "sums over every query that sees key j, of every head that reads it; queries and keys that were turned are "
      "turned back",
      "Dao et al. 2022 (arXiv 2205.14135), appendix B.2, from Vaswani et al. 2017, section 3.2.1, equation 1",
      "attention whose subject answers backward, evaluated in float32 or float64; calls to 1025 tokens (fewer of wide "
      "heads), "
      "of which beyond 65 few rows of the result have a gradient, and 64 rows",
      "docs/proofs/attention-gradient.md: weights are within e^(2 A) of the truth, A the error of a score, so ds "
      "within p_j max|do . v| T, T about 4 A + (n + d) u, and the sums within gamma_n of themselves",
      "the mean that softmax subtracts left out, a scale forgotten or used twice, heads of a group overwritten instead "
      "of added, gradients that are not turned back, a mask that the backward pass forgets"};
  property.not_applicable = stated_for<Attention>([](const Spec& spec, const Attention&) -> std::optional<std::string> {
    if (auto reason = accuracy_not_stated(spec)) return reason;
    if (spec.evaluation == Evaluation::dtype || spec.evaluation == Evaluation::dtype_accumulate)
      return "evaluated in 16 bits, no bound on its weights says anything";
    return std::nullopt;
  });
  use_cases(property, gradient_sequences(), of<Attention>(gradient_check));
  return property;
}

}  // namespace sextant
