// Over 400 lines: what each rule adds to one sum of roundings, step by step as in docs/proofs/accuracy-classes.md.
#include "properties/model/budget.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "lib/numeric/ulp.hpp"
#include "lib/spec/of.hpp"
#include "reference/rounding.hpp"

namespace sextant {
namespace {

using reference::Enclosure;
using reference::Precision;

double relative_error(double roundoff, double roundings) {
  const double total = roundings * roundoff;
  // Past one half gamma says nothing of use; one that exceeds every angle makes the bounds their trivial maximum.
  if (total >= 0.5) return 1e9;
  // Three roundings of this expression are covered by three steps up.
  return total / (1 - total) * (1 + 4 * std::numeric_limits<double>::epsilon());
}

// Budgets are formed once, in double in the end.
constexpr Precision budget_precision{64};

// (1 - 1/s) w/w' for a pair between w/s and w, 0 for the others.
double sensitivity(double factor, const Enclosure& unscaled, const Enclosure& scaled) {
  const Enclosure s(factor, unscaled.precision());
  if (!certainly_above(unscaled, scaled) || !certainly_above(scaled, unscaled / s)) return 0;
  return ((Enclosure(1.0, unscaled.precision()) - Enclosure(1.0, unscaled.precision()) / s) * unscaled / scaled)
      .upper();
}

// c_i of budget.hpp. Its few roundings in double are covered by relative_error's steps up.
double roundings(reference::RopeFrequencies& frequencies, std::int64_t pair, std::int64_t longest, double libm,
                 double roundoff) {
  struct Rule {
    reference::RopeFrequencies& frequencies;
    Enclosure unscaled;
    Enclosure scaled;
    double libm;
    double roundoff;
    double of_power = 2 * libm;  // roundoffs of pow

    double plain() const { return 3 + of_power + 2 * abs(log(unscaled)).upper(); }
    double of_new_base() const {
      return 3 + of_power + 2 * abs(log(scaled)).upper() + abs(log(scaled / unscaled)).upper();
    }

    double operator()(const DefaultScaling&) const { return plain(); }
    double operator()(const LinearScaling&) const { return plain() + 2; }
    double operator()(const LongropeScaling&) const { return plain() + 2; }
    double operator()(const ProportionalScaling&) const { return plain() + 2; }
    double operator()(const NoTurning&) const { return 0; }
    double operator()(const NtkScaling&) const { return of_new_base() + 3 + of_power; }
    double operator()(const DynamicScaling& dynamic) const { return of_new_base() + 2 + of_power + 3 * dynamic.factor; }
    double operator()(const YarnScaling& yarn) const {
      const double moves = sensitivity(yarn.factor, unscaled, scaled);
      if (moves == 0) return plain() + 5;
      double delta = 3;
      if (yarn.truncate == Truncate::no) {
        const Rope& encoding = frequencies.encoding();
        const auto n = static_cast<double>(encoding.rotary_dim);
        const reference::RopeFrequencies::Ramp ramp = *frequencies.ramp(budget_precision);
        const double end = (4 * libm + 1) * n + 3 * n / (2 * std::log(encoding.rope_theta));
        delta += 3 * end / abs(ramp.high - ramp.low).lower();
      }
      return plain() + 5 + moves * delta;
    }
    double operator()(const Llama3Scaling& llama3) const {
      const Enclosure turns = Enclosure(llama3.original_max_position_embeddings, budget_precision) * unscaled /
                              (Enclosure(2.0, budget_precision) * Enclosure::pi(budget_precision));
      if (llama3.high_freq_factor == llama3.low_freq_factor) return plain() + 5 + jump(turns, llama3);
      const double delta = turns.upper() * (plain() + 3) / (llama3.high_freq_factor - llama3.low_freq_factor) + 3;
      return plain() + 5 + sensitivity(llama3.factor, unscaled, scaled) * delta;
    }

    // Of a pair so near the one border of llama3 that its rounded wavelength may lie on the other side, where w' is s
    // times what it should be, or 1/s of it.
    double jump(const Enclosure& turns, const Llama3Scaling& llama3) const {
      const double distance = abs(turns - Enclosure(llama3.low_freq_factor, budget_precision)).lower();
      if (distance > turns.upper() * (plain() + 5) * roundoff) return 0;
      return (llama3.factor - 1) / roundoff;
    }
  };
  // Rules are of frequencies per position, not per step of it.
  const Enclosure step(frequencies.encoding().positions.step, budget_precision);
  const Rule rule{frequencies, frequencies.unscaled(pair, budget_precision),
                  frequencies.radians(pair, longest, budget_precision) / step, libm, roundoff};
  return std::visit(rule, frequencies.encoding().rope_scaling);
}

// The same of a ladder that rises to its base: theta times the frequency of a falling one (step 14).
double roundings_of_rising(reference::RopeFrequencies& frequencies, std::int64_t index, double libm) {
  const Enclosure highest(frequencies.encoding().rope_theta, budget_precision);
  return 3 + 2 * libm + 3 * log(frequencies.unscaled(index, budget_precision) * highest).upper();
}

// Of m(x) = 0.1 x ln s + 1 (step 10), without the rounding of that sum.
double roundings_of_magnitude(double s, double x, double libm) {
  const double beyond_one = 0.1 * x * std::log(s);
  return (0.2 * x + beyond_one * (2 * libm + (x == 1 ? 2 : 3))) / (1 + beyond_one);
}

std::optional<RoundedFactor> factor_of(reference::RopeFrequencies frequencies, double libm) {
  const RopeScaling& rule = frequencies.encoding().rope_scaling;
  const auto is_one = [&](std::int64_t length) {
    const Enclosure& factor = frequencies.attention_factor(length, budget_precision);
    return factor.lower() == 1 && factor.upper() == 1;
  };
  // In calls of any length: the longest that a rule tells apart are those beyond its limit.
  if (is_one(0) && is_one(length_limit(rule).value_or(0) + 1)) return std::nullopt;
  if (const auto* yarn = std::get_if<YarnScaling>(&rule); yarn && !yarn->attention_factor) {
    if (!yarn->mscale) return RoundedFactor{roundings_of_magnitude(yarn->factor, 1, libm)};
    return RoundedFactor{roundings_of_magnitude(yarn->factor, *yarn->mscale, libm) +
                         roundings_of_magnitude(yarn->factor, *yarn->mscale_all_dim, libm) + 2};
  }
  if (const auto* longrope = std::get_if<LongropeScaling>(&rule);
      longrope && !longrope->attention_factor && !longrope->short_mscale) {
    const double of_length = std::log(static_cast<double>(longrope->original_max_position_embeddings));
    const double ratio = std::log(*longrope->factor) / of_length;
    return RoundedFactor{((ratio * (4 * libm + 1) + 1 / of_length) / (1 + ratio) + 1) / 2};
  }
  return RoundedFactor{};
}

// What is not known to be otherwise is multiplied, which is allowed the most.
struct UseOfTable {
  TableUse operator()(const Rope&) const { return TableUse::turns; }
  TableUse operator()(const RopeNd&) const { return TableUse::turns; }
  TableUse operator()(const Xpos&) const { return TableUse::turns; }
  TableUse operator()(const Sinusoidal& encoding) const {
    return encoding.scale == 1 ? TableUse::is_value : TableUse::is_multiplied;
  }
  TableUse operator()(const QkNormRope&) const { return TableUse::turns; }
  TableUse operator()(const RotaryTable&) const { return TableUse::is_value; }
  TableUse operator()(const Sinusoidal2d&) const { return TableUse::is_value; }
  TableUse operator()(const SinusoidalNd&) const { return TableUse::is_value; }
  TableUse operator()(const Fourier&) const { return TableUse::is_value; }
  TableUse operator()(const LogCoordinates&) const { return TableUse::is_value; }
  TableUse operator()(const Attention& attention) const {
    return attention.position ? of_each(*attention.position, *this) : TableUse::is_value;
  }
  TableUse operator()(const auto&) const { return TableUse::is_multiplied; }
};

// Step 18: how far rounded entries move a value, in ULP of a dtype of roundoff u.
double of_rounded_entries(TableUse table, const std::optional<RoundedFactor>& factor, double u) {
  return table == TableUse::is_multiplied || factor ? 1 / (1 + u) : std::numbers::sqrt2 / 2;
}

}  // namespace

ArithmeticClaim arithmetic_of(const Spec& spec) {
  return {.accuracy = spec.accuracy,
          .dtype = spec.dtype,
          .evaluation = spec.evaluation,
          .libm = spec.libm,
          .table = of_each(spec, UseOfTable{})};
}

double evaluation_ulps(const ArithmeticClaim& claim, const std::optional<RoundedFactor>& factor) {
  if (claim.accuracy == AccuracyClass::correctly_rounded) return 0.5;
  if (claim.accuracy == AccuracyClass::faithful) return 1;
  const bool in_16_bits = is_16_bit(claim.dtype);
  const double roundoff = unit_roundoff(claim.dtype);
  const double of_evaluation = in_16_bits ? unit_roundoff(Dtype::float32) : roundoff;
  double ulps = 2 * claim.libm + 2;
  if (factor) {
    // Products of its errors are what the last term is for.
    const double without =
        claim.table == TableUse::is_value ? 2 * claim.libm + 1.5 : std::numbers::sqrt2 * claim.libm + 3.25;
    const double with_factor = without + factor->roundings * angle_roundoff(claim.accuracy) / of_evaluation;
    ulps = std::max(ulps, with_factor + 0x1p-10);
  }
  if (!in_16_bits) return ulps;
  const double before_rounding = ulps * of_evaluation / roundoff;
  const bool is_cast_once = claim.evaluation == Evaluation::table && claim.table == TableUse::is_value;
  if (claim.evaluation == Evaluation::float32 || is_cast_once) return 0.5 + before_rounding;
  if (claim.evaluation == Evaluation::table) {
    const double of_sum = (1 + roundoff) * (ulps + 0.75) * of_evaluation / roundoff;
    const double off = of_rounded_entries(claim.table, factor, roundoff) + of_sum;
    return off + (off <= 1 ? 0.5 : 1);
  }
  return (factor ? 2.75 : 2.5) + roundoff + before_rounding;
}

double middle_roundings(double cells, AccuracyClass accuracy) {
  return 2 * cells * angle_roundoff(accuracy) > 1 ? 5 : 3;
}

double angle_roundoff(AccuracyClass accuracy) {
  switch (accuracy) {
    case AccuracyClass::correctly_rounded:
    case AccuracyClass::faithful: return 0;
    case AccuracyClass::exact_angle:
    case AccuracyClass::pair_norm: return unit_roundoff(Dtype::float64);
    case AccuracyClass::float32_angle:
    case AccuracyClass::float32_recurrence: return unit_roundoff(Dtype::float32);
    case AccuracyClass::float16_angle: return unit_roundoff(Dtype::float16);
    case AccuracyClass::bfloat16_angle: return unit_roundoff(Dtype::bfloat16);
  }
  throw std::invalid_argument("angle_roundoff: no such accuracy class");
}

ErrorBudget::ErrorBudget(const ArithmeticClaim& claim, const std::optional<RoundedFactor>& factor)
    : accuracy_(claim.accuracy),
      dtype_(claim.dtype),
      libm_(claim.libm),
      ulps_(evaluation_ulps(claim, factor)),
      exact_up_to_(1 / angle_roundoff(claim.accuracy)) {}

ErrorBudget::ErrorBudget(const ArithmeticClaim& claim, const reference::GeometricFrequencies& frequencies,
                         std::int64_t pairs)
    : ErrorBudget(claim, std::nullopt) {
  reference::GeometricFrequencies list = frequencies;
  set_units(frequencies.factors().scale, frequencies.factors().step);
  // Step 15: an angle scale is rounded, and its product; by a power of two neither.
  const double of_scale = fastest_is_exact_ ? 0 : 2;
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    const double direct = 3 + 2 * libm_ + 2 * frequencies.log_magnitude(pair, budget_precision).upper() + of_scale;
    add_pair(list.radians(pair, budget_precision), direct, of_recurrence(pair));
  }
}

