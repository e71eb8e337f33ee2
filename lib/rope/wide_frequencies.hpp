#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "lib/kernels/correct_rounding.hpp"
#include "lib/kernels/wide.hpp"
#include "lib/spec/rope.hpp"

namespace sextant {

template <class Real>
constexpr int bits_of() {
  return std::numeric_limits<Real>::digits;
}

/// The length whose base a call of `length` has: L times the least power of two of at least ceil(l/L), where lengths go
/// by doublings. Domain: l within +-2^53.
inline std::int64_t length_of_base(const DynamicScaling& dynamic, std::int64_t length) {
  const std::int64_t limit = dynamic.original_max_position_embeddings;
  if (dynamic.length_steps == LengthSteps::every || length <= limit) return length;
  const auto times = static_cast<std::uint64_t>((length + limit - 1) / limit);
  return limit * static_cast<std::int64_t>(std::bit_ceil(times));
}

/// The frequencies of an encoding in a call of one length, in radians per position (per step of real ones), each with
/// the bound of its error, at the precision of Real. Whoever uses one calls fill_wide_constants() before.
///
/// docs/proofs/rope.md, steps 15 to 19, derives the bounds; references to the rules are in lib/spec/rope_scaling.hpp.
template <class Real>
class WideFrequencies {
 public:
  WideFrequencies(const Ladder& ladder, std::int64_t length)
      : encoding_(ladder.rope),
        extent_(ladder.extent),
        stretch_(ladder.stretch),
        length_(length),
        width_(rotary_width(encoding_)),
        log_theta_(log(Real(encoding_.rope_theta))),
        log_step_(log_theta_ * 2 / width_) {
    if (const auto* ntk = std::get_if<NtkScaling>(&encoding_.rope_scaling)) stretch(Real(ntk->factor));
    if (const auto* dynamic = std::get_if<DynamicScaling>(&encoding_.rope_scaling)) {
      const std::int64_t limit = dynamic->original_max_position_embeddings;
      const std::int64_t stepped = length_of_base(*dynamic, length);
      // s l/L - (s - 1), written so that nothing cancels.
      if (stepped > limit) stretch(1 + Real(dynamic->factor) * (stepped - limit) / limit);
    }
    if (const auto* yarn = std::get_if<YarnScaling>(&encoding_.rope_scaling)) find_ramp(*yarn);
  }

  /// Whether the precision tells the ends of YaRN's ramp; the frequencies mean nothing where it does not.
  bool decided() const { return decided_; }

  /// The frequency of one pair.
  Approximation<Real> radians(std::int64_t pair) const { return scaled(pair, exp(-log_step_ * pair)); }

  /// Those of all pairs.
  std::vector<Approximation<Real>> all_radians() const {
    std::vector<Approximation<Real>> list;
    list.reserve(static_cast<std::size_t>(pairs(encoding_)));
    const Real ratio = exp(-log_step_);
    Real power = 1;
    for (std::int64_t pair = 0; pair < pairs(encoding_); ++pair) {
      list.push_back(scaled(pair, power));
      power *= ratio;
    }
    return list;
  }

 private:
  // Step 15.
  static Real relative_error() { return ldexp(spacing_at_one<Real>(), 26); }

  // rope_theta becomes rope_theta s^(n/(n-2)): ln w_i falls by another 2i/(n-2) ln s.
  void stretch(const Real& factor) { log_step_ += log(factor) * 2 / (width_ - 2); }

  // c(b) = n ln(L/(2 pi b)) / (2 ln rope_theta), the pair that turns b times within L (Peng et al. 2023, section 3.2).
  Real correction(const YarnScaling& yarn, double turns) const {
    const Real wavelength = Real(yarn.original_max_position_embeddings) / (wide_two_pi<Real>() * turns);
    return log(wavelength) * width_ / (2 * log_theta_);
  }

  // low = max(c(beta_fast), 0), high = min(c(beta_slow), n - 1), rounded outward when `truncate`, then kept apart. Ends
  // that are not rounded are never equal: c(b) is no integer, as pi would be algebraic.
  void find_ramp(const YarnScaling& yarn) {
    Real low = correction(yarn, yarn.beta_fast);
    Real high = correction(yarn, yarn.beta_slow);
    const bool whole = yarn.truncate == Truncate::yes;
    end_error_ = ldexp(spacing_at_one<Real>(), 20) * width_ / (2 * log_theta_);
    if (whole) {
      const auto is_off_integers = [&](const Real& end) { return abs(end - round(end)) > end_error_; };
      decided_ = is_off_integers(low) && is_off_integers(high);
      low = floor(low);
      high = ceil(high);
      end_error_ = 0;
    }
    low_ = std::max(low, Real(0));
    high_ = std::min(high, Real(width_ - 1));
    if (whole && low_ == high_) high_ += Real(1) / 1000;
    decided_ = decided_ && abs(high_ - low_) > 2 * end_error_;
  }

  static Approximation<Real> clamped_to_unit(const Approximation<Real>& x) {
    const auto clamped = [](const Real& value) { return std::clamp(value, Real(0), Real(1)); };
    const Real value = clamped(x.value);
    return {value, std::max(Real(clamped(x.value + x.error) - value), Real(value - clamped(x.value - x.error)))};
  }

