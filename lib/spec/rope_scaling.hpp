#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace sextant {

// The rules that stretch a trained rotary encoding to longer sequences, one struct each, with the field names of
// Hugging Face's configuration. Below, w_i = rope_theta^(-2i/n) is the unscaled frequency, n the width it is formed
// over, s = factor, and L = original_max_position_embeddings; reference/rope_scaling.hpp states each formula in full.
//
// A factor below 1 would shrink the context: the papers' s = L'/L is at least 1, so all rules but `proportional`, which
// no paper defines and whose factor only divides, refuse it.

/// w_i as they are.
struct DefaultScaling {};

/// Position interpolation, Chen et al. 2023 (arXiv 2306.15595), equation 4: w_i / s. Domain: s >= 1.
struct LinearScaling {
  double factor = 1;
};

/// NTK-aware scaling, bloc97 2023 as cited by Peng et al. 2023 (arXiv 2309.00071), section 3.1: rope_theta becomes
/// rope_theta s^(n/(n-2)). Domain: s >= 1, n > 2.
struct NtkScaling {
  double factor = 1;
};

/// What the length l is that a rule looks at: the largest position + 1 of all batch rows of a call together, or of each
/// batch row for itself.
enum class LengthScope { call, row };

/// Which lengths beyond L have a base of their own: every one, or L 2^j alone, to the next of which a length between
/// them is rounded up (Qwen 1's get_ntk_alpha, 2^ceil(log2(l/L) + 1) - 1, is the formula of `dynamic` with s = 2).
enum class LengthSteps { every, doublings };

/// The same at each length l beyond L, Peng et al. 2023, section 3.3, as deployed: the base is multiplied by
/// (s l/L - (s - 1))^(n/(n-2)). Domain: s >= 1, n > 2.
struct DynamicScaling {
  double factor = 1;
  std::int64_t original_max_position_embeddings = 0;
  LengthScope length_scope = LengthScope::call;
  LengthSteps length_steps = LengthSteps::every;
};

/// Whether the ends of YaRN's ramp are rounded outward to whole pairs (floor and ceil).
enum class Truncate { no, yes };

/// YaRN, Peng et al. 2023, sections 3.2 and 3.4: w_i and w_i / s blended by a ramp over the pairs that turn between
/// beta_slow and beta_fast times within L. The rotation is multiplied by attention_factor where that is given, by
/// (0.1 mscale ln s + 1) / (0.1 mscale_all_dim ln s + 1) where those two are, else by 0.1 ln s + 1.
/// Domain: s >= 1, beta_fast > beta_slow > 0, rope_theta > 1; mscale and mscale_all_dim come together, and not beside
/// attention_factor; all three positive.
struct YarnScaling {
  double factor = 1;
  std::int64_t original_max_position_embeddings = 0;
  double beta_fast = 32;
  double beta_slow = 1;
  Truncate truncate = Truncate::yes;
  std::optional<double> mscale;
  std::optional<double> mscale_all_dim;
  std::optional<double> attention_factor;
};

/// LongRoPE, Ding et al. 2024 (arXiv 2402.13753), as deployed: w_i / short_factor[i] at lengths up to L, w_i /
/// long_factor[i] at longer ones. The rotation is multiplied by short_mscale and long_mscale, in the same order, where
/// those are given (Phi-3.5-MoE), by attention_factor where that is, else by sqrt(1 + ln s / ln L).
/// Domain: an entry for each pair, positive; one of s >= 1, attention_factor > 0 and the two magnitudes > 0 given,
/// which come together and not beside attention_factor; L >= 2, since ln 1 = 0 divides.
struct LongropeScaling {
  std::int64_t original_max_position_embeddings = 0;
  std::vector<double> short_factor;
  std::vector<double> long_factor;
  std::optional<double> factor;
  std::optional<double> attention_factor;
  LengthScope length_scope = LengthScope::call;
  std::optional<double> short_mscale = std::nullopt;
  std::optional<double> long_mscale = std::nullopt;
};

/// Llama 3.1, Meta's released code: w_i where its wavelength is short of L / high_freq_factor, w_i / s where it is
/// beyond L / low_freq_factor, a blend between. Domain: s >= 1, high_freq_factor > low_freq_factor > 0.
struct Llama3Scaling {
  double factor = 1;
  std::int64_t original_max_position_embeddings = 0;
  double low_freq_factor = 1;
  double high_freq_factor = 4;
};

/// Gemma's: the first rotary_dim / 2 pairs of the full head turn by w_i / s, the others stand still. It therefore
/// needs, and implies, rotary_layout spread, of which it is the case with a factor. Domain: s > 0.
struct ProportionalScaling {
  double factor = 1;
};

/// No pair turns: y is x, in the output pairing's order. What layers without positions compute, Llama 4's and SmolLM3's
/// every fourth say (Kazemnejad et al. 2023, arXiv 2305.19466, named them NoPE).
struct NoTurning {};

using RopeScaling = std::variant<DefaultScaling, LinearScaling, NtkScaling, DynamicScaling, YarnScaling,
                                 LongropeScaling, Llama3Scaling, ProportionalScaling, NoTurning>;

/// "default", "linear", ...: the value of rope_type.
std::string_view name_of(const RopeScaling& scaling);

/// L: how many positions a model was trained on before the rule was applied; nothing where the rule does not say.
std::optional<std::int64_t> original_length(const RopeScaling& scaling);

/// The length beyond which the rule takes other frequencies (dynamic, longrope: L), or nothing where the frequencies do
/// not depend on it.
std::optional<std::int64_t> length_limit(const RopeScaling& scaling);

/// Whose length that is: the call's for rules that look at none.
LengthScope length_scope(const RopeScaling& scaling);

}  // namespace sextant
