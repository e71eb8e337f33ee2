#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "attack/truth/truths.hpp"

// The frequencies of rotary encodings under the rules that stretch them. n is the width that w_i = theta^(-2i/n)
// divides by.
//
//   Su et al. 2021 (RoFormer), section 3.4.2       w_i
//   Chen et al. 2023, equation 4                   w_i / s
//   bloc97 2023 (Peng et al. 2023, section 3.1)    theta s^(n/(n-2)) in place of theta
//   dynamic (Peng et al. 2023, section 3.3)        the same with s l/L - (s - 1) in place of s where the length l > L
//   YaRN (Peng et al. 2023, section 3.2)           w_i ((1 - g_i) + g_i / s), g_i as below
//   LongRoPE (Ding et al. 2024)                    w_i / lambda_i, of two lists
//   Llama 3.1 (llama-models, apply_scaling)        w_i (g + (1 - g) / s), g = (t - low) / (high - low) cut to [0, 1],
//                                                  t = L w_i / (2 pi)
//   proportional (Gemma)                           w_i / s
//
// YaRN's ramp, as its code has it (yarn/scaled_rope: find_correction_range, linear_ramp_mask):
//
//   c(b) = n ln(L / (2 pi b)) / (2 ln theta)
//   low = max(c(beta_fast), 0) and high = min(c(beta_slow), n - 1), of floor and ceil of the c where truncated;
//   high + 0.001 where they are equal
//   g_i = (i - low) / (high - low) cut to [0, 1]

