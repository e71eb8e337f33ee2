#include "reference/rope_scaling.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sextant::reference {
namespace {

Enclosure one(Precision precision) { return {std::int64_t{1}, precision}; }

Enclosure clamped_to_unit(const Enclosure& a) {
  const Precision precision = a.precision();
  const Enclosure at_most_one = min(a, one(precision));
  return -min(-at_most_one, Enclosure(std::int64_t{0}, precision));
}

Enclosure ratio(std::int64_t numerator, std::int64_t denominator, Precision precision) {
  return Enclosure(numerator, precision) / Enclosure(denominator, precision);
}

// w ((1 - share)/s + share): all of w at share 1, w/s at 0.
Enclosure blend(const Enclosure& frequency, const Enclosure& share, double factor) {
  const Precision precision = frequency.precision();
  return frequency * ((one(precision) - share) / Enclosure(factor, precision) + share);
}

// The whole number that every real of `quantity(precision)` rounds to. Numbers beyond 64 bits saturate: the caller
// clamps.
template <class Quantity>
std::int64_t certain_integer(Quantity quantity, mpfr_rnd_t rounding) {
  std::int64_t result = 0;
  const Certainty decided = decide([&](Precision precision) {
    const Enclosure value = quantity(precision);
    result = mpfr_get_si(value.lower_end(), rounding);
    return result == mpfr_get_si(value.upper_end(), rounding) ? Certainty::yes : Certainty::unknown;
  });
  if (decided != Certainty::yes)
    throw std::range_error("yarn: an end of the ramp lies too near a whole number to tell its side");
  return result;
}

// YaRN's m(x) = 0.1 x ln s + 1.
Enclosure magnitude_scale(double factor, double coefficient, Precision precision) {
  return ratio(1, 10, precision) * Enclosure(coefficient, precision) * log(Enclosure(factor, precision)) +
         one(precision);
}

}  // namespace

std::int64_t stepped_length(const DynamicScaling& dynamic, std::int64_t sequence_length) {
  if (dynamic.length_steps == LengthSteps::every) return sequence_length;
  std::int64_t step = dynamic.original_max_position_embeddings;
  if (sequence_length <= step) return sequence_length;
  while (step < sequence_length) step += step;
  return step;
}

RopeFrequencies::RopeFrequencies(const Rope& encoding)
    : encoding_(encoding),
      width_(rotary_width(encoding)),
      geometric_(encoding.rope_theta, 2, width_, pairs(encoding)),
      whole_ramp_(whole_ramp()) {}

Enclosure RopeFrequencies::correction(double turns, Precision precision) const {
  const auto& yarn = std::get<YarnScaling>(encoding_.rope_scaling);
  const Enclosure two(2.0, precision);
  const Enclosure wavelength = Enclosure(yarn.original_max_position_embeddings, precision) /
                               (two * Enclosure::pi(precision) * Enclosure(turns, precision));
  return Enclosure(width_, precision) * log(wavelength) / (two * log(Enclosure(encoding_.rope_theta, precision)));
}

std::optional<RopeFrequencies::Whole> RopeFrequencies::whole_ramp() const {
  const auto* yarn = std::get_if<YarnScaling>(&encoding_.rope_scaling);
  if (yarn == nullptr || yarn->truncate == Truncate::no) return std::nullopt;
  const auto end = [&](double turns, mpfr_rnd_t rounding) {
    return certain_integer([&](Precision precision) { return correction(turns, precision); }, rounding);
  };
  return Whole{std::max<std::int64_t>(end(yarn->beta_fast, MPFR_RNDD), 0),
               std::min(end(yarn->beta_slow, MPFR_RNDU), width_ - 1)};
}

