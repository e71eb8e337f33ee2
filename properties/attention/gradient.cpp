#include <fmt/format.h>

#include <cmath>

#include "lib/numeric/ulp.hpp"
#include "properties/catalogue.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/attention_gradient.hpp"
#include "properties/model/attention_oracle.hpp"
#include "properties/model/family.hpp"
#include "properties/model/questions.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;

constexpr std::int64_t longest = 65;  // the exact tier takes some microseconds a product

CasesOf<Question> sequences() {
  CasesOf<Question> cases = questions();
  cases.fields = [fields = cases.fields](const Spec& spec) {
    std::vector<FieldOf<Question>> list = fields(spec);
    for (FieldOf<Question>& field : list) {
      if (field.member == &Question::tokens) field.range.most = longest;
    }
    return list;
  };
  cases.first = [](const Spec& spec) -> std::vector<Question> {
    const std::int64_t near = gen::simplest_position({spec.min_position, last_position_of(spec)});
    return {{.position = near, .tokens = 5, .batch = 2, .heads = 1, .fill = 1},
            {.position = near, .tokens = 1, .batch = 1, .heads = 1, .fill = 1},
            {.position = last_position_of(spec) - 1, .tokens = 3, .batch = 1, .heads = 1, .fill = 1},
            {.position = near, .tokens = 33, .batch = 1, .heads = 1, .fill = 1}};
  };
  return cases;
}

// A tensor that came back, and the rows of it that are judged: `first` and as many as there are truths.
struct Judged {
  const char* name;
  const Tensor& tensor;
  std::int64_t first;
  const std::vector<GradientRow>& truths;
};

void judge_gradient(Judgement& judgement, const Judged& judged) {
  const Tensor& got = judged.tensor;
  for (std::size_t row = 0; row < judged.truths.size(); ++row) {
    const GradientRow& truth = judged.truths[row];
    const std::int64_t at = judged.first + static_cast<std::int64_t>(row);
    for (std::size_t c = 0; c < truth.value.size(); ++c) {
      const double value = got.at(at * got.shape[3] + static_cast<std::int64_t>(c));
      const auto place = [&] {
        return fmt::format("{}, batch row {}, head {}, token {}, channel {}", judged.name,
                           at / got.shape[2] / got.shape[1], at / got.shape[2] % got.shape[1], at % got.shape[2], c);
      };
      if (!std::isfinite(value)) {
        judgement.add(Certainty::no, not_finite(), [&] { return place() + ": NaN or infinite"; });
        continue;
      }
      const Enclosure error = abs(Enclosure(value, reference::first_precision) - truth.value[c]);
      const Enclosure bound(truth.bound[c], reference::first_precision);
      const double expected = truth.value[c].upper();
      const Deviation deviation = deviation_of(error, bound, ulp(got.dtype, expected));
      judgement.add(reference::at_most(error, bound), deviation, [&] {
        return fmt::format("{}: {}", place(), comparison_text(got.dtype, value, expected, deviation));
      });
    }
  }
}

CheckOf<Question> gradient_check(const Spec& spec, const Attention& encoding) {
  return [spec, encoding, oracle = AttentionOracle(spec)](Session& session, const Question& question) mutable {
    const AttentionCase request = attention_case(spec, question);
    const Tensor grad = gen::values(spec.dtype, request.q.shape, 4 * question.fill + 5);
    const AttendGradients got = backward(
        session, spec,
        AttendRequest{request.q, request.k, request.v, request.positions, request.weight ? &*request.weight : nullptr},
        grad);
    // The heads of one group: fill says which.
    const std::int64_t groups = request.batch * encoding.num_kv_heads;
    const std::int64_t group = static_cast<std::int64_t>(gen::word(question.fill, 5) >> 1) % groups;
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
      "attention whose subject answers backward, in float32 and float64",
      "docs/proofs/attention-gradient.md: weights are within e^(2 A) of the truth, A the error of a score, so ds "
      "within "
      "p_j max|do . v| T, T about 4 A + (n + d) u, and the sums within gamma_n of themselves",
      "the mean that softmax subtracts left out, a scale forgotten or used twice, heads of a group overwritten instead "
      "of added, gradients that are not turned back, a mask that the backward pass forgets"};
  property.not_applicable = stated_for<Attention>([](const Spec& spec, const Attention&) -> std::optional<std::string> {
    if (auto reason = accuracy_not_stated(spec)) return reason;
    if (size_of(spec.dtype) == 2) return "in 16-bit dtypes no bound on the weights says anything";
    return std::nullopt;
  });
  use_cases(property, sequences(), of<Attention>(gradient_check));
  return property;
}

}  // namespace sextant
