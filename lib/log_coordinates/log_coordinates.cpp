// Offsets between places on a logarithmic scale, sign(o) log2(1 + 8 |o|/(e - 1)) / 3, each the nearest value.
//
//   1. The values of offsets within a window are kept as two doubles, within 2^-104; where a call has more rows than
//      those, their elements are made first and looked up (kept_elements.cpp).
//   2. A kept value is rounded where both ends of its interval round alike. Others are computed at 256, 1024 and 5000
//      bits; where the argument is a power of two, k/3 is rounded.
//   3. Offsets are asked whether they are in range before anything is written, by vectors and on all threads.
//
// The bounds and why no value is a tie stand beside log_of() and rounded().

#include "lib/log_coordinates/log_coordinates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "lib/kernels/checks.hpp"
#include "lib/kernels/correct_rounding.hpp"
#include "lib/kernels/table_rows.hpp"
#include "lib/kernels/targets.hpp"
#include "lib/log_coordinates/kept_elements.hpp"
#include "lib/numeric/standard_arithmetic.hpp"

namespace sextant {
namespace {

constexpr const char* encode_name = "LogCoordinatesEncoder::encode";

// Windows are of dozens; a longer one's far offsets are computed when they are asked for.
constexpr std::int64_t most_kept = 1024;

const LogCoordinates& checked(const LogCoordinates& encoding) {
  Spec spec;
  spec.encoding = encoding;
  validate(spec);
  target_in_use();  // before the first dispatch
  return encoding;
}

// The value is log2(n / m) / 3, n = m + 8 distance. Where n = 2^k m, it is k/3.
struct Quotient {
  std::int64_t numerator;
  std::int64_t denominator;
};

std::optional<std::int64_t> exponent_of(const Quotient& q) {
  if (q.numerator % q.denominator != 0) return std::nullopt;
  const auto ratio = static_cast<std::uint64_t>(q.numerator / q.denominator);
  if (!std::has_single_bit(ratio)) return std::nullopt;
  return std::countr_zero(ratio);
}

// ln(n / m) / (3 ln 2). With e = spacing_at_one and the bounds of wide.hpp: n < 2^57 and m < 2^20 are exact, and their
// quotient y errs by e of itself, which moves ln y by e: by at most 2^18 e of itself, since y >= 1 + 2^-17. Both
// logarithms add 2^7 e, the product and the quotient 2 e. Together below 2^19 e of the value.
template <class Real>
Approximation<Real> log_of(const Quotient& q) {
  const Real value = log(Real(Real(q.numerator) / q.denominator)) / (3 * log(Real(2)));
  return {value, abs(value) * ldexp(spacing_at_one<Real>(), 20)};
}

// Neither k/3 nor the logarithm of a rational that is no power of two, divided by 3, is a tie: the first has no finite
// binary digits, and if the second had some, j/2^i, a power of the rational would be a power of two, hence itself.
double rounded(const Quotient& q, Dtype dtype) {
  const auto exponent = exponent_of(q);
  if (exponent && *exponent % 3 == 0) return static_cast<double>(*exponent / 3);  // at most 19: a value of each dtype
  if (exponent) {
    return correctly_rounded(dtype, [&]<class Real>() {
      const Real third = Real(*exponent) / 3;
      return Approximation<Real>{third, Real(third * spacing_at_one<Real>())};
    });
  }
  return correctly_rounded(dtype, [&]<class Real>() { return log_of<Real>(q); });
}

}  // namespace

LogCoordinatesEncoder::LogCoordinatesEncoder(const LogCoordinates& encoding) : encoding_(checked(encoding)) {
  const StandardArithmetic arithmetic;
  fill_wide_constants();
  for (std::int64_t axis = 0; axis < axes(encoding); ++axis) {
    const std::int64_t below = divisor(encoding, axis);
    std::vector<Value> values{{0, 0}};
    const std::int64_t count = std::min(encoding.window[static_cast<std::size_t>(axis)], most_kept);
    for (std::int64_t distance = 1; distance < count; ++distance) {
      const auto real = log_of<Wide<256>>({below + 8 * distance, below}).value;
      const auto high = static_cast<double>(real);
      values.push_back({high, static_cast<double>(Wide<256>(real - high))});
    }
    near_.push_back(std::move(values));
  }
}

double LogCoordinatesEncoder::value(std::int64_t axis, std::int64_t offset, Dtype dtype) const {
  if (offset == 0) return 0;
  const std::int64_t distance = std::abs(offset);
  const std::vector<Value>& near = near_[static_cast<std::size_t>(axis)];
  if (distance < std::ssize(near)) {
    // high is within 2^-53 of the value and low is known to 2^-53 of itself, so the value lies within 2^-104 high of
    // the sum. A sum with low moved by 2^-100 high, which covers its rounding too, rounds to float64 past neither end.
    const Value& kept = near[static_cast<std::size_t>(distance)];
    const double margin = kept.high * 0x1p-100;
    const double low = kept.high + (kept.low - margin);
    const double high = kept.high + (kept.low + margin);
    std::optional<double> found;
    if (dtype == Dtype::float64) {
      if (low == high) found = low;
    } else {
      // The ends were rounded, by 2^-53 of themselves: an end moved by 2^-51 lies beyond both.
      found = rounded_alike(dtype, Interval{low - low * 0x1p-51, high + high * 0x1p-51});
    }
    if (found) return offset < 0 ? -*found : *found;
  }
  const std::int64_t below = divisor(encoding_, axis);
  const double size = rounded({below + 8 * distance, below}, dtype);
  return offset < 0 ? -size : size;
}

std::int64_t LogCoordinatesEncoder::rows_of(const char* function, std::span<const std::int64_t> offsets) const {
  if (std::ssize(offsets) % axes(encoding_) != 0) {
    throw std::invalid_argument(
        fmt::format("{}: {} coordinates are no offsets of {} axes", function, offsets.size(), axes(encoding_)));
  }
  return std::ssize(offsets) / axes(encoding_);
}

template <class Bits>
KeptElements<Bits> LogCoordinatesEncoder::elements_of(std::int64_t axis, Dtype dtype) const {
  return {std::ssize(near_[static_cast<std::size_t>(axis)]) - 1,
          [&](std::int64_t offset) { return bits_of<Bits>(dtype, value(axis, offset, dtype)); }};
}

template <class Bits>
void LogCoordinatesEncoder::encode_as(std::span<const std::int64_t> offsets, const Rows& out) const {
  const StandardArithmetic arithmetic;
  const auto width = static_cast<std::size_t>(axes(encoding_));
  const auto of_axis = [&](std::size_t axis, std::int64_t first, std::int64_t count) {
    return offsets.subspan(axis * static_cast<std::size_t>(out.rows) + static_cast<std::size_t>(first),
                           static_cast<std::size_t>(count));
  };
  // Where there are more rows than offsets whose values are kept, the elements of those are looked up. What is kept is
  // in range: only where other offsets occur is that asked apart, so that all are read but once before they are used.
  struct Axis {
    KeptElements<Bits> kept;
    bool all_kept = false;
  };
  std::vector<Axis> own(width);
  for (std::size_t axis = 0; axis < width; ++axis) {
    if (out.rows > 2 * std::ssize(near_[axis]))
      own[axis].kept = elements_of<Bits>(static_cast<std::int64_t>(axis), out.dtype);
    own[axis].all_kept = are_within(of_axis(axis, 0, out.rows), own[axis].kept.most());
  }
  if (!std::ranges::all_of(own, &Axis::all_kept)) check_range(encode_name, "offsets", offsets);
  const auto put = [&](std::size_t axis, std::span<const std::int64_t> some, Bits* to) {
    const Axis& from = own[axis];
    if (from.all_kept || are_within(some, from.kept.most())) return look_up(some, from.kept, to);
    for (const std::int64_t offset : some)
      *to++ = bits_of<Bits>(out.dtype, value(static_cast<std::int64_t>(axis), offset, out.dtype));
  };
  write_row_blocks(out, [&](std::int64_t first, std::int64_t last, LineWriter& writer) {
    constexpr std::int64_t together = 512;  // rows that are made before they are handed on
    std::vector<Bits> columns(together * width);
    std::vector<Bits> rows(together * width);
    for (std::int64_t start = first; start < last; start += together) {
      const std::int64_t count = std::min(together, last - start);
      if (width == 2 && own[0].all_kept && own[1].all_kept) {
        look_up_pairs(of_axis(0, start, count), of_axis(1, start, count).data(), own[0].kept, own[1].kept, rows.data());
      } else {
        for (std::size_t axis = 0; axis < width; ++axis)
          put(axis, of_axis(axis, start, count), columns.data() + axis * together);
        put_columns_side_by_side(columns.data(), together, width, static_cast<std::size_t>(count), rows.data());
      }
      const std::int64_t at_once = out.row_stride == out.width ? count : 1;
      const std::size_t bytes = static_cast<std::size_t>(at_once) * width * sizeof(Bits);
      const auto* from = reinterpret_cast<const std::byte*>(rows.data());
      for (std::int64_t row = 0; row < count; row += at_once, from += bytes)
        writer.write(row_of(out, start + row), from, bytes);
    }
  });
}

void LogCoordinatesEncoder::encode(std::span<const std::int64_t> offsets, const Rows& out) const {
  check_table(out, rows_of(encode_name, offsets), axes(encoding_));
  with_bits_of(out.dtype, [&]<class Bits>(Bits) { encode_as<Bits>(offsets, out); });
}

void LogCoordinatesEncoder::encode(std::span<const std::int64_t> offsets, Dtype dtype, std::span<std::byte> out) const {
  encode(offsets, dense_rows(encode_name, out, dtype, rows_of(encode_name, offsets), axes(encoding_)));
}

Tensor LogCoordinatesEncoder::encode(std::span<const std::int64_t> offsets, Dtype dtype) const {
  Tensor table = Tensor::zeros(dtype, {rows_of(encode_name, offsets), axes(encoding_)});
  encode(offsets, dtype, table.data);
  return table;
}

}  // namespace sextant
