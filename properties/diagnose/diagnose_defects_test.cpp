// Subjects with one defect that no spec says, each with the sentence that names it.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "properties/diagnose/diagnose.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::identify_diagnose_defects_test {
namespace {

constexpr std::int64_t half = 32;
constexpr std::int64_t width = 2 * half;

// Where a vector of a call stands.
struct Place {
  const std::vector<std::int64_t>& positions;
  std::int64_t tokens;
  std::int64_t vector;
  std::int64_t heads;

  std::int64_t token() const { return vector / heads; }
  std::int64_t given() const { return positions[static_cast<std::size_t>(token())]; }
  std::int64_t row_start() const { return positions[static_cast<std::size_t>(token() / tokens * tokens)]; }
};

// A rope of 64 channels, pairing half, right in double but for what is changed.
struct Arithmetic {
  std::function<double(const Place&)> position = [](const Place& place) { return static_cast<double>(place.given()); };
  std::function<double(std::int64_t)> frequency = [](std::int64_t pair) {
    return std::pow(10000.0, -static_cast<double>(pair) / half);
  };
  std::function<double(double)> angle = [](double value) { return value; };
  std::function<double(std::int64_t)> turned = [](std::int64_t) { return 1.0; };  // times the sines of a pair
  std::function<double(double)> given = [](double value) { return value; };       // of what is turned
  double used = 1;                                                                // times the second members
  std::function<double(double)> entry = [](double value) { return value; };
  std::function<double(double value, double position)> cosine = [](double value, double) { return value; };
  std::function<double(double value, double position)> sine = [](double value, double) { return value; };
  std::function<double(double)> of_sines = [](double value) { return value; };  // products with them
  std::function<double(double)> step = [](double value) { return value; };      // each result of the rotation's
  double reflected = 1;                                                         // -1: what the second member adds
  double crossed = 1;         // times what the first member gets of the second
  double crossed_second = 1;  // times what the second gets of the first
  std::function<double(double)> result = [](double value) { return value; };
};

Tensors rotated(const Arithmetic& with, const Tensors& inputs) {
  const std::vector<std::int64_t> positions = inputs.at("positions").integers();
  const Tensor& x = inputs.at("x");
  Tensor y = x;
  for (std::int64_t vector = 0; vector * width < x.elements(); ++vector) {
    const double position = with.position({positions, x.shape[1], vector, x.shape[2]});
    for (std::int64_t i = 0; i < half; ++i) {
      const double angle = with.angle(position * with.frequency(i));
      const double c = with.cosine(with.entry(std::cos(angle)), position);
      const double s = with.sine(with.entry(std::sin(angle)), position) * with.turned(i);
      const std::int64_t at = vector * width + i;
      const double a = with.given(x.at(at));
      const double b = with.given(x.at(at + half)) * with.reflected * with.used;
      y.set(at, with.result(with.step(with.step(a * c) - with.crossed * with.step(with.of_sines(b * s)))));
      y.set(at + half,
            with.result(with.step(with.crossed_second * with.step(with.of_sines(a * s)) + with.step(b * c))));
    }
  }
  return {{"y", y}};
}

std::string said(const Arithmetic& with, const std::string& spec = R"({"encoding":"rope","head_dim":64})") {
  const FunctionSubject subject("one defect", [with](const Spec&) -> FunctionSubject::Call {
    return [with](std::string_view, const Tensors& inputs) { return rotated(with, inputs); };
  });
  const auto diagnosis = diagnose(subject, parse_spec(spec));
  return diagnosis ? words_of(*diagnosis) : "nothing";
}

double bfloat16(double value) { return round_to(Dtype::bfloat16, value); }
double float16(double value) { return round_to(Dtype::float16, value); }

// Which tokens, positions and rows are wrong is told by what was judged (wrong_places_test.cpp): nothing was here.
TEST(DiagnosedDefect, IsNoFrequencyWhereAFewPositionsAreOthers) {
  Arithmetic with;
  with.position = [](const Place& place) { return static_cast<double>(place.given() + place.token() % 2); };
  EXPECT_EQ(said(with), "nothing");
  with.position = [](const Place& place) { return place.given() == 1 ? 2.0 : static_cast<double>(place.given()); };
  EXPECT_EQ(said(with), "nothing");
}

TEST(DiagnosedDefect, IsNoHeadWhereItIsWrongInSomeRowsAlone) {
  Arithmetic with;
  with.position = [](const Place& place) {
    const bool is_it = place.vector % place.heads == 3 && place.token() >= place.tokens;
    return is_it ? 0.0 : static_cast<double>(place.given());
  };
  EXPECT_EQ(said(with), "nothing");
}

TEST(DiagnosedDefect, CountsPositionsFromTheCallsStart) {
  Arithmetic with;
  with.position = [](const Place& place) { return static_cast<double>(place.given() - place.row_start()); };
  EXPECT_EQ(said(with), "positions are counted from the call's start: the first of each row is taken for position 0");
}

TEST(DiagnosedDefect, RotatesOverHeads) {
  Arithmetic with;
  with.position = [](const Place& place) { return static_cast<double>(place.vector % place.heads); };
  EXPECT_EQ(said(with), "rotates over heads instead of tokens");
  with.position = [](const Place& place) { return static_cast<double>(place.token() / place.tokens); };
  EXPECT_EQ(said(with), "rotates over batch rows instead of tokens");
}

TEST(DiagnosedDefect, WrapsPositions) {
  Arithmetic with;
  with.position = [](const Place& place) { return static_cast<double>(place.given() % 4096); };
  EXPECT_EQ(said(with), "positions wrap at 4096");
}

TEST(DiagnosedDefect, LeavesLowPositions) {
  Arithmetic with;
  with.position = [](const Place& place) { return std::floor(static_cast<double>(place.given()) / 4); };
  EXPECT_EQ(said(with, R"({"encoding":"rope","head_dim":64,"max_position":600})"),
            "low positions are not rotated, and 599 is");
}

TEST(DiagnosedDefect, ReflectsPairs) {
  Arithmetic with;
  with.reflected = -1;
  EXPECT_EQ(said(with), "pairs are reflected, not turned: what the second member adds has the other sign");
}

TEST(DiagnosedDefect, LosesTheMinusOfRotateHalf) {
  Arithmetic with;
  with.crossed = -1;
  EXPECT_EQ(said(with),
            "what the first member of a pair gets from the second has the other sign: the minus of rotate_half is left "
            "out");
}

TEST(DiagnosedDefect, ExchangesCosinesAndSines) {
  Arithmetic with;
  with.angle = [](double value) { return std::numbers::pi / 2 - value; };
  EXPECT_EQ(said(with), "cosines and sines are exchanged");
}

TEST(DiagnosedDefect, LosesTheSignOfSines) {
  Arithmetic with;
  with.angle = [](double value) { return std::acos(std::cos(value)); };
  EXPECT_EQ(said(with), "the sign of sines is lost: pairs turn back beyond half a turn");
}

TEST(DiagnosedDefect, RoundsAnglesAndNotFrequencies) {
  Arithmetic with;
  with.angle = float16;
  const std::string words = said(with, R"({"encoding":"rope","head_dim":64,"max_position":32768})");
  EXPECT_EQ(words, "angles are rounded to float16");
}

TEST(DiagnosedDefect, ReadsAnglesFromATable) {
  Arithmetic with;
  constexpr double step = 2 * std::numbers::pi / 4096;
  with.angle = [](double value) { return std::round(value / step) * step; };
  EXPECT_EQ(said(with), "angles are rounded to 4096 steps a turn");
}

TEST(DiagnosedDefect, ReducesAnglesByARoundedTurn) {
  Arithmetic with;
  with.angle = [](double value) { return std::fmod(value, 6.28318); };
  const std::string words = said(with, R"({"encoding":"rope","head_dim":64,"max_position":600})");
  EXPECT_EQ(words, "angles are reduced by 6.28318, not by 2 pi");
}

TEST(DiagnosedDefect, RoundsTheTable) {
  Arithmetic with;
  with.entry = bfloat16;
  EXPECT_EQ(said(with), "cosines and sines are rounded to bfloat16");
  with.entry = float16;
  EXPECT_EQ(said(with), "cosines and sines are rounded to float16 or TF32");
}

TEST(DiagnosedDefect, RotatesIn16Bits) {
  Arithmetic with;
  with.step = bfloat16;
  EXPECT_EQ(said(with), "the rotation is computed in bfloat16");
  with.step = float16;
  EXPECT_EQ(said(with), "the rotation is computed in float16 or TF32");
}

TEST(DiagnosedDefect, TruncatesResults) {
  Arithmetic with;
  with.result = [](double value) {
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);
    return std::ldexp(std::trunc(std::ldexp(fraction, 8)), exponent - 8);
  };
  EXPECT_EQ(said(with), "results are truncated to bfloat16, not rounded to nearest");
}

