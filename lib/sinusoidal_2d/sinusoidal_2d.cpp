#include "lib/sinusoidal_2d/sinusoidal_2d.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "lib/kernels/checks.hpp"
#include "lib/kernels/table_rows.hpp"

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
    : encoding_(checked(encoding)), half_(half_of(encoding)) {}

void Sinusoidal2dEncoder::encode(std::span<const std::int64_t> positions, const Rows& out) const {
  if (positions.size() % 2 != 0)
    throw std::invalid_argument("Sinusoidal2dEncoder::encode: positions are not [2, n]: an odd number of coordinates");
  const std::int64_t count = std::ssize(positions) / 2;
  check_table(out, count, encoding_.dim);
  check_range("Sinusoidal2dEncoder::encode", positions);

  // Both axes have the same 1-D code: its rows, for every coordinate that occurs. Those of a grid lie close together,
  // so that a list finds the row of each, where a search would cost more than to write it; far apart they are searched.
  std::vector<std::int64_t> coordinates;
  std::vector<std::size_t> row_at;
  const auto [least, greatest] =
      positions.empty() ? std::ranges::minmax_result<std::int64_t>{0, 0} : std::ranges::minmax(positions);
  if (greatest - least < 4 * std::ssize(positions)) {
    row_at.resize(static_cast<std::size_t>(greatest - least + 1));
    for (const std::int64_t coordinate : positions) row_at[static_cast<std::size_t>(coordinate - least)] = 1;
    for (std::size_t i = 0; i < row_at.size(); ++i) {
      if (row_at[i] == 0) continue;
      row_at[i] = coordinates.size();
      coordinates.push_back(least + static_cast<std::int64_t>(i));
    }
  } else {
    coordinates.assign(positions.begin(), positions.end());
    std::ranges::sort(coordinates);
    coordinates.erase(std::unique(coordinates.begin(), coordinates.end()), coordinates.end());
  }
  const Tensor rows = half_.encode(coordinates, out.dtype);
  const std::size_t half_bytes = static_cast<std::size_t>(half_.dim()) * size_of(out.dtype);

  const auto code_of = [&, start = least](std::int64_t coordinate) {
    const std::size_t row =
        row_at.empty()
            ? static_cast<std::size_t>(std::ranges::lower_bound(coordinates, coordinate) - coordinates.begin())
            : row_at[static_cast<std::size_t>(coordinate - start)];
    return rows.data.data() + row * half_bytes;
  };
  const bool height_first = encoding_.axis_order == AxisOrder::height_first;
  write_rows(out, [&](std::int64_t token, std::byte* place, LineWriter& writer) {
    const std::int64_t row = positions[static_cast<std::size_t>(token)];
    const std::int64_t column = positions[static_cast<std::size_t>(count + token)];
    writer.write(place, code_of(height_first ? row : column), half_bytes);
    writer.write(place + half_bytes, code_of(height_first ? column : row), half_bytes);
  });
}

void Sinusoidal2dEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype, std::span<std::byte> out) const {
  encode(positions, dense_rows("Sinusoidal2dEncoder::encode", out, dtype, std::ssize(positions) / 2, encoding_.dim));
}

Tensor Sinusoidal2dEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype) const {
  Tensor table = Tensor::zeros(dtype, {std::ssize(positions) / 2, encoding_.dim});
  encode(positions, dtype, table.data);
  return table;
}

}  // namespace sextant
