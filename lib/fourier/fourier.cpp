#include "lib/fourier/fourier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "lib/fourier/angles.hpp"
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

}  // namespace

FourierEncoder::FourierEncoder(const Fourier& encoding) : encoding_(checked(encoding)) {
  if (!is_given(encoding)) own_ = ladders_of(nullptr);
  for (std::int64_t band = 0; band < encoding.bands; ++band) whole_exponents_.push_back(whole_exponent(encoding, band));
}

FourierEncoder::Ladders FourierEncoder::ladders_of(const Tensor* weight) const {
  const StandardArithmetic arithmetic;
  Ladders ladders{weight, {}};
  for (std::int64_t axis = 0; axis < encoding_.axes; ++axis)
    ladders.axes.emplace_back(turns_of_counts(encoding_, weight, axis));
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

void FourierEncoder::put_list(const Ladders& ladders, std::int64_t list, std::span<const std::int64_t> counts,
                              const PreciseRotations& rotations, Dtype dtype, std::byte* place) const {
  const std::size_t size = size_of(dtype);
  const double error = is_given(encoding_) ? turned_rotation_error : precise_rotation_error;
  // Whole powers of two of a whole number of turns meet quarters often.
  const bool may_be_quarters = encoding_.angle_unit != AngleUnit::radian && divisor_of(encoding_, list) == 1;
  const int quarters_of_unit = (encoding_.angle_unit == AngleUnit::turn ? 2 : 1) + std::ilogb(encoding_.positions.step);
  for (std::int64_t band = 0; band < encoding_.bands; ++band) {
    const Channels channels = channels_of(encoding_, list, band);
    const std::optional<int>& exponent = whole_exponents_[index(band)];
    if (may_be_quarters && exponent) {
      if (const auto j = quarters(counts[index(list)], *exponent + quarters_of_unit)) {
        store(dtype, sines[index(*j)], place + index(channels.first) * size);
        store(dtype, sines[index((*j + 1) % 4)], place + index(channels.second) * size);
        continue;
      }
    }
    const auto settled = [&](double high, double low, FourierFunction function) {
      if (std::fabs(high) > least_settled) {
        if (const auto value = round_interval(dtype, high, low, error)) return *value;
      }
      return exact_value({encoding_, ladders.weight, list, band, counts}, function, dtype);
    };
    const std::size_t i = index(band);
    store(dtype, settled(rotations.sin_high[i], rotations.sin_low[i], FourierFunction::sin),
          place + index(channels.first) * size);
    store(dtype, settled(rotations.cos_high[i], rotations.cos_low[i], FourierFunction::cos),
          place + index(channels.second) * size);
  }
}

void FourierEncoder::put_row(const Ladders& ladders, std::span<const std::int64_t> counts, Dtype dtype,
                             std::byte* place) const {
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
  check_range(function, positions);
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
  for_each_row(out, [&](std::int64_t row, std::byte* place) {
    std::array<std::int64_t, 4> counts{};
    for (std::int64_t axis = 0; axis < encoding_.axes; ++axis)
      counts[index(axis)] = counted(encoding_, axis, positions[index(axis * count + row)]);
    put_row(ladders, std::span(counts).first(index(encoding_.axes)), out.dtype, place);
  });
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
