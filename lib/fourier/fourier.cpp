// Fourier features of points.
//
//   1. Where frequencies are given by a weight, the rotations of axes are put together; else each axis has its own
//      ladder, whose bands may double.
//   2. Tiles of 16 points are made by vectors and turned round to rows (tile.cpp, tile_rows.cpp), written past the
//      caches as they fill (row_stream.hpp). What they leave open, and coordinates over divisors, are settled one by
//      one.
//   3. A value: quarters of a turn are exact; else a rotation in double-double (rotations.cpp) whose interval must
//      round to one value; else by angles.cpp.
//   4. A tile whose counts are beyond the vectors' is made row by row.
//
// docs/proofs/fourier-tiles.md.

#include "lib/fourier/fourier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <type_traits>

#include "lib/fourier/angles.hpp"
#include "lib/fourier/row_stream.hpp"
#include "lib/kernels/certify.hpp"
#include "lib/kernels/checks.hpp"
#include "lib/kernels/table_rows.hpp"
#include "lib/kernels/targets.hpp"
#include "lib/numeric/index.hpp"
#include "lib/numeric/standard_arithmetic.hpp"

namespace sextant {
namespace {

// A row's values are settled from rotations that err by 2^-96, and below this by the last tier, so that what is rounded
// is a normal sum.
constexpr double least_settled = 0x1p-80;

const Fourier& checked(const Fourier& encoding) {
  Spec spec;
  spec.encoding = encoding;
  spec.max_position = 1;
  validate(spec);
  target_in_use();  // before the first dispatch
  return encoding;
}

// j mod 4 where a power of two times a whole count is j quarters of a turn: count * 2^exponent of them.
std::optional<int> quarters(std::int64_t count, int exponent) {
  if (count == 0) return 0;
  const int halvings = std::countr_zero(static_cast<std::uint64_t>(count));
  if (halvings + exponent < 0) return std::nullopt;
  if (halvings + exponent >= 2) return 0;
  if (halvings + exponent == 1) return 2;
  return static_cast<int>((count >> halvings) & 3);
}

constexpr std::array<double, 4> sines{0, 1, 0, -1};

// A tile's element of a value that is one of the dtype.
template <class Value>
Value element_of(Dtype dtype, double value) {
  if constexpr (std::is_floating_point_v<Value>) return static_cast<Value>(value);
  return bits_of<Value>(dtype, value);
}

}  // namespace

FourierEncoder::FourierEncoder(const Fourier& encoding) : encoding_(checked(encoding)) {
  if (!is_given(encoding)) own_ = ladders_of(nullptr);
  for (std::int64_t band = 0; band < encoding.bands; ++band) whole_exponents_.push_back(whole_exponent(encoding, band));
  const auto add_runs = [&](std::int64_t list, std::int64_t longest, std::vector<FourierRun>& runs) {
    const std::int64_t most = bands_double(encoding) ? longest : 1;
    for (std::int64_t band = 0; band < encoding.bands; band += most)
      runs.push_back({list, band, std::min(most, encoding.bands - band)});
  };
  for (std::int64_t list = 0; list < angle_lists(encoding); ++list) {
    for (std::int64_t band = 0; band < encoding.bands; ++band) channels_.push_back(channels_of(encoding, list, band));
    add_runs(list, longest_fourier_run, runs_);
    add_runs(list, longest_narrow_fourier_run, narrow_runs_);
  }
}

FourierEncoder::Ladders FourierEncoder::ladders_of(const Tensor* weight) const {
  const StandardArithmetic arithmetic;
  Ladders ladders{weight, {}, {}};
  for (std::int64_t axis = 0; axis < encoding_.axes; ++axis) {
    const std::vector<Turns> turns = turns_of_counts(encoding_, weight, axis);
    ladders.axes.emplace_back(turns);
    std::vector<FrequencyPieces>& of_bands = ladders.of_bands.emplace_back();
    if (weight != nullptr && weight->dtype != Dtype::float64) continue;
    for (const Turns& each : turns) of_bands.emplace_back(std::span(&each, 1));
  }
  return ladders;
}

std::int64_t FourierEncoder::rows_of(const char* function, std::span<const std::int64_t> positions) const {
  if (std::ssize(positions) % encoding_.axes != 0) {
    throw std::invalid_argument(
        fmt::format("{}: positions are not [{}, n]: {} coordinates", function, encoding_.axes, positions.size()));
  }
  return std::ssize(positions) / encoding_.axes;
}

void FourierEncoder::check_weight(const char* function, const Tensor& weight) const {
  if (!is_given(encoding_)) throw std::invalid_argument(fmt::format("{}: the ladder takes no weight", function));
  check_tensor(function, "weight", weight, {encoding_.axes, encoding_.bands});
  for (std::int64_t i = 0; i < weight.elements(); ++i) {
    if (!std::isfinite(weight.at(i)))
      throw std::invalid_argument(fmt::format("{}: weight: element {} is not finite", function, i));
  }
}

// A value at quarters of a turn, which whole powers of two of a whole number of turns meet often.
std::optional<double> FourierEncoder::at_quarters(std::int64_t list, std::int64_t band,
                                                  std::span<const std::int64_t> counts,
                                                  FourierFunction function) const {
  const std::optional<int>& exponent = whole_exponents_[index(band)];
  if (encoding_.angle_unit == AngleUnit::radian || !exponent || divisor_of(encoding_, list) != 1) return std::nullopt;
  const int quarters_of_unit = (encoding_.angle_unit == AngleUnit::turn ? 2 : 1) + std::ilogb(encoding_.positions.step);
  const auto j = quarters(counts[index(list)], *exponent + quarters_of_unit);
  if (!j) return std::nullopt;
  return sines[index(*j + (function == FourierFunction::cos ? 1 : 0)) % 4];
}

double FourierEncoder::settled(const FourierValue& value, FourierFunction function, const Parts& parts,
                               Dtype dtype) const {
  const double error = is_given(encoding_) ? turned_rotation_error : precise_rotation_error;
  if (std::fabs(parts.high) > least_settled) {
    if (const auto found = round_interval(dtype, parts.high, parts.low, error)) return *found;
  }
  return exact_value(value, function, dtype);
}

void FourierEncoder::put_list(const Ladders& ladders, std::int64_t list, std::span<const std::int64_t> counts,
                              const PreciseRotations& rotations, Dtype dtype, std::byte* place) const {
  const std::size_t size = size_of(dtype);
  for (std::int64_t band = 0; band < encoding_.bands; ++band) {
    const std::size_t i = index(band);
    const FourierValue value{encoding_, ladders.weight, list, band, counts};
    const auto put = [&](FourierFunction function, const Parts& parts, std::int64_t channel) {
      const auto exact = at_quarters(list, band, counts, function);
      store(dtype, exact ? *exact : settled(value, function, parts, dtype), place + index(channel) * size);
    };
    const Channels channels = channels_of(encoding_, list, band);
    put(FourierFunction::sin, {rotations.sin_high[i], rotations.sin_low[i]}, channels.first);
    put(FourierFunction::cos, {rotations.cos_high[i], rotations.cos_low[i]}, channels.second);
  }
}

void FourierEncoder::put_row(const Ladders& ladders, const Counts& of_axes, Dtype dtype, std::byte* place) const {
  const std::span counts = std::span(of_axes).first(index(encoding_.axes));
  const std::size_t padded = ladders.axes.front().padded();
  PreciseRotations rotations(padded);
  if (is_given(encoding_)) {
    PreciseRotations further(padded);
    for (std::int64_t axis = 0; axis < encoding_.axes; ++axis) {
      rotations_at(ladders.axes[index(axis)], counts[index(axis)], axis == 0 ? rotations : further);
      if (axis > 0) turn_further(rotations, further);
    }
    put_list(ladders, 0, counts, rotations, dtype, place);
  } else {
    for (std::int64_t axis = 0; axis < encoding_.axes; ++axis) {
      rotations_at(ladders.axes[index(axis)], counts[index(axis)], rotations);
      put_list(ladders, axis, counts, rotations, dtype, place);
    }
  }
  for (std::int64_t axis = 0; axis < encoding_.axes; ++axis) {
    if (const auto channel = identity_channel(encoding_, axis)) {
      store(dtype,
            rounded_coordinate(counts[index(axis)], encoding_.positions.step, divisor_of(encoding_, axis), dtype),
            place + index(*channel) * size_of(dtype));
    }
  }
}

void FourierEncoder::encode_with(const char* function, const Ladders& ladders, std::span<const std::int64_t> positions,
                                 const Rows& out) const {
  const std::int64_t count = rows_of(function, positions);
  check_table(out, count, width(encoding_));
  check_range(function, "positions", positions);
  for (std::int64_t axis = 0; axis < std::ssize(encoding_.extents); ++axis) {
    const double extent = static_cast<double>(encoding_.extents[index(axis)]);
    for (const std::int64_t position : positions.subspan(index(axis * count), index(count))) {
      if (position < 0 || encoding_.positions.at(position) >= extent) {
        throw std::out_of_range(fmt::format("{}: position {} is in none of the {} cells of axis {}", function,
                                            encoding_.positions.text(position), extent, axis));
      }
    }
  }
  const StandardArithmetic arithmetic;
  switch (out.dtype) {
    case Dtype::float64: return encode_tiles<double>(ladders, positions, out);
    case Dtype::float32: return encode_tiles<float>(ladders, positions, out);
    default: return encode_tiles<std::uint16_t>(ladders, positions, out);
  }
}

FourierEncoder::Counts FourierEncoder::counts_at(std::span<const std::int64_t> positions, std::int64_t rows,
                                                 std::int64_t row) const {
  Counts counts{};
  for (std::int64_t axis = 0; axis < encoding_.axes; ++axis)
    counts[index(axis)] = counted(encoding_, axis, positions[index(axis * rows + row)]);
  return counts;
}

std::vector<FourierAxis> FourierEncoder::axes_of(const Ladders& ladders) const {
  std::vector<FourierAxis> axes;
  for (std::int64_t axis = 0; axis < encoding_.axes; ++axis) {
    const FrequencyPieces& frequencies = ladders.axes[index(axis)];
    const std::int64_t addend = counted(encoding_, axis, 0);
    axes.push_back({&frequencies, ladders.of_bands[index(axis)], counted(encoding_, axis, 1) - addend, addend,
                    greatest_quick_count(frequencies), -1});
    if (divisor_of(encoding_, axis) == 1)
      axes.back().coordinate_channel = identity_channel(encoding_, axis).value_or(-1);
  }
  return axes;
}

template <class Value>
void FourierEncoder::encode_tiles(const Ladders& ladders, std::span<const std::int64_t> positions,
                                  const Rows& out) const {
  const std::vector<FourierAxis> axes = axes_of(ladders);
  const AngleSum sum = is_given(encoding_) ? AngleSum::of_axes : AngleSum::none;
  const std::span<const FourierRun> runs = sizeof(Value) == 2 ? narrow_runs_ : runs_;
  const FourierLadder ladder{runs, channels_, axes, encoding_.bands, encoding_.positions.step, sum};
  constexpr auto points = static_cast<std::int64_t>(FourierTile::points);
  write_row_blocks(out, [&](std::int64_t first, std::int64_t last, LineWriter& writer) {
    FourierTileOf<Value> tile(out.width);
    RowStream stream(writer, out, first, points, FourierTile::line * size_of(out.dtype));
    for (std::int64_t start = first; start < last; start += points) {
      const TilePoints at{positions, start, std::min(points, last - start)};
      if (fill_tile(ladder, at, out.dtype, tile, stream.waiting())) {
        settle_tile(ladders, at, out.dtype, tile);
        write_tile(tile, out.width, stream.room());
      } else {
        std::byte* const rows = stream.room();
        for (std::int64_t point = 0; point < at.filled; ++point) {
          put_row(ladders, counts_at(positions, out.rows, start + point), out.dtype,
                  rows + index(point) * stream.row_bytes());
        }
      }
      stream.put(at.filled);
    }
    stream.finish();
  });
}

// What the tile has left open, and coordinates over divisors.
template <class Value>
void FourierEncoder::settle_tile(const Ladders& ladders, const TilePoints& at, Dtype dtype,
                                 FourierTileOf<Value>& tile) const {
  const auto& [positions, first, filled] = at;
  const std::int64_t rows = std::ssize(positions) / encoding_.axes;
  for (const OpenFeature& open : tile.open) {
    if (open.point >= filled) continue;
    const Channels& channels = channels_[index(open.list * encoding_.bands + open.band)];
    const std::int64_t channel = open.function == FourierFunction::sin ? channels.first : channels.second;
    const Counts counts = counts_at(positions, rows, first + open.point);
    tile.channel(channel)[open.point] =
        element_of<Value>(dtype, value_at(ladders, open.list, open.band, counts, open.function, dtype));
  }
  if (encoding_.identity == Identity::none) return;
  for (std::int64_t axis = 0; axis < encoding_.axes; ++axis) {
    const std::int64_t divisor = divisor_of(encoding_, axis);
    if (divisor == 1) continue;
    Value* const values = tile.channel(*identity_channel(encoding_, axis));
    for (std::int64_t point = 0; point < filled; ++point) {
      const std::int64_t count = counted(encoding_, axis, positions[index(axis * rows + first + point)]);
      values[point] = element_of<Value>(dtype, rounded_coordinate(count, encoding_.positions.step, divisor, dtype));
    }
  }
}

double FourierEncoder::value_at(const Ladders& ladders, std::int64_t list, std::int64_t band, const Counts& counts,
                                FourierFunction function, Dtype dtype) const {
  const std::span of_axes = std::span(counts).first(index(encoding_.axes));
  if (const auto exact = at_quarters(list, band, of_axes, function)) return *exact;
  const bool is_sum = is_given(encoding_);
  const std::span<const FrequencyPieces> axes(ladders.axes);
  const PreciseSinCos at =
      is_sum ? rotation_of_band(axes, index(band), of_axes)
             : rotation_of_band(axes.subspan(index(list), 1), index(band), of_axes.subspan(index(list), 1));
  const Parts parts =
      function == FourierFunction::sin ? Parts{at.sin_high, at.sin_low} : Parts{at.cos_high, at.cos_low};
  return settled({encoding_, ladders.weight, list, band, of_axes}, function, parts, dtype);
}

void FourierEncoder::encode(std::span<const std::int64_t> positions, const Rows& out) const {
  constexpr const char* function = "FourierEncoder::encode";
  if (is_given(encoding_)) throw std::invalid_argument(fmt::format("{}: the ladder takes a weight", function));
  encode_with(function, own_, positions, out);
}

void FourierEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype, std::span<std::byte> out) const {
  constexpr const char* function = "FourierEncoder::encode";
  encode(positions, dense_rows(function, out, dtype, rows_of(function, positions), width(encoding_)));
}

