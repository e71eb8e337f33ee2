#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "attack/truth/truths.hpp"
#include "lib/spec/spec.hpp"

// Fourier features. NeRF (run_nerf_helpers.py): 2 ** linspace(0, L - 1, L), sines of all axes, cosines of all axes, and
// again. nerfstudio (field_components/encodings.py): 2 pi x, 2 ** linspace(low, high, n), axis by axis, all sines and
// all cosines. Perceiver: linspace(1, resolution / 2, n), pi, of linspace(-1, 1, cells). Segment Anything
// (prompt_encoder.py): 2 (p + 0.5) / size - 1, times the matrix, times 2 pi. Everything is an interval of the precision
// asked for; what is exact is found out by asking at 4200 bits.

namespace sextant::attack {
namespace {

// A fraction that is no whole number of quarters, of the matrices, cells and bands that specs allow, is further than
// 2^-1400 from one; at so many bits an interval of up to 2^1200 quarters is narrower than that.
constexpr long telling_bits = 4200;

struct Feature {
  std::int64_t axis;  // without a weight
  std::int64_t band;
  std::vector<std::int64_t> counts;
};

Interval coordinate(const Fourier& encoding, std::int64_t axis, std::int64_t count, long bits) {
  const Interval p = exactly(bits, std::ldexp(static_cast<double>(count), std::ilogb(encoding.positions.step)));
  if (encoding.coordinates == FourierCoordinates::index) return p;
  const std::int64_t size = encoding.extents[static_cast<std::size_t>(axis)];
  const Interval one = exactly(bits, 1.0);
  const Interval two = exactly(bits, 2.0);
  const Interval c = encoding.coordinates == FourierCoordinates::centres
                         ? two * ((p + exactly(bits, 0.5)) / exactly(bits, size)) - one
                         : p * two / exactly(bits, size - 1) - one;
  // 1 - 1, rounded to both sides, has two signs.
  const bool is_zero = mpfr_zero_p(c.low.get()) != 0 && mpfr_zero_p(c.high.get()) != 0;
  return is_zero ? exactly(bits, 0.0) : c;
}

// linspace(lowest, highest, bands)[band], and 2 to it.
Interval ladder_frequency(const Fourier& encoding, std::int64_t band, long bits) {
  Interval at = exactly(bits, encoding.lowest);
  if (band > 0)
    at = at + exactly(bits, band) * (exactly(bits, encoding.highest) - at) / exactly(bits, encoding.bands - 1);
  return encoding.ladder == FrequencyLadder::linear ? at : exp2(at);
}

class Angles {
 public:
  Angles(const Fourier& encoding, const Case& example) : encoding_(encoding) {
    for (const Bits element : example.elements)
      matrix_.push_back(value_of(element_format(example.spec.dtype), element));
  }

  // Frequency times coordinate.
  Interval product(const Feature& place, long bits) const {
    if (encoding_.ladder != FrequencyLadder::weight) {
      const auto axis = static_cast<std::size_t>(place.axis);
      return coordinate(encoding_, place.axis, place.counts[axis], bits) *
             ladder_frequency(encoding_, place.band, bits);
    }
    Interval sum = exactly(bits, 0.0);
    for (std::int64_t axis = 0; axis < encoding_.axes; ++axis) {
      const double b = matrix_[static_cast<std::size_t>(axis * encoding_.bands + place.band)];
      sum = sum + coordinate(encoding_, axis, place.counts[static_cast<std::size_t>(axis)], bits) * exactly(bits, b);
    }
    return sum;
  }

  Interval angle(const Feature& place, long bits) const {
    Interval product = this->product(place, bits);
    if (encoding_.angle_unit == AngleUnit::radian) return product;
    if (encoding_.angle_unit == AngleUnit::turn) product = product * exactly(bits, 2.0);
    return product * pi(bits);
  }

  // j mod 4 where the angle is j quarters of a turn.
  std::optional<int> quarters(const Feature& place) const {
    std::optional<int> found;
    for (const long bits : {first_precision, telling_bits}) {
      Interval count = product(place, bits);
      const bool is_zero = mpfr_sgn(count.low.get()) <= 0 && mpfr_sgn(count.high.get()) >= 0;
      if (encoding_.angle_unit == AngleUnit::radian) {
        if (!is_zero) return std::nullopt;
        found = 0;
        continue;
      }
      count = count * exactly(bits, encoding_.angle_unit == AngleUnit::turn ? 4.0 : 2.0);
      Real whole(bits);
      mpfr_rint(whole.get(), count.low.get(), MPFR_RNDN);
      if (mpfr_cmp(count.low.get(), whole.get()) > 0 || mpfr_cmp(count.high.get(), whole.get()) < 0)
        return std::nullopt;
      Real rest(bits);
      mpfr_fmod_ui(rest.get(), whole.get(), 4, MPFR_RNDN);
      found = static_cast<int>((mpfr_get_si(rest.get(), MPFR_RNDN) + 4) % 4);
    }
    return found;
  }

