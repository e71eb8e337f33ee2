#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/spec/hugging_face/part.hpp"
#include "lib/spec/rope_nd.hpp"

// Private to lib/spec: models that turn queries and keys.

namespace sextant::hugging_face {

/// How a model_type's code turns a head.
enum class Turning {
  half,           ///< rotate_half: channels (i, i + n/2)
  interleaved,    ///< channels (2i, 2i + 1)
  complex,        ///< the same as a complex product in float32
  latent,         ///< channels (2i, 2i + 1) in, halves out, unless `rope_interleave` is false; then half
  latent_always,  ///< the same, `rope_interleave` not being read
};

/// Which layers turn what.
enum class Layering {
  alike,
  rule_each,          ///< each kind of layer has a rule of its own
  no_rope_layers,     ///< those with a 0 in `no_rope_layers` do not turn
  sliding_only,       ///< layers of full attention do not turn
  sliding_if_any,     ///< the same, but that all turn where the model has no window
  in_full_attention,  ///< the others have no positions (linear attention, convolutions)
};

/// What longrope's rotations are multiplied by.
enum class Magnitudes {
  one,           ///< attention_factor, or the formula
  of_each_cache  ///< short_mscale and long_mscale, which the class requires
};

/// What a head_dim of null is to a class. transformers sets it as it stands, and what is not an integer fails: in
/// attention, which multiplies by it, and in the rules dynamic, longrope and yarn (modeling_rope_utils.py).
enum class NullHeadDim {
  refused,
  quotient,           ///< the configuration class puts hidden_size / num_attention_heads in its place
  quotient_of_plain,  ///< the modeling file forms that by itself; those rules fail
};

/// What a head_dim that the file does not have is to a class.
enum class AbsentHeadDim {
  known,   ///< a default, or hidden_size / num_attention_heads
  none,    ///< None, with which the rules dynamic, longrope and yarn fail
  refused  ///< None, with which attention fails
};

/// What `alpha` is in a rule of type dynamic.
enum class DynamicAlpha {
  unread,
  of_the_base  ///< the factor of one base for all lengths: rope_type ntk
};

/// What says whether the layers of full attention turn.
enum class Switch {
  none,
  position_embedding_type  ///< they do where it is "rope"
};

/// What a no_rope_layers of no entries is to a class.
enum class EmptyList {
  refused,  ///< the class keeps it, and its model finds no entry for a layer
  absent    ///< the class's own pattern comes in its place
};

/// Which layers the older field rope_scaling is about, where each kind has a rule of its own.
enum class OlderRule { full_attention, all };

/// The kinds of layers where the file does not list them: full_attention is each `every`-th, by its own field where
/// that is there, and the rest `other`.
struct LayerPattern {
  const char* field = "";
  std::int64_t every = 0;
  enum class Full { last_of_each, first_of_each, none } full = Full::last_of_each;
  std::string_view other = "sliding_attention";
};

/// What a configuration class has by default.
struct RotarySizes {
  std::int64_t hidden_size;
  std::int64_t heads;
  std::int64_t head_dim;  ///< 0: hidden_size / heads
  std::int64_t layers;
  std::int64_t max_position;
};

/// What a class calls sizes besides hidden_size, num_attention_heads, num_hidden_layers and max_position_embeddings.
struct OtherNames {
  const char* hidden_size = "";
  const char* heads = "";
  const char* layers = "";
  const char* max_position = "";
};
inline constexpr OtherNames names_of_gpt2{"n_embd", "n_head", "n_layer", "n_positions"};

/// Where a model_type is not as Llama is.
struct RotaryTraits {
  OtherNames names = {};
  const char* theta_name = "rope_theta";  ///< the base, outside a rule
  double rotary_factor = 0;  ///< partial_rotary_factor; 0 where the model turns whole heads, whatever the file says
  const char* factor_name = "partial_rotary_factor";
  Turning turning = Turning::half;
  std::int64_t latent_head_dim = 0;  ///< qk_rope_head_dim: the part of a head that turns comes by itself
  std::int64_t rotary_dim = 0;       ///< of the types that state `rotary_dim`; -1 without a default
  Layering layering = Layering::alike;
  EmptyList no_rope_layers = EmptyList::refused;
  LayerPattern pattern = {};
  double sliding_theta = 0;             ///< of rule_each
  const char* sliding_theta_name = "";  ///< the older field of it; theta_name's where there is none
  OlderRule older_rule = OlderRule::full_attention;
  std::int64_t full_head_dim = 0;  ///< of rule_each, where layers of full attention have wider heads
  std::string_view rule = "";      ///< the rule of a file without one
  std::array<std::int64_t, 3> sections =
      {};  ///< mrope_section: time, height, width; zeros where a position is a number
  SectionOrder section_order = SectionOrder::blocked;
  Magnitudes magnitudes = Magnitudes::one;
  std::int64_t original_length = 0;  ///< original_max_position_embeddings of the class, which the rule's must equal
  NullHeadDim null_head_dim = NullHeadDim::refused;
  AbsentHeadDim absent_head_dim = AbsentHeadDim::known;
  DynamicAlpha dynamic_alpha = DynamicAlpha::unread;
  Switch turns = Switch::none;
  const char* note = "";  ///< what else turns, and is not claimed
};

/// One model_type: its class's defaults, and what its modeling file does; transformers 5.23.
struct RotaryModel {
  std::string_view model_type;
  RotarySizes sizes;
  double rope_theta;
  RotaryTraits traits;
};

std::span<const RotaryModel> rotary_models();

/// The row of a model_type, or nothing.
const RotaryModel* rotary_model(std::string_view model_type);

/// The claims of one part of a file. @throws SpecError as claims_of_hf_config.
std::vector<ConfigClaim> claims_of(const RotaryModel& model, const Part& part);

/// A type that is not in the table: what all of them call their fields, whole heads, sizes by the file alone.
RotaryModel unknown_model(std::string_view model_type, Turning turning);

}  // namespace sextant::hugging_face
