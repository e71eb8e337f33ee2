#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lib/spec/hugging_face/config_object.hpp"

// Private to lib/spec.

namespace sextant::hugging_face {

/// What `rope_parameters` (transformers 5) or `rope_scaling` (before) states. Both may be there and must then agree.
struct RopeRule {
  nlohmann::json scaling = nullptr;  ///< the spec's rope_scaling
  std::string source;                ///< of `scaling`; empty where the file has none
  std::vector<FieldSource> sources;  ///< of the fields of `scaling`
  std::optional<Read<double>> rope_theta;
  std::optional<Read<double>> partial_rotary_factor;
  std::optional<Read<std::vector<std::int64_t>>> mrope_section;
  std::optional<Read<bool>> mrope_interleaved;
  std::optional<Read<double>> query_scale;  ///< llama_4_scaling_beta
  std::optional<Read<std::string>> type;    ///< as the file names it
};

/// The lengths that a rule may leave to the model.
struct ModelLengths {
  Read<std::int64_t> longest;                  ///< max_position_embeddings
  std::optional<Read<std::int64_t>> original;  ///< original_max_position_embeddings outside the rule
};

/// The rule of an object itself, as transformers reads it (modeling_rope_utils.py): its type under `rope_type` or
/// `type`, where "su" is longrope and "mrope" the default one; of yarn an attention_factor before mscale, mscale only
/// together with mscale_all_dim, and 0 and null as absent; of dynamic, llama3, longrope and yarn the lengths that the
/// model states, and the factor their ratio.
/// @throws SpecError where fields contradict each other.
RopeRule read_rule(const ConfigObject& rule, const ModelLengths& lengths);

/// The rule under `rope_parameters` or `rope_scaling` of a model, or none.
/// @throws SpecError as above, and where each kind of layer has a rule of its own.
RopeRule rule_of(const ConfigObject& model, const ModelLengths& lengths);

/// The positions that a model is served for: factor times original length where the rule has both, at least
/// max_position_embeddings.
Read<std::int64_t> served_positions(const RopeRule& rule, const ModelLengths& lengths);

}  // namespace sextant::hugging_face
