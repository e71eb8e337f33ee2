#include "lib/sinusoidal_2d/sinusoidal_2d.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "lib/numeric/checks.hpp"
#include "lib/numeric/parallel.hpp"

namespace sextant {
namespace {

const Sinusoidal2d& checked(const Sinusoidal2d& encoding) {
  Spec spec;
  spec.encoding = encoding;
  spec.max_position = 1;
  validate(spec);
  return encoding;
}

}  // namespace

Sinusoidal2dEncoder::Sinusoidal2dEncoder(const Sinusoidal2d& encoding)
    : encoding_(checked(encoding)), rotations_(encoding.base, encoding.dim / 2, pairs(encoding)) {}

void Sinusoidal2dEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype, std::span<std::byte> out) const {
  if (positions.size() % 2 != 0) throw std::invalid_argument("Sinusoidal2dEncoder::encode: positions are not [2, n]: an odd number of coordinates");
  const std::int64_t count = std::ssize(positions) / 2;
  check_bytes("Sinusoidal2dEncoder::encode", out, count * encoding_.dim, dtype);
  check_range("Sinusoidal2dEncoder::encode", positions);

  // Both axes have the same 1-D code: its rows, for every coordinate that occurs.
  std::vector<std::int64_t> coordinates(positions.begin(), positions.end());
  std::ranges::sort(coordinates);
  coordinates.erase(std::ranges::unique(coordinates).begin(), coordinates.end());
  const Sinusoidal half = half_of(encoding_);
  const std::size_t half_bytes = static_cast<std::size_t>(half.dim) * size_of(dtype);
  std::vector<std::byte> rows(coordinates.size() * half_bytes);
  const std::int64_t pair_count = pairs(encoding_);
  parallel_for(std::ssize(coordinates), [&](std::int64_t i) {
    const std::int64_t coordinate = coordinates[static_cast<std::size_t>(i)];
    std::byte* row = rows.data() + static_cast<std::size_t>(i) * half_bytes;
    for (std::int64_t pair = 0; pair < pair_count; ++pair) {
      GeometricRotations::Turn turn = rotations_.at(pair, coordinate);
      const Channels channels = channels_of_pair(half, pair);
      store(dtype, turn.combine(dtype, 0, 1), row + static_cast<std::size_t>(channels.first) * size_of(dtype));
      store(dtype, turn.combine(dtype, 1, 0), row + static_cast<std::size_t>(channels.second) * size_of(dtype));
    }
  });

  const auto copy_half = [&](std::int64_t coordinate, std::byte* place) {
    const auto found = std::ranges::lower_bound(coordinates, coordinate) - coordinates.begin();
    std::memcpy(place, rows.data() + static_cast<std::size_t>(found) * half_bytes, half_bytes);
  };
  const bool height_first = encoding_.axis_order == AxisOrder::height_first;
  for (std::int64_t token = 0; token < count; ++token) {
    std::byte* place = out.data() + static_cast<std::size_t>(token) * 2 * half_bytes;
    const std::int64_t row = positions[static_cast<std::size_t>(token)];
    const std::int64_t column = positions[static_cast<std::size_t>(count + token)];
    copy_half(height_first ? row : column, place);
    copy_half(height_first ? column : row, place + half_bytes);
  }
}

Tensor Sinusoidal2dEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype) const {
  Tensor table = Tensor::zeros(dtype, {std::ssize(positions) / 2, encoding_.dim});
  encode(positions, dtype, table.data);
  return table;
}

}  // namespace sextant