ErrorBudget::ErrorBudget(const ArithmeticClaim& claim, reference::RopeFrequencies frequencies, std::int64_t longest)
    : ErrorBudget(claim, frequencies, longest, factor_of(frequencies, claim.libm)) {}

ErrorBudget::ErrorBudget(const ArithmeticClaim& claim, reference::RopeFrequencies frequencies, std::int64_t longest,
                         const std::optional<RoundedFactor>& factor)
    : ErrorBudget(claim, factor) {
  set_units(1, frequencies.encoding().positions.step);
  for (std::int64_t pair = 0; pair < pairs(frequencies.encoding()); ++pair) add_pair(frequencies, pair, longest);
}

ErrorBudget::ErrorBudget(const ArithmeticClaim& claim, const reference::RopeNdReference& oracle, std::int64_t longest)
    : ErrorBudget(claim, factor_of(oracle.ladders().front().frequencies, claim.libm)) {
  std::vector<reference::RopeNdReference::LadderFrequencies> ladders(oracle.ladders().begin(), oracle.ladders().end());
  for (const auto& [ladder, index] : oracle.places()) {
    auto& [frequencies, counts, stretch] = ladders[static_cast<std::size_t>(ladder)];
    if (counts == 0) {
      add_pair(frequencies, index, longest);
      continue;
    }
    // Normalized coordinates have a ladder for each axis.
    const RopeNd& encoding = oracle.encoding();
    const auto axis = static_cast<std::size_t>(ladder);
    add_normalized(
        frequencies, index,
        {.extent = encoding.extents[axis],
         .counts = counts,
         .shift = encoding.coordinate_shifts.empty() ? std::nullopt : std::optional(encoding.coordinate_shifts[axis]),
         .is_scaled = !encoding.coordinate_scales.empty(),
         .stretch = stretch,
         .ladder = encoding.ladder});
  }
}

