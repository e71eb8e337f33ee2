#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "lib/sinusoidal/sinusoidal.hpp"
#include "reference/rotation_table.hpp"
#include "reference/sinusoidal.hpp"

namespace sextant {

inline Sinusoidal sinusoidal_of_dim(std::int64_t dim) {
  Sinusoidal encoding;
  encoding.dim = dim;
  return encoding;
}

/// The oracle's correctly rounded rows, which share no arithmetic with the encoder's.
class SinusoidalOracle {
 public:
  SinusoidalOracle(const Sinusoidal& encoding, Dtype dtype)
      : encoding_(encoding),
        truth_(encoding),
        table_(
            truth_.fast(),
            [this](std::int64_t position, std::int64_t pair, reference::Precision precision)
                -> const reference::Rotation& { return truth_.shift(position, pair, precision); },
            [this](reference::Precision precision) { return reference::Enclosure(encoding_.scale, precision); },
            dtype) {}

  std::vector<double> row(std::int64_t position) {
    const auto& values = table_.at(position + encoding_.position_offset);
    std::vector<double> row(static_cast<std::size_t>(encoding_.dim));
    for (std::int64_t pair = 0; pair < pairs(encoding_); ++pair) {
      const Channels channels = channels_of_pair(encoding_, pair);
      row[static_cast<std::size_t>(channels.first)] = values.sin[static_cast<std::size_t>(pair)];
      row[static_cast<std::size_t>(channels.second)] = values.cos[static_cast<std::size_t>(pair)];
    }
    return row;
  }

 private:
  Sinusoidal encoding_;
  reference::SinusoidalReference truth_;
  reference::RotationTable table_;
};

/// Elements of `got` that are not, bit for bit, the dtype's form of `row`.
inline std::int64_t differences(Dtype dtype, const std::vector<double>& row, const std::byte* got) {
  std::vector<std::byte> wanted(row.size() * size_of(dtype));
  for (std::size_t i = 0; i < row.size(); ++i) store(dtype, row[i], wanted.data() + i * size_of(dtype));
  if (std::memcmp(wanted.data(), got, wanted.size()) == 0) return 0;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    count += std::memcmp(wanted.data() + i * size_of(dtype), got + i * size_of(dtype), size_of(dtype)) != 0 ? 1 : 0;
  }
  return count;
}

}  // namespace sextant