std::optional<RopeFrequencies::Ramp> RopeFrequencies::ramp(Precision precision) const {
  const auto* yarn = std::get_if<YarnScaling>(&encoding_.rope_scaling);
  if (yarn == nullptr) return std::nullopt;
  if (whole_ramp_) {
    const Enclosure low(whole_ramp_->low, precision);
    if (whole_ramp_->low == whole_ramp_->high) return Ramp{low, low + ratio(1, 1000, precision)};
    return Ramp{low, Enclosure(whole_ramp_->high, precision)};
  }
  const Enclosure zero(std::int64_t{0}, precision);
  return Ramp{-min(-correction(yarn->beta_fast, precision), zero),
              min(correction(yarn->beta_slow, precision), Enclosure(width_ - 1, precision))};
}

std::int64_t RopeFrequencies::length_that_matters(std::int64_t sequence_length) const {
  const auto limit = length_limit(encoding_.rope_scaling);
  if (!limit || sequence_length <= *limit) return limit.value_or(0);
  if (const auto* dynamic = std::get_if<DynamicScaling>(&encoding_.rope_scaling))
    return stepped_length(*dynamic, sequence_length);
  // longrope has one list for all lengths beyond L.
  return *limit + 1;
}

Enclosure RopeFrequencies::stretched_base(std::int64_t pair, const Enclosure& stretch, Precision precision) const {
  return exp(-(geometric_.log_magnitude(pair, precision) + log(stretch) * ratio(2 * pair, width_ - 2, precision)));
}

Enclosure RopeFrequencies::scaled(std::int64_t pair, std::int64_t length, Precision precision) {
  struct Rule {
    RopeFrequencies& frequencies;
    std::int64_t pair;
    std::int64_t length;
    Precision precision;
    const Enclosure& w;

    Enclosure operator()(const DefaultScaling&) const { return w; }
    Enclosure operator()(const LinearScaling& linear) const { return w / Enclosure(linear.factor, precision); }
    Enclosure operator()(const NtkScaling& ntk) const {
      return frequencies.stretched_base(pair, Enclosure(ntk.factor, precision), precision);
    }
    Enclosure operator()(const DynamicScaling& dynamic) const {
      const std::int64_t limit = dynamic.original_max_position_embeddings;
      if (length <= limit) return w;
      return frequencies.stretched_base(
          pair, one(precision) + Enclosure(dynamic.factor, precision) * ratio(length - limit, limit, precision),
          precision);
    }
    Enclosure operator()(const YarnScaling& yarn) const {
      const Ramp ramp = *frequencies.ramp(precision);
      const Enclosure share = clamped_to_unit((Enclosure(pair, precision) - ramp.low) / (ramp.high - ramp.low));
      return blend(w, one(precision) - share, yarn.factor);
    }
    Enclosure operator()(const LongropeScaling& longrope) const {
      const auto& list =
          length <= longrope.original_max_position_embeddings ? longrope.short_factor : longrope.long_factor;
      return w / Enclosure(list.at(static_cast<std::size_t>(pair)), precision);
    }
    Enclosure operator()(const Llama3Scaling& llama3) const {
      const Enclosure low(llama3.low_freq_factor, precision);
      const Enclosure turns = Enclosure(llama3.original_max_position_embeddings, precision) * w /
                              (Enclosure(2.0, precision) * Enclosure::pi(precision));
      if (llama3.high_freq_factor == llama3.low_freq_factor) return step(turns, low, llama3.factor);
      return blend(w, clamped_to_unit((turns - low) / (Enclosure(llama3.high_freq_factor, precision) - low)),
                   llama3.factor);
    }
    Enclosure operator()(const ProportionalScaling& proportional) const {
      return w / Enclosure(proportional.factor, precision);
    }

    Enclosure operator()(const NoTurning&) const { throw std::logic_error("rope_type none has no frequencies"); }

    // Without a band between the borders: all of w above them, w/s below, and both where the precision does not tell.
    Enclosure step(const Enclosure& turns, const Enclosure& border, double factor) const {
      const Enclosure slow = w / Enclosure(factor, precision);
      if (certainly_above(turns, border)) return w;
      if (certainly_above(border, turns)) return slow;
      return Enclosure::hull(slow, w);
    }
  };
  return std::visit(Rule{*this, pair, length, precision, unscaled(pair, precision)}, encoding_.rope_scaling);
}