void ErrorBudget::set_units(double scale, double step) {
  int exponent = 0;
  fastest_is_exact_ = std::frexp(scale, &exponent) == 0.5;
  fastest_ = scale * step;
}

// Step 17.
ErrorBudget::ErrorBudget(const ArithmeticClaim& claim, const reference::SinusoidalNdReference& oracle,
                         std::int64_t axis)
    : ErrorBudget(claim, std::nullopt) {
  reference::SinusoidalNdReference list = oracle;
  const CountUnit unit = unit_of_axis(oracle.encoding(), axis);
  const double of_coordinate = unit == CountUnit{} ? 0 : unit.of == CountUnit::Of::radian ? 2 : 5;
  for (std::int64_t pair = 0; pair < pairs(oracle.encoding(), axis); ++pair) {
    const double of_frequency = 2 * libm_ + 2 * oracle.frequencies(axis).log_magnitude(pair, budget_precision).upper();
    add_pair(list.radians(axis, pair, budget_precision), 3 + of_frequency + of_coordinate, of_recurrence(pair));
  }
}

ErrorBudget::ErrorBudget(const ArithmeticClaim& claim, std::span<const double> roundings)
    : ErrorBudget(claim, std::nullopt) {
  fastest_is_exact_ = false;
  for (std::size_t pair = 0; pair < roundings.size(); ++pair)
    add_pair(Enclosure(1.0, budget_precision), roundings[pair], of_recurrence(static_cast<std::int64_t>(pair)));
}

