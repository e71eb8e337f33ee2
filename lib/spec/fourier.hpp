#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/spec/entry.hpp"
#include "lib/spec/position_grid.hpp"
#include "lib/spec/sinusoidal.hpp"

namespace sextant {

/// Where the frequencies come from. With j/(n - 1) for j = 0 .. n - 1, n being the number of bands (0 where n = 1),
///   powers_of_two  f_j = 2^(lowest + (highest - lowest) j/(n - 1)), the exponents a linspace
///   linear         f_j = lowest + (highest - lowest) j/(n - 1), of every axis
///   weight         of all axes together: column j of an input, [axes, bands]
enum class FrequencyLadder { powers_of_two, linear, weight };

/// What a frequency times a coordinate is counted in: radians, half turns (pi of them) or whole ones (2 pi).
enum class AngleUnit { radian, half_turn, turn };

/// The channels of sines and cosines, from what changes slowest in the row to what changes fastest. "Function" is which
/// of sine and cosine. The last two are those of a weight, whose frequencies belong to no axis.
enum class FourierOrder {
  frequency_function_axis,
  frequency_axis_function,
  function_axis_frequency,
  function_frequency_axis,
  axis_frequency_function,
  axis_function_frequency,
  function_frequency,
  frequency_function
};

/// Whether the coordinates themselves are in the row, one channel for each axis, and at which end.
enum class Identity { none, first, last };

/// What frequencies multiply: the position p; or that of cell p of e between -1 and 1, where the cells' middles are
/// (2p + 1)/e - 1, or the first and the last cell's points are the ends, 2p/(e - 1) - 1.
enum class FourierCoordinates { index, centres, ends };

/// Fourier features of one to four coordinates c_a: sin(u f_j c_a) and cos(u f_j c_a) for each frequency and axis, u =
/// 1, pi or 2 pi, or of a weight B sin(u sum_a c_a B_aj) and cos likewise. NeRF (Mildenhall et al. 2020, arXiv
/// 2003.08934, section 5.1, with pi; its released code run_nerf_helpers.py, without), nerfstudio's NeRFEncoding,
/// Perceiver (arXiv 2103.03206, appendix D); of a weight Tancik et al. 2020 (arXiv 2006.10739) and Segment Anything's
/// prompt encoder. Axes are numbered as they come in the row.
struct Fourier {
  std::int64_t axes = 1;
  std::int64_t bands = 0;
  FrequencyLadder ladder = FrequencyLadder::powers_of_two;
  /// Exponents of powers_of_two, frequencies of linear; 0 both of a weight.
  double lowest = 0;
  double highest = 0;
  AngleUnit angle_unit = AngleUnit::radian;
  FourierOrder channel_order = FourierOrder::frequency_function_axis;
  First first = First::sin;
  Identity identity = Identity::none;
  FourierCoordinates coordinates = FourierCoordinates::index;
  /// The cells of each axis, of centres and ends; else none.
  std::vector<std::int64_t> extents;
  PositionGrid positions = {};

  static const EncodingEntry<Fourier> entry;
};

/// Whether the frequencies are an input.
bool is_given(const Fourier& encoding);

/// How many lists of angles a row has: one for each axis, or of a weight one.
std::int64_t angle_lists(const Fourier& encoding);

/// Channels of a row.
std::int64_t width(const Fourier& encoding);

/// The channels of the sine and the cosine of a band of an axis; of a weight of list 0.
Channels channels_of(const Fourier& encoding, std::int64_t axis, std::int64_t band);

/// The channel of an axis' own coordinate; nothing where none is in the row.
std::optional<std::int64_t> identity_channel(const Fourier& encoding, std::int64_t axis);

/// The coordinate of an axis at the position of a count is a whole number of positions.step divided by another: this,
///   index  the count itself
///   else   that of 2p + 1 - e
/// over divisor_of: 1, e or e - 1.
std::int64_t counted(const Fourier& encoding, std::int64_t axis, std::int64_t count);
std::int64_t divisor_of(const Fourier& encoding, std::int64_t axis);

}  // namespace sextant
