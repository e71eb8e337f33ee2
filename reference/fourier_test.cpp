#include "reference/fourier.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "lib/spec/presets.hpp"
#include "reference/decimal.hpp"

namespace sextant::reference::fourier_test {
namespace {

Fourier preset(const char* name) { return std::get<Fourier>(parse_spec(preset_named(name)->json).encoding); }

struct Row {
  std::int64_t channel;
  const char* value;
};

void expect_values(FourierReference reference, const std::vector<std::int64_t>& place, const std::vector<Row>& rows) {
  for (const Row& row : rows)
    EXPECT_TRUE(agrees_with(reference.code(place, row.channel, Precision{256}), row.value)) << row.channel;
}
void expect_values(const char* name, const std::vector<std::int64_t>& place, const std::vector<Row>& rows) {
  SCOPED_TRACE(name);
  expect_values(FourierReference(preset(name)), place, rows);
}

// Computed apart from this code, by mpmath 1.3 at 400 bits, from the formulas of the codes that the presets name.
TEST(FourierReference, AgreesWithAnIndependentComputation) {
  expect_values("nerf-positions", {1234567, -3000001, 77},
                {{0, "1.17737483978271484375"},
                 {1, "-2.86102390289306640625"},
                 {2, "0.00007343292236328125"},
                 {3, "0.923602838918184151318613927847"},
                 {7, "-0.960898105411748184872759478978"},
                 {8, "0.999999997303802957805733987961"},
                 {26, "0.999999827443394184656468051417"},
                 {60, "0.932373798084348300293605472416"},
                 {62, "0.999293291377456800133931725721"}});
  expect_values("nerf-paper-positions", {1234567, -3000001, 77},
                {{0, "0.446056199035003681171816839206"},
                 {1, "0.895004953786539206689235969068"},
                 {19, "-0.448412009704393454642552987646"},
                 {20, "-0.901629096123255038585167626959"},
                 {33, "-0.938940730840120319581564741476"},
                 {58, "0.0147640286621272462212737340931"}});
  expect_values("nerfstudio-vanilla-positions", {1234567, -3000001, 77},
                {{0, "0.897681327819811403432177595043"},
                 {1, "0.905369877869151028597427436496"},
                 {9, "0.546610166910834891633823760079"},
                 {15, "-0.965310347572131678904034697591"},
                 {31, "0.424623814978856962524319014067"},
                 {39, "-0.837387201615661917169801219894"},
                 {58, "0.997966334120517822968532529931"},
                 {60, "1.17737483978271484375"},
                 {62, "0.00007343292236328125"}});
  expect_values("perceiver-imagenet", {17, 200},
                {{0, "-0.847533632286995515695067264574"},
                 {1, "0.793721973094170403587443946188"},
                 {2, "-0.4608806087932616357247719137"},
                 {65, "-0.237210720486907681593059834868"},
                 {66, "0.603626142996986689452904914835"},
                 {100, "0.878488800202211783512497787035"},
                 {130, "-0.887462148172164312628959937483"},
                 {257, "-0.947962949727378182322653768161"}});
}

// The same of a matrix of (j - 60 + 40 a)/32.
TEST(FourierReference, AgreesWithAnIndependentComputationOfAWeight) {
  Tensor weight = Tensor::zeros(Dtype::float32, {2, 128});
  for (std::int64_t i = 0; i < 256; ++i) weight.set(i, static_cast<double>(i % 128 - 60 + 40 * (i / 128)) / 32);
  expect_values(FourierReference(preset("sam-image"), weight), {17, 60},
                {{1, "0.937339011912574923201899593372"},
                 {5, "0.765167265622458925888815999065"},
                 {127, "0.183039887955140958516532578477"},
                 {128, "-0.266712757474898386325286515116"},
                 {150, "-0.831469612302545237078788377618"},
                 {255, "0.983105487431216327180301154674"}});
}

// A third way to the same angles: FastRotations' of each axis.
TEST(FourierReference, TheFastTierIsWithinTheExactOne) {
  for (const char* name : {"nerf-positions", "nerfstudio-vanilla-directions", "perceiver-imagenet"}) {
    const Fourier encoding = preset(name);
    FourierReference reference(encoding);
    for (std::int64_t axis = 0; axis < encoding.axes; ++axis) {
      const FastRotations fast = reference.fast(axis);
      RotationRow row = fast.make_row();
      for (const std::int64_t position : {0, 1, 77, 130, 223}) {
        const std::vector<std::int64_t> place(static_cast<std::size_t>(encoding.axes), position);
        fast.at(counted(encoding, axis, position), row);
        for (std::int64_t band = 0; band < encoding.bands; ++band) {
          const Rotation& exact = reference.rotation(place, axis, band, Precision{256});
          const auto i = static_cast<std::size_t>(band);
          for (const auto& [value, truth] : {std::pair(row.sin(i), exact.sin), std::pair(row.cos(i), exact.cos)}) {
            const Enclosure error =
                abs(truth - Enclosure(value.high, Precision{256}) - Enclosure(value.low, Precision{256}));
            EXPECT_LE(error.upper(), value.error) << name << axis << " " << position << " " << band;
          }
        }
      }
    }
  }
}

TEST(FourierReference, PartsOfATurnArePoints) {
  Fourier encoding = preset("nerf-paper-positions");  // sin(2^k pi p), steps of 2^-23
  FourierReference reference(encoding);
  const auto sine = [&](std::int64_t position, std::int64_t band) {
    return reference.rotation(std::vector{position, position, position}, 0, band, first_precision).sin;
  };
  EXPECT_EQ(sine(1 << 22, 0).width(), 0);  // half of pi
  EXPECT_EQ(sine(1 << 22, 0).upper(), 1);
  EXPECT_EQ(sine(1 << 23, 3).width(), 0);
  EXPECT_EQ(sine(1 << 23, 3).upper(), 0);
  EXPECT_GT(sine((1 << 23) + 1, 3).lower(), 0);
  // A twelfth of a turn, of cells: 2 (p + 1/2)/3 - 1 = 2/3, times pi/4.
  Fourier cells;
  cells.bands = 1;
  cells.lowest = cells.highest = -2;
  cells.angle_unit = AngleUnit::half_turn;
  cells.coordinates = FourierCoordinates::centres;
  cells.extents = {3};
  FourierReference of_cells(cells);
  const Rotation twelfth = of_cells.rotation(std::vector<std::int64_t>{2}, 0, 0, first_precision);
  EXPECT_EQ(twelfth.sin.width(), 0);
  EXPECT_EQ(twelfth.sin.upper(), 0.5);
  const Rotation none = of_cells.rotation(std::vector<std::int64_t>{1}, 0, 0, first_precision);
  EXPECT_EQ(none.sin.upper(), 0);
  EXPECT_EQ(none.cos.lower(), 1);
}

TEST(FourierReference, RefusesWhatDoesNotFit) {
  EXPECT_THROW(FourierReference(preset("sam-image")), std::invalid_argument);
  EXPECT_THROW(FourierReference(preset("sam-image"), Tensor::zeros(Dtype::float32, {128, 2})), std::invalid_argument);
  EXPECT_THROW(FourierReference(preset("nerf-positions"), Tensor::zeros(Dtype::float32, {3, 10})),
               std::invalid_argument);
  FourierReference reference(preset("nerf-directions"));
  const std::vector<std::int64_t> place{0, 0, 0};
  EXPECT_THROW(reference.code(place, 27, first_precision), std::out_of_range);
  EXPECT_THROW(reference.code(place, -1, first_precision), std::out_of_range);
}

}  // namespace
}  // namespace sextant::reference::fourier_test