const Enclosure& RopeFrequencies::radians(std::int64_t pair, std::int64_t sequence_length, Precision precision) {
  // The last length is kept: a call has one, and the lengths of an audit's calls are too many to keep them all.
  const std::int64_t length = length_that_matters(sequence_length);
  AtLength& kept = by_precision_[precision.bits];
  if (kept.radians.empty() || kept.length != length) {
    kept = AtLength{length, {}};
    kept.radians.reserve(static_cast<std::size_t>(pairs(encoding_)));
    const Enclosure step(encoding_.positions.step, precision);
    for (std::int64_t i = 0; i < pairs(encoding_); ++i) kept.radians.push_back(scaled(i, length, precision) * step);
  }
  return kept.radians.at(static_cast<std::size_t>(pair));
}

const Rotation& RopeFrequencies::rotation(std::int64_t position, std::int64_t pair, std::int64_t sequence_length,
                                          Precision precision) {
  const std::int64_t length = length_that_matters(sequence_length);
  if (!kept_ || kept_->position != position || kept_->pair != pair || kept_->length != length ||
      kept_->bits != precision.bits) {
    Enclosure angle = radians(pair, sequence_length, precision) * Enclosure(position, precision);
    Enclosure sine = sin(angle);
    Enclosure cosine = cos(angle);
    kept_ = Kept{position, pair, length, precision.bits, {std::move(angle), std::move(sine), std::move(cosine)}};
  }
  return kept_->rotation;
}

Enclosure RopeFrequencies::log_magnitude(std::int64_t pair, std::int64_t sequence_length, Precision precision) {
  return abs(log(radians(pair, sequence_length, precision)));
}

const Enclosure& RopeFrequencies::attention_factor(std::int64_t sequence_length, Precision precision) {
  const auto limit = length_limit(encoding_.rope_scaling);
  const std::pair key{limit && sequence_length > *limit, precision.bits};
  const auto kept = attention_factors_.find(key);
  if (kept != attention_factors_.end()) return kept->second;
  return attention_factors_.emplace(key, unkept_attention_factor(key.first, precision)).first->second;
}

const Enclosure& RopeFrequencies::attention_factor(Precision precision) {
  const auto* longrope = std::get_if<LongropeScaling>(&encoding_.rope_scaling);
  if (longrope != nullptr && longrope->short_mscale)
    throw std::logic_error("RopeFrequencies::attention_factor: it depends on the length of the call");
  return attention_factor(0, precision);
}

Enclosure RopeFrequencies::unkept_attention_factor(bool beyond_limit, Precision precision) const {
  if (const auto* yarn = std::get_if<YarnScaling>(&encoding_.rope_scaling)) {
    if (yarn->attention_factor) return {*yarn->attention_factor, precision};
    if (!yarn->mscale) return magnitude_scale(yarn->factor, 1, precision);
    // Exactly 1, as DeepSeek-V3 has it, which a quotient of enclosures would not show.
    if (*yarn->mscale == *yarn->mscale_all_dim) return one(precision);
    return magnitude_scale(yarn->factor, *yarn->mscale, precision) /
           magnitude_scale(yarn->factor, *yarn->mscale_all_dim, precision);
  }
  if (const auto* longrope = std::get_if<LongropeScaling>(&encoding_.rope_scaling)) {
    if (longrope->short_mscale) return {beyond_limit ? *longrope->long_mscale : *longrope->short_mscale, precision};
    if (longrope->attention_factor) return {*longrope->attention_factor, precision};
    const Enclosure length(longrope->original_max_position_embeddings, precision);
    return sqrt(one(precision) + log(Enclosure(*longrope->factor, precision)) / log(length));
  }
  return one(precision);
}

}  // namespace sextant::reference
