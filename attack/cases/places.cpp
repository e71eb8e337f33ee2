#include <algorithm>
#include <numeric>

#include "attack/cases/attacks.hpp"
#include "attack/cases/draw.hpp"
#include "attack/cases/near_ties.hpp"
#include "attack/numbers/lattice.hpp"
#include "attack/truth/truths.hpp"

// Codes of several coordinates: as models have them, as a spec allows, at the ends of what it allows, next to ties and
// to quarters of a turn, and at these.

namespace sextant::attack {
namespace {

constexpr std::int64_t most_grid_elements = 4096;
constexpr std::int64_t most_exotic_grid_elements = 256;

// Every axis but the last one in the row keeps a channel.
void cut_or_pad(Random& random, SinusoidalNd& encoding) {
  const std::int64_t all = std::accumulate(encoding.channels.begin(), encoding.channels.end(), std::int64_t{0});
  const std::int64_t last = encoding.channels[static_cast<std::size_t>(
      encoding.axis_order.empty() ? std::ssize(encoding.channels) - 1 : encoding.axis_order.back())];
  encoding.dim = random.of({all, all, all - random.between(std::int64_t{0}, last - 1), all + random.between(0, 9)});
}

}  // namespace

SinusoidalNd draw_sinusoidal_nd(Random& random, Taste taste, std::int64_t most_width) {
  SinusoidalNd encoding;
  const std::int64_t axes = random.between(1, 4);
  const std::int64_t width = draw_width(random, most_width);
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    encoding.extents.push_back(random.once_in(4) ? random.between(2, 2000) : random.between(2, 60));
    encoding.channels.push_back(random.once_in(2) ? width : draw_width(random, most_width));
    encoding.axis_order.insert(encoding.axis_order.begin() + random.between(std::int64_t{0}, axis), axis);
  }
  if (std::ranges::is_sorted(encoding.axis_order)) encoding.axis_order.clear();
  encoding.base = draw_base(random, taste);
  encoding.layout = random.of({Layout::interleaved, Layout::concatenated});
  encoding.first = random.of({First::sin, First::cos});
  if (std::ranges::min(encoding.channels) >= 4 && random.once_in(3)) encoding.denominator = Denominator::half_minus_one;
  if (random.once_in(3)) {
    encoding.channel_order = ChannelOrder::alternating;
    encoding.layout = Layout::interleaved;
    std::ranges::fill(encoding.channels, width);
    if (width < 4) encoding.denominator = Denominator::dim;
  }
  encoding.position_offset = random.of({std::int64_t{0}, std::int64_t{1}, random.between(0, 100)});
  if (random.once_in(3)) {
    encoding.coordinates = Coordinates::normalized;
    encoding.epsilon = random.of({0.0, 1e-6, 1.0, 0x1p-1074, random.of_magnitude(1e-12, 1)});
    if (taste == Taste::exotic && random.once_in(3))
      encoding.position_offset = random.between(furthest / 2, furthest - 2000);
  } else if (random.once_in(2)) {
    for (std::int64_t axis = 0; axis < axes; ++axis)
      encoding.scales.push_back(random.of({1.0, 1.875, 0.125, 0x1p20, random.of_magnitude(0.125, 100)}));
    if (taste == Taste::exotic && random.once_in(3)) encoding.position_offset = draw_position(random);
  }
  cut_or_pad(random, encoding);
  return encoding;
}

namespace {

std::vector<Case> places(Random& random, Taste taste, Dtype dtype) {
  const SinusoidalNd encoding = draw_sinusoidal_nd(random, taste, taste == Taste::usual ? 64 : 16);
  const std::int64_t rows =
      draw_count(random, (taste == Taste::usual ? most_grid_elements : most_exotic_grid_elements) / encoding.dim);
  std::vector<std::int64_t> positions;
  for (const std::int64_t extent : encoding.extents) {
    auto own = draw_positions(random, rows);
    if (random.once_in(2)) {
      for (std::int64_t& position : own) position = ((position % extent) + extent) % extent;
    }
    positions.insert(positions.end(), own.begin(), own.end());
  }
  return {table_case(random, encoding, dtype, positions)};
}

}  // namespace