// The roundings that a running product adds up to the pair of that index.
double ErrorBudget::of_recurrence(std::int64_t index) const {
  return accuracy_ == AccuracyClass::float32_recurrence ? (1 + 2 * libm_) * static_cast<double>(index) : 0;
}

void ErrorBudget::add_pair(reference::RopeFrequencies& frequencies, std::int64_t index, std::int64_t longest) {
  add_pair(frequencies.radians(index, longest, budget_precision),
           roundings(frequencies, index, longest, libm_, angle_roundoff(accuracy_)), of_recurrence(index));
}

// Step 14.
void ErrorBudget::add_normalized(reference::RopeFrequencies& frequencies, std::int64_t index,
                                 const Normalized& coordinates) {
  const Enclosure whole = frequencies.radians(index, 0, budget_precision) * Enclosure(2.0, budget_precision) *
                          Enclosure::pi(budget_precision) * Enclosure(coordinates.stretch, budget_precision);
  const double roundoff = angle_roundoff(accuracy_);
  const double terms = middle_roundings(static_cast<double>(coordinates.extent), accuracy_);
  const double of_frequency = coordinates.ladder == LadderShape::both_ends
                                  ? roundings_of_rising(frequencies, index, libm_)
                                  : roundings(frequencies, index, 0, libm_, roundoff);
  const double direct = of_frequency + 2;
  const double moved = (coordinates.shift ? 1 : 0) + (coordinates.is_scaled ? 2 : 0);
  add_pair(whole / Enclosure(coordinates.counts, budget_precision), direct, of_recurrence(index) + terms + moved);
  unit_frequency_.back() = false;
  const double added = terms + (terms + 2) * std::fabs(coordinates.shift.value_or(0));
  offsets_.back() = added * whole.upper() / pairs_.back().roundings * (1 + 4 * std::numeric_limits<double>::epsilon());
}

