#include "reference/log_coordinates.hpp"

#include <gtest/gtest.h>

#include "reference/decimal.hpp"

namespace sextant::reference::log_coordinates_test {
namespace {

constexpr Precision precision{128};

// ln(1 + 8 d / m) / (3 ln 2) by Python's decimal at 50 digits.
TEST(LogCoordinatesReference, AgreesWithDecimals) {
  const LogCoordinates window{{8, 12}, {}};
  EXPECT_TRUE(agrees_with(log_coordinate(window, 0, 1, Precision{256}), "0.366511891183638140627363018735125"));
  EXPECT_TRUE(agrees_with(log_coordinate(window, 0, -3, Precision{256}), "-0.715613796109757033788051427314"));
  EXPECT_TRUE(agrees_with(log_coordinate(window, 1, 1, Precision{256}), "0.262831964935429412531385458727"));
  EXPECT_TRUE(agrees_with(log_coordinate(window, 1, 23, Precision{256}), "1.38263289837077114450716932698"));
  const LogCoordinates grown{{8, 8}, {24, 1 << 20}};
  EXPECT_TRUE(agrees_with(log_coordinate(grown, 0, 5, Precision{256}), "0.484572655814301199351766320321598"));
  EXPECT_TRUE(agrees_with(log_coordinate(grown, 1, 1, Precision{256}), "0.00000366895272146644518418620113720507"));
}

// The ends of the window are +-log2(9)/3, whatever its extent.
TEST(LogCoordinatesReference, WholeValuesArePoints) {
  const LogCoordinates window{{9, 25}, {}};
  EXPECT_TRUE(is_exactly(log_coordinate(window, 0, 0, precision), 0));
  EXPECT_TRUE(is_exactly(log_coordinate(window, 0, 7, precision), 1));
  EXPECT_TRUE(is_exactly(log_coordinate(window, 0, -63, precision), -2));
  EXPECT_TRUE(is_exactly(log_coordinate(window, 1, 21, precision), 1));
  EXPECT_FALSE(is_exactly(log_coordinate(window, 0, 1, precision), 1.0 / 3));
}

}  // namespace
}  // namespace sextant::reference::log_coordinates_test
