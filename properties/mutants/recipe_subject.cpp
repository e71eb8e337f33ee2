#include "properties/mutants/recipe_subject.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/spec/of.hpp"
#include "reference/recipe.hpp"
#include "reference/rope.hpp"
#include "subjects/function.hpp"

namespace sextant::mutants {
namespace {

// What a recipe does with each encoding.
struct CallOf {
  const reference::Recipe& recipe;
  Dtype dtype;

  FunctionSubject::Call operator()(const Sinusoidal& encoding) const;
  FunctionSubject::Call operator()(const Rope& encoding) const;
  FunctionSubject::Call operator()(const auto&) const {
    return [](std::string_view, const Tensors&) -> Tensors { unsupported(); };
  }

  [[noreturn]] static void unsupported() {
    throw SubjectFailure(FailureKind::unsupported, "the recipe does not cover this operation or spec");
  }
};

FunctionSubject::Call CallOf::operator()(const Sinusoidal& encoding) const {
  return [emulation = reference::SinusoidalEmulation::of(recipe, encoding, dtype), dim = encoding.dim, dtype = dtype](
             std::string_view operation, const Tensors& inputs) mutable -> Tensors {
    if (!emulation || operation != "encode") unsupported();
    const std::vector<std::int64_t> positions = inputs.at("positions").integers();
    Tensor table = Tensor::zeros(dtype, {std::ssize(positions), dim});
    std::int64_t at = 0;
    for (const std::int64_t position : positions) {
      for (const double value : emulation->encode(position)) table.set(at++, value);
    }
    return {{"encoding", std::move(table)}};
  };
}

Tensor rotate(reference::RopeEmulation& emulation, const Rope& encoding, const Tensor& x,
              const std::vector<std::int64_t>& positions) {
  const std::vector<std::int64_t> lengths =
      reference::row_lengths(length_scope(encoding.rope_scaling), positions, x.shape[0]);
  const std::int64_t heads = x.shape[2];
  Tensor y = x;
  for (std::size_t token = 0; token < positions.size(); ++token) {
    const std::vector<reference::Intermediates>& row =
        emulation.at(positions[token], lengths[token / static_cast<std::size_t>(x.shape[1])]);
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

FunctionSubject::Call CallOf::operator()(const Rope& encoding) const {
  return [emulation = reference::RopeEmulation::of(recipe, encoding, dtype), encoding](
             std::string_view operation, const Tensors& inputs) mutable -> Tensors {
    if (!emulation || operation != "rotate") unsupported();
    return {{"y", rotate(*emulation, encoding, inputs.at("x"), inputs.at("positions").integers())}};
  };
}

}  // namespace

std::unique_ptr<Subject> open_recipe(std::string_view name) {
  const auto recipes = reference::recipes();
  const auto recipe = std::ranges::find(recipes, name, &reference::Recipe::name);
  if (recipe == recipes.end())
    throw SubjectNameError(fmt::format("subject \"recipe:{}\": no such recipe (see sextant list recipes)", name));
  return std::make_unique<FunctionSubject>(fmt::format("recipe:{}", name),
                                           [recipe = *recipe](const Spec& spec) -> FunctionSubject::Call {
                                             return of_each(spec, CallOf{recipe, spec.dtype});
                                           });
}

}  // namespace sextant::mutants
