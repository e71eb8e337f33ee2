#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>
#include <string_view>

#include "properties/catalogue.hpp"
#include "properties/model/answers.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/model.hpp"

namespace sextant {
namespace {

// Another evaluation, and by how much its k is larger than the claim's; by more with an attention factor.
struct Wider {
  Evaluation evaluation;
  std::string_view name;
  double more_ulps = 0;
};

// A 16-bit answer that is beyond its bound, but within what is allowed where the table, or every result, is rounded to
// the dtype, is told so.
Judgement with_claim_met(Judgement judgement, const std::array<Wider, 2>& others) {
  const Deviation& worst = judgement.deviation;
  const double beyond_ulps = worst.ulps * (1 - 1 / worst.of_bound);
  const bool is_beyond = judgement.within == reference::Certainty::no && worst.of_bound > 1;
  if (!is_beyond || !std::isfinite(worst.of_bound)) return judgement;
  for (const Wider& other : others) {
    if (!(other.more_ulps > 0) || beyond_ulps > other.more_ulps) continue;
    judgement.finding += fmt::format("; within the bound of \"evaluation\": \"{}\"", other.name);
    break;
  }
  return judgement;
}

}  // namespace

Property accuracy_property() {
  Property property;
  property.id = "accuracy";
  property.explanation = {
      "every value is as near to the true one as its accuracy class claims",
      "sinusoidal: |PE(p, c) - scale*sin|cos(angle_scale w_i (p + offset))| <= k ulp + effect of the class's angle "
      "error, w_i as `denominator` or `downscale_freq_shift` has it\n"
      "rope: |y_c - a (R(p w_i) x)_c| <= k ulp(a hypot(x0, x1)) + the same effect, a the attention factor of "
      "rope_scaling; channels not rotated keep their values (0 and -0 are the same)\n"
      "qk_norm_rope: as rope of a head's channels n_i = x_i (weight_offset + w_i)/sqrt(mean(x^2) + epsilon), which "
      "are themselves off by N |n_i|\n"
      "rotary_table: as sinusoidal of a cos|sin(p w_i), of scale a; what an order has twice both times\n"
      "sinusoidal_2d: as sinusoidal in each half, of the row's and the column's code\n"
      "sinusoidal_nd: as sinusoidal of each axis' code\n"
      "rope_nd: as rope by each pair's own axis\n"
      "xpos: as rope times zeta_i^((p - centre)/scale_base), of a key its inverse\n"
      "integer: p, exactly\n"
      "binary: the digits of p, exactly\n"
      "learned: weight[p], exactly\n"
      "relative_bias: weight[bucket(k - q)], exactly\n"
      "window_bias: weight[index(q, k)], exactly\n"
      "fourier: as sinusoidal of the angles u f c, or u sum_a c_a B_a, and of the coordinates c in the row\n"
      "log_coordinates: |c - sign(d) log2(1 + 8 |d|/(e - 1))/3| <= k ulp + that of the logarithm's argument\n"
      "alibi: |b - (-m_h (q - k))|, of the form key_index |b - m_h k|, <= k ulp + gamma_c |b|\n"
      "attention: |out - softmax(cap(s a q k^T) + b) v| <= the error of its sums, s being softmax_scale, a "
      "query_scale's "
      "factor of each query, cap logit_softcap's, and sinks in the sum that softmax divides by",

      "Vaswani et al. 2017, sections 3.2.1 and 3.5; Su et al. 2021, section 3.2.2, equation 15; Press et al. 2021, "
      "section 3; Raffel et al. 2019, section 2.1; Liu et al. 2021, section 3.2; "
      "Sun et al. 2022, section 3.2; Zhang and Sennrich 2019, equation 4; lib/spec for each",
      "every encoding; of xpos the pairs whose scale the dtype can represent; attention with xpos where it can "
      "represent all",
      "docs/proofs/accuracy-classes.md: an angle off by d = |p w_i| c_i u/(1 - c_i u), c_i = 3 + 2 L + 2 |ln w_i|, u "
      "that "
      "of the class and L ULP the error of pow, exp, log, sin and cos (`libm`, 1), moves the value by at most "
      "|derivative| d + d^2/2; evaluation and rounding add k ULP: k_e = 2 L + 2 in float32 and float64, or where an "
      "attention factor or xPos's scale multiplies sqrt(2) L + 13/4 and the roundings of its formula if that is more; "
      "1/2 + k_e 2^(precision - 24) in 16 bits where `evaluation` is float32, the default, 1.21 and a little where it "
      "is table (3/2 with a factor, or 2 in float16), 5/2 and a little where it is dtype (11/4 with a factor). "
      "pair-norm judges sinusoids by k ulp(|scale|). correctly-rounded and "
      "faithful are judged by what the enclosed true value rounds to. fourier: an angle is "
      "off by at most S R u/(1 - R u), S the sum over axes of unit |f| (|c| + h/R), unit 1, pi or 2 pi, h = 3 of a "
      "cell's middle, 2 of its end (5 where the number of cells is no float32), 0 of a position, R the roundings "
      "of c, f and their products: steps 19 to 23 there. Normalized and divided coordinates: steps 14 and 17. Real "
      "positions: step 15. qk_norm_rope: N is half the roundings of a sum of head_dim squares, and few more, steps 24 "
      "to 26. "
      "Attention: docs/proofs/attention-oracle.md. alibi and log_coordinates have the roundings of "
      "their own formulas, and codes that are looked up none",
      "another base, frequency list, scaling rule or attention factor, layout, pairing, sign or position; "
      "low-precision positions, frequencies or angles; poor "
      "range reduction; a table in another order; channels rotated that should not be"};
  property.not_applicable = accuracy_not_stated;
  judge_answers(property, [](const Spec& spec) -> AnswerCheck {
    std::array<Wider, 2> others{{{Evaluation::table, "table"}, {Evaluation::dtype, "dtype"}}};
    for (Wider& other : others) {
      ArithmeticClaim claim = arithmetic_of(spec);
      claim.evaluation = other.evaluation;
      other.more_ulps = evaluation_ulps(claim) - evaluation_ulps(arithmetic_of(spec));
    }
    return [judge = std::shared_ptr(model_of(spec)->judge()), others](const Call& call, const Tensor& answer) {
      return with_claim_met(judge->values(call, answer), others);
    };
  });
  return property;
}

}  // namespace sextant
