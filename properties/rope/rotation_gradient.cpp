#include <algorithm>
#include <memory>

#include "properties/catalogue.hpp"
#include "properties/model/answers.hpp"
#include "properties/model/family.hpp"
#include "properties/model/model.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// What is rotated, on which a gradient does not depend: the gradient's own values, each an element further on.
Tensor moved_on(const Tensor& values) {
  const auto second = values.data.begin() + static_cast<std::ptrdiff_t>(size_of(values.dtype));
  Tensor moved{values.dtype, values.shape, {}};
  moved.data.reserve(values.data.size());
  moved.data.insert(moved.data.end(), second, values.data.end());
  moved.data.insert(moved.data.end(), values.data.begin(), second);
  return moved;
}

CheckOf<Question> rotation_gradient_check(const Spec& spec) {
  const std::shared_ptr<const EncodingModel> model = model_of(spec);
  return [spec, model, judge = std::shared_ptr(model->gradient_judge())](Session& session, const Question& question) {
    const Call call = model->accuracy_call(question);
    const Tensor& grad = call.vectors[0];
    return judge->values(call, rotate_backward(session, spec, moved_on(grad), call.positions, grad));
  };
}

}  // namespace

Property rotation_gradient_property() {
  Property property;
  property.id = "rotation_gradient";
  property.needs = Needs::live_subject;
  property.explanation = {
      "the gradient of a rotation is rotated back, everywhere",
      "dx = R(p)* g, g being the gradient of the answer and R(p)* the transposed rotation, scaled as R(p) is by the "
      "attention factor, or by xpos's power",
      "Su et al. 2021, section 3.2.2, equation 15: the derivative of R x by x is R, so the gradient is R transposed",
      "rope, rope_nd and xpos whose subject answers backward; every value at every position, as accuracy has it",
      "accuracy's bound on rotating g by the opposite angle: as many products and sums of the same sines and cosines "
      "(properties/model/budget.hpp; for xpos also xpos_budget.hpp); channels not rotated pass their gradient on "
      "unchanged",
      "heads, rows, tokens or positions that a backward kernel leaves out, a gradient that is zero, turned the same "
      "way as the forward pass, or ignores scaling, pairing or the attention factor"};
  property.not_applicable = stated_for<Rope, RopeNd, Xpos>();
  use_cases(property, accuracy_cases(), rotation_gradient_check);
  return property;
}

}  // namespace sextant
