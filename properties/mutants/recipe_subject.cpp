#include "properties/mutants/recipe_subject.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reference/recipe.hpp"
#include "reference/rope.hpp"
#include "subjects/function.hpp"

namespace sextant::mutants {
namespace {

Tensor encode(reference::RecipeEmulation& emulation, const Spec& spec, const std::vector<std::int64_t>& positions) {
  const std::int64_t dim = std::get<Sinusoidal>(spec.encoding).dim;
  Tensor table = Tensor::zeros(spec.dtype, {std::ssize(positions), dim});
  std::int64_t at = 0;
  for (const std::int64_t position : positions) {
    for (const double value : emulation.encode(position)) table.set(at++, value);
  }
  return table;
}

Tensor rotate(reference::RecipeEmulation& emulation, const Rope& encoding, const Tensor& x,
              const std::vector<std::int64_t>& positions) {
  const std::int64_t length = reference::sequence_length(positions);
  const std::int64_t heads = x.shape[2];
  Tensor y = x;
  for (std::size_t token = 0; token < positions.size(); ++token) {
    const std::vector<reference::Intermediates>& row = emulation.at(positions[token], length);
    for (std::int64_t head = 0; head < heads; ++head) {
      const std::int64_t start = (static_cast<std::int64_t>(token) * heads + head) * encoding.head_dim;
      for (const Passthrough& channel : passthrough_channels(encoding))
        y.set(start + channel.output, x.at(start + channel.input));
      for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
        const Channels from = channels_of_pair(encoding, encoding.pairing, pair);
        const Channels to = channels_of_pair(encoding, encoding.output_pairing, pair);
        const auto turned =
            emulation.rotate(row[static_cast<std::size_t>(pair)], x.at(start + from.first), x.at(start + from.second));
        y.set(start + to.first, turned.first);
        y.set(start + to.second, turned.second);
      }
    }
  }
  return y;
}

}  // namespace

std::unique_ptr<Subject> open_recipe(std::string_view name) {
  const auto recipes = reference::recipes();
  const auto recipe = std::ranges::find(recipes, name, &reference::Recipe::name);
  if (recipe == recipes.end())
    throw SubjectNameError(fmt::format("subject \"recipe:{}\": no such recipe (see sextant list recipes)", name));
  return std::make_unique<FunctionSubject>(
      fmt::format("recipe:{}", name), [recipe = *recipe](const Spec& spec) -> FunctionSubject::Call {
        const bool known =
            std::holds_alternative<Sinusoidal>(spec.encoding) || std::holds_alternative<Rope>(spec.encoding);
        auto emulation = known ? reference::RecipeEmulation::of(recipe, spec) : std::nullopt;
        return [emulation, spec](std::string_view operation, const Tensors& inputs) mutable -> Tensors {
          const bool sinusoidal = std::holds_alternative<Sinusoidal>(spec.encoding);
          if (!emulation || operation != (sinusoidal ? "encode" : "rotate"))
            throw SubjectFailure(FailureKind::unsupported, "the recipe does not say");
          const std::vector<std::int64_t> positions = inputs.at("positions").integers();
          if (sinusoidal) return {{"encoding", encode(*emulation, spec, positions)}};
          return {{"y", rotate(*emulation, std::get<Rope>(spec.encoding), inputs.at("x"), positions)}};
        };
      });
}

}  // namespace sextant::mutants
