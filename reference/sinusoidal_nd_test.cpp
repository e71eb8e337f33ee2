#include "reference/sinusoidal_nd.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <variant>
#include <vector>

#include "lib/spec/presets.hpp"
#include "reference/decimal.hpp"

namespace sextant::reference::sinusoidal_nd_test {
namespace {

SinusoidalNd preset(const char* name) { return std::get<SinusoidalNd>(parse_spec(preset_named(name)->json).encoding); }

struct Row {
  std::int64_t channel;
  const char* value;
};

void expect_values(const char* name, const std::vector<std::int64_t>& place, const std::vector<Row>& rows) {
  SinusoidalNdReference reference(preset(name));
  for (const Row& row : rows)
    EXPECT_TRUE(agrees_with(reference.code(place, row.channel, Precision{256}), row.value)) << name << row.channel;
}

// Computed apart from this code, by mpmath 1.3 at 400 bits, from the formulas of the codes that the presets name.
TEST(SinusoidalNdReference, AgreesWithAnIndependentComputation) {
  expect_values("detr-r50", {7, 30},
                {{0, "0.904827086709217649156384783233"},
                 {1, "-0.42577921879456485029031292621"},
                 {26, "0.30469728651116707132726006342"},
                 {127, "0.999999973045600493990047396453"},
                 {128, "-0.526432306133595211825189296814"},
                 {129, "0.850217047029089327420837040445"},
                 {200, "0.0322097615180028883329821835754"},
                 {255, "0.999999781175848448025861530925"}});
  expect_values("cogvideox-2b", {5, 20, 40},
                {{0, "-0.958924274663138468893154406156"},
                 {100, "0.107513522009579568110424103609"},
                 {240, "0.283662185463226264466639171514"},
                 {479, "0.999999865028107745271685520066"},
                 {480, "0.611389448082578182643371640978"},
                 {600, "0.836138781349214052049516613156"},
                 {840, "-0.791329857122350993241913492802"},
                 {1199, "0.999997604978084634720933219848"},
                 {1200, "-0.946395756838108132808729281813"},
                 {1333, "0.34760768182735430388939924235"},
                 {1560, "-0.323009398375379324471131357544"},
                 {1919, "0.99999940124434190451118262401"}});
  expect_values("loftr", {9, 200},
                {{0, "-0.061890250718720728575879552698"},
                 {1, "0.99808296091355746996490482335"},
                 {2, "-0.544021110889369813404747661851"},
                 {3, "-0.839071529076452452258863947824"},
                 {40, "-0.514754848873048262493434947061"},
                 {101, "0.71164326971853847267829434878"},
                 {254, "0.00115478172803505428245916176455"},
                 {255, "0.999999333239358013310111875971"}});
  expect_values("positional-encodings-3d", {3, 7, 15},
                {{0, "0.141120008059867222100744802808"},
                 {21, "0.999999759848544207836967462919"},
                 {22, "0.656986598718789090396999091594"},
                 {43, "0.999998692508973276684302960301"},
                 {44, "0.650287840157116865829740270989"},
                 {63, "0.999967959767577641381762408683"}});
}

TEST(SinusoidalNdReference, KnowsWhereTheAxesEnd) {
  SinusoidalNd encoding = preset("positional-encodings-3d");
  encoding.dim = 70;  // the axes have 66
  SinusoidalNdReference reference(encoding);
  EXPECT_TRUE(is_exactly(reference.code(std::vector<std::int64_t>{1, 2, 3}, 66, Precision{128}), 0));
  EXPECT_TRUE(is_exactly(reference.code(std::vector<std::int64_t>{1, 2, 3}, 69, Precision{128}), 0));
  EXPECT_THROW(reference.code(std::vector<std::int64_t>{1, 2, 3}, 70, Precision{128}), std::out_of_range);
}

TEST(SinusoidalNdReference, QuartersOfATurnAreExact) {
  SinusoidalNd encoding;
  encoding.dim = 6;
  encoding.extents = {9};
  encoding.channels = {6};
  encoding.base = 8;  // w = 1, 1/2, 1/4
  encoding.coordinates = Coordinates::normalized;
  SinusoidalNdReference whole(encoding);
  EXPECT_TRUE(is_exactly(whole.rotation(4, 0, 0, Precision{128}).sin, 0));
  EXPECT_TRUE(is_exactly(whole.rotation(4, 0, 0, Precision{128}).cos, -1));
  EXPECT_TRUE(is_exactly(whole.rotation(4, 0, 1, Precision{128}).cos, 0));
  EXPECT_TRUE(is_exactly(whole.rotation(24, 0, 2, Precision{128}).sin, -1));
  // The divisor 8 + 1/2: a twelfth is no coordinate, but 17 is two turns.
  encoding.epsilon = 0.5;
  SinusoidalNdReference halves(encoding);
  EXPECT_TRUE(is_exactly(halves.rotation(17, 0, 0, Precision{128}).sin, 0));
  EXPECT_TRUE(is_exactly(halves.rotation(17, 0, 1, Precision{128}).cos, 1) ==
              is_exactly(halves.rotation(34, 0, 2, Precision{128}).cos, 1));
  encoding.epsilon = 1e-6;
  SinusoidalNdReference released(encoding);
  EXPECT_LT(released.rotation(8, 0, 0, Precision{128}).sin.upper(), 0);
  EXPECT_GT(released.rotation(8, 0, 0, Precision{128}).sin.lower(), -1e-6);
}

TEST(SinusoidalNdReference, OverlapsItselfAtAHigherPrecision) {
  for (const char* name : {"detr-r50", "cogvideox-2b", "v-jepa-vit-l"}) {
    SinusoidalNdReference reference(preset(name));
    const std::vector<std::int64_t> place{3, 8, 13};
    for (std::int64_t channel = 0; channel < reference.encoding().dim; channel += 29) {
      EXPECT_TRUE(
          overlap(reference.code(place, channel, Precision{128}), reference.code(place, channel, Precision{512})));
    }
  }
}

}  // namespace
}  // namespace sextant::reference::sinusoidal_nd_test
