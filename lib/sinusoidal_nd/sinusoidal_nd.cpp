#include "lib/sinusoidal_nd/sinusoidal_nd.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "lib/kernels/checks.hpp"
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

// The rows of an axis' own code, for every coordinate that occurs.
struct CodesOfAxis {
  std::vector<std::int64_t> coordinates;
  Tensor rows;
};

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
      runs.push_back({channel, to, 1});
    }
  }
  return runs;
}

SinusoidalNdEncoder::SinusoidalNdEncoder(const SinusoidalNd& encoding)
    : encoding_(checked(encoding)), filled_(filled_channels(encoding)) {
  for (std::int64_t axis = 0; axis < axes(encoding); ++axis) {
    axes_.push_back(
        {SinusoidalEncoder(code_of_axis(encoding, axis), unit_of_axis(encoding, axis)), runs_of(encoding, axis)});
  }
}

void SinusoidalNdEncoder::encode(std::span<const std::int64_t> positions, const Rows& out) const {
  const std::int64_t axis_count = std::ssize(axes_);
  if (std::ssize(positions) % axis_count != 0) {
    throw std::invalid_argument(fmt::format("SinusoidalNdEncoder::encode: positions are not [{}, n]: {} coordinates",
                                            axis_count, positions.size()));
  }
  const std::int64_t count = std::ssize(positions) / axis_count;
  check_table(out, count, encoding_.dim);
  check_range("SinusoidalNdEncoder::encode", positions);

  std::vector<CodesOfAxis> codes;
  for (std::int64_t axis = 0; axis < axis_count; ++axis) {
    const auto own = positions.subspan(index(axis * count), index(count));
    std::vector<std::int64_t> coordinates(own.begin(), own.end());
    std::ranges::sort(coordinates);
    coordinates.erase(std::unique(coordinates.begin(), coordinates.end()), coordinates.end());
    Tensor rows = axes_[index(axis)].code.encode(coordinates, out.dtype);
    codes.push_back({std::move(coordinates), std::move(rows)});
  }

  const std::size_t size = size_of(out.dtype);
  for_each_row(out, [&](std::int64_t token, std::byte* place) {
    for (std::int64_t axis = 0; axis < axis_count; ++axis) {
      const auto& [coordinates, rows] = codes[index(axis)];
      const auto& [code, runs] = axes_[index(axis)];
      const auto found =
          std::ranges::lower_bound(coordinates, positions[index(axis * count + token)]) - coordinates.begin();
      const std::byte* row = rows.data.data() + index(found * code.dim()) * size;
      for (const auto& [from, to, length] : runs)
        std::memcpy(place + index(to) * size, row + index(from) * size, index(length) * size);
    }
    std::memset(place + index(filled_) * size, 0, index(encoding_.dim - filled_) * size);
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
