// Codes of places of a grid: the rows of the one-dimensional code, made once for every coordinate that occurs, copied
// side by side past the caches. SinusoidalEncoder rounds them; nothing else is computed.

#include "lib/sinusoidal_2d/sinusoidal_2d.hpp"

#include <stdexcept>

#include "lib/kernels/checks.hpp"
#include "lib/kernels/coordinate_rows.hpp"
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
  check_range("Sinusoidal2dEncoder::encode", "positions", positions);

  // Both axes have the same 1-D code: its rows, for every coordinate that occurs.
  const CoordinateRows found(positions);
  const Tensor rows = half_.encode(found.coordinates(), out.dtype);
  const std::size_t half_bytes = static_cast<std::size_t>(half_.dim()) * size_of(out.dtype);

  const auto code_of = [&](std::int64_t coordinate) {
    return rows.data.data() + found.row_of(coordinate) * half_bytes;
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
