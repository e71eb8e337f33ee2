#include <algorithm>
#include <cmath>

#include "attack/cases/attacks.hpp"
#include "attack/cases/draw.hpp"
#include "attack/cases/near_ties.hpp"
#include "attack/numbers/lattice.hpp"
#include "attack/truth/truths.hpp"

// Fourier features: as models have them, as a spec allows, next to quarters of a turn and at these, at the ends of what
// a spec allows and of what the encoder's tiers take. A matrix is the case's elements.

namespace sextant::attack {
namespace {

constexpr std::int64_t most_fourier_elements = 2048;
constexpr std::int64_t most_exotic_fourier_elements = 256;

void draw_row(Random& random, Fourier& encoding) {
  if (encoding.ladder == FrequencyLadder::weight) {
    encoding.channel_order = random.of({FourierOrder::function_frequency, FourierOrder::frequency_function});
  } else {
    encoding.channel_order = random.of({FourierOrder::frequency_function_axis, FourierOrder::frequency_axis_function,
                                        FourierOrder::function_axis_frequency, FourierOrder::function_frequency_axis,
                                        FourierOrder::axis_frequency_function, FourierOrder::axis_function_frequency});
  }
  encoding.first = random.of({First::sin, First::cos});
  encoding.identity = random.of({Identity::none, Identity::first, Identity::last});
  encoding.angle_unit = random.of({AngleUnit::radian, AngleUnit::half_turn, AngleUnit::turn});
}

void draw_frequencies(Random& random, Fourier& encoding, Taste taste) {
  encoding.bands = taste == Taste::usual ? random.of({random.between(1, 12), random.between(1, 40), std::int64_t{64}})
                                         : random.between(1, 12);
  if (encoding.ladder == FrequencyLadder::weight) return;
  const double most = taste == Taste::usual ? 10 : 32;
  if (encoding.ladder == FrequencyLadder::linear) {
    encoding.lowest = random.of({1.0, random.of_magnitude(std::exp2(-most), std::exp2(most))});
    encoding.highest = random.of({std::floor(encoding.lowest) * 8 + 1, random.of_magnitude(encoding.lowest, 0x1p32)});
    encoding.highest = std::clamp(encoding.highest, encoding.lowest, 0x1p32);
  } else {
    encoding.lowest = random.of({0.0, 0.0, random.between(-most, most)});
    const auto whole = static_cast<double>(encoding.bands - 1);
    encoding.highest =
        std::min(random.of({encoding.lowest + whole, random.between(encoding.lowest, 32.0), encoding.lowest}), 32.0);
    encoding.highest = std::max(encoding.highest, encoding.lowest);
  }
  if (encoding.bands == 1) encoding.highest = encoding.lowest;
}

std::int64_t draw_extent(Random& random, const PositionGrid& grid) {
  const auto most = static_cast<std::int64_t>(std::min(0x1p20, 0x1p52 * grid.step));
  return std::clamp<std::int64_t>(
      random.of({random.between(2, 64), std::int64_t{1} << random.between(1, 20), most - random.between(0, 1)}), 2,
      most);
}

Fourier draw_fourier(Random& random, Taste taste) {
  Fourier encoding;
  encoding.ladder = random.of({FrequencyLadder::powers_of_two, FrequencyLadder::linear, FrequencyLadder::weight});
  encoding.axes = random.between(1, 4);
  draw_frequencies(random, encoding, taste);
  draw_row(random, encoding);
  encoding.positions = draw_grid(random);
  encoding.coordinates = random.of(
      {FourierCoordinates::index, FourierCoordinates::index, FourierCoordinates::centres, FourierCoordinates::ends});
  if (encoding.coordinates != FourierCoordinates::index) {
    for (std::int64_t axis = 0; axis < encoding.axes; ++axis)
      encoding.extents.push_back(draw_extent(random, encoding.positions));
  }
  return encoding;
}

// One past the last count of an axis of a grid.
std::int64_t end_of(const Fourier& encoding, std::size_t axis) {
  return static_cast<std::int64_t>(static_cast<double>(encoding.extents[axis]) / encoding.positions.step);
}

// Numbers as matrices have them, and of any size.
std::vector<Bits> draw_matrix(Random& random, const Fourier& encoding, Dtype dtype) {
  const ElementFormat format = element_format(dtype);
  std::vector<Bits> elements;
  const int size = static_cast<int>(random.of({std::int64_t{0}, std::int64_t{0}, random.between(-80, 60)}));
  while (std::ssize(elements) < encoding.axes * encoding.bands) {
    Bits element = draw_element(random, format, draw_kind(random));
    if (random.once_in(2)) {
      Real normal(64, std::ldexp(random.between(-2.0, 2.0), size));
      element = rounded(format, normal.get());
    }
    if (!is_nan(format, element) && !is_infinite(format, element)) elements.push_back(element);
  }
  return elements;
}

Case features_case(Random& random, const Fourier& encoding, Dtype dtype, std::vector<std::int64_t> positions) {
  Case example = table_case(random, encoding, dtype, std::move(positions));
  if (encoding.ladder == FrequencyLadder::weight) example.elements = draw_matrix(random, encoding, dtype);
  return example;
}

std::vector<Case> features(Random& random, Taste taste, Dtype dtype) {
  const Fourier encoding = draw_fourier(random, taste);
  const std::int64_t rows = draw_count(
      random,
      std::max<std::int64_t>(
          (taste == Taste::usual ? most_fourier_elements : most_exotic_fourier_elements) / row_width(encoding), 1));
  std::vector<std::int64_t> positions;
  for (std::int64_t axis = 0; axis < encoding.axes; ++axis) {
    auto own = draw_positions(random, rows);
    if (!encoding.extents.empty()) {
      const std::int64_t end = end_of(encoding, static_cast<std::size_t>(axis));
      for (std::int64_t& position : own) position = ((position % end) + end) % end;
    }
    positions.insert(positions.end(), own.begin(), own.end());
  }
  return {features_case(random, encoding, dtype, std::move(positions))};
}

}  // namespace

Fourier draw_ladder(Random& random) {
  Fourier encoding;
  encoding.ladder = random.of({FrequencyLadder::powers_of_two, FrequencyLadder::linear});
  encoding.axes = random.between(1, 3);
  draw_frequencies(random, encoding, Taste::usual);
  draw_row(random, encoding);
  if (encoding.angle_unit != AngleUnit::radian && !random.once_in(4)) encoding.angle_unit = AngleUnit::radian;
  encoding.positions = draw_grid(random);
  return encoding;
}

std::vector<Case> every_axis_at(Random& random, const Fourier& encoding, Dtype dtype,
                                std::vector<std::int64_t> positions) {
  std::erase_if(positions, [](std::int64_t position) { return std::abs(position) > furthest; });
  if (positions.empty()) return {};
  std::vector<std::int64_t> all;
  for (std::int64_t axis = 0; axis < encoding.axes; ++axis) {
    all.insert(all.end(), positions.begin(), positions.end());
    std::ranges::rotate(positions, positions.begin() + 1);
  }
  return {features_case(random, encoding, dtype, std::move(all))};
}

std::vector<Case> usual_fourier(Random& random, Dtype dtype) { return features(random, Taste::usual, dtype); }
std::vector<Case> exotic_fourier(Random& random, Dtype dtype) { return features(random, Taste::exotic, dtype); }

std::vector<Case> near_zeros_fourier(Random& random, Dtype dtype) {
  const Fourier encoding = draw_ladder(random);
  const auto frequencies = frequencies_of(encoding);
  const auto w = frequencies->radians(random.between(std::int64_t{0}, encoding.bands - 1), factor_bits);
  if (!w) return {};
  const Interval quarters = *w * exactly(factor_bits, 2.0) / pi(factor_bits);
  std::vector<std::int64_t> positions;
  for (const Convergent& convergent : convergents(quarters.low, furthest)) {
    for (const std::int64_t position : {convergent.denominator, -convergent.denominator, 2 * convergent.denominator}) {
      if (convergent.numerator > 0) positions.push_back(position);
    }
  }
  return every_axis_at(random, encoding, dtype, std::move(positions));
}

// Whole numbers of quarters of a turn, and what lies beside them: of powers of two and of steps of them, of cells of a
// grid, of matrices whose columns cancel.
std::vector<Case> quarters_fourier(Random& random, Dtype dtype) {
  Fourier encoding = draw_fourier(random, Taste::usual);
  encoding.bands = std::min<std::int64_t>(encoding.bands, 12);
  encoding.angle_unit = random.of({AngleUnit::half_turn, AngleUnit::turn, AngleUnit::turn});
  if (encoding.ladder == FrequencyLadder::powers_of_two) {
    encoding.lowest = static_cast<double>(random.between(-8, 4));
    encoding.highest = encoding.lowest + static_cast<double>((encoding.bands - 1) * random.between(0, 2));
  } else if (encoding.ladder == FrequencyLadder::linear) {
    encoding.lowest = static_cast<double>(random.between(1, 4)) / 4;
    encoding.highest = encoding.lowest + static_cast<double>(encoding.bands - 1) / random.of({1.0, 2.0, 4.0});
  }
  constexpr std::int64_t rows = 12;
  std::vector<std::int64_t> positions;
  for (std::int64_t axis = 0; axis < encoding.axes; ++axis) {
    const std::int64_t end = encoding.extents.empty() ? std::int64_t{1} << random.between(3, 53)
                                                      : end_of(encoding, static_cast<std::size_t>(axis));
    const std::int64_t quarter = std::max<std::int64_t>(end / random.of({2L, 4L, 8L, 16L}), 1);
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t position = quarter * random.between(0, 8) + random.of({0, 0, 0, 1, -1});
      positions.push_back(encoding.extents.empty() ? std::min(position, furthest) : ((position % end) + end) % end);
    }
  }
  Case example = features_case(random, encoding, dtype, std::move(positions));
  if (encoding.ladder == FrequencyLadder::weight) {
    const ElementFormat format = element_format(dtype);
    for (std::size_t i = 0; i < example.elements.size(); ++i) {
      const bool opposite = i >= static_cast<std::size_t>(encoding.bands) && random.once_in(2);
      const Bits above = opposite ? example.elements[i - static_cast<std::size_t>(encoding.bands)] ^ format.sign() : 0;
      example.elements[i] =
          opposite ? above
                   : bits_of(format, static_cast<double>(random.between(-16, 16)) / random.of({1.0, 4.0, 16.0}));
    }
  }
  return {example};
}

