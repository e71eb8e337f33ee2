#include "lib/fourier/tile.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "lib/fourier/fourier.hpp"
#include "lib/fourier/rotations.hpp"
#include "lib/fourier/specs_test.hpp"
#include "lib/kernels/certify.hpp"
#include "lib/kernels/guard_page_test.hpp"
#include "lib/kernels/line_writer.hpp"
#include "lib/kernels/table_rows_test.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/numeric/index.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/fourier/tile_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "lib/fourier/angles-inl.h"

// The bounds of a tile's values, and that a table is that of the double-double rotations, value by value.

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

// Sines and then cosines of a band at the tile's points, doubled as often.
void FeaturesInDouble(std::span<const FourierAxis> axes, std::size_t band, const FourierTile& tile, int doublings,
                      double* values) {
  const Doubles d;
  for (std::size_t point = 0; point < FourierTile::points; point += hn::Lanes(d)) {
    const HalfTurns turns = axes.size() > 1 ? HalfTurnsOfSum(axes, band, tile.counts, point)
                                            : HalfTurnsAt(*axes[0].frequencies, band, tile.counts[0].data() + point);
    const DoubleVector halves[1] = {turns.halves}, rest[1] = {turns.rest};
    DoubleVector sin[1], twice_cos[1];
    RotationsOf(halves, rest, sin, twice_cos);
    DoublingRotation z{sin[0], twice_cos[0]};
    for (int k = 0; k < doublings; ++k) z = Doubled(z);
    hn::StoreU(z.sin, d, values + point);
    hn::StoreU(hn::Mul(z.twice_cos, hn::Set(d, 0.5)), d, values + FourierTile::points + point);
  }
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fourier_tile_test {
namespace {

HWY_EXPORT(FeaturesInDouble);

class FourierTileOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(FourierTileOn);

Fourier encoding_of(const char* json) { return std::get<Fourier>(parse_spec(json).encoding); }

std::vector<FrequencyPieces> pieces_of(const Fourier& encoding, const Tensor* weight) {
  std::vector<FrequencyPieces> axes;
  for (std::int64_t axis = 0; axis < encoding.axes; ++axis) axes.emplace_back(turns_of_counts(encoding, weight, axis));
  return axes;
}

// The greatest distance of a component, in units of 2^-53, from the double-double rotation of the band that is
// `doublings` further.
double greatest_error(std::span<const FrequencyPieces> axes, std::size_t band, int doublings, double greatest) {
  std::mt19937_64 random(band);
  std::uniform_real_distribution<double> exponent(0, std::log2(greatest));
  double worst = 0;
  FourierTile tile(1);
  std::vector<FourierAxis> of_tile;
  for (const FrequencyPieces& pieces : axes) of_tile.push_back({&pieces, {}, 1, 0, greatest, -1});
  for (int round = 0; round < 200; ++round) {
    std::array<std::array<std::int64_t, FourierTile::points>, 4> counts{};
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      for (std::size_t point = 0; point < FourierTile::points; ++point) {
        const auto size = static_cast<std::int64_t>(std::exp2(exponent(random)));
        counts[axis][point] = point % 2 == 0 ? size : -size;
        tile.counts[axis][point] = static_cast<double>(counts[axis][point]);
      }
    }
    double values[2 * FourierTile::points];
    HWY_DYNAMIC_DISPATCH(FeaturesInDouble)(of_tile, band, tile, doublings, values);
    for (std::size_t point = 0; point < FourierTile::points; ++point) {
      std::array<std::int64_t, 4> at{};
      for (std::size_t axis = 0; axis < axes.size(); ++axis) at[axis] = counts[axis][point];
      const PreciseSinCos truth = rotation_of_band(axes, band + static_cast<std::size_t>(doublings),
                                                   std::span<const std::int64_t>(at).first(axes.size()));
      worst = std::max({worst, std::fabs(values[point] - truth.sin_high - truth.sin_low),
                        std::fabs(values[FourierTile::points + point] - truth.cos_high - truth.cos_low)});
    }
  }
  return worst * 0x1p53;
}

// Steps 5 and 6 of the proof, at every count that is let in.
TEST_P(FourierTileOn, ValuesAreWithinTheirBounds) {
  target_in_use();
  for (const char* json : {R"({"encoding":"fourier","bands":19})",
                           R"({"encoding":"fourier","bands":19,"lowest":-3.5,"angle_unit":"turn"})",
                           R"({"encoding":"fourier","bands":19,"lowest":-12,"angle_unit":"half_turn"})"}) {
    const std::vector<FrequencyPieces> axes = pieces_of(encoding_of(json), nullptr);
    for (std::size_t band = 0; band < 10; ++band) {
      for (int doublings = 0; doublings < longest_narrow_fourier_run; ++doublings) {
        const double bound = doublings < 4 ? 16 << doublings : doublings == 4 ? 512 : 2 << 2 * doublings;
        EXPECT_LE(greatest_error(axes, band, doublings, greatest_quick_count(axes[0])), bound)
            << json << " band " << band << " doubled " << doublings;
      }
    }
  }
  const Fourier sums = encoding_of(R"({"encoding":"fourier","axes":4,"bands":7,"ladder":"weight"})");
  const Tensor weight = some_matrix(sums, Dtype::float64);
  const std::vector<FrequencyPieces> axes = pieces_of(sums, &weight);
  double greatest = 0x1p53;
  for (const FrequencyPieces& pieces : axes) greatest = std::min(greatest, greatest_quick_count(pieces));
  for (std::size_t band = 0; band < 7; ++band) EXPECT_LE(greatest_error(axes, band, 0, greatest), 26.7) << band;
}

// What a row's value is by the double-double rotation of its band.
double by_itself(const FourierValue& value, std::span<const FrequencyPieces> axes, FourierFunction function,
                 Dtype dtype) {
  const bool is_sum = is_given(value.encoding);
  const PreciseSinCos at = is_sum ? rotation_of_band(axes, index(value.band), value.counts)
                                  : rotation_of_band(axes.subspan(index(value.axis), 1), index(value.band),
                                                     value.counts.subspan(index(value.axis), 1));
  const double high = function == FourierFunction::sin ? at.sin_high : at.cos_high;
  const double low = function == FourierFunction::sin ? at.sin_low : at.cos_low;
  if (std::fabs(high) > 0x1p-80) {
    if (const auto found = round_interval(dtype, high, low, turned_rotation_error)) return *found;
  }
  return exact_value(value, function, dtype);
}

void expect_by_itself(const Fourier& encoding, const std::vector<std::int64_t>& positions) {
  const FourierEncoder encoder(encoding);
  const std::int64_t count = std::ssize(positions) / encoding.axes;
  for (const Dtype dtype : floating_dtypes) {
    const Tensor weight = is_given(encoding) ? some_matrix(encoding, dtype) : Tensor{};
    const Tensor table = is_given(encoding) ? encoder.encode(positions, weight) : encoder.encode(positions, dtype);
    const Tensor* const given = is_given(encoding) ? &weight : nullptr;
    const std::vector<FrequencyPieces> axes = pieces_of(encoding, given);
    for (std::int64_t row = 0; row < count; ++row) {
      std::vector<std::int64_t> counts;
      for (std::int64_t axis = 0; axis < encoding.axes; ++axis)
        counts.push_back(counted(encoding, axis, positions[index(axis * count + row)]));
      const auto expect = [&](double wanted, std::int64_t channel) {
        const double value = table.at(row * width(encoding) + channel);
        ASSERT_TRUE(value == wanted && std::signbit(value) == std::signbit(wanted))
            << name_of(dtype) << " row " << row << " channel " << channel << ": " << value << ", not " << wanted;
      };
      for (std::int64_t list = 0; list < angle_lists(encoding); ++list) {
        for (std::int64_t band = 0; band < encoding.bands; ++band) {
          const FourierValue value{encoding, given, list, band, counts};
          const Channels channels = channels_of(encoding, list, band);
          expect(by_itself(value, axes, FourierFunction::sin, dtype), channels.first);
          expect(by_itself(value, axes, FourierFunction::cos, dtype), channels.second);
        }
      }
      for (std::int64_t axis = 0; axis < encoding.axes; ++axis) {
        if (const auto channel = identity_channel(encoding, axis)) {
          expect(rounded_coordinate(counts[index(axis)], encoding.positions.step, divisor_of(encoding, axis), dtype),
                 *channel);
        }
      }
    }
  }
}

TEST_P(FourierTileOn, RandomPlacesAreThoseOfEachValueByItself) {
  target_in_use();
  for (const NamedFeatures& named : every_kind_of_features()) {
    SCOPED_TRACE(named.name);
    expect_by_itself(named.encoding(), some_places(named.encoding(), 1003));
  }
}

// Multiples of quarters of a turn and their neighbours, zero, the smallest and the greatest counts, and those on both
// sides of what a tile takes.
TEST_P(FourierTileOn, HardPlacesAreThoseOfEachValueByItself) {
  target_in_use();
  std::vector<std::int64_t> counts;
  for (int k = 0; k <= 53; ++k) {
    for (const std::int64_t beside : {-1, 0, 1}) {
      for (const std::int64_t sign : {-1, 1}) {
        const std::int64_t count = sign * ((std::int64_t{1} << k) + beside);
        if (std::abs(count) <= std::int64_t{1} << 53) counts.push_back(count);
      }
    }
  }
  for (const char* json : {R"({"encoding":"fourier","bands":11,"angle_unit":"half_turn","position_dtype":"float64",)"
                           R"("position_step":9.5367431640625e-07,"identity":"last"})",
                           R"({"encoding":"fourier","bands":11,"lowest":-4,"angle_unit":"turn","first":"cos"})",
                           R"({"encoding":"fourier","bands":6,"lowest":-30,"highest":30,"identity":"first"})",
                           R"({"encoding":"fourier","bands":12,"lowest":-9,"position_dtype":"float64",)"
                           R"("position_step":9.094947017729282e-13,"identity":"first"})"})
    expect_by_itself(encoding_of(json), counts);
}

// The room that a tile's rows are written in ends where FourierTile::line elements behind them do.
template <class Value>
void expect_tile_in_its_room(Dtype dtype) {
  const auto element_of = [&](std::int64_t value) -> Value {
    if constexpr (std::is_floating_point_v<Value>) return static_cast<Value>(value);
    return bits_of<Value>(dtype, static_cast<double>(value));
  };
  for (std::int64_t width = 1; width <= 70; ++width) {
    FourierTileOf<Value> tile(width);
    for (std::int64_t channel = 0; channel < width; ++channel) {
      for (std::size_t point = 0; point < FourierTile::points; ++point)
        tile.channel(channel)[point] = element_of(channel - 2 * static_cast<std::int64_t>(point));
    }
    const std::size_t row_bytes = index(width) * size_of(dtype);
    for (const GuardedBytes::Against against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
      GuardedBytes room(FourierTile::points * row_bytes + FourierTile::line * size_of(dtype), against);
      write_tile(tile, width, room.data());
      Tensor rows = Tensor::zeros(dtype, {FourierTile::points, width});
      std::memcpy(rows.data.data(), room.data(), rows.data.size());
      for (std::int64_t i = 0; i < rows.elements(); ++i)
        ASSERT_EQ(rows.at(i), static_cast<double>(i % width - 2 * (i / width))) << name_of(dtype) << " width " << width;
    }
  }
}

TEST_P(FourierTileOn, RowsOfATileAreWrittenInTheRoomThatIsStated) {
  target_in_use();
  expect_tile_in_its_room<float>(Dtype::float32);
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) expect_tile_in_its_room<std::uint16_t>(dtype);
  expect_tile_in_its_room<double>(Dtype::float64);
}

// Fewer rows than a tile has points, and some more: nothing else of the table's memory.
TEST_P(FourierTileOn, SmallTablesTouchNothingElse) {
  target_in_use();
  for (const NamedFeatures& named : every_kind_of_features()) {
    const Fourier encoding = named.encoding();
    const FourierEncoder encoder(encoding);
    for (const std::int64_t count : {1, 16, 37}) {
      const std::vector<std::int64_t> positions = some_places(encoding, count);
      for (const Dtype dtype : floating_dtypes) {
        const Tensor weight = some_matrix(encoding, dtype);
        const auto encode = [&](const Rows& out) {
          is_given(encoding) ? encoder.encode(positions, weight, out) : encoder.encode(positions, out);
        };
        Tensor wanted = Tensor::zeros(dtype, {count, width(encoding)});
        encode({dtype, wanted.data.data(), count, width(encoding), width(encoding)});
        expect_only_its_rows(wanted, encode);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Rows of one vector and less, of several and of one element more or less; written past the caches, where their number
// asks for it; of any alignment, with gaps or without.
TEST_P(FourierTileOn, LargeTablesHaveTheRowsOfSmallOnes) {
  target_in_use();
  for (const std::int64_t bands : {1, 8, 17}) {
    for (const Identity identity : {Identity::none, Identity::first}) {
      if (bands == 17 && identity == Identity::first) continue;
      Fourier encoding;
      encoding.bands = bands;
      encoding.highest = static_cast<double>(bands - 1) / 2;
      encoding.identity = identity;
      const FourierEncoder encoder(encoding);
      const std::int64_t columns = width(encoding);
      for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::bfloat16}) {
        const std::size_t row_bytes = index(columns) * size_of(dtype);
        const std::int64_t count = written_past_caches / static_cast<std::int64_t>(row_bytes) + 21;
        std::vector<std::int64_t> positions;
        for (std::int64_t i = 0; i < count; ++i) positions.push_back(i % 1009 - 500);
        const Tensor wanted = encoder.encode(std::span(positions).first(1009), dtype);
        for (const GuardedBytes::Against against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
          for (const std::int64_t gap : {0, 3}) {
            for (const std::size_t shift : {0, 3}) {
              const std::int64_t stride = columns + gap;
              const std::size_t stride_bytes = index(stride) * size_of(dtype);
              GuardedBytes memory(index(count - 1) * stride_bytes + row_bytes + shift, against);
              std::byte* const start = memory.data() + (against == GuardedBytes::Against::start ? shift : 0);
              std::vector<std::byte> expected(memory.size(), std::byte{GuardedBytes::filler});
              for (std::size_t row = 0; row < index(count); ++row)
                std::memcpy(expected.data() + (start - memory.data()) + row * stride_bytes,
                            wanted.data.data() + row % 1009 * row_bytes, row_bytes);
              encoder.encode(positions, {dtype, start, count, columns, stride});
              ASSERT_EQ(std::memcmp(expected.data(), memory.data(), expected.size()), 0)
                  << name_of(dtype) << " width " << columns << " gap " << gap << " shift " << shift;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace sextant::fourier_tile_test
#endif