namespace sextant::attack {
namespace {

Interval whole(const Interval& a, mpfr_rnd_t direction) {
  Interval result = a;
  mpfr_rint(result.low.get(), a.low.get(), direction);
  mpfr_rint(result.high.get(), a.high.get(), direction);
  return result;
}

Interval cut_to_unit(const Interval& share) {
  const long bits = share.bits();
  return least_of(greatest_of(share, exactly(bits, 0.0)), exactly(bits, 1.0));
}

// w (g + (1 - g) / s).
Interval blended(const Interval& w, const Interval& unscaled, double factor) {
  const long bits = w.bits();
  return w * (unscaled + (exactly(bits, 1.0) - unscaled) / exactly(bits, factor));
}

struct Ramp {
  Interval low;
  Interval high;
};

std::optional<Ramp> ramp_of(const Rope& encoding, const YarnScaling& yarn, long bits) {
  const std::int64_t n = frequency_width(encoding);
  const auto turning = [&](double turns) {
    const Interval wavelengths =
        exactly(bits, yarn.original_max_position_embeddings) / (pi(bits) * exactly(bits, 2.0) * exactly(bits, turns));
    return exactly(bits, n) * log(wavelengths) / (exactly(bits, 2.0) * log(exactly(bits, encoding.rope_theta)));
  };
  Interval low = turning(yarn.beta_fast);
  Interval high = turning(yarn.beta_slow);
  if (yarn.truncate == Truncate::yes) {
    low = whole(low, MPFR_RNDD);
    high = whole(high, MPFR_RNDU);
    if (!low.is_point() || !high.is_point()) return std::nullopt;
  }
  low = greatest_of(low, exactly(bits, 0.0));
  high = least_of(high, exactly(bits, n - 1));
  if (low.is_point() && high.is_point() && mpfr_equal_p(low.low.get(), high.low.get()) != 0) {
    high = high + exactly(bits, 1.0) / exactly(bits, 1000.0);
  }
  const Interval length = high - low;
  if (mpfr_sgn(length.low.get()) <= 0 && mpfr_sgn(length.high.get()) >= 0) return std::nullopt;
  return Ramp{low, high};
}

std::optional<Interval> frequency(const Rope& encoding, std::int64_t length, std::int64_t pair, long bits) {
  const std::int64_t n = frequency_width(encoding);
  const Interval w = inverse_power(encoding.rope_theta, 2 * pair, n, bits);
  const RopeScaling& scaling = encoding.rope_scaling;
  // w_i times f^(-2i/(n-2)): theta f^(n/(n-2)) to the power -2i/n.
  const auto with_longer_base = [&](const Interval& f) {
    return pair == 0 ? w : w * exp(-(log(f) * exactly(bits, 2 * pair) / exactly(bits, n - 2)));
  };
  if (const auto* linear = std::get_if<LinearScaling>(&scaling)) return w / exactly(bits, linear->factor);
  if (const auto* proportional = std::get_if<ProportionalScaling>(&scaling))
    return w / exactly(bits, proportional->factor);
  if (const auto* ntk = std::get_if<NtkScaling>(&scaling)) return with_longer_base(exactly(bits, ntk->factor));
  if (const auto* dynamic = std::get_if<DynamicScaling>(&scaling)) {
    const std::int64_t trained = dynamic->original_max_position_embeddings;
    if (length <= trained) return w;
    const Interval s = exactly(bits, dynamic->factor);
    if (dynamic->length_steps == LengthSteps::doublings) {
      // Qwen's 2^ceil(log2(l/L) + 1) - 1 is s 2^j - (s - 1) of s = 2, j the bits of floor((l - 1)/L).
      std::int64_t times = 1;
      for (std::int64_t rest = (length - 1) / trained; rest > 0; rest /= 2) times *= 2;
      return with_longer_base(s * exactly(bits, times) - (s - exactly(bits, 1.0)));
    }
    return with_longer_base(s * exactly(bits, length) / exactly(bits, trained) - (s - exactly(bits, 1.0)));
  }
  if (const auto* yarn = std::get_if<YarnScaling>(&scaling)) {
    const auto ramp = ramp_of(encoding, *yarn, bits);
    if (!ramp) return std::nullopt;
    const Interval interpolated = cut_to_unit((exactly(bits, pair) - ramp->low) / (ramp->high - ramp->low));
    return blended(w, exactly(bits, 1.0) - interpolated, yarn->factor);
  }
  if (const auto* longrope = std::get_if<LongropeScaling>(&scaling)) {
    const auto& divisors =
        length > longrope->original_max_position_embeddings ? longrope->long_factor : longrope->short_factor;
    return w / exactly(bits, divisors.at(static_cast<std::size_t>(pair)));
  }
  if (const auto* llama = std::get_if<Llama3Scaling>(&scaling)) {
    const Interval turns = exactly(bits, llama->original_max_position_embeddings) * w / (pi(bits) * exactly(bits, 2.0));
    const Interval low = exactly(bits, llama->low_freq_factor);
    return blended(w, cut_to_unit((turns - low) / (exactly(bits, llama->high_freq_factor) - low)), llama->factor);
  }
  return w;
}

// The j/k in lowest terms with s^k = L^j, if there is one: then L is a k-th power of an integer, so that k < 54, and j
// <= 1024 k. Powers are compared exactly: k times 53 bits of s, j times 53 of L.
struct RatioOfLogarithms {
  std::int64_t j;
  std::int64_t k;
};
std::optional<RatioOfLogarithms> ratio_of_logarithms(double s, std::int64_t trained) {
  const double ratio = std::log(s) / std::log(static_cast<double>(trained));
  for (std::int64_t k = 1; k < 54; ++k) {
    const auto j = static_cast<std::int64_t>(std::llround(ratio * static_cast<double>(k)));
    if (std::fabs(ratio * static_cast<double>(k) - static_cast<double>(j)) > 1e-6 || std::gcd(j, k) != 1) continue;
    Real of_factor(k * 53 + 64, s);
    Real of_length(j * 53 + 64);
    mpfr_set_sj(of_length.get(), trained, MPFR_RNDN);
    mpfr_pow_ui(of_factor.get(), of_factor.get(), static_cast<unsigned long>(k), MPFR_RNDN);
    mpfr_pow_ui(of_length.get(), of_length.get(), static_cast<unsigned long>(j), MPFR_RNDN);
    if (mpfr_equal_p(of_factor.get(), of_length.get()) != 0) return RatioOfLogarithms{j, k};
  }
  return std::nullopt;
}

}  // namespace

bool stands_still(const Rope& encoding) { return std::holds_alternative<NoTurning>(encoding.rope_scaling); }

std::int64_t frequency_width(const Rope& encoding) {
  return encoding.rotary_layout == RotaryLayout::spread ? encoding.head_dim : encoding.rotary_dim;
}

ChannelsOfPair rotary_channels(const Rope& encoding, Pairing pairing, std::int64_t pair) {
  const std::int64_t start =
      encoding.rotary_layout == RotaryLayout::suffix ? encoding.head_dim - encoding.rotary_dim : 0;
  if (pairing == Pairing::interleaved) return {start + 2 * pair, start + 2 * pair + 1};
  // Of a head in parts (Gemma 4's towers) a pair lies within one.
  const std::int64_t pairs_of_part = frequency_width(encoding) / 2 / encoding.parts;
  const std::int64_t first = start + 2 * pairs_of_part * (pair / pairs_of_part) + pair % pairs_of_part;
  return {first, first + pairs_of_part};
}

std::int64_t length_of_row(const Rope& encoding, const Case& example, std::int64_t row) {
  std::int64_t first = 0;
  std::int64_t last = std::ssize(example.positions);
  if (length_scope(encoding.rope_scaling) == LengthScope::row && example.batch > 1) {
    first = row * example.tokens;
    last = first + example.tokens;
  }
  std::int64_t length = first == last ? 0 : std::numeric_limits<std::int64_t>::min();
  for (std::int64_t i = first; i < last; ++i)
    length = std::max(length, example.positions[static_cast<std::size_t>(i)] + 1);
  return length;
}

std::shared_ptr<const Frequencies> frequencies_of(const Rope& encoding, std::int64_t length) {
  // Only two rules look at the length: one at which side of L it is on, the other at all of it.
  std::int64_t told = 0;
  if (const auto* dynamic = std::get_if<DynamicScaling>(&encoding.rope_scaling))
    told = std::max(length, dynamic->original_max_position_embeddings);
  if (const auto* longrope = std::get_if<LongropeScaling>(&encoding.rope_scaling))
    told = length > longrope->original_max_position_embeddings ? length : 0;
  Spec spec;
  spec.encoding = encoding;
  return kept_frequencies(to_json(spec) + std::to_string(told), [&] {
    return Frequencies(encoding.rotary_dim / 2, [encoding, told](std::int64_t pair, long bits) {
      const auto w = frequency(encoding, told, pair, bits);
      // Of a step of the positions.
      return w ? std::optional(*w * exactly(bits, encoding.positions.step)) : w;
    });
  });
}

// YaRN: attention_factor, or get_mscale(s, mscale) / get_mscale(s, mscale_all_dim), get_mscale(s, m) = 0.1 m ln s + 1
// (DeepSeek-V3's code), m = 1 without. LongRoPE: sqrt(1 + ln s / ln L), or in Phi-3.5-MoE long_mscale where seq_len is
// above original_max_position_embeddings and short_mscale where it is not. Where such a number is rational it is given
// as two integers, without which no tie could be told.
AttentionFactor::Fraction AttentionFactor::at(long bits) const {
  const Interval one = exactly(bits, 1.0);
  if (const auto* yarn = std::get_if<YarnScaling>(&encoding_.rope_scaling)) {
    if (yarn->attention_factor) return {exactly(bits, *yarn->attention_factor), one};
    if (yarn->factor == 1 || (yarn->mscale && *yarn->mscale == *yarn->mscale_all_dim)) return {one, one};
    const Interval tenth_of_log = log(exactly(bits, yarn->factor)) / exactly(bits, 10.0);
    const auto magnitude = [&](double m) { return exactly(bits, m) * tenth_of_log + one; };
    if (!yarn->mscale) return {magnitude(1), one};
    return {magnitude(*yarn->mscale), magnitude(*yarn->mscale_all_dim)};
  }
  if (const auto* longrope = std::get_if<LongropeScaling>(&encoding_.rope_scaling)) {
    if (longrope->short_mscale) {
      const bool is_long = length_ > longrope->original_max_position_embeddings;
      return {exactly(bits, is_long ? *longrope->long_mscale : *longrope->short_mscale), one};
    }
    if (longrope->attention_factor) return {exactly(bits, *longrope->attention_factor), one};
    const std::int64_t trained = longrope->original_max_position_embeddings;
    // sqrt((j + k) / k) as a square root of an integer, which MPFR gives exactly where it can, over another.
    if (const auto ratio = ratio_of_logarithms(*longrope->factor, trained)) {
      return {sqrt(exactly(bits, (ratio->j + ratio->k) * ratio->k)), exactly(bits, ratio->k)};
    }
    return {sqrt(one + log(exactly(bits, *longrope->factor)) / log(exactly(bits, trained))), one};
  }
  return {one, one};
}

Interval AttentionFactor::times(const Interval& value) const {
  if (!kept_ || kept_->numerator.bits() != value.bits()) kept_ = at(value.bits());
  return value * kept_->numerator / kept_->denominator;
}

}  // namespace sextant::attack
