#include "properties/catalogue.hpp"
#include "properties/model/model.hpp"
#include "properties/model/questions.hpp"

namespace sextant {
namespace {

// A call, and which of its vectors is asked for alone.
struct OneOfMany : Question {
  std::int64_t which = 0;
};

CasesOf<OneOfMany> ones_of_many() {
  CasesOf<OneOfMany> cases = questions<OneOfMany>(
      {{"which", FieldRole::choice, &OneOfMany::which, [](const Spec&) { return std::int64_t{1} << 20; }}});
  cases.first = [first = cases.first](const Spec& spec) {
    // The last vector of each call, where strides and batches go wrong.
    std::vector<OneOfMany> list = first(spec);
    const Operation operation = operation_of(spec.encoding);
    const bool every_vector = operation == Operation::rotate || operation == Operation::qk_norm_rope;
    for (OneOfMany& asked : list) asked.which = asked.tokens * (every_vector ? asked.batch * asked.heads : 1) - 1;
    return list;
  };
  return cases;
}

CheckOf<OneOfMany> row_independence_check(const Spec& spec) {
  const std::shared_ptr<const EncodingModel> model = model_of(spec);
  return [model, judge = std::shared_ptr(model->judge())](Session& session, const OneOfMany& asked) {
    return judge_parts(session, *model, *judge, model->one_of(asked, asked.which));
  };
}

}  // namespace

Property row_independence_property() {
  Property property;
  property.id = "row_independence";
  property.level = Level::contract;
  property.needs = Needs::live_subject;
  property.explanation = {
      "each token's result is the same alone as in any batch",
      "f(positions)[i] = f(positions[i]); R(x, positions)[b, t, h] = R(x[b, t, h], positions[b, t]), positions in any "
      "order, repeats included; b(q, k)[i, j] = b(q_i, k_j); "
      "attend(q, k, v)[b] = attend(q[b], k[b], v[b])",
      "Vaswani et al. 2017, section 3.5, and Su et al. 2021, section 3.2.2: both are defined position by position; "
      "Press et al. 2021, section 3, and Raffel et al. 2019, "
      "section 2.1: a bias by query and key",
      "every encoding, of attention the rows of a batch, where frequencies do not depend on the length of the call",
      "another path may serve another shape, so bits may differ: each answer is within the class's bound of the truth, "
      "so the two are within "
      "twice that (docs/proofs/accuracy-classes.md; attention's in attention-oracle.md beside it)",
      "batch rows that share one row's positions or run on from another's, swapped extents, heads left out, a "
      "single-token path that "
      "forgets the batch, positions taken to be consecutive, neighbours overwritten"};
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (auto reason = accuracy_not_stated(spec)) return reason;
    return depends_on_length(spec);
  };
  use_cases(property, ones_of_many(), row_independence_check);
  return property;
}

}  // namespace sextant
