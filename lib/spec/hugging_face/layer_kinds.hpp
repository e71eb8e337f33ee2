#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/spec/hugging_face/rotary_models.hpp"

// Private to lib/spec.

namespace sextant::hugging_face {

/// Layers that are alike, by the name that transformers' `layer_types` has for them.
struct LayerKind {
  std::string name;
  std::vector<std::int64_t> layers;
};

/// The kinds of a model's layers in the order of their first ones: what `layer_types` lists, else what the model's
/// pattern makes; "rope" and "no_rope" for Layering::no_rope_layers; one kind without a name where all layers are
/// alike.
/// @throws SpecError for a list that is not of as many layers as the model has.
std::vector<LayerKind> layer_kinds(const RotaryModel& model, const ConfigObject& config);

/// What transformers checks of every class.
/// @throws SpecError for `layer_types` that are no list of kinds that it knows.
void check_kinds_of_layers(const ConfigObject& config);

/// A layer's index as files and --layer write it, "5" or "05"; nothing for other text.
std::optional<std::int64_t> layer_index(std::string_view text);

}  // namespace sextant::hugging_face
