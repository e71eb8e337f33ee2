#include "reference/fourier.hpp"

#include <fmt/format.h>
#include <gmp.h>

#include <cmath>
#include <stdexcept>
#include <utility>

#include "lib/numeric/index.hpp"
#include "reference/parts_of_turn.hpp"

namespace sextant::reference {
namespace {

// A rational number, exactly; freed.
class Ratio {
 public:
  Ratio() { mpq_init(value_); }
  explicit Ratio(double value) : Ratio() { mpq_set_d(value_, value); }
  explicit Ratio(std::int64_t value) : Ratio() { mpq_set_si(value_, value, 1); }
  Ratio(const Ratio& other) : Ratio() { mpq_set(value_, other.value_); }
  Ratio& operator=(const Ratio& other) {
    mpq_set(value_, other.value_);
    return *this;
  }
  ~Ratio() { mpq_clear(value_); }

  friend Ratio operator+(const Ratio& a, const Ratio& b) { return by(mpq_add, a, b); }
  friend Ratio operator-(const Ratio& a, const Ratio& b) { return by(mpq_sub, a, b); }
  friend Ratio operator*(const Ratio& a, const Ratio& b) { return by(mpq_mul, a, b); }
  friend Ratio operator/(const Ratio& a, const Ratio& b) { return by(mpq_div, a, b); }

  bool is_zero() const { return mpq_sgn(value_) == 0; }
  bool is_whole() const { return mpz_cmp_ui(mpq_denref(value_), 1) == 0; }
  // Of a whole one, mod n, at least 0.
  int rest(unsigned long n) const { return static_cast<int>(mpz_fdiv_ui(mpq_numref(value_), n)); }
  long whole() const { return mpz_get_si(mpq_numref(value_)); }

 private:
  static Ratio by(void (*function)(mpq_ptr, mpq_srcptr, mpq_srcptr), const Ratio& a, const Ratio& b) {
    Ratio result;
    function(result.value_, a.value_, b.value_);
    return result;
  }