void ErrorBudget::add_pair(const Enclosure& frequency, double direct, double recurrence) {
  offsets_.push_back(0);
  // Step 3: a w_i of 1, times a power of two.
  const bool unit = fastest_is_exact_ && frequency.lower() == fastest_ && frequency.upper() == fastest_;
  const double total = direct + recurrence;
  unit_frequency_.push_back(unit);
  relative_angle_error_.push_back(relative_error(angle_roundoff(accuracy_), unit ? 1 : total));
  pairs_.push_back({{frequency.lower(), frequency.upper()}, total, recurrence});
}

ErrorBudget ErrorBudget::of_own_frequencies() const {
  double fastest = fastest_;
  for (const Pair& pair : pairs_) fastest = std::max(fastest, pair.frequency.upper);
  const double roundoff = angle_roundoff(accuracy_);
  ErrorBudget own = *this;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    // |p| W gamma_n as a part of |p w_i|; the two roundings here are covered by another two steps up. A frequency may
    // be as small as doubles go.
    const double of_fastest = fastest / pairs_[i].frequency.lower * relative_error(roundoff, 3 + pairs_[i].recurrence) *
                              (1 + 2 * std::numeric_limits<double>::epsilon());
    own.relative_angle_error_[i] =
        std::clamp(of_fastest, relative_error(roundoff, pairs_[i].roundings), std::numeric_limits<double>::max());
    own.unit_frequency_[i] = false;
    own.offsets_[i] *= pairs_[i].roundings / 3;
  }
  return own;
}

// An angle within 2^-48 of itself, a whole number of fastest_: one of up to 2^24 is told exactly, one beyond has its
// error all the same.
double ErrorBudget::quick_angle_error(double angle, std::int64_t pair) const {
  const auto i = static_cast<std::size_t>(pair);
  if (unit_frequency_.at(i) && std::fabs(angle) <= exact_angle() + fastest_ / 2) return 0;
  return (std::fabs(angle) + offsets_[i]) * relative_angle_error_.at(i);
}

double ErrorBudget::conditioned_ulp(double truth, double angle, double derivative) const {
  return ulp(dtype_, truth) + std::fabs(angle * derivative) * angle_roundoff(accuracy_);
}

Enclosure ErrorBudget::angle_error(const Enclosure& angle, std::int64_t pair) const {
  if (unit_frequency_.at(static_cast<std::size_t>(pair)) && abs(angle).upper() <= exact_angle())
    return Enclosure(std::int64_t{0}, angle.precision());
  const auto i = static_cast<std::size_t>(pair);
  return (abs(angle) + Enclosure(offsets_.at(i), angle.precision())) *
         Enclosure(relative_angle_error_.at(i), angle.precision());
}

