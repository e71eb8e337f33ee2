#include <memory>

#include "properties/catalogue.hpp"
#include "properties/model/answers.hpp"
#include "properties/model/model.hpp"

namespace sextant {
Property accuracy_property() {
  Property property;
  property.id = "accuracy";
  property.explanation = {
      "every value is as near to the true one as its accuracy class claims",
      "sinusoidal: |PE(p, c) - scale*sin|cos(w_i (p + offset))| <= k ulp + effect of the class's angle error\n"
      "rope: |y_c - a (R(p w_i) x)_c| <= k ulp(a hypot(x0, x1)) + the same effect, a the attention factor of "
      "rope_scaling; "
      "channels not rotated keep their values (0 and -0 are the same)\n"
      "sinusoidal_2d: the same in each half, of the row's and the column's code; rope_nd: by each pair's own axis; "
      "xpos: times zeta_i^(p/scale_base)\n"
      "integer, binary, learned, relative_bias: p, its digits, weight[p], weight[bucket(k - q)], exactly\n"
      "alibi: |b - (-m_h (q - k))| <= k ulp + gamma_c |b|; attention: |out - softmax(q k^T/sqrt(d) + b) v| <= the "
      "error of its sums",
      "Vaswani et al. 2017, sections 3.2.1 and 3.5; Su et al. 2021, section 3.2.2, equation 15; Press et al. 2021, "
      "section 3; Raffel et al. 2019, section 2.1; "
      "Sun et al. 2022, section 3.2; lib/spec for each",
      "every encoding; of xpos the pairs whose scale the dtype can represent; attention with xpos where it can "
      "represent all",
      "properties/model/budget.hpp: an angle off by d = |p w_i| c_i u/(1 - c_i u), c_i = 5 + 2 |ln w_i|, u that of the "
      "class, "
      "moves the value by at most |derivative| d + d^2/2; evaluation and rounding add k = 4 ULP. correctly-rounded and "
      "faithful are judged by what the enclosed true value rounds to. Other encodings: "
      "their files in properties/model derive theirs",
      "another base, frequency list, scaling rule or attention factor, layout, pairing, sign or position; "
      "low-precision positions, frequencies or angles; poor "
      "range reduction; a table in another order; channels rotated that should not be"};
  property.not_applicable = accuracy_not_stated;
  judge_answers(property, [](const Spec& spec) -> AnswerCheck {
    return [judge = std::shared_ptr(model_of(spec)->judge())](const Call& call, const Tensor& answer) {
      return judge->values(call, answer);
    };
  });
  return property;
}

}  // namespace sextant
