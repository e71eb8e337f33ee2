// Codes of places in several dimensions, made of the axes' own codes.
//
//   1. The rows of each axis' code are made once for every coordinate that occurs, rounded by SinusoidalEncoder.
//   2. Channels that follow one another in an axis' code and in the result are a run; a row is its runs in order, and
//      zeros where the axes fill less than dim.
//   3. Long runs go to memory from where they are, past the caches; of short ones a row is put together first.
//
// Values are copied; there is nothing else to prove.

#include "lib/sinusoidal_nd/sinusoidal_nd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "lib/kernels/checks.hpp"
#include "lib/kernels/coordinate_rows.hpp"
#include "lib/kernels/table_rows.hpp"
#include "lib/numeric/index.hpp"

namespace sextant {
namespace {

const SinusoidalNd& checked(const SinusoidalNd& encoding) {
  Spec spec;
  spec.encoding = encoding;
  spec.max_position = 1;
  validate(spec);
  return encoding;
}

// The rows of an axis' own code, for every coordinate that occurs, and where those of the tokens are.
class CodesOfAxis {
 public:
  CodesOfAxis(std::span<const std::int64_t> coordinates, const SinusoidalEncoder& code, Dtype dtype)
      : of_token_(coordinates),
        found_(coordinates),
        rows_(code.encode(found_.coordinates(), dtype)),
        row_bytes_(index(code.dim()) * size_of(dtype)) {}

  const std::byte* row_of(std::size_t token) const {
    return rows_.data.data() + found_.row_of(of_token_[token]) * row_bytes_;
  }

 private:
  std::span<const std::int64_t> of_token_;
  CoordinateRows found_;
  Tensor rows_;
  std::size_t row_bytes_;
};

// Elements that are handed on to memory together, one line of float32, rather than put together to a row first.
constexpr std::int64_t long_run = 16;

}  // namespace

std::vector<SinusoidalNdEncoder::Run> SinusoidalNdEncoder::runs_of(const SinusoidalNd& encoding, std::int64_t axis) {
  const Sinusoidal code = code_of_axis(encoding, axis);
  std::vector<std::int64_t> place(index(code.dim));
  for (std::int64_t pair = 0; pair < pairs(code); ++pair) {
    const Channels within = channels_of_pair(code, pair);
    const Channels channels = channels_of_pair(encoding, axis, pair);
    place[index(within.first)] = channels.first;
    place[index(within.second)] = channels.second;
  }
  std::vector<Run> runs;
  for (std::int64_t channel = 0; channel < code.dim; ++channel) {
    const std::int64_t to = place[index(channel)];
    if (to >= encoding.dim) continue;
    if (!runs.empty() && runs.back().from + runs.back().count == channel && runs.back().to + runs.back().count == to) {
      ++runs.back().count;
    } else {
      runs.push_back({index(axis), channel, to, 1});
    }
  }
  return runs;
}

SinusoidalNdEncoder::SinusoidalNdEncoder(const SinusoidalNd& encoding)
    : encoding_(checked(encoding)), filled_(filled_channels(encoding)) {
  for (std::int64_t axis = 0; axis < axes(encoding); ++axis) {
    axes_.emplace_back(code_of_axis(encoding, axis), unit_of_axis(encoding, axis));
    const std::vector<Run> runs = runs_of(encoding, axis);
    runs_.insert(runs_.end(), runs.begin(), runs.end());
  }
  std::ranges::sort(runs_, {}, &Run::to);
  has_long_runs_ = std::ranges::all_of(runs_, [](const Run& run) { return run.count >= long_run; });
}

void SinusoidalNdEncoder::encode(std::span<const std::int64_t> positions, const Rows& out) const {
  const std::int64_t axis_count = std::ssize(axes_);
  if (std::ssize(positions) % axis_count != 0) {
    throw std::invalid_argument(fmt::format("SinusoidalNdEncoder::encode: positions are not [{}, n]: {} coordinates",
                                            axis_count, positions.size()));
  }
  const std::int64_t count = std::ssize(positions) / axis_count;
  check_table(out, count, encoding_.dim);
  check_range("SinusoidalNdEncoder::encode", "positions", positions);

  const std::size_t size = size_of(out.dtype);
  std::vector<CodesOfAxis> codes;
  for (std::int64_t axis = 0; axis < axis_count; ++axis)
    codes.emplace_back(positions.subspan(index(axis * count), index(count)), axes_[index(axis)], out.dtype);
  const std::vector<std::byte> zeros(index(encoding_.dim - filled_) * size);

  write_row_blocks(out, [&](std::int64_t first, std::int64_t last, LineWriter& writer) {
    // Long parts go to memory from where they are; of short ones a row is made first.
    std::vector<std::byte> made(has_long_runs_ ? 0 : index(filled_) * size);
    for (std::int64_t token = first; token < last; ++token) {
      std::byte* const place = row_of(out, token);
      for (const Run& run : runs_) {
        const std::byte* part = codes[run.axis].row_of(index(token)) + index(run.from) * size;
        if (has_long_runs_) {
          writer.write(place + index(run.to) * size, part, index(run.count) * size);
        } else {
          std::memcpy(made.data() + index(run.to) * size, part, index(run.count) * size);
        }
      }
      writer.write(place, made.data(), made.size());
      writer.write(place + index(filled_) * size, zeros.data(), zeros.size());
    }
  });
}

void SinusoidalNdEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype, std::span<std::byte> out) const {
  encode(positions,
         dense_rows("SinusoidalNdEncoder::encode", out, dtype, std::ssize(positions) / axes(encoding_), encoding_.dim));
}

Tensor SinusoidalNdEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype) const {
  Tensor table = Tensor::zeros(dtype, {std::ssize(positions) / axes(encoding_), encoding_.dim});
  encode(positions, dtype, table.data);
  return table;
}

}  // namespace sextant
