#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "reference/recipe.hpp"

namespace sextant::reference {

/// A recipe's answers to calls of one encoding, bit for bit. An object belongs to one thread.
class RecipeAnswer {
 public:
  virtual ~RecipeAnswer() = default;

  /// The operation that it answers: encode or rotate.
  virtual std::string_view operation() const = 0;

  /// What it answers at `positions`, [batch, tokens]: codes in as many rows as there are positions, or the rotated `x`,
  /// [batch, tokens, heads, head_dim], which codes do without.
  virtual Tensor at(std::span<const std::int64_t> positions, const Tensor* x) = 0;
};

/// Those of the spec's encoding in the spec's dtype; null where recipe_frequencies has nothing.
std::unique_ptr<RecipeAnswer> recipe_answer(const Recipe& recipe, const Spec& spec);

/// Why there are none, in a few words, or nothing.
std::optional<std::string> recipe_not_known(const Recipe& recipe, const Spec& spec);

}  // namespace sextant::reference
