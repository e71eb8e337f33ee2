#include "properties/survey/told_stage.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/survey/take_survey.hpp"
#include "subjects/function.hpp"

namespace sextant::survey_told_stage_test {
namespace {

// A rope of 64 channels, pairing half, and its table of sines, exact in long double but for what is changed.
struct Arithmetic {
  std::function<long double(double power)> frequency = [](double exponent) {
    return std::pow(10000.0L, static_cast<long double>(-exponent));
  };
  std::function<long double(double given)> position = [](double given) { return given; };
  std::function<long double(long double)> entry = [](long double value) { return value; };
  std::function<std::pair<long double, long double>(long double c, long double s, double x0, double x1)> rotate =
      [](long double c, long double s, double x0, double x1) { return std::pair(x0 * c - x1 * s, x0 * s + x1 * c); };
  std::function<double(long double)> rounded = [](long double value) { return static_cast<float>(value); };
};

constexpr std::int64_t width = 64;
constexpr std::int64_t half = width / 2;

Tensors answered(const Arithmetic& with, std::string_view operation, const Tensors& inputs) {
  const std::vector<std::int64_t> positions = inputs.at("positions").integers();
  const bool is_code = operation == "encode";
  const Tensor x = is_code ? Tensor::zeros(Dtype::float32, {std::ssize(positions), width}) : inputs.at("x");
  Tensor y = x;
  const std::int64_t heads = is_code ? 1 : x.shape[2];
  for (std::int64_t vector = 0; vector * width < x.elements(); ++vector) {
    const long double position =
        with.position(static_cast<double>(positions[static_cast<std::size_t>(vector / heads)]));
    for (std::int64_t i = 0; i < half; ++i) {
      const long double angle = with.frequency(static_cast<double>(i) / half) * position;
      const long double c = with.entry(std::cos(angle));
      const long double s = with.entry(std::sin(angle));
      const std::int64_t at = vector * width + i;
      const auto [first, second] = is_code ? std::pair(s, c) : with.rotate(c, s, x.at(at), x.at(at + half));
      y.set(at, with.rounded(first));
      y.set(at + half, with.rounded(second));
    }
  }
  return {{is_code ? "encoding" : "y", y}};
}

std::string told(const Arithmetic& with, const char* spec) {
  const FunctionSubject subject("one stage is wrong", [with](const Spec&) -> FunctionSubject::Call {
    return [with](std::string_view operation, const Tensors& inputs) { return answered(with, operation, inputs); };
  });
  const Survey survey = take_survey(subject, parse_spec(spec), SurveyFor::summary);
  return survey.stage + " by " + survey.stage_evidence.value_or("nothing");
}

constexpr const char* rope = R"({"encoding": "rope", "head_dim": 64})";
constexpr const char* code = R"({"encoding": "sinusoidal", "dim": 64, "layout": "concatenated"})";

long double truncated(long double value, int precision) {
  int exponent = 0;
  const long double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::trunc(std::ldexp(fraction, precision)), exponent - precision);
}

TEST(ToldStage, IsTheFrequencyOfAPowerInFloat32) {
  Arithmetic with;
  with.frequency = [](double exponent) { return std::pow(10000.0F, static_cast<float>(-exponent)); };
  EXPECT_EQ(told(with, rope), "frequency by oracle");
  EXPECT_EQ(told(with, code), "frequency by oracle");
}

TEST(ToldStage, IsTheAngleOfPositionsInBfloat16) {
  Arithmetic with;
  with.position = [](double position) { return round_to(Dtype::bfloat16, position); };
  EXPECT_EQ(told(with, rope), "angle by oracle");
  EXPECT_EQ(told(with, code), "angle by oracle");
}

TEST(ToldStage, IsATableInFloat16) {
  Arithmetic with;
  with.entry = [](long double value) { return round_to(Dtype::float16, static_cast<double>(value)); };
  EXPECT_EQ(told(with, rope), "table by oracle");
  EXPECT_EQ(told(with, code), "table by oracle");
}

// Of which unit vectors show a table that is rounded too.
TEST(ToldStage, IsNoneOfARotationInBfloat16) {
  const auto narrow = [](long double value) { return round_to(Dtype::bfloat16, static_cast<double>(value)); };
  Arithmetic with;
  with.rotate = [narrow](long double c, long double s, double x0, double x1) -> std::pair<long double, long double> {
    const double narrow_x0 = narrow(x0);
    const double narrow_x1 = narrow(x1);
    return {narrow(narrow(narrow_x0 * narrow(c)) - narrow(narrow_x1 * narrow(s))),
            narrow(narrow(narrow_x0 * narrow(s)) + narrow(narrow_x1 * narrow(c)))};
  };
  EXPECT_EQ(told(with, rope), " by nothing");
}

TEST(ToldStage, IsALastRoundingThatTruncates) {
  Arithmetic with;
  with.rounded = [](long double value) { return static_cast<double>(truncated(value, 24)); };
  EXPECT_EQ(told(with, rope), "rounding by oracle");
  EXPECT_EQ(told(with, code), "rounding by oracle");
}

TEST(ToldStage, IsTheLastRoundingOfWhatIsRight) {
  EXPECT_EQ(told({}, rope), "rounding by oracle");
  EXPECT_EQ(told({}, code), "rounding by oracle");
}

TEST(ToldStage, IsTheRotationOfOtherPairs) {
  EXPECT_EQ(told({}, R"({"encoding": "rope", "head_dim": 64, "pairing": "interleaved"})"), "rotation by oracle");
}

TEST(MeasuredClass, IsThatOfBothMembers) {
  Arithmetic with;
  with.rotate = [](long double c, long double s, double x0, double x1) {
    return std::pair(x0 * c + x1 * s, x0 * s + x1 * c);
  };
  const FunctionSubject subject("the minus is left out", [with](const Spec&) -> FunctionSubject::Call {
    return [with](std::string_view operation, const Tensors& inputs) { return answered(with, operation, inputs); };
  });
  EXPECT_EQ(take_survey(subject, parse_spec(rope), SurveyFor::summary).measured_class, "");
}

TEST(ToldStage, IsNoneWithoutPosition0) {
  Arithmetic with;
  with.position = [](double position) { return round_to(Dtype::bfloat16, position); };
  EXPECT_EQ(told(with, R"({"encoding": "rope", "head_dim": 64, "min_position": 100})"), " by nothing");
}

TEST(ToldStage, IsNoneOfPairsThatAreLonger) {
  Arithmetic with;
  with.rounded = [](long double value) { return static_cast<float>(1.5L * value); };
  EXPECT_EQ(told(with, rope), " by nothing");
  EXPECT_EQ(told(with, code), " by nothing");
}

TEST(ToldStage, IsNoneOfRowsOfZeros) {
  Arithmetic with;
  with.rounded = [](long double value) { return 0 * static_cast<double>(value); };
  EXPECT_EQ(told(with, rope), " by nothing");
}

TEST(ToldStage, IsNoneWhereTwoStagesAreWrong) {
  Arithmetic with;
  with.frequency = [](double exponent) { return 1.01L * std::pow(10000.0L, static_cast<long double>(-exponent)); };
  with.entry = [](long double value) { return round_to(Dtype::bfloat16, static_cast<double>(value)); };
  EXPECT_EQ(told(with, rope), " by nothing");
}

}  // namespace
}  // namespace sextant::survey_told_stage_test
