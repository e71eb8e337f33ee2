#include "reference/sinusoidal_2d.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "reference/decimal.hpp"

namespace sextant::reference::sinusoidal_2d_test {
namespace {

Sinusoidal2d mae() {
  Sinusoidal2d encoding;
  encoding.dim = 768;
  encoding.height = 14;
  encoding.width = 14;
  encoding.layout = Layout::concatenated;
  encoding.axis_order = AxisOrder::width_first;
  return encoding;
}

// Computed apart from this code, by mpmath 1.3 at 400 bits: sin and cos of 10000^(-2i/384) times 11, the column, in the
// first half, and times 5, the row, in the second.
TEST(Sinusoidal2dReference, AgreesWithAnIndependentComputation) {
  struct Row {
    std::int64_t channel;
    const char* value;
  };
  const Row rows[] = {
      {0, "-0.999990206550703457051564899026"},    {100, "0.0906697657367923869033366344504"},
      {191, "0.00115405344588082094112403207233"}, {192, "0.00442569798805078574835502472394"},
      {383, "0.999999334080100300645137780326"},   {384, "-0.958924274663138468893154406156"},
      {400, "0.731690170794683952741193818804"},   {575, "0.000524569840510197234485093825190"},
      {576, "0.283662185463226264466639171514"},   {767, "0.999999862413231748493719260713"},
  };
  Sinusoidal2dReference reference(mae());
  for (const Row& row : rows)
    EXPECT_TRUE(agrees_with(reference.code({5, 11}, row.channel, Precision{256}), row.value)) << row.channel;
}

TEST(Sinusoidal2dReference, EachHalfIsTheOneDimensionalCode) {
  for (const AxisOrder order : {AxisOrder::height_first, AxisOrder::width_first}) {
    for (const Layout layout : {Layout::interleaved, Layout::concatenated}) {
      Sinusoidal2d encoding;
      encoding.dim = 16;
      encoding.height = 9;
      encoding.width = 9;
      encoding.layout = layout;
      encoding.axis_order = order;
      Sinusoidal half;
      half.dim = 8;
      half.layout = layout;
      Sinusoidal2dReference reference(encoding);
      SinusoidalReference line(half);
      const std::int64_t in_first = order == AxisOrder::height_first ? 3 : 8;
      const std::int64_t in_second = order == AxisOrder::height_first ? 8 : 3;
      for (std::int64_t pair = 0; pair < 4; ++pair) {
        const Channels channels = channels_of_pair(half, pair);
        EXPECT_EQ(reference.code({3, 8}, channels.first, Precision{128}).lower(),
                  line.rotation(in_first, pair, Precision{128}).sin.lower());
        EXPECT_EQ(reference.code({3, 8}, channels.second + 8, Precision{128}).lower(),
                  line.rotation(in_second, pair, Precision{128}).cos.lower());
      }
    }
  }
}

TEST(Sinusoidal2dReference, OverlapsItselfAtAHigherPrecisionAndHasNoOtherChannel) {
  Sinusoidal2dReference reference(mae());
  for (std::int64_t channel = 0; channel < 768; channel += 13) {
    EXPECT_TRUE(
        overlap(reference.code({13, 7}, channel, Precision{128}), reference.code({13, 7}, channel, Precision{512})));
  }
  EXPECT_THROW(reference.code({0, 0}, 768, Precision{128}), std::out_of_range);
}

}  // namespace
}  // namespace sextant::reference::sinusoidal_2d_test