TEST(DiagnosedDefect, RoundsTheTableOfA16BitClaim) {
  Arithmetic with;
  with.entry = bfloat16;
  EXPECT_EQ(
      said(with, R"({"encoding":"rope","head_dim":64,"dtype":"bfloat16"})"),
      "cosines and sines are rounded to bfloat16 before they are used: evaluation table measured, float32 claimed");
}

TEST(DiagnosedDefect, RoundsOneStepOfA16BitClaim) {
  const std::string claim = R"({"encoding":"rope","head_dim":64,"dtype":"float16"})";
  const auto rounded = [](double value, double) { return float16(value); };
  const auto rounded_far = [](double value, double position) { return position > 2048 ? float16(value) : value; };
  Arithmetic sines;
  sines.sine = rounded;
  EXPECT_EQ(said(sines, claim), "sines are rounded to float16 before they are used, and cosines are not");
  Arithmetic cosines;
  cosines.cosine = rounded;
  EXPECT_EQ(said(cosines, claim), "cosines are rounded to float16 before they are used, and sines are not");
  Arithmetic products;
  products.of_sines = float16;
  EXPECT_EQ(said(products, claim),
            "products with sines are rounded to float16 before they are added, and those with cosines are not");
  Arithmetic far;
  far.sine = far.cosine = rounded_far;
  EXPECT_EQ(said(far, claim),
            "cosines and sines are rounded to float16 before they are used, at positions beyond 2048 alone");
}

