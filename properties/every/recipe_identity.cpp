#include "properties/every/recipe_identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "lib/numeric/ulp.hpp"
#include "properties/catalogue.hpp"
#include "properties/model/answers.hpp"
#include "properties/model/question.hpp"
#include "reference/recipe_answer.hpp"

namespace sextant {
namespace {

using reference::Certainty;

// The same value, and the same sign of zero; which NaN it is counts for nothing.
bool is_same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}

// Two values of a dtype that are not the same are half an ULP of either apart, or more: below a border of binades
// neighbours are. So half an ULP of the recipe's value is the bound that only the same value is below. 0 and -0, which
// are not apart, are told as a whole bound.
Deviation difference_of(Dtype dtype, double value, double expected) {
  if (!std::isfinite(value) || !std::isfinite(expected)) return not_finite();
  const double apart = std::fabs(value - expected);
  const double unit = ulp(dtype, expected);
  return {std::max(2 * apart / unit, 1.0), apart, apart / unit};
}

class Comparison {
 public:
  Comparison(const reference::Recipe& recipe, const Spec& spec)
      : recipe_(recipe.name), spec_(spec), answer_(reference::recipe_answer(recipe, spec)) {}

  Judgement operator()(const Call& call, const Tensor& got) {
    Judgement judgement;
    const Tensor expected = answer_->at(call.positions, call.vectors.empty() ? nullptr : call.vectors.data());
    if (got.elements() != expected.elements()) throw SubjectFailure(FailureKind::error, "an answer of another size");
    differing_ = 0;
    furthest_ = 0;
    const std::int64_t of_position = got.elements() / std::max<std::int64_t>(std::ssize(call.positions), 1);
    got_.resize(static_cast<std::size_t>(of_position));
    expected_.resize(static_cast<std::size_t>(of_position));
    for (std::size_t token = 0; token < call.positions.size(); ++token) {
      judgement.place = call.positions[token];
      const std::int64_t start = static_cast<std::int64_t>(token) * of_position;
      got.read(start, got_);
      expected.read(start, expected_);
      for (std::int64_t i = 0; i < of_position; ++i) compare(judgement, call, start + i, i);
    }
    if (differing_ > 0) judgement.finding += differences_text(got.elements());
    if (judgement.finding.empty()) judgement.add(Certainty::yes, {}, [&] { return "every bit is " + recipe_ + "'s"; });
    return judgement;
  }

 private:
  void compare(Judgement& judgement, const Call& call, std::int64_t element, std::int64_t i) {
    const double value = got_[static_cast<std::size_t>(i)];
    const double expected = expected_[static_cast<std::size_t>(i)];
    if (is_same(value, expected)) return;
    const Deviation deviation = difference_of(spec_.dtype, value, expected);
    ++differing_;
    furthest_ = std::max(furthest_, std::isfinite(deviation.ulps) ? deviation.ulps : HUGE_VAL);
    judgement.add(Certainty::no, deviation, [&] {
      return fmt::format("{}: got {}, {} has {}, {:.3g} ULP apart", place_of(call, element),
                         value_text(spec_.dtype, value), recipe_, value_text(spec_.dtype, expected), deviation.ulps);
    });
  }

  // How many values of the call differ, and what that may come from: of two functions that are both faithful, neither
  // more than an ULP from the other, one may be the library's.
  std::string differences_text(std::int64_t values) const {
    std::string text = fmt::format("; {} of the call's {} values differ", differing_, values);
    if (furthest_ <= 1 && differing_ < values / 8)
      text +=
          ", none by more than 1 ULP, as where a library's pow, exp, sin or cos is not correctly rounded: these in "
          "float64, "
          "cast, are the recipe's";
    return text;
  }

  // Where an element of the answer stands.
  static std::string place_of(const Call& call, std::int64_t element) {
    const std::int64_t tokens = std::ssize(call.positions);
    if (call.vectors.empty()) return fmt::format("position {}, element {}", call.positions[0], element);
    const std::vector<std::int64_t>& shape = call.vectors.front().shape;
    const std::int64_t token = element / (shape[2] * shape[3]);
    return fmt::format("position {} (token {} of {} in batch row {} of {}), head {} of {}, channel {}",
                       call.positions[static_cast<std::size_t>(token)], token % shape[1], shape[1], token / shape[1],
                       tokens / shape[1], element / shape[3] % shape[2], shape[2], element % shape[3]);
  }

  std::string recipe_;
  Spec spec_;
  std::unique_ptr<reference::RecipeAnswer> answer_;
  std::vector<double> got_;
  std::vector<double> expected_;
  std::int64_t differing_ = 0;  // values of the last call
  double furthest_ = 0;         // in ULP
};

Property without_recipe() {
  Property property;
  property.id = "recipe_identity";
  property.level = Level::contract;
  property.explanation = {
      "every bit is that of the recipe which the audit names",
      "bits of f(call) = bits of the recipe's operations in their order, each rounded as IEEE 754 says: value by "
      "value, "
      "in every batch, chunk, order, number of heads, a token alone or a whole sequence",
      "He et al. 2025, Defeating Nondeterminism in LLM Inference: serving that does not depend on the batch, and "
      "reinforcement learning on policy, need the same bits; reference/recipe.hpp has each recipe's operations and "
      "whose they are",
      "audits with --as RECIPE, of sinusoidal and rope where code of the recipe's kind is deployed for the spec",
      "none: bits are equal or not. Half an ULP of the recipe's value, by which deviations are told, is what no two "
      "different values of a dtype are below. A library whose pow, exp, sin or cos is not correctly rounded differs "
      "from a recipe where it is off",
      "a fused product in some batches, another path for long calls, a chunk computed by recurrence, a fused "
      "multiply-add in the last heads, a library or compiler option that changes bits"};
  return property;
}

}  // namespace

Property recipe_identity_property(const reference::Recipe& recipe) {
  Property property = without_recipe();
  property.not_applicable = [recipe](const Spec& spec) { return reference::recipe_not_known(recipe, spec); };
  judge_answers(property, [recipe](const Spec& spec) -> AnswerCheck {
    return [comparison = std::make_shared<Comparison>(recipe, spec)](const Call& call, const Tensor& answer) {
      return (*comparison)(call, answer);
    };
  });
  return property;
}

Property recipe_identity_property() {
  Property property = recipe_identity_property(reference::recipes().front());
  property.not_applicable = [](const Spec&) -> std::optional<std::string> {
    return "no recipe is named: audit --as RECIPE (see sextant list recipes)";
  };
  return property;
}

}  // namespace sextant