  mpq_t value_;
};

Ratio on_ladder(const Fourier& encoding, std::int64_t band) {
  const Ratio lowest(encoding.lowest);
  if (band == 0) return lowest;
  return lowest + (Ratio(encoding.highest) - lowest) * Ratio(band) / Ratio(encoding.bands - 1);
}

Ratio exact_coordinate(const Fourier& encoding, std::int64_t axis, std::int64_t position) {
  const Ratio p(encoding.positions.at(position));
  if (encoding.coordinates == FourierCoordinates::index) return p;
  const Ratio one(std::int64_t{1});
  const Ratio two(std::int64_t{2});
  const std::int64_t extent = encoding.extents[index(axis)];
  return encoding.coordinates == FourierCoordinates::centres ? (two * p + one) / Ratio(extent) - one
                                                             : two * p / Ratio(extent - 1) - one;
}

// Frequency times coordinate, where it is rational.
std::optional<Ratio> exact_product(const Fourier& encoding, const Tensor* weight,
                                   std::span<const std::int64_t> position, std::int64_t axis, std::int64_t band) {
  if (weight != nullptr) {
    Ratio sum;
    for (std::int64_t a = 0; a < encoding.axes; ++a) {
      sum = sum + exact_coordinate(encoding, a, position[index(a)]) * Ratio(weight->at(a * encoding.bands + band));
    }
    return sum;
  }
  const Ratio c = exact_coordinate(encoding, axis, position[index(axis)]);
  const Ratio step = on_ladder(encoding, band);
  if (encoding.ladder == FrequencyLadder::linear) return c * step;
  if (c.is_zero()) return c;
  if (!step.is_whole()) return std::nullopt;
  return c * Ratio(std::ldexp(1.0, static_cast<int>(step.whole())));
}

// j mod 24 where the angle is j/24 of a turn.
std::optional<int> twenty_fourths(const Fourier& encoding, const Ratio& product) {
  if (product.is_zero()) return 0;
  if (encoding.angle_unit == AngleUnit::radian) return std::nullopt;
  const Ratio j = product * Ratio(std::int64_t{encoding.angle_unit == AngleUnit::turn ? 24 : 12});
  return j.is_whole() ? std::optional(j.rest(24)) : std::nullopt;
}

}  // namespace

FourierReference::FourierReference(const Fourier& encoding) : encoding_(encoding) {
  if (is_given(encoding)) throw std::invalid_argument("fourier: the frequencies are a weight, of which there is none");
}

FourierReference::FourierReference(const Fourier& encoding, const Tensor& weight)
    : encoding_(encoding), weight_(weight) {
  if (!is_given(encoding) || weight.shape != std::vector{encoding.axes, encoding.bands})
    throw std::invalid_argument("fourier: no weight of this shape is the frequencies");
}

Enclosure FourierReference::coordinate(std::int64_t axis, std::int64_t position, Precision precision) const {
  const Enclosure p(encoding_.positions.at(position), precision);
  if (encoding_.coordinates == FourierCoordinates::index) return p;
  const Enclosure half(0.5, precision);
  const Enclosure one(1.0, precision);
  const bool of_middles = encoding_.coordinates == FourierCoordinates::centres;
  const std::int64_t cells = encoding_.extents[index(axis)] - (of_middles ? 0 : 1);
  return (of_middles ? p + half : p) / (Enclosure(cells, precision) * half) - one;
}

// The exponents' linspace by its own formula, and an exponential: no reduction and no table.
Enclosure FourierReference::frequency(std::int64_t axis, std::int64_t band, Precision precision) const {
  if (weight_) return {weight_->at(axis * encoding_.bands + band), precision};
  Enclosure at(encoding_.lowest, precision);
  if (band > 0) {
    const Enclosure part = Enclosure(band, precision) / Enclosure(encoding_.bands - 1, precision);
    at = at + (Enclosure(encoding_.highest, precision) - at) * part;
  }
  return encoding_.ladder == FrequencyLadder::linear ? at : exp(at * log(Enclosure(2.0, precision)));
}

Enclosure FourierReference::radians_of_coordinate(std::int64_t axis, std::int64_t band, Precision precision) const {
  const Enclosure f = frequency(axis, band, precision);
  switch (encoding_.angle_unit) {
    case AngleUnit::radian: return f;
    case AngleUnit::half_turn: return f * Enclosure::pi(precision);
    case AngleUnit::turn: return f * Enclosure(2.0, precision) * Enclosure::pi(precision);
  }
  throw std::logic_error("fourier: no such unit of angles");
}

Enclosure FourierReference::radians(std::int64_t axis, std::int64_t band, Precision precision) const {
  return radians_of_coordinate(axis, band, precision) * Enclosure(encoding_.positions.step, precision) /
         Enclosure(divisor_of(encoding_, axis), precision);
}

Enclosure FourierReference::angle(std::span<const std::int64_t> position, std::int64_t axis, std::int64_t band,
                                  Precision precision) const {
  if (!weight_)
    return radians_of_coordinate(axis, band, precision) * coordinate(axis, position[index(axis)], precision);
  Enclosure sum(0.0, precision);
  for (std::int64_t a = 0; a < encoding_.axes; ++a)
    sum = sum + radians_of_coordinate(a, band, precision) * coordinate(a, position[index(a)], precision);
  return sum;
}

const Rotation& FourierReference::rotation(std::span<const std::int64_t> position, std::int64_t axis, std::int64_t band,
                                           Precision precision) {
  Enclosure turn = angle(position, axis, band, precision);
  const auto product = exact_product(encoding_, weight_ ? &*weight_ : nullptr, position, axis, band);
  if (product) {
    if (const auto j = twenty_fourths(encoding_, *product))
      return kept_.emplace(rotation_of_24ths(*j, std::move(turn)));
  }
  Enclosure sine = sin(turn);
  Enclosure cosine = cos(turn);
  return kept_.emplace(Rotation{std::move(turn), std::move(sine), std::move(cosine)});
}

Enclosure FourierReference::code(std::span<const std::int64_t> position, std::int64_t channel, Precision precision) {
  for (std::int64_t axis = 0; axis < encoding_.axes; ++axis) {
    if (identity_channel(encoding_, axis) == channel) return coordinate(axis, position[index(axis)], precision);
  }
  for (std::int64_t axis = 0; axis < angle_lists(encoding_); ++axis) {
    for (std::int64_t band = 0; band < encoding_.bands; ++band) {
      const Channels channels = channels_of(encoding_, axis, band);
      if (channel != channels.first && channel != channels.second) continue;
      const Rotation& at = rotation(position, axis, band, precision);
      return channel == channels.first ? at.sin : at.cos;
    }
  }
  throw std::out_of_range(fmt::format("fourier: no channel {}", channel));
}

FastRotations FourierReference::fast(std::int64_t axis) const {
  return FastRotations::of([&](std::int64_t band, Precision precision) { return radians(axis, band, precision); },
                           encoding_.bands);
}

}  // namespace sextant::reference