// Of a rope over two axes, the first pairs of which are the first one's.
TEST(DiagnosedDefect, RoundsOneStepOfA16BitClaimOfTwoAxes) {
  constexpr std::int64_t first = 12;
  const auto subject_of = [](double (*of_sine)(double), double (*of_product)(double)) {
    return FunctionSubject("one step", [=](const Spec&) -> FunctionSubject::Call {
      return [=](std::string_view, const Tensors& inputs) -> Tensors {
        const std::vector<std::int64_t> positions = inputs.at("positions").integers();
        const Tensor& x = inputs.at("x");
        Tensor y = x;
        const std::int64_t tokens = x.shape[0] * x.shape[1];
        for (std::int64_t vector = 0; vector * width < x.elements(); ++vector) {
          for (std::int64_t i = 0; i < half; ++i) {
            const std::int64_t token = vector / x.shape[2] + (i < first ? 0 : tokens);
            const double angle = static_cast<double>(positions[static_cast<std::size_t>(token)]) *
                                 std::pow(10000.0, -static_cast<double>(i) / half);
            const double s = of_sine(std::sin(angle));
            const std::int64_t at = vector * width + i;
            const double a = x.at(at);
            const double b = x.at(at + half);
            y.set(at, a * std::cos(angle) - of_product(b * s));
            y.set(at + half, a * s + b * std::cos(angle));
          }
        }
        return {{"y", y}};
      };
    });
  };
  const auto as_it_is = [](double value) { return value; };
  const Spec claim = parse_spec(R"({"encoding":"rope_nd","head_dim":64,"sections":[12,20],"dtype":"float16"})");
  const auto words = [&](const FunctionSubject& subject) {
    const auto diagnosis = diagnose(subject, claim);
    return diagnosis ? words_of(*diagnosis) : "nothing";
  };
  EXPECT_EQ(words(subject_of(as_it_is, as_it_is)), "nothing");
  EXPECT_EQ(words(subject_of(float16, as_it_is)),
            "sines are rounded to float16 before they are used, and cosines are not");
  EXPECT_EQ(words(subject_of(as_it_is, float16)),
            "of a pair's products x1 sin is rounded to float16 before it is added, and the others are not");
}

