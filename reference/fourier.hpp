#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "reference/enclosure.hpp"
#include "reference/frequency.hpp"

namespace sextant::reference {

/// Enclosures of Fourier features, as lib/spec/fourier.hpp states them. Positions are counts of the encoding's steps, a
/// coordinate for each axis; `axis` is that of the angle, and 0 where the frequencies are a weight. An object belongs
/// to one thread.
class FourierReference {
 public:
  /// Where the frequencies are the encoding's own, and where they are a weight, [axes, bands], which is kept.
  explicit FourierReference(const Fourier& encoding);
  FourierReference(const Fourier& encoding, const Tensor& weight);

  /// c_a of a position p on that axis.
  Enclosure coordinate(std::int64_t axis, std::int64_t position, Precision precision) const;

  /// What the angle of a band grows by with each unit of an axis' coordinate, in radians.
  Enclosure radians_of_coordinate(std::int64_t axis, std::int64_t band, Precision precision) const;

  /// The same with each whole number that `counted` of lib/spec grows by.
  Enclosure radians(std::int64_t axis, std::int64_t band, Precision precision) const;

  /// The angle in radians, with its sine and cosine, which are points where they are 0, +-1/2 or +-1. The reference is
  /// good until the next call.
  const Rotation& rotation(std::span<const std::int64_t> position, std::int64_t axis, std::int64_t band,
                           Precision precision);

  /// What the channel holds. @throws std::out_of_range unless 0 <= channel < width.
  Enclosure code(std::span<const std::int64_t> position, std::int64_t channel, Precision precision);

  /// The certified fast tier of an axis, at what `counted` tells.
  FastRotations fast(std::int64_t axis) const;

  const Fourier& encoding() const { return encoding_; }

 private:
  Enclosure frequency(std::int64_t axis, std::int64_t band, Precision precision) const;
  Enclosure angle(std::span<const std::int64_t> position, std::int64_t axis, std::int64_t band,
                  Precision precision) const;

  Fourier encoding_;
  std::optional<Tensor> weight_;
  std::optional<Rotation> kept_;
};

}  // namespace sextant::reference
