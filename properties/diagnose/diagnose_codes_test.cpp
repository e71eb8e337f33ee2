// Over 400 lines: a made-up subject and its sentence for each defect of codes, each read alone.
// Codes that are others than claimed, each with the sentence that names how: of numbers, lookups, Fourier features and
// sinusoidal tables.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/diagnose/diagnose.hpp"
#include "properties/identify/exponent_words.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::identify_diagnose_codes_test {
namespace {

std::string told_of(const Subject& subject, const std::string& spec) {
  const auto right = builtin_subject();
  const auto diagnosis = diagnose(subject, parse_spec(spec), {.proposer = right.get()});
  return diagnosis ? words_of(*diagnosis) : std::string();
}

struct OtherCode {
  std::string mutant;
  std::string words;
};

void PrintTo(const OtherCode& row, std::ostream* stream) { *stream << row.mutant; }

const std::vector<OtherCode>& other_codes() {
  static const std::vector<OtherCode> list{
      {"integer-clamped", "positions above 1000 are clamped to it"},
      {"integer-beyond-clamped", "positions above 4095 are clamped to it"},
      {"binary-beyond-clamped", "positions above 4095 are clamped to it"},
      {"integer-constant-step",
       "positions from 1025 on (right up to 1023) are rounded down to multiples of 8, and the rest is right"},
      {"integer-sine", "codes are sines of positions, sin(p), where the claim has p"},
      {"learned-float16-late", "positions from 5000 on: the weight is rounded to float16, and the rest is right"},
      {"learned-clipped", "the weight's values are limited to 65504, float16's greatest"},
      {"learned-flushed", "the weight's subnormal numbers are taken for 0"},
      {"learned-without-negative-zero", "the weight's zeros lose their sign: -0 comes back as 0, as where 0 is added"},
      {"fourier-identity-scaled", "the coordinates in the row are multiplied by pi, as angles are"},
      {"fourier-identity-of-first-axis", "the first axis' coordinate stands for every axis' own in the row"},
      {"fourier-last-frequency-twice", "band 9 has the frequency of band 8"},
      {"fourier-frequencies-of-first-axis",
       "axes 1, 2 have in each band the frequency of the one before, and in the first that of the last"},
      {"fourier-exponents-rounded", "exponents are rounded to whole numbers"},
      {"fourier-weight-clipped", "the weight's values are limited to 1000"},
      {"fourier-weight-flushed", "the weight's values below 1e-08 are taken for 0"},
      {"fourier-weight-equal-columns", "columns of the weight like the one before are taken for 0, as padding is"},
      {"fourier-weight-opposite-columns",
       "columns of the weight that are the opposite of the one before are taken for 0"},
      {"fourier-weight-constant-columns", "columns of the weight whose values are all equal are taken for 0"},
      {"fourier-weight-kept-by-first-value",
       "answers depend on the calls before, or on the session: the same question has another answer elsewhere"},
      {"sinusoidal-doubled-exponent", "exponents are doubled, as with base 1e+08, where base 10000 is claimed"},
      {"sinusoidal-floored-exponent",
       "each frequency is e^-1 times the one before, where the claim has e^-0.2878: the exponent's coefficient is "
       "rounded down to a whole number, as // does"},
      {"sinusoidal-cosine-from-sine", "cosines are computed as sqrt(1 - sin^2): inexact near their zeros"},
      {"sinusoidal-real-far-fraction",
       "positions from 4096.007812 on (right up to 4095.992188) are rounded down to whole numbers, and the rest is "
       "right"},
      {"timestep-shift-added",
       "exponents are divided by 34, not by 30: the frequency shift is added to the number of frequencies, not "
       "subtracted"},
      {"grid-full-width-exponent", "exponents are halved, as with base 100, where base 10000 is claimed"},
      {"places-floored-exponent",
       "each frequency is e^-2 times the one before, where the claim has e^-1.151: the exponent's coefficient is "
       "rounded down to a whole number, as // does"},
      {"places-square", "all axes are divided by the last position of axis 0, not each by its own"},
      {"places-without-epsilon", "epsilon 0 measured, 1e-06 claimed"},
      {"places-repeated-rest",
       "what of a row lies beyond the axes' channels, from 30 on, repeats the row's beginning, where the claim has 0"},
      {"table-of-one-frequency-off", "sines turn 1.001 times as fast as is claimed, and cosines as claimed"},
  };
  return list;
}

class DiagnosedCode : public testing::TestWithParam<OtherCode> {};

TEST_P(DiagnosedCode, IsNamed) {
  EXPECT_EQ(told_of(*mutants::open(GetParam().mutant), mutants::named(GetParam().mutant).spec), GetParam().words);
}

std::string name_of_code(const testing::TestParamInfo<OtherCode>& info) {
  std::string name = info.param.mutant;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Codes, DiagnosedCode, testing::ValuesIn(other_codes()), name_of_code);

// The built-in one, but for the values of its codes.
FunctionSubject with_values(const std::function<double(double position, double code)>& changed) {
  return {"other values", [changed](const Spec& spec) -> FunctionSubject::Call {
            const std::shared_ptr<Session> right = builtin_subject()->open(spec);
            return [right, changed](std::string_view operation, const Tensors& inputs) {
              Tensors outputs = right->call(operation, inputs);
              Tensor& codes = outputs.begin()->second;
              const std::vector<std::int64_t> positions = inputs.at("positions").integers();
              const std::int64_t width = codes.shape.back();
              for (std::int64_t i = 0; i < codes.elements(); ++i)
                codes.set(i, changed(static_cast<double>(positions[static_cast<std::size_t>(i / width)]), codes.at(i)));
              return outputs;
            };
          }};
}

TEST(DiagnosedNumber, IsNamedByItsFormula) {
  const std::string count = R"({"encoding":"integer","dim":2,"max_position":4096})";
  const std::string part = R"({"encoding":"integer","normalize":true,"max_position":4096})";
  EXPECT_EQ(told_of(with_values([](double, double code) { return 2 * code - 1; }), part),
            "codes run from -1 to 1, 2 p / last - 1, where the claim has p / last");
  EXPECT_EQ(told_of(with_values([](double, double code) { return code + 1; }), count),
            "positions are counted from 1: position 0 is encoded as 1");
  EXPECT_EQ(told_of(with_values([](double p, double) { return std::log1p(p); }), count),
            "codes are logarithms of positions, log(1 + p), where the claim has p");
  EXPECT_EQ(told_of(with_values([](double, double code) { return code; }), count), "");
}

// A code of positions [axes, tokens], each channel by itself.
FunctionSubject coded(const std::function<double(const Spec& spec, const std::vector<std::int64_t>& positions,
                                                 std::int64_t token, std::int64_t channel)>& code,
                      std::int64_t channels) {
  return {"other codes", [=](const Spec& spec) -> FunctionSubject::Call {
            return [=](std::string_view, const Tensors& inputs) {
              const std::vector<std::int64_t> positions = inputs.at("positions").integers();
              const std::int64_t tokens = inputs.at("positions").shape.back();
              Tensor codes = Tensor::zeros(spec.dtype, {tokens, channels});
              for (std::int64_t i = 0; i < codes.elements(); ++i)
                codes.set(i, code(spec, positions, i / channels, i % channels));
              Tensors outputs;
              outputs.emplace("encoding", std::move(codes));
              return outputs;
            };
          }};
}

// As a frequency of 2^7 is -128 in int8, and 2^8 is 0.
TEST(OtherClass, IsNotToldWhereItsBoundAdmitsAnyValueOfABand) {
  const auto shifted = [](const Spec&, const std::vector<std::int64_t>& positions, std::int64_t token,
                          std::int64_t channel) {
    const std::int64_t band = channel / 2;
    const double frequency = band < 7 ? std::exp2(static_cast<double>(band)) : band == 7 ? -128 : 0;
    const double angle = frequency * static_cast<double>(positions[static_cast<std::size_t>(token)]);
    return channel % 2 == 0 ? std::sin(angle) : std::cos(angle);
  };
  EXPECT_EQ(told_of(coded(shifted, 20), R"({"encoding":"fourier","bands":10})"),
            "band 7 turns the other way, band 8 does not turn, band 9 does not turn, and the rest is right");
}

TEST(OtherExtents, AreThoseOfTheCall) {
  const std::string part = R"({"encoding":"integer","dim":2,"normalize":true,"max_position":4096})";
  const auto over = [](const std::function<std::int64_t(const std::vector<std::int64_t>& positions)>& divisor) {
    return coded(
        [divisor](const Spec&, const std::vector<std::int64_t>& positions, std::int64_t token, std::int64_t) {
          return static_cast<double>(positions[static_cast<std::size_t>(token)]) /
                 static_cast<double>(std::max<std::int64_t>(divisor(positions), 1));
        },
        2);
  };
  EXPECT_EQ(told_of(over([](const auto& positions) { return std::ranges::max(positions); }), part),
            "positions are divided by the greatest of their call, not by the claim's last one, 4095");
  EXPECT_EQ(told_of(over([](const auto& positions) { return std::ssize(positions) - 1; }), part),
            "positions are divided by the number of the call's positions less 1, not by the claim's last one, 4095");
}

TEST(OtherOrigins, AreAnAxisOtherEndAndTheMiddle) {
  const std::string grid = R"({"encoding":"sinusoidal_2d","dim":16,"height":14,"width":20})";
  const auto from = [](double sign, double row, double column_sign, double column) {
    return coded(
        [=](const Spec&, const std::vector<std::int64_t>& positions, std::int64_t token, std::int64_t channel) {
          const auto tokens = positions.size() / 2;
          const auto at = static_cast<std::size_t>(token);
          const double place = channel < 8 ? sign * static_cast<double>(positions[at]) + row
                                           : column_sign * static_cast<double>(positions[tokens + at]) + column;
          const double angle = place * std::pow(10000, -static_cast<double>(channel % 8 / 2 * 2) / 8);
          return channel % 2 == 0 ? std::sin(angle) : std::cos(angle);
        },
        16);
  };
  EXPECT_EQ(told_of(from(1, 0, 1, 0), grid), "");
  EXPECT_EQ(told_of(from(-1, 13, 1, 0), grid), "axis 0 is counted from its other end: position 0 is encoded as 13");
  EXPECT_EQ(told_of(from(-1, 13, -1, 19), grid),
            "all axes are counted from their other ends: position 0 of axis 0 is encoded as 13");
  EXPECT_EQ(told_of(from(1, -6.5, 1, -9.5), grid),
            "cells are counted from the grid's middle: position 0 of axis 0 is encoded as -6.5");
}

// Of scenes that lie between -1 and 1.
TEST(OtherCoordinates, AreClampedOrMovedToRunFromZero) {
  const std::string nerf = R"({"encoding":"fourier","bands":6,"position_dtype":"float32","position_step":0.0078125,)"
                           R"("min_position":-4,"max_position":4})";
  const auto of = [](double (*taken)(double position)) {
    return FunctionSubject("other coordinates", [taken](const Spec& spec) -> FunctionSubject::Call {
      return [taken, dtype = spec.dtype](std::string_view, const Tensors& inputs) {
        const Tensor& positions = inputs.at("positions");
        Tensor codes = Tensor::zeros(dtype, {positions.elements(), 12});
        for (std::int64_t i = 0; i < codes.elements(); ++i) {
          const double angle = taken(positions.at(i / 12)) * std::exp2(static_cast<double>(i % 12 / 2));
          codes.set(i, i % 2 == 0 ? std::sin(angle) : std::cos(angle));
        }
        Tensors outputs;
        outputs.emplace("encoding", std::move(codes));
        return outputs;
      };
    });
  };
  EXPECT_EQ(told_of(of([](double p) { return std::clamp(p, -1.0, 1.0); }), nerf), "coordinates are clamped to -1 to 1");
  EXPECT_EQ(told_of(of([](double p) { return (p + 1) / 2; }), nerf),
            "coordinates are halved and moved to run from 0 to 1, (p + 1) / 2, where the claim has p");
}

// Rows that go by the call: `row(positions, token)`.
FunctionSubject looked_up(
    const std::function<std::int64_t(const std::vector<std::int64_t>& positions, std::int64_t token)>& row) {
  return {"rows by the call", [row](const Spec& spec) -> FunctionSubject::Call {
            return [row, dtype = spec.dtype](std::string_view, const Tensors& inputs) {
              const std::vector<std::int64_t> positions = inputs.at("positions").integers();
              const Tensor& weight = inputs.at("weight");
              const std::int64_t width = weight.shape[1];
              Tensor codes = Tensor::zeros(dtype, {std::ssize(positions), width});
              for (std::int64_t i = 0; i < codes.elements(); ++i)
                codes.set(i, weight.at(std::min(row(positions, i / width), weight.shape[0] - 1) * width + i % width));
              Tensors outputs;
              outputs.emplace("encoding", std::move(codes));
              return outputs;
            };
          }};
}

// As fairseq counts tokens that are no padding, whatever the padding's index.
TEST(OtherRows, AreCountedOverPositionsThatAreNoPadding) {
  const std::string learned = R"({"encoding":"learned","dim":32,"max_positions":512})";
  const auto counted = [](std::int64_t padding, std::int64_t of_padding, std::int64_t before) {
    return looked_up([=](const std::vector<std::int64_t>& positions, std::int64_t token) {
      const auto end = positions.begin() + token + 1;
      const auto count = std::count_if(positions.begin(), end, [&](std::int64_t one) { return one != padding; });
      return positions[static_cast<std::size_t>(token)] == padding ? of_padding : before + count;
    });
  };
  EXPECT_EQ(told_of(counted(0, 0, 0), learned),
            "rows are counted over a call's positions that are not 0, which has row 0");
  EXPECT_EQ(told_of(counted(1, 1, 1), learned),
            "rows are counted from row 2 on, over a call's positions that are not 1, which has row 1");
  EXPECT_EQ(told_of(counted(-1, 0, 1), learned),
            "rows are counted over a call's tokens, from row 2 on, whatever their positions");
  // What one call shows of a position is told of it where another call shows the same.
  const FunctionSubject by_order = looked_up([](const std::vector<std::int64_t>& positions, std::int64_t token) {
    return positions[static_cast<std::size_t>(token)] + (token % 2 == 0 ? 1 : 0);
  });
  EXPECT_TRUE(told_of(by_order, learned).starts_with("the row of a position goes by the call it is in"));
}

// Sinusoids of two axes of 8 channels each, whose angle at a place is `angle(axis, pair, row, column)`.
FunctionSubject of_two_axes(
    const std::function<double(std::int64_t axis, double pair, double row, double column)>& angle,
    std::int64_t cosines_first = -1) {
  return coded(
      [=](const Spec&, const std::vector<std::int64_t>& positions, std::int64_t token, std::int64_t channel) {
        const auto at = static_cast<std::size_t>(token);
        const std::int64_t axis = channel / 8;
        const double value = angle(axis, static_cast<double>(channel % 8 / 2), static_cast<double>(positions[at]),
                                   static_cast<double>(positions[positions.size() / 2 + at]));
        return (channel % 2 == 0) != (axis == cosines_first) ? std::sin(value) : std::cos(value);
      },
      16);
}

TEST(OtherAxes, AreToldEachByItself) {
  const std::string grid = R"({"encoding":"sinusoidal_2d","dim":16,"height":14,"width":20})";
  const auto series = [](double base, double place, double pair) { return place * std::pow(base, -pair / 4); };
  const auto own = [series](std::int64_t axis, double pair, double row, double column) {
    return series(10000, axis == 0 ? row : column, pair);
  };
  EXPECT_EQ(told_of(of_two_axes(own), grid), "");
  EXPECT_EQ(told_of(of_two_axes(own, 1), grid), "axis 1: cosines come first, where the claim has sines first");
  EXPECT_EQ(told_of(of_two_axes([&](std::int64_t axis, double pair, double row, double column) {
                      return axis == 0 ? series(500, row, pair) : own(axis, pair, row, column);
                    }),
                    grid),
            "axis 0: the base is 500, where the claim has 10000");
  EXPECT_EQ(told_of(of_two_axes([&](std::int64_t axis, double pair, double row, double column) {
                      return own(axis, pair, row, std::fmod(row, 2) == 0 ? column : 19 - column);
                    }),
                    grid),
            "axis 1: coordinates are counted from the other end: 0 is encoded as 19, where that of axis 0 is odd");
  EXPECT_EQ(told_of(of_two_axes([&](std::int64_t axis, double pair, double row, double column) {
                      return own(axis, pair, std::fmod(row, 4), column);
                    }),
                    grid),
            "cells whose first coordinate is 4 or more: axis 0: coordinates wrap at 4, and the rest is right");
  EXPECT_EQ(told_of(of_two_axes([&](std::int64_t axis, double pair, double row, double column) {
                      return own(axis, pair, row, 20 * row + column);
                    }),
                    grid),
            "axis 1: coordinates are 20 p0 + p1, where the claim has p1");
}

// Positions of one parity, or calls of some sizes, have another order of the claim's own channels.
TEST(OtherAxes, AreToldOfSomeCodesAlone) {
  const std::string table = R"({"encoding":"sinusoidal","dim":16})";
  const auto where = [](const std::function<bool(const std::vector<std::int64_t>&, std::int64_t)>& is_other) {
    return coded(
        [=](const Spec&, const std::vector<std::int64_t>& positions, std::int64_t token, std::int64_t channel) {
          const std::int64_t position = positions[static_cast<std::size_t>(token)];
          const auto pair = static_cast<double>(channel / 2);
          const double angle = static_cast<double>(position) * std::pow(10000, -pair / 8);
          return (channel % 2 == 0) != is_other(positions, position) ? std::sin(angle) : std::cos(angle);
        },
        16);
  };
  EXPECT_EQ(told_of(where([](const auto&, std::int64_t position) { return position % 2 == 1; }), table),
            "odd positions: cosines come first, where the claim has sines first, and the rest is right");
  EXPECT_EQ(told_of(where([](const auto& positions, std::int64_t) { return positions.size() == 1; }), table),
            "calls of one token: cosines come first, where the claim has sines first, and the rest is right");
}

// A grid's claim has fewer fields than one of any number of axes, which tell what differs.
// The four quarters of a row in another order, of which no axis has its own channels.
TEST(OtherAxes, AreToldByTheOrderOfTheirFunctions) {
  const auto in_order = [](const std::vector<std::int64_t>& quarters) {
    return FunctionSubject("quarters", [quarters](const Spec& spec) -> FunctionSubject::Call {
      const std::shared_ptr<Session> right = builtin_subject()->open(spec);
      return [right, quarters](std::string_view operation, const Tensors& inputs) {
        Tensors outputs = right->call(operation, inputs);
        Tensor& y = outputs.begin()->second;
        const Tensor own = y;
        const std::int64_t width = y.shape.back();
        for (std::int64_t i = 0; i < y.elements(); ++i) {
          const std::int64_t quarter = quarters[static_cast<std::size_t>(i % width / (width / 4))];
          y.set(i, own.at(i / width * width + quarter * (width / 4) + i % (width / 4)));
        }
        return outputs;
      };
    });
  };
  const std::string grid = R"({"encoding":"sinusoidal_2d","dim":64,"height":14,"width":20,"layout":"concatenated"})";
  EXPECT_EQ(told_of(in_order({0, 2, 1, 3}), grid),
            "channels come in another order: sines of axis 0, sines of axis 1, cosines of axis 0, cosines of axis 1");
  EXPECT_EQ(told_of(in_order({2, 0, 3, 1}), grid),
            "channels come in another order: sines of axis 1, sines of axis 0, cosines of axis 1, cosines of axis 0");
}

TEST(OtherAxes, OfAGridAreToldByFieldsThatItHasNot) {
  const FunctionSubject subject("alternating", [](const Spec&) -> FunctionSubject::Call {
    const std::shared_ptr<Session> other = builtin_subject()->open(
        parse_spec(R"({"encoding":"sinusoidal_nd","dim":16,"extents":[14,20],"channel_order":"alternating"})"));
    return [other](std::string_view operation, const Tensors& inputs) { return other->call(operation, inputs); };
  });
  EXPECT_EQ(told_of(subject, R"({"encoding":"sinusoidal_2d","dim":16,"height":14,"width":20})"),
            "claims channel_order blocked, computes alternating");
}

TEST(OtherDigits, AreThoseOfOtherChannelsOrWrittenOtherwise) {
  const auto digits = [](std::int64_t from, double zero, double one) {
    return coded(
        [=](const Spec&, const std::vector<std::int64_t>& positions, std::int64_t token, std::int64_t channel) {
          const std::int64_t digit = channel >= from ? channel - 1 : channel;
          return (positions[static_cast<std::size_t>(token)] >> digit & 1) == 1 ? one : zero;
        },
        12);
  };
  const std::string code = R"({"encoding":"binary","dim":12,"max_position":4096})";
  EXPECT_EQ(told_of(digits(12, 0, 1), code), "");
  EXPECT_EQ(told_of(digits(6, 0, 1), code), "channels 6 to 11 have the digit 1 before their own");
  EXPECT_EQ(told_of(digits(12, 1, 0), code),
            "all channels have 1 for digit 0 and 0 for digit 1, where the claim has 0 and 1");
}

TEST(OtherExponents, AreToldOnlyWhereTheySayMoreThanTheBase) {
  EXPECT_EQ(words_of_exponents({10000, 32}, {10000, 31}, 1), "");
  EXPECT_EQ(words_of_exponents({500, 32}, {10000, 32}, 0), "");
  // The square of the claimed base is the usual one.
  EXPECT_EQ(words_of_exponents({100, 32}, {10000, 32}, 0), "");
  EXPECT_EQ(words_of_exponents({10000, 32}, {20000, 32}, 0), "");
  EXPECT_EQ(words_of_exponents({10000, 32}, {100, 32}, 0),
            "exponents are halved, as with base 100, where base 10000 is claimed");
}

// Of a claim whose exponents are whole, rounding them changes nothing.
TEST(OtherBands, AreNoRoundedExponentsOfWholeOnes) {
  const std::string nerf = R"({"encoding":"fourier","axes":2,"bands":6,"identity":"first",)"
                           R"("position_dtype":"float32","position_step":0.0009765625,"max_position":4})";
  const FunctionSubject subject("other coordinates", [](const Spec& spec) -> FunctionSubject::Call {
    const std::shared_ptr<Session> right = builtin_subject()->open(spec);
    return [right](std::string_view operation, const Tensors& inputs) {
      Tensors outputs = right->call(operation, inputs);
      Tensor& codes = outputs.begin()->second;
      const std::int64_t width = codes.shape.back();
      for (std::int64_t i = 0; i < codes.elements(); i += width) {
        for (const std::int64_t channel : {0, 1}) codes.set(i + channel, -codes.at(i + channel));
      }
      return outputs;
    };
  });
  EXPECT_EQ(told_of(subject, nerf), "the coordinates in the row have the other sign");
}

}  // namespace
}  // namespace sextant::identify::identify_diagnose_codes_test
