#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/spec/spec.hpp"

namespace sextant {

// What a model's Hugging Face config.json claims, by the rules of the code that such models are run with
// (transformers' configuration_*.py and modeling_*.py of the model_type). One file may claim several encodings: that of
// a text part and that of a vision part, and within one part those of different kinds of layers.

/// Where a field of a claim comes from, for a person: "line 12: rope_theta", "default of qwen2".
struct FieldSource {
  std::string field;
  std::string source;
};

/// One claim of a file.
struct ConfigClaim {
  std::string part;                  ///< "text_config", "vision_config"; empty for the file itself
  std::string kind;                  ///< "full_attention", "no_rope", "encoder"; empty where all layers are alike
  std::vector<std::int64_t> layers;  ///< from 0; empty where the claim is not of particular layers
  std::string model_type;            ///< of the part
  std::optional<Spec> spec;          ///< nothing where no spec says what the part computes; `refusal` tells why
  std::string refusal;
  std::vector<FieldSource> sources;  ///< of the spec's fields that the file or its model_type states
  std::vector<std::string> notes;    ///< what the part computes beyond the claim
};

/// "text_config sliding_attention", or "the model" for the only one of a file.
std::string name_of(const ConfigClaim& claim);

/// "layers 0-4, 6-10", "layer 3"; empty where the claim is not of particular layers.
std::string layers_text(const ConfigClaim& claim);

/// What the caller says that the file does not.
struct ConfigChoice {
  std::optional<Pairing> pairing;  ///< reads a model_type that is not known, as one that turns whole heads
  std::string layer;               ///< an index or a kind: claims of that alone
  std::string sub_config;          ///< a part: claims of that alone
};

/// The model types that are known, in the order of the alphabet.
std::vector<std::string_view> known_model_types();

/// Every claim of the file that `choice` admits, in the order of the file's layers, of which there is at least one.
/// @throws SpecError, naming the field, where the file's model_type is not known (unless `choice` states a pairing),
/// where fields contradict each other or are not in their domain, and where nothing is left to choose from.
std::vector<ConfigClaim> claims_of_hf_config(std::string_view json, const ConfigChoice& choice = {});

/// The spec of the only claim.
/// @throws SpecError as above, where there are several, and where no spec says what the only one is.
Spec spec_from_hf_config(std::string_view json, const ConfigChoice& choice = {});

}  // namespace sextant