 private:
  const Fourier& encoding_;
  std::vector<double> matrix_;
};

// Where the row is told of from slowest to fastest: by this, then that.
struct Digit {
  std::int64_t value;
  std::int64_t count;
};
std::int64_t place_of(std::initializer_list<Digit> digits) {
  std::int64_t place = 0;
  for (const Digit& digit : digits) place = place * digit.count + digit.value;
  return place;
}

std::int64_t channel_of(const Fourier& encoding, const Feature& place, bool is_sine) {
  const Digit function{is_sine == (encoding.first == First::sin) ? 0 : 1, 2};
  const Digit band{place.band, encoding.bands};
  const Digit axis{place.axis, encoding.axes};
  const std::int64_t start = encoding.identity == Identity::first ? encoding.axes : 0;
  switch (encoding.channel_order) {
    case FourierOrder::frequency_function_axis: return start + place_of({band, function, axis});
    case FourierOrder::frequency_axis_function: return start + place_of({band, axis, function});
    case FourierOrder::function_axis_frequency: return start + place_of({function, axis, band});
    case FourierOrder::function_frequency_axis: return start + place_of({function, band, axis});
    case FourierOrder::axis_frequency_function: return start + place_of({axis, band, function});
    case FourierOrder::axis_function_frequency: return start + place_of({axis, function, band});
    case FourierOrder::function_frequency: return start + place_of({function, band});
    case FourierOrder::frequency_function: return start + place_of({band, function});
  }
  return -1;
}

std::int64_t lists_of(const Fourier& encoding) {
  return encoding.ladder == FrequencyLadder::weight ? 1 : encoding.axes;
}

}  // namespace

std::int64_t row_width(const Fourier& encoding) {
  return lists_of(encoding) * encoding.bands * 2 + (encoding.identity == Identity::none ? 0 : encoding.axes);
}

std::shared_ptr<const Frequencies> frequencies_of(const Fourier& encoding) {
  Spec named;
  named.encoding = encoding;
  return kept_frequencies(to_json(named), [&] {
    return Frequencies(encoding.bands, [encoding](std::int64_t band, long bits) -> std::optional<Interval> {
      Interval f = ladder_frequency(encoding, band, bits) * exactly(bits, encoding.positions.step);
      if (encoding.angle_unit == AngleUnit::turn) f = f * exactly(bits, 2.0);
      return encoding.angle_unit == AngleUnit::radian ? f : f * pi(bits);
    });
  });
}

void judge_encoding(const Fourier& encoding, const Case& example, Checker& checker) {
  const Angles angles(encoding, example);
  const std::int64_t columns = row_width(encoding);
  const std::int64_t tokens = std::ssize(example.positions) / encoding.axes;
  for (std::int64_t token = 0; token < tokens; ++token) {
    Feature place{0, 0, {}};
    for (std::int64_t axis = 0; axis < encoding.axes; ++axis)
      place.counts.push_back(example.positions[static_cast<std::size_t>(axis * tokens + token)]);
    for (place.axis = 0; place.axis < lists_of(encoding); ++place.axis) {
      for (place.band = 0; place.band < encoding.bands; ++place.band) {
        const auto quarter = angles.quarters(place);
        for (const bool is_sine : {true, false}) {
          const std::int64_t element = token * columns + channel_of(encoding, place, is_sine);
          if (quarter) {
            const int j = (*quarter + (is_sine ? 0 : 1)) % 4;
            constexpr std::array<double, 4> sines{0, 1, 0, -1};
            checker.same(element, bits_of(checker.format(), sines[static_cast<std::size_t>(j)]),
                         "0 as +0, or 1, at a quarter of a turn");
            continue;
          }
          checker.nearest(element, std::nullopt, [&](long bits) -> Interval {
            const SineAndCosine at = sine_and_cosine(angles.angle(place, bits));
            return is_sine ? at.sine : at.cosine;
          });
        }
      }
    }
    if (encoding.identity == Identity::none) continue;
    for (std::int64_t axis = 0; axis < encoding.axes; ++axis) {
      const std::int64_t channel = encoding.identity == Identity::first ? axis : columns - encoding.axes + axis;
      checker.nearest(token * columns + channel, std::nullopt, [&](long bits) -> Interval {
        return coordinate(encoding, axis, place.counts[static_cast<std::size_t>(axis)], bits);
      });
    }
  }
}

}  // namespace sextant::attack
