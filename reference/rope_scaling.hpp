#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "lib/spec/rope.hpp"
#include "reference/enclosure.hpp"
#include "reference/frequency.hpp"

namespace sextant::reference {

/// The frequencies of a rotary encoding under its scaling rule, as real-number mathematics. An object belongs to one
/// thread.
///
/// Write n for the width of the frequencies (rotary_dim; head_dim when spread), w_i = rope_theta^(-2i/n), s = factor,
/// L = original_max_position_embeddings and l for the length of the call, its largest position + 1. Where a paper and
/// the code that models are run with (Hugging Face's modeling_rope_utils) differ, the deployed formula is meant, since
/// the spec carries its field names; decimals in a formula are the decimals written (0.1 is 1/10).
///
///   default       w_i
///   linear        w_i / s. Chen et al. 2023, equation 4
///   ntk           (rope_theta s^(n/(n-2)))^(-2i/n) = w_i s^(-2i/(n-2)). bloc97; Peng et al. 2023, section 3.1
///   dynamic       the same with 1 + s (l/L - 1) for s where l > L, else w_i. Peng et al. 2023, section 3.3, has l/L,
///                 which is the deployed expression at s = 1 only
///   yarn          w_i (r_i/s + 1 - r_i), r_i = clamp((i - low)/(high - low), 0, 1). Peng et al. 2023, section 3.2
///                   low = max(c(beta_fast), 0), high = min(c(beta_slow), n - 1)
///                   c(b) = n ln(L/(2 pi b)) / (2 ln rope_theta)
///                 The paper's ramp is linear in the number of turns L w_i/(2 pi); the deployed one is linear in i, has
///                 floor and ceil of the two c's when `truncate`, and high = low + 1/1000 where the ends are equal
///   longrope      w_i / short_factor[i] where l <= L, else w_i / long_factor[i]. Ding et al. 2024, whose search finds
///                 the factors; the two lists are the deployed form
///   llama3        w_i ((1 - t_i)/s + t_i), t_i = clamp((L w_i/(2 pi) - low)/(high - low), 0, 1), low and high the two
///                 freq_factors. Meta's released Llama 3.1 code, in three bands of the wavelength 2 pi/w_i. At
///                 both borders the bands agree (t = 0, t = 1): the clamp is the same function, undecided nowhere
///   proportional  w_i / s. Hugging Face's Gemma; the pairs beyond rotary_dim/2 stand still
///
/// Ties: floor and ceil of c(b) are decided by raising the precision, and a tie cannot happen. c(b) = k for an integer
/// k says that pi = L/(2 b) rope_theta^(-2k/n), rational times a root of a rational, so pi would be algebraic. For the
/// same reason low = high happens only where both are whole numbers after rounding and clamping. l <= L compares
/// integers.
class RopeFrequencies {
 public:
  /// Domain as lib/spec checks it.
  /// @throws std::range_error if an end of YaRN's ramp stays undecided at `last_precision`.
  explicit RopeFrequencies(const Rope& encoding);

  /// The frequency of `pair` in a call of `sequence_length`, in radians per position: positive, and above 1 only for
  /// longrope and proportional factors below 1. Rules that do not depend on the length ignore it. The reference is good
  /// until the next call.
  const Enclosure& radians(std::int64_t pair, std::int64_t sequence_length, Precision precision);

  /// The rotation by radians * position, sin and cos without the attention factor. Likewise.
  const Rotation& rotation(std::int64_t position, std::int64_t pair, std::int64_t sequence_length, Precision precision);

  /// w_i, before scaling. Likewise.
  const Enclosure& unscaled(std::int64_t pair, Precision precision) { return geometric_.radians(pair, precision); }

  /// |ln| of radians(pair, sequence_length).
  Enclosure log_magnitude(std::int64_t pair, std::int64_t sequence_length, Precision precision);

  /// What sin and cos are multiplied by, so that a rotated pair has attention_factor times its norm, and a score its
  /// square:
  ///   yarn      attention_factor if given, else m(mscale)/m(mscale_all_dim) if those are, else m(1), m(x) = 0.1 x ln s
  ///   + 1;
  ///             Peng et al. 2023, section 3.4, equation 22 has m(1) = sqrt(1/t)
  ///   longrope  attention_factor if given, else sqrt(1 + ln s / ln L); the deployed default
  ///   others    1
  /// The reference is good for the object's life.
  const Enclosure& attention_factor(Precision precision);

  /// YaRN's low and high, the ends of its ramp in units of pairs.
  struct Ramp {
    Enclosure low;
    Enclosure high;
  };
  /// Nothing for other rules.
  std::optional<Ramp> ramp(Precision precision) const;

  const Rope& encoding() const { return encoding_; }

 private:
  struct Whole {
    std::int64_t low;
    std::int64_t high;
  };
  struct AtLength {
    std::int64_t length;
    std::vector<Enclosure> radians;
  };

  std::int64_t length_that_matters(std::int64_t sequence_length) const;
  Enclosure scaled(std::int64_t pair, std::int64_t length, Precision precision);
  Enclosure stretched_base(std::int64_t pair, const Enclosure& stretch, Precision precision) const;
  Enclosure unkept_attention_factor(Precision precision) const;
  Enclosure correction(double turns, Precision precision) const;
  std::optional<Whole> whole_ramp() const;

  Rope encoding_;
  std::int64_t width_;
  GeometricFrequencies geometric_;
  std::optional<Whole> whole_ramp_;
  std::map<long, AtLength> by_precision_;
  std::map<long, Enclosure> attention_factors_;

  struct Kept {
    std::int64_t position;
    std::int64_t pair;
    std::int64_t length;
    long bits;
    Rotation rotation;
  };
  std::optional<Kept> kept_;
};

}  // namespace sextant::reference