// Of a claim that has a table of 16 bits, which rounding each product too is wider than.
TEST(DiagnosedDefect, RoundsSomeProductsOfATable) {
  Arithmetic with;
  with.entry = float16;
  with.of_sines = float16;
  EXPECT_EQ(said(with, R"({"encoding":"rope","head_dim":64,"dtype":"float16","evaluation":"table"})"),
            "cosines and sines are rounded to float16 before they are used; products with sines are rounded to float16 "
            "before they are added, and those with cosines are not");
}

TEST(DiagnosedDefect, CountsPositionsFromTheCallsEnd) {
  const std::string from_end = "positions are counted from the call's end: p of n tokens is turned as ";
  Arithmetic with;
  with.position = [](const Place& place) { return static_cast<double>(place.tokens - place.given()); };
  EXPECT_EQ(said(with), from_end + "n - p");
  with.position = [](const Place& place) { return static_cast<double>(place.given() - place.tokens); };
  EXPECT_EQ(said(with), from_end + "p - n");
  with.position = [](const Place& place) { return static_cast<double>(place.given() - place.tokens + 1); };
  EXPECT_EQ(said(with), from_end + "p - (n - 1)");
}

TEST(DiagnosedDefect, MovesPositions) {
  Arithmetic with;
  with.position = [](const Place& place) { return static_cast<double>(place.given() + 18); };
  EXPECT_EQ(said(with), "positions are 18 off: position 0 is turned as 18");
}

TEST(DiagnosedDefect, MultipliesAnglesByATurn) {
  Arithmetic with;
  with.angle = [](double value) { return 2 * std::numbers::pi * value; };
  EXPECT_EQ(said(with), "every frequency is 2 pi times the one asked for");
}

TEST(DiagnosedDefect, TurnsSomePairsTheOtherWay) {
  Arithmetic with;
  with.turned = [](std::int64_t pair) { return pair >= 16 ? -1.0 : 1.0; };
  EXPECT_EQ(said(with), "16 of 32 pairs turn the other way: 16 to 31");
}

// Frequencies whose exponents have the other sign: all turn one way, some by more than half a turn.
TEST(DiagnosedDefect, TurnsSomePairsByMoreThanHalfATurn) {
  Arithmetic with;
  with.frequency = [](std::int64_t pair) { return std::pow(10000.0, static_cast<double>(pair) / half); };
  EXPECT_TRUE(said(with).starts_with("12 of 32 pairs turn the other way, or by more than half a turn a position: 4, 5"))
      << said(with);
}

TEST(DiagnosedDefect, RoundsWhatComesInAndGoesOut) {
  Arithmetic with;
  with.given = bfloat16;
  with.result = bfloat16;
  EXPECT_EQ(said(with), "vectors and results are rounded to bfloat16, what is between is not");
  with.given = [](double value) { return value; };
  EXPECT_EQ(said(with), "results are rounded to bfloat16");
}

TEST(DiagnosedDefect, LeavesSecondMembersOut) {
  Arithmetic with;
  with.used = 0;
  EXPECT_EQ(said(with), "the second members of pairs are not used");
}

TEST(DiagnosedDefect, HasTheOtherSignInTheSecondMember) {
  Arithmetic with;
  with.crossed_second = -1;
  EXPECT_EQ(said(with), "what the second member of a pair gets from the first has the other sign");
}

TEST(DiagnosedDefect, IsOfCallsOfOneToken) {
  Arithmetic with;
  with.position = [](const Place& place) {
    return static_cast<double>(place.tokens == 1 ? place.given() + 1 : place.given());
  };
  EXPECT_EQ(said(with), "in a call of one token one position off: position p is turned as p + 1");
}

TEST(DiagnosedDefect, IsNoneOfARightOne) { EXPECT_EQ(said({}), "nothing"); }

}  // namespace
}  // namespace sextant::identify::identify_diagnose_defects_test