std::vector<Case> every_axis_at(Random& random, const SinusoidalNd& encoding, Dtype dtype,
                                std::vector<std::int64_t> positions) {
  std::erase_if(positions,
                [&](std::int64_t position) { return std::abs(position - encoding.position_offset) > furthest; });
  if (positions.empty()) return {};
  for (std::int64_t& position : positions) position -= encoding.position_offset;
  std::vector<std::int64_t> all;
  for (std::size_t axis = 0; axis < encoding.extents.size(); ++axis) {
    all.insert(all.end(), positions.begin(), positions.end());
    std::ranges::rotate(positions, positions.begin() + 1);
  }
  return {table_case(random, encoding, dtype, all)};
}

std::vector<Case> usual_sinusoidal_nd(Random& random, Dtype dtype) { return places(random, Taste::usual, dtype); }
std::vector<Case> exotic_sinusoidal_nd(Random& random, Dtype dtype) { return places(random, Taste::exotic, dtype); }

std::vector<Case> near_zeros_sinusoidal_nd(Random& random, Dtype dtype) {
  const SinusoidalNd encoding = draw_sinusoidal_nd(random, Taste::usual, 16);
  const std::int64_t axis = random.between(std::int64_t{0}, std::ssize(encoding.extents) - 1);
  const auto frequencies = frequencies_of(encoding, axis);
  const auto w = frequencies->radians(random.between(std::int64_t{0}, frequencies->count() - 1), factor_bits);
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

// Whole numbers of quarters of a turn, and the positions beside them: of pair 0, and of all pairs where the base's root
// is rational.
std::vector<Case> quarters_sinusoidal_nd(Random& random, Dtype dtype) {
  SinusoidalNd encoding = draw_sinusoidal_nd(random, Taste::usual, 8);
  encoding.scales.clear();
  encoding.coordinates = Coordinates::normalized;
  encoding.epsilon = random.of({0.0, 0.0, 1.0, 0.5, 0.125, 1e-6});
  encoding.position_offset = random.of({std::int64_t{0}, std::int64_t{1}, random.between(1, 2000)});
  encoding.base = random.of({1.0, 2.0, 16.0, 256.0, 4096.0, 6561.0, 10000.0, 0x1p40, 2.25, 5.0625});
  for (std::int64_t& extent : encoding.extents) {
    // The last coordinate, and so the turn, is a multiple of 4.
    extent = 4 * random.between(1, 500) + 1 - encoding.position_offset;
    while (extent < 2) extent += 4;
  }
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < 24; ++i) {
    const std::int64_t turn = encoding.extents.front() - 1 + encoding.position_offset;
    const std::int64_t unit = random.of({turn / 4, turn / 2, turn, 2 * turn, 10 * turn, 16 * turn, (2 * turn + 1) * 2});
    positions.push_back(unit * random.between(-40, 40) + random.of({0, 0, 0, 1}));
  }
  return every_axis_at(random, encoding, dtype, std::move(positions));
}

// Both ends of what the spec allows, and those beside them.
std::vector<Case> guards_sinusoidal_nd(Random& random, Dtype dtype) {
  SinusoidalNd encoding = draw_sinusoidal_nd(random, Taste::exotic, 8);
  encoding.scales.clear();
  encoding.epsilon = 0;
  if (random.once_in(2)) {
    encoding.coordinates = Coordinates::index;
    encoding.position_offset = random.of({-furthest, furthest, std::int64_t{0}});
    for (std::size_t axis = 0; axis < encoding.extents.size(); ++axis)
      encoding.scales.push_back(
          random.of({0.125, 0.125 + 0x1p-55, 0x1p20, 0x1p20 - 0x1p-33, 1 + 0x1p-52, 1 - 0x1p-53}));
  } else {
    encoding.coordinates = Coordinates::normalized;
    encoding.epsilon = random.of({0.0, 1.0, 1 - 0x1p-53, 0x1p-1074, 0x1p-1022});
    encoding.position_offset = random.of({std::int64_t{0}, std::int64_t{1}, furthest - 1, -2000L});
    for (std::int64_t& extent : encoding.extents) extent = std::max<std::int64_t>(2 - encoding.position_offset, 1);
    if (encoding.position_offset <= 1 && random.once_in(3))
      std::ranges::fill(encoding.extents, furthest + std::min<std::int64_t>(1 - encoding.position_offset, 0));
  }
  std::vector<std::int64_t> positions;
  for (const std::int64_t position :
       {furthest, -furthest, std::int64_t{0}, std::int64_t{1}, std::int64_t{-1}, furthest - 1})
    positions.push_back(position + encoding.position_offset);
  return every_axis_at(random, encoding, dtype, std::move(positions));
}

}  // namespace sextant::attack