Tensor FourierEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype) const {
  Tensor table = Tensor::zeros(dtype, {rows_of("FourierEncoder::encode", positions), width(encoding_)});
  encode(positions, dtype, table.data);
  return table;
}

void FourierEncoder::encode(std::span<const std::int64_t> positions, const Tensor& weight, const Rows& out) const {
  constexpr const char* function = "FourierEncoder::encode";
  check_weight(function, weight);
  if (out.dtype != weight.dtype)
    throw std::invalid_argument(
        fmt::format("out: dtype {}, that of the weight is {}", name_of(out.dtype), name_of(weight.dtype)));
  encode_with(function, ladders_of(&weight), positions, out);
}

void FourierEncoder::encode(std::span<const std::int64_t> positions, const Tensor& weight,
                            std::span<std::byte> out) const {
  constexpr const char* function = "FourierEncoder::encode";
  check_weight(function, weight);
  encode(positions, weight, dense_rows(function, out, weight.dtype, rows_of(function, positions), width(encoding_)));
}

Tensor FourierEncoder::encode(std::span<const std::int64_t> positions, const Tensor& weight) const {
  constexpr const char* function = "FourierEncoder::encode";
  check_weight(function, weight);
  Tensor table = Tensor::zeros(weight.dtype, {rows_of(function, positions), width(encoding_)});
  encode(positions, weight, table.data);
  return table;
}

}  // namespace sextant