// Both ends of what the spec and the encoder's tiers allow, and those beside them: exponents and frequencies, extents
// and steps, counts of 2^53, matrices about 2^40, where frequencies need more bits, and about 2^-80, where the kernels'
// sines say nothing.
std::vector<Case> guards_fourier(Random& random, Dtype dtype) {
  Fourier encoding = draw_fourier(random, Taste::exotic);
  encoding.bands = random.between(1, 5);
  if (encoding.ladder == FrequencyLadder::powers_of_two) {
    encoding.lowest = random.of({-32.0, 32.0, 0.0, -32 + 0x1p-48, 32 - 0x1p-48});
    encoding.highest = encoding.bands == 1 ? encoding.lowest : random.of({encoding.lowest, 32.0});
  } else if (encoding.ladder == FrequencyLadder::linear) {
    encoding.lowest = random.of({0x1p-32, 0x1p32, 1.0, 1 + 0x1p-52});
    encoding.highest = encoding.bands == 1 ? encoding.lowest : random.of({encoding.lowest, 0x1p32});
  }
  std::vector<std::int64_t> positions;
  for (std::int64_t axis = 0; axis < encoding.axes; ++axis) {
    const bool free = encoding.extents.empty();
    const std::int64_t last = free ? furthest : end_of(encoding, static_cast<std::size_t>(axis)) - 1;
    for (const std::int64_t position : {last, last - 1, last / 2, last / 2 + 1, std::int64_t{0}, std::int64_t{1}})
      positions.push_back(free && random.once_in(2) ? -position
                                                    : std::clamp<std::int64_t>(position, free ? -last : 0, last));
  }
  Case example = features_case(random, encoding, dtype, std::move(positions));
  if (encoding.ladder == FrequencyLadder::weight) {
    const ElementFormat format = element_format(dtype);
    for (Bits& element : example.elements) {
      const Real edge(64, random.sign() * std::ldexp(random.of({1.0, 1 - 0x1p-20, 1 + 0x1p-20, 1.5}),
                                                     static_cast<int>(random.of({40, -80, -82, -90, 127, -126, 900}))));
      const Bits drawn = rounded(format, edge.get());
      element = is_infinite(format, drawn) ? drawn - 1 : drawn;
    }
  }
  return {example};
}

}  // namespace sextant::attack
