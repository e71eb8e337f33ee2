#include "lib/spec/position_grid.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "lib/spec/refusal_test.hpp"
#include "lib/spec/sinusoidal.hpp"

namespace sextant::spec_position_grid_test {
namespace {

const std::string code = R"({"encoding":"sinusoidal","dim":8)";
const std::string rotation = R"({"encoding":"rope","head_dim":8)";

TEST(PositionGrid, CountsArePositionsAndBack) {
  const PositionGrid grid{0x1p-7, Dtype::float32};
  EXPECT_EQ(grid.at(257), 2.0078125);
  EXPECT_EQ(grid.count_of(2.0078125), 257);
  EXPECT_EQ(grid.count_of(-0x1p-7), -1);
  EXPECT_EQ(grid.count_of(0.3), std::nullopt);
  EXPECT_EQ(grid.count_of(0x1p46), std::int64_t{1} << 53);
  EXPECT_EQ(grid.count_of(0x1p47), std::nullopt);
  for (const double value : {std::numeric_limits<double>::infinity(), std::nan("")})
    EXPECT_EQ(grid.count_of(value), std::nullopt);
  EXPECT_EQ(grid.text(257), "2.0078125");
  EXPECT_EQ(grid.text(256), "2");
  EXPECT_EQ(grid.text(-1), "-0.0078125");
  EXPECT_EQ((PositionGrid{0x1p-40, Dtype::float64}.text(1)), "0.0000000000009094947017729282379150390625");
  EXPECT_EQ(PositionGrid{}.text((std::int64_t{1} << 53) - 1), "9007199254740991");
}

TEST(PositionGrid, SpecsNameTheirEndsInPositionsAndCountSteps) {
  const Spec spec = parse_spec(code + R"(,"position_dtype":"float64","min_position":-2,"max_position":1000.5})");
  const PositionGrid grid = position_grid_of(spec.encoding);
  EXPECT_EQ(grid.step, 0x1p-7);
  EXPECT_EQ(grid.dtype, Dtype::float64);
  EXPECT_EQ(spec.min_position, -256);
  EXPECT_EQ(spec.max_position, 128064);
  EXPECT_EQ(describe(spec), "sinusoidal dim 8, base 10000, layout interleaved, position_dtype float64, float32");
  const std::string written = to_json(spec);
  EXPECT_NE(written.find(R"("position_dtype":"float64","position_step":0.0078125,)"), written.npos) << written;
  EXPECT_NE(written.find(R"("min_position":-2,"max_position":1000.5,)"), written.npos) << written;
  EXPECT_EQ(to_json(parse_spec(written)), written);
}

TEST(PositionGrid, WholePositionsAreNotWritten) {
  const std::string written = to_json(parse_spec(rotation + R"(,"position_dtype":"int64","position_step":1})"));
  EXPECT_EQ(written.find("position_dtype"), written.npos);
  EXPECT_EQ(written.find("position_step"), written.npos);
}

TEST(PositionGrid, ClaimsEndWhereTheDtypeHasEveryStepByDefault) {
  EXPECT_EQ(parse_spec(code + R"(,"position_dtype":"float32"})").max_position, std::int64_t{1} << 24);
  EXPECT_EQ(parse_spec(code + R"(,"position_dtype":"float32","position_step":0.0009765625})").max_position,
            std::int64_t{1} << 24);
  EXPECT_EQ(parse_spec(code + R"(,"position_dtype":"float64","position_step":1})").max_position, 131072);
  EXPECT_EQ(parse_spec(rotation + R"(,"position_dtype":"float64","position_step":9.094947017729282e-13})").max_position,
            std::int64_t{1} << 53);
}

class RealPositions : public testing::TestWithParam<Refusal> {};

TEST_P(RealPositions, AreRefusedInOneLine) {
  const std::string said = refusal(GetParam().json);
  EXPECT_NE(said.find(GetParam().message), said.npos) << said;
  EXPECT_EQ(said.find('\n'), said.npos);
}

INSTANTIATE_TEST_SUITE_P(
    Domain, RealPositions,
    testing::Values(
        Refusal{R"({"encoding":"rope","head_dim":8,"position_step":0.5})",
                "position_step: expected 1 for position_dtype int64, got 0.5"},
        Refusal{R"({"encoding":"rope","head_dim":8,"position_dtype":"float16"})", "expected one of int64, float32"},
        Refusal{R"({"encoding":"rope","head_dim":8,"position_dtype":"float32","position_step":0.3})",
                "position_step: expected a power of two from 2^-40 to 1, got 0.3"},
        Refusal{R"({"encoding":"rope","head_dim":8,"position_dtype":"float32","position_step":2})", "got 2"},
        Refusal{R"({"encoding":"rope","head_dim":8,"position_dtype":"float32","position_step":0})", "got 0"},
        Refusal{R"({"encoding":"rope","head_dim":8,"position_dtype":"float32","position_step":-0.5})", "got -0.5"},
        Refusal{R"({"encoding":"rope","head_dim":8,"position_dtype":"float32","position_step":4.547473508864641e-13})",
                "from 2^-40 to 1"},
        Refusal{R"({"encoding":"rope","head_dim":8,"position_dtype":"float32","max_position":131073})",
                "max_position: expected a number above min_position = 0 and at most 131072 = 16777216 steps, the most "
                "that float32 tells apart, got 131073"},
        Refusal{R"({"encoding":"rope","head_dim":8,"position_dtype":"float32","min_position":-131073})",
                "min_position: expected a number from -131072"},
        Refusal{R"({"encoding":"rope","head_dim":8,"position_dtype":"float64","max_position":0.3})",
                "max_position: expected a multiple of position_step = 0.0078125, at most 2^53 of it, got 0.3"},
        Refusal{R"({"encoding":"rope","head_dim":8,"max_position":0.5})", "max_position: expected an integer, got 0.5"},
        Refusal{R"({"encoding":"sinusoidal","dim":8,"position_dtype":"float32","position_offset":2})",
                "position_offset: expected 0 for real positions"},
        Refusal{R"({"encoding":"rope","head_dim":8,"position_dtype":"float32","rope_scaling":{"rope_type":"dynamic",)"
                R"("factor":2,"original_max_position_embeddings":64}})",
                "position_dtype: expected int64 for rope_type dynamic"},
        Refusal{R"({"encoding":"xpos","head_dim":8,"position_dtype":"float32"})", "position_dtype: no field of xpos"},
        Refusal{R"({"encoding":"rope","head_dim":8,"position_dtype":"float64","position_step":9.094947017729282e-13,)"
                R"("accuracy":"float16-angle"})",
                "accuracy: float16-angle has no multiples of position_step = 9.094947017729282e-13"},
        Refusal{R"({"encoding":"attention","num_heads":2,"head_dim":8,"position":{"encoding":"rope","head_dim":8,)"
                R"("position_dtype":"float32"}})",
                "position.position_dtype: expected int64: attention takes whole positions"},
        Refusal{R"({"encoding":"attention","num_heads":2,"head_dim":8,"position":{"encoding":"sinusoidal","dim":8,)"
                R"("position_dtype":"float32"}})",
                "position.position_dtype: expected int64: attention takes whole positions"}));

// Timestep embeddings.

TEST(TimestepFields, OneShiftHasTwoNames) {
  const auto shift = [](const std::string& rest) {
    return std::get<Sinusoidal>(parse_spec(code + rest + "}").encoding).downscale_freq_shift;
  };
  EXPECT_EQ(shift(""), 0);
  EXPECT_EQ(shift(R"(,"denominator":"half_minus_one")"), 1);
  EXPECT_EQ(shift(R"(,"downscale_freq_shift":1,"denominator":"half_minus_one")"), 1);
  EXPECT_EQ(shift(R"(,"downscale_freq_shift":3)"), 3);
  const auto written = [](const std::string& rest) { return to_json(parse_spec(code + rest + "}")); };
  EXPECT_NE(written(R"(,"downscale_freq_shift":1)").find(R"("denominator":"half_minus_one")"), std::string::npos);
  const std::string of_two = written(R"(,"downscale_freq_shift":2)");
  EXPECT_NE(of_two.find(R"("downscale_freq_shift":2)"), of_two.npos);
  EXPECT_EQ(of_two.find("denominator"), of_two.npos);
  EXPECT_EQ(to_json(parse_spec(of_two)), of_two);
  EXPECT_EQ(refusal(code + R"(,"downscale_freq_shift":2,"denominator":"dim"})"),
            "spec: denominator: dim is a downscale_freq_shift of 0, and contradicts 2");
  EXPECT_EQ(refusal(code + R"(,"downscale_freq_shift":4})"),
            "spec: downscale_freq_shift: expected an integer from 0 to dim/2 - 1 = 3, got 4");
  EXPECT_EQ(refusal(code + R"(,"downscale_freq_shift":-1})"),
            "spec: downscale_freq_shift: expected an integer from 0 to dim/2 - 1 = 3, got -1");
  const std::string wide = R"({"encoding":"sinusoidal","dim":200,"layout":"concatenated","downscale_freq_shift":)";
  EXPECT_EQ(std::get<Sinusoidal>(parse_spec(wide + "98}").encoding).downscale_freq_shift, 98);
  EXPECT_EQ(
      refusal(wide + "99}"),
      "spec: downscale_freq_shift: the last frequency, base^-99, is below every double: expected a smaller shift, "
      "got 99");
}

TEST(TimestepFields, AngleScaleIsWrittenWhereItIsNotOne) {
  EXPECT_EQ(to_json(parse_spec(code + R"(,"angle_scale":1})")), to_json(parse_spec(code + "}")));
  const std::string written = to_json(parse_spec(code + R"(,"angle_scale":1000})"));
  EXPECT_NE(written.find(R"("scale":1.0,"angle_scale":1000.0)"), written.npos) << written;
  EXPECT_EQ(refusal(code + R"(,"angle_scale":0})"), "spec: angle_scale: expected a number from 2^-20 to 2^20, got 0");
  EXPECT_EQ(refusal(code + R"(,"angle_scale":-1})"), "spec: angle_scale: expected a number from 2^-20 to 2^20, got -1");
}

TEST(TimestepFields, AnOddWidthIsPaddedWhereItIsConcatenated) {
  const Spec spec = parse_spec(R"({"encoding":"sinusoidal","dim":9,"layout":"concatenated"})");
  const auto& encoding = std::get<Sinusoidal>(spec.encoding);
  EXPECT_EQ(pairs(encoding), 4);
  EXPECT_EQ(padding_channel(encoding), 8);
  EXPECT_EQ(channels_of_pair(encoding, 3).second, 7);
  EXPECT_EQ(refusal(R"({"encoding":"sinusoidal","dim":9})"),
            "spec: dim: expected an even number from 2 to 1048576, got 9");
  EXPECT_EQ(refusal(R"({"encoding":"sinusoidal","dim":1,"layout":"concatenated"})"),
            "spec: dim: expected a number from 2 to 1048576, got 1");
}

}  // namespace
}  // namespace sextant::spec_position_grid_test