  // Step 17.
  Approximation<Real> yarn_ramp(std::int64_t pair) const {
    const Real ramp = (pair - low_) / (high_ - low_);
    const Real magnitude = 1 + abs(ramp);
    return clamped_to_unit({ramp, 2 * magnitude * end_error_ / (abs(high_ - low_) - 2 * end_error_) +
                                      magnitude * 4 * spacing_at_one<Real>()});
  }

  // Step 18.
  Approximation<Real> llama3_ramp(const Llama3Scaling& llama3, const Real& w) const {
    // L w/(2 pi) is the number of turns within L; its two borders make the three bands of Meta's code.
    const Real turns = llama3.original_max_position_embeddings * w / wide_two_pi<Real>();
    const Real low = llama3.low_freq_factor;
    const Real length = llama3.high_freq_factor - low;
    if (length == 0) {
      const bool is_decided = abs(turns - low) > 2 * turns * relative_error();
      return {Real(turns > low ? 1 : 0), Real(is_decided ? 0 : 1)};
    }
    const Real ramp = (turns - low) / length;
    return clamped_to_unit({ramp, 2 * turns * relative_error() / length + abs(ramp) * 4 * spacing_at_one<Real>()});
  }

  // w ((1 - share)/s + share): all of w at share 1, w/s at 0.
  static Approximation<Real> blend(const Real& w, const Approximation<Real>& share, double factor) {
    const Real value = w * ((1 - share.value) / factor + share.value);
    return {value, w * (share.error + 2 * spacing_at_one<Real>()) + 2 * value * relative_error()};
  }

  static Approximation<Real> precisely(const Real& value) { return {value, 2 * value * relative_error()}; }

  // Per step of the positions: a power of two, whose product is exact.
  Approximation<Real> scaled(std::int64_t pair, const Real& w) const {
    const Approximation<Real> per_position = per_whole_position(pair, w);
    const double step = encoding_.positions.step;
    return {per_position.value * step, per_position.error * step};
  }

  Approximation<Real> per_whole_position(std::int64_t pair, const Real& w) const {
    struct Rule {
      const WideFrequencies& all;
      std::int64_t pair;
      const Real& w;

      Approximation<Real> operator()(const DefaultScaling&) const {
        if (all.extent_ == 0) return precisely(w);
        return precisely(w * wide_two_pi<Real>() * all.stretch_ / all.extent_);
      }
      Approximation<Real> operator()(const LinearScaling& linear) const { return precisely(w / linear.factor); }
      Approximation<Real> operator()(const NtkScaling&) const { return precisely(w); }
      Approximation<Real> operator()(const DynamicScaling&) const { return precisely(w); }
      Approximation<Real> operator()(const YarnScaling& yarn) const {
        const Approximation<Real> ramp = all.yarn_ramp(pair);
        return blend(w, {1 - ramp.value, ramp.error}, yarn.factor);
      }
      Approximation<Real> operator()(const LongropeScaling& longrope) const {
        const bool beyond = all.length_ > longrope.original_max_position_embeddings;
        return precisely(w /
                         (beyond ? longrope.long_factor : longrope.short_factor).at(static_cast<std::size_t>(pair)));
      }
      Approximation<Real> operator()(const Llama3Scaling& llama3) const {
        return blend(w, all.llama3_ramp(llama3, w), llama3.factor);
      }
      Approximation<Real> operator()(const ProportionalScaling& proportional) const {
        return precisely(w / proportional.factor);
      }
      Approximation<Real> operator()(const NoTurning&) const { return {0, 0}; }  // of no pair
    };
    return std::visit(Rule{*this, pair, w}, encoding_.rope_scaling);
  }

  const Rope& encoding_;
  std::int64_t extent_;
  double stretch_;
  std::int64_t length_;
  std::int64_t width_;
  Real log_theta_;
  Real log_step_;
  Real low_ = 0;
  Real high_ = 0;
  Real end_error_ = 0;
  bool decided_ = true;
};

/// The attention factor: relative error below 2^(20 - bits_of<Real>()); fill_wide_constants() likewise.
///   yarn      attention_factor if given, else m(mscale)/m(mscale_all_dim) if those are, else m(1), with
///             m(x) = 0.1 x ln s + 1 (Peng et al. 2023, section 3.4, equation 22 has m(1) = sqrt(1/t))
///   longrope  attention_factor if given, else sqrt(1 + ln s / ln L); its two magnitudes are rational numbers
///   others    1
template <class Real>
Real wide_attention_factor(const Rope& encoding) {
  if (const auto* yarn = std::get_if<YarnScaling>(&encoding.rope_scaling)) {
    if (yarn->attention_factor) return Real(*yarn->attention_factor);
    const auto magnitude = [&](double coefficient) -> Real {
      return Real(coefficient) / 10 * log(Real(yarn->factor)) + 1;
    };
    return yarn->mscale ? Real(magnitude(*yarn->mscale) / magnitude(*yarn->mscale_all_dim)) : magnitude(1);
  }
  if (const auto* longrope = std::get_if<LongropeScaling>(&encoding.rope_scaling)) {
    if (longrope->attention_factor) return Real(*longrope->attention_factor);
    return sqrt(1 + log(Real(*longrope->factor)) / log(Real(longrope->original_max_position_embeddings)));
  }
  return Real(1);
}

}  // namespace sextant
