#include "properties/mutants/recipe_subject.hpp"
#include "lib/spec/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reference/recipe_answer.hpp"
#include "subjects/function.hpp"

namespace sextant::mutants {

FunctionSubject::Call recipe_call(const reference::Recipe& recipe, const Spec& spec) {
  return [answer = std::shared_ptr(reference::recipe_answer(recipe, spec))](std::string_view operation,
                                                                            const Tensors& inputs) -> Tensors {
    if (!answer || operation != answer->operation())
      throw SubjectFailure(FailureKind::unsupported, "the recipe does not cover this operation or spec");
    const auto x = inputs.find("x");
    Tensor values = answer->at(inputs.at("positions").integers(), x == inputs.end() ? nullptr : &x->second);
    return {{operation == "encode" ? "encoding" : "y", std::move(values)}};
  };
}

std::unique_ptr<Subject> open_recipe(std::string_view name) {
  const auto recipes = reference::recipes();
  const auto recipe = std::ranges::find(recipes, name, &reference::Recipe::name);
  if (recipe == recipes.end())
    throw SubjectNameError(fmt::format("subject \"recipe:{}\": no such recipe (see sextant list recipes){}", name,
                                       did_you_mean(name, recipes, &reference::Recipe::name)));
  return std::make_unique<FunctionSubject>(
      fmt::format("recipe:{}", name),
      [recipe = *recipe](const Spec& spec) -> FunctionSubject::Call { return recipe_call(recipe, spec); });
}

}  // namespace sextant::mutants