Enclosure ErrorBudget::element_bound(const Enclosure& truth, const Enclosure& derivative, const Enclosure& scale,
                                     const Enclosure& angle, std::int64_t pair) const {
  if (accuracy_ == AccuracyClass::pair_norm) return component_bound(abs(scale), angle, pair);
  const Precision precision = truth.precision();
  const Enclosure half(0.5, precision);
  const Enclosure two(2.0, precision);
  const Enclosure d = angle_error(angle, pair);
  const Enclosure effect = min(abs(derivative) * d + abs(scale) * square(d) * half, abs(scale) * two);
  return Enclosure(ulps_, precision) * reference::ulp(dtype_, abs(truth) + effect) + effect;
}

Enclosure ErrorBudget::shift_bound(const Enclosure& norm, const Enclosure& angle, std::int64_t pair) const {
  return min(angle_error(angle, pair), Enclosure(2.0, norm.precision())) * norm;
}

Enclosure ErrorBudget::component_bound(const Enclosure& norm, const Enclosure& angle, std::int64_t pair) const {
  return Enclosure(ulps_, norm.precision()) * reference::ulp(dtype_, norm) + shift_bound(norm, angle, pair);
}

Enclosure ErrorBudget::norm_bound(const Enclosure& norm) const {
  const Precision precision = norm.precision();
  return sqrt(Enclosure(2.0, precision)) * Enclosure(ulps_, precision) * reference::ulp(dtype_, norm);
}

double ErrorBudget::least_norm_bound(double norm) const {
  constexpr double below_root_of_two = 1.4142;
  return below_root_of_two * ulps_ * sextant::ulp(dtype_, norm * (1 - 0x1p-40));
}

double ErrorBudget::least_pair_bound(double norm, double angle, std::int64_t pair) const {
  return least_norm_bound(norm) + std::min(quick_angle_error(angle, pair), 2.0) * norm * (1 - 0x1p-39);
}

// k ulp(size) + effect. The callers' few operations leave effect and size within 2^-45 of themselves, which 2^-40
// covers.
reference::Bounds ErrorBudget::quick_bound(const reference::Bounds& size, double effect) const {
  constexpr double epsilon = 0x1p-40;
  const double unit = sextant::ulp(dtype_, size.lower * (1 - epsilon));
  const double bound = ulps_ * unit + effect;
  const double larger = sextant::ulp(dtype_, size.upper * (1 + epsilon));
  const double most = ulps_ * larger + effect;
  if (!(bound > 0x1p-900)) return {0, most > 0x1p-900 ? most * (1 + epsilon) : std::numeric_limits<double>::infinity()};
  if (unit != larger) return {0, most * (1 + epsilon)};
  return {bound * (1 - epsilon), bound * (1 + epsilon)};
}

// An error of 2^-98 |scale| of the derivative moves the effect by 2^-98 |scale| d: less than 2^-45 of it where the
// derivative is above 2^-53 |scale|, and less than 2^-45 ulp(truth) else, the truth being near |scale| then, or d so
// large that its square outweighs it.
reference::Bounds ErrorBudget::element_bound(const reference::Bounds& truth, double derivative, double scale,
                                             double angle, std::int64_t pair) const {
  const double d = quick_angle_error(angle, pair);
  const double size = std::fabs(scale);
  if (accuracy_ == AccuracyClass::pair_norm) {
    // The norm is the scale, exactly: at a border of binades, as 1 is, its ULP is known.
    constexpr double epsilon = 0x1p-40;
    const double bound = ulps_ * sextant::ulp(dtype_, size) + std::min(d, 2.0) * size;
    if (!(bound > 0x1p-900)) return {0, std::numeric_limits<double>::infinity()};
    return {bound * (1 - epsilon), bound * (1 + epsilon)};
  }
  const double effect = std::min(std::fabs(derivative) * d + size * d * d / 2, 2 * size);
  return quick_bound({truth.lower + effect, truth.upper + effect}, effect);
}

reference::Bounds ErrorBudget::component_bound(double norm, double angle, std::int64_t pair) const {
  const double d = quick_angle_error(angle, pair);
  return quick_bound({norm, norm}, std::min(d, 2.0) * norm);
}

Enclosure ErrorBudget::pair_bound(const Enclosure& norm, const Enclosure& angle, std::int64_t pair) const {
  return norm_bound(norm) + shift_bound(norm, angle, pair);
}

}  // namespace sextant
