#pragma once

#include <memory>

#include "attack/cases/case.hpp"
#include "attack/truth/checker.hpp"
#include "attack/truth/frequencies.hpp"

namespace sextant::attack {

// What each encoder must answer, from the papers and the encoders' headers; one file each. An answer is a vector of
// elements, row-major and dense.

/// The number of elements of the answer.
std::int64_t answer_size(const Case& example);

/// Judges the whole of an answer.
void judge(const Case& example, Checker& checker);

void judge_encoding(const Sinusoidal& encoding, const Case& example, Checker& checker);
void judge_encoding(const Sinusoidal2d& encoding, const Case& example, Checker& checker);
void judge_encoding(const SinusoidalNd& encoding, const Case& example, Checker& checker);
void judge_encoding(const Fourier& encoding, const Case& example, Checker& checker);
void judge_encoding(const Rope& encoding, const Case& example, Checker& checker);
void judge_encoding(const RotaryTable& encoding, const Case& example, Checker& checker);
void judge_encoding(const QkNormRope& encoding, const Case& example, Checker& checker);
void judge_encoding(const RopeNd& encoding, const Case& example, Checker& checker);
void judge_encoding(const Xpos& encoding, const Case& example, Checker& checker);
void judge_encoding(const Alibi& encoding, const Case& example, Checker& checker);
void judge_encoding(const RelativeBias& encoding, const Case& example, Checker& checker);
void judge_encoding(const WindowBias& encoding, const Case& example, Checker& checker);
void judge_encoding(const LogCoordinates& encoding, const Case& example, Checker& checker);
void judge_encoding(const Integer& encoding, const Case& example, Checker& checker);
void judge_encoding(const Binary& encoding, const Case& example, Checker& checker);
void judge_encoding(const Learned& encoding, const Case& example, Checker& checker);
void judge_encoding(const Attention& encoding, const Case& example, Checker& checker);

/// sin and cos of frequencies: of a sinusoidal code (one half of it for a grid), of one axis of a code of several at
/// its position and offset, of Fourier features of positions as they are, of a rotary one in a call of this length.
std::shared_ptr<const Frequencies> frequencies_of(const Sinusoidal& encoding);
std::shared_ptr<const Frequencies> frequencies_of(const SinusoidalNd& encoding, std::int64_t axis);
std::shared_ptr<const Frequencies> frequencies_of(const Fourier& encoding);
std::shared_ptr<const Frequencies> frequencies_of(const Rope& encoding, std::int64_t length);

/// Channels of a row of Fourier features.
std::int64_t row_width(const Fourier& encoding);

/// What rope's scaling rule multiplies a rotation by in a call of this length.
class AttentionFactor {
 public:
  AttentionFactor(const Rope& encoding, std::int64_t length) : encoding_(encoding), length_(length) {}
  /// The factor times a value, a point where that is exact.
  Interval times(const Interval& value) const;

 private:
  struct Fraction {
    Interval numerator;
    Interval denominator;
  };
  Fraction at(long bits) const;

  Rope encoding_;
  std::int64_t length_;
  mutable std::optional<Fraction> kept_;
};

/// Whether no pair turns.
bool stands_still(const Rope& encoding);

/// What the exponents of xPos count at a position of a call of this length: from its centre on.
std::int64_t xpos_count(const Xpos& encoding, std::int64_t position, std::int64_t length);

/// xPos' zeta_i^(count / scale_base) of a pair, or its inverse in a key: a point where that is a fraction of a power of
/// two, as far as `bits` hold it.
Interval xpos_power(const Xpos& encoding, std::int64_t pair, std::int64_t count, long bits);

/// What a batch row of a call takes for its length: the largest position + 1, of the row or of the whole call as the
/// rule's length_scope says.
std::int64_t length_of_row(const Rope& encoding, const Case& example, std::int64_t row);

/// The width that a rotary encoding's frequencies divide by, and the channels of a pair within a head under a pairing.
std::int64_t frequency_width(const Rope& encoding);
struct ChannelsOfPair {
  std::int64_t first;
  std::int64_t second;
};
ChannelsOfPair rotary_channels(const Rope& encoding, Pairing pairing, std::int64_t pair);

/// A pair of a rotary encoding over several axes, in the order of the head: its axis, and its frequency, number `index`
/// of `frequencies`.
struct AxialPair {
  std::int64_t axis;
  std::shared_ptr<const Frequencies> frequencies;
  std::int64_t index;
};
std::vector<AxialPair> axial_pairs(const RopeNd& encoding, std::int64_t length);

/// What such a frequency multiplies where a coordinate stands.
std::int64_t axial_position(const RopeNd& encoding, std::int64_t axis, std::int64_t coordinate);

/// What a call takes for its length: the largest coordinate + 1.
std::int64_t length_of_call(const Case& example);

/// The bucket of relative_bias for a key `relative` = key - query away.
std::int64_t bucket_of(const RelativeBias& encoding, std::int64_t relative);

/// ALiBi's slope of a head is 2 to this: -8 (h + 1) / n as numerator over denominator, of released slopes that of the
/// nearest powers of two where n is none.
struct SlopeExponent {
  std::int64_t numerator;
  std::int64_t denominator;
};
SlopeExponent alibi_exponent(const Alibi& encoding, std::int64_t head);

/// The slope itself: 2 to that, or the point of the slope_dtype's value that is nearest to it.
Interval alibi_slope(const Alibi& encoding, std::int64_t head, long bits);

/// The exact sum of elements, as an enclosure that is a point; nothing where one is infinite or no number.
class ExactTotal {
 public:
  explicit ExactTotal(const ElementFormat& format) : format_(format), sum_(2400) {}
  void add(Bits element);
  /// Compares the element with the sum rounded, +0 for zero.
  void judge(std::int64_t element, Checker& checker) const;

 private:
  ElementFormat format_;
  Real sum_;
  double special_ = 0;
};

}  // namespace sextant::attack
