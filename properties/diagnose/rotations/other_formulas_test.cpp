// Ropes by another formula than the claimed one, by what each vector is taken for.

#include "properties/diagnose/rotations/other_formulas.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "lib/numeric/dtype.hpp"
#include "properties/diagnose/rotations/other_rotations.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::identify_other_formulas_test {
namespace {

constexpr std::int64_t half = 16;
constexpr std::int64_t width = 2 * half;

double unscaled(std::int64_t pair, double base = 10000) { return std::pow(base, -static_cast<double>(pair) / half); }

// A rope of 32 channels, pairing half, in double but for what is given.
struct Formula {
  /// Of calls of this length.
  std::function<double(std::int64_t pair, std::int64_t length)> frequency = [](std::int64_t pair, std::int64_t) {
    return unscaled(pair);
  };
  std::function<double(std::int64_t)> position = [](std::int64_t given) { return static_cast<double>(given); };
  std::function<double(double)> result = [](double value) { return value; };
  double factor = 1;
  double sines_ahead = 0;  // how many positions
};

Tensors rotated(const Formula& formula, const Tensors& inputs) {
  const std::vector<std::int64_t> positions = inputs.at("positions").integers();
  const Tensor& x = inputs.at("x");
  const std::int64_t length = std::ranges::max(positions) + 1;
  Tensor y = x;
  for (std::int64_t vector = 0; vector * width < x.elements(); ++vector) {
    const double position = formula.position(positions[static_cast<std::size_t>(vector / x.shape[2])]);
    for (std::int64_t pair = 0; pair < half; ++pair) {
      const double angle = position * formula.frequency(pair, length);
      const double cos = formula.factor * std::cos(angle);
      const double sin = formula.factor * std::sin(angle + formula.sines_ahead * formula.frequency(pair, length));
      const std::int64_t at = vector * width + pair;
      y.set(at, formula.result(x.at(at) * cos - x.at(at + half) * sin));
      y.set(at + half, formula.result(x.at(at) * sin + x.at(at + half) * cos));
    }
  }
  return {{"y", y}};
}

std::string told(const Formula& formula, const std::string& claim) {
  const FunctionSubject subject("another formula", [formula](const Spec&) -> FunctionSubject::Call {
    return [formula](std::string_view, const Tensors& inputs) { return rotated(formula, inputs); };
  });
  const auto difference = other_rotation(subject, parse_spec(claim), nullptr);
  return difference ? difference->words : "nothing";
}

constexpr auto plain = R"({"encoding":"rope","head_dim":32})";
constexpr auto llama3 = R"({"encoding":"rope","head_dim":32,"rope_theta":10000,"rope_scaling":{"rope_type":"llama3",
    "factor":8,"original_max_position_embeddings":1024,"low_freq_factor":1,"high_freq_factor":4}})";
constexpr auto yarn = R"({"encoding":"rope","head_dim":32,"rope_scaling":{"rope_type":"yarn","factor":8,
    "original_max_position_embeddings":1024,"truncate":false,"attention_factor":1.25}})";
constexpr auto longrope = R"({"encoding":"rope","head_dim":32,"rope_scaling":{"rope_type":"longrope",
    "factor":4,"original_max_position_embeddings":1024,"attention_factor":1.25,
    "short_factor":[1,1.1,1.2,1.3,1.4,1.5,1.6,1.7,1.8,1.9,2,2.1,2.2,2.3,2.4,2.5],
    "long_factor":[1,1.5,2,2.5,3,3.5,4,4.5,5,5.5,6,6.5,7,7.5,8,8.5]}})";

double short_factor(std::int64_t pair) { return 1 + 0.1 * static_cast<double>(pair); }
double long_factor(std::int64_t pair) { return 1 + 0.5 * static_cast<double>(pair); }

// What is left of a frequency that turns so often over the original length: 1 of fast pairs, 0 of slow ones.
double llama3_smooth(double frequency, double turn) {
  return std::clamp((1024 * frequency / turn - 1) / (4 - 1), 0.0, 1.0);
}

double llama3_blend(double frequency, double smooth) { return frequency * ((1 - smooth) / 8 + smooth); }

double yarn_pair_of(double turns) {
  return width * std::log(1024 / (turns * 2 * std::numbers::pi)) / (2 * std::log(10000.0));
}

// 0 of fast pairs, 1 of slow ones.
double yarn_ramp(std::int64_t pair) {
  const double low = std::max(yarn_pair_of(32), 0.0);
  const double high = std::min(yarn_pair_of(1), static_cast<double>(width - 1));
  return std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
}

TEST(OtherRotationsFormula, IsTheClaimsOwn) {
  EXPECT_EQ(told({}, plain), "nothing");
  EXPECT_EQ(told({.frequency =
                      [](std::int64_t pair, std::int64_t) {
                        const double w = unscaled(pair);
                        return llama3_blend(w, llama3_smooth(w, 2 * std::numbers::pi));
                      }},
                 llama3),
            "nothing");
  EXPECT_EQ(
      told({.frequency = [](std::int64_t pair,
                            std::int64_t) { return unscaled(pair) * (yarn_ramp(pair) / 8 + 1 - yarn_ramp(pair)); },
            .factor = 1.25},
           yarn),
      "nothing");
  EXPECT_EQ(told({.frequency =
                      [](std::int64_t pair, std::int64_t length) {
                        return unscaled(pair) / (length > 1024 ? long_factor(pair) : short_factor(pair));
                      },
                  .factor = 1.25},
                 longrope),
            "nothing");
}

TEST(OtherRotationsFormula, HasOtherExponents) {
  EXPECT_EQ(told({.frequency = [](std::int64_t pair, std::int64_t) { return unscaled(pair, 100); }}, plain),
            "exponents are halved: pair i has base^(-i / n), where the claim has base^(-2i / n), as with base 100");
  EXPECT_EQ(told({.frequency = [](std::int64_t pair, std::int64_t) { return unscaled(pair, 1e8); }}, plain),
            "exponents are doubled: pair i has base^(-4i / n), where the claim has base^(-2i / n), as with base 1e+08");
}

TEST(OtherRotationsFormula, ReadsLongropesListsOtherwise) {
  EXPECT_EQ(told({.frequency =
                      [](std::int64_t pair, std::int64_t length) {
                        return unscaled(pair) / (length > 1024 ? short_factor(pair) : long_factor(pair));
                      },
                  .factor = 1.25},
                 longrope),
            "longrope's two lists change places: short calls have long_factor, long ones short_factor");
  EXPECT_EQ(told({.frequency =
                      [](std::int64_t pair, std::int64_t length) {
                        return unscaled(pair) * (length > 1024 ? long_factor(pair) : short_factor(pair));
                      },
                  .factor = 1.25},
                 longrope),
            "longrope's factors multiply frequencies, where the claim divides by them");
}

TEST(OtherRotationsFormula, HasAnotherBlendOfLlama3) {
  constexpr double turn = 2 * std::numbers::pi;
  EXPECT_EQ(told({.frequency =
                      [](std::int64_t pair, std::int64_t) {
                        const double w = unscaled(pair);
                        return 1024 * w / turn < 4 ? w / 8 : w;
                      }},
                 llama3),
            "llama3's middle band is scaled as slow pairs are, as where its two factors change places");
  EXPECT_EQ(told({.frequency =
                      [](std::int64_t pair, std::int64_t) {
                        const double w = unscaled(pair);
                        return llama3_blend(w, llama3_smooth(w, 1));
                      }},
                 llama3),
            "wavelengths are taken without 2 pi: 1 over the frequency");
  EXPECT_EQ(
      told({.frequency =
                [](std::int64_t pair, std::int64_t) {
                  const double w = unscaled(pair);
                  return llama3_blend(w, 1 - llama3_smooth(w, turn));
                }},
           llama3),
      "llama3's ramp is inverted: fast pairs are scaled and slow ones are not, as where its two factors change places");
}

TEST(OtherRotationsFormula, HasAnotherRampOfYarn) {
  EXPECT_EQ(
      told({.frequency = [](std::int64_t pair,
                            std::int64_t) { return unscaled(pair) * (yarn_ramp(pair) + (1 - yarn_ramp(pair)) / 8); },
            .factor = 1.25},
           yarn),
      "yarn's ramp is inverted: fast pairs are slowed, and slow ones are not");
  EXPECT_EQ(
      told({.frequency = [](std::int64_t pair, std::int64_t) { return unscaled(pair) / 8; }, .factor = 1.25}, yarn),
      "yarn's ramp is left out: every frequency is divided by the factor, as linear scaling does");
}

TEST(OtherRotationsFormula, ReadsPositionsOf16Bits) {
  EXPECT_EQ(told({.position = [](std::int64_t given) { return static_cast<double>(static_cast<std::int16_t>(given)); }},
                 plain),
            "positions are numbers of 16 bits with a sign: 32768 is turned as -32768");
}

TEST(OtherRotationsFormula, LimitsResults) {
  for (const auto& [limit, words] : {std::pair(4.0, "results are limited to 4: what is beyond it is 4 or -4"),
                                     std::pair(0.5, "results are limited to 0.5: what is beyond it is 0.5 or -0.5")})
    EXPECT_EQ(told({.result = [limit](double value) { return std::clamp(value, -limit, limit); }}, plain), words);
}

// The second member first, where the reading of the mutant is of the first.
TEST(OtherRotationsFormula, OverwritesAMemberBeforeItIsRead) {
  const FunctionSubject subject("in place", [](const Spec&) -> FunctionSubject::Call {
    return [](std::string_view, const Tensors& inputs) {
      Tensors outputs = rotated({}, inputs);
      const std::vector<std::int64_t> positions = inputs.at("positions").integers();
      const Tensor& x = inputs.at("x");
      Tensor& y = outputs.at("y");
      for (std::int64_t at = 0; at < x.elements(); ++at) {
        if (at % width >= half) continue;
        const auto token = static_cast<std::size_t>(at / width / x.shape[2]);
        const double angle = static_cast<double>(positions[token]) * unscaled(at % width);
        y.set(at, x.at(at) * std::cos(angle) - y.at(at + half) * std::sin(angle));
      }
      return outputs;
    };
  });
  const auto difference = other_rotation(subject, parse_spec(plain), nullptr);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->words,
            "the second member of a pair is overwritten before the first has read it: the first is made of the "
            "second's result");
}

// Results that are a little off come of none of the formulas that are judged by twice the bound.
TEST(OtherRotationsFormula, IsNoneWhereResultsAreALittleOff) {
  EXPECT_EQ(told({.result = [](double value) { return value * (1 + 0x1p-21); }}, plain), "nothing");
}

TEST(OtherRotationsFormula, HasFrequenciesInReverseOrder) {
  Formula reversed;
  reversed.frequency = [](std::int64_t pair, std::int64_t) { return unscaled(half - 1 - pair); };
  EXPECT_EQ(told(reversed, plain), "frequencies come in reverse order: the first pair has the last one's");
}

TEST(OtherRotationsFormula, InterpolatesAnotherWayOverYarnsRamp) {
  Formula by_wavelengths;
  by_wavelengths.factor = 1.25;
  by_wavelengths.frequency = [](std::int64_t pair, std::int64_t) { return unscaled(pair) / (1 + 7 * yarn_ramp(pair)); };
  EXPECT_EQ(told(by_wavelengths, yarn),
            "yarn's ramp has its wavelengths interpolated, where the claim interpolates frequencies");
  Formula step = by_wavelengths;
  step.frequency = [](std::int64_t pair, std::int64_t) {
    return yarn_ramp(pair) > 0.5 ? unscaled(pair) / 8 : unscaled(pair);
  };
  EXPECT_EQ(told(step, yarn), "yarn's ramp is a step: pairs from its middle on are slowed, and those before are not");
}

TEST(OtherRotationsFormula, RoundsLongropesFactors) {
  Formula rounded;
  rounded.factor = 1.25;
  rounded.frequency = [](std::int64_t pair, std::int64_t length) {
    return unscaled(pair) / round_to(Dtype::bfloat16, length > 1024 ? long_factor(pair) : short_factor(pair));
  };
  EXPECT_EQ(told(rounded, longrope), "longrope's factors are rounded to bfloat16");
}

TEST(OtherRotationsFormula, HasSinesOfAnotherPosition) {
  Formula ahead;
  ahead.sines_ahead = 1;
  EXPECT_EQ(told(ahead, plain), "sines are those of the position after, p + 1, and cosines of its own");
}

// A right answer to the right inputs, each value of which is changed by where it stands.
std::string told_of_outputs(
    const std::string& claim,
    const std::function<double(double value, std::int64_t channel, const Tensors& inputs, std::int64_t i)>& changed) {
  const FunctionSubject subject("changed", [&](const Spec& spec) -> FunctionSubject::Call {
    const std::shared_ptr<Session> right = builtin_subject()->open(spec);
    return [right, changed](std::string_view operation, const Tensors& inputs) {
      Tensors outputs = right->call(operation, inputs);
      for (auto& [name, y] : outputs) {
        for (std::int64_t i = 0; i < y.elements(); ++i) y.set(i, changed(y.at(i), i % y.shape.back(), inputs, i));
      }
      return outputs;
    };
  });
  const auto difference = other_rotation(subject, parse_spec(claim), nullptr);
  return difference ? difference->words : "nothing";
}

TEST(OtherRotationsFormula, MultipliesChannelsThatDoNotTurn) {
  constexpr auto partial = R"({"encoding":"rope","head_dim":32,"rotary_dim":16,"rope_scaling":{"rope_type":"yarn",
      "factor":8,"original_max_position_embeddings":1024,"attention_factor":1.25}})";
  const auto times = [&](double factor) {
    return told_of_outputs(partial, [factor](double value, std::int64_t channel, const Tensors&, std::int64_t) {
      return channel < 16 ? value : factor * value;
    });
  };
  EXPECT_EQ(times(1.25), "the attention factor multiplies the channels that are not rotated too");
  EXPECT_EQ(times(1.5), "nothing");
}

TEST(OtherRotationsFormula, HasAnotherZeta) {
  constexpr auto xpos = R"({"encoding":"xpos","head_dim":32,"role":"key","centre":0,"max_position":600})";
  // Keys are divided by zeta^(p / 512).
  const auto of = [&](double (*zeta)(double part)) {
    return told_of_outputs(xpos, [zeta](double value, std::int64_t channel, const Tensors& inputs, std::int64_t i) {
      const double part = static_cast<double>(channel % half) / half;
      const Tensor& x = inputs.at("x");
      const auto position = static_cast<double>(
          inputs.at("positions").integers()[static_cast<std::size_t>(i / (x.shape[2] * x.shape[3]))]);
      return value * std::pow((part + 0.4) / 1.4 / zeta(part), position / 512);
    });
  };
  EXPECT_EQ(of([](double part) { return part + 0.4; }), "zeta is 2i / n + 0.4, not divided by 1.4 as the claim has it");
  // Another number than 0.4 is measured by identification.
  EXPECT_EQ(of([](double part) { return (part + 0.5) / 1.5; }), "nothing");
  EXPECT_EQ(of([](double part) { return (part + 0.4) / 1.4; }), "nothing");
}

// A right answer to other inputs.
std::string told_of_inputs(const std::string& claim, const std::function<void(Tensors& inputs)>& change_inputs) {
  const FunctionSubject subject("changed", [&](const Spec& spec) -> FunctionSubject::Call {
    const std::shared_ptr<Session> right = builtin_subject()->open(spec);
    return [right, change_inputs](std::string_view operation, const Tensors& inputs) {
      Tensors changed = inputs;
      change_inputs(changed);
      return right->call(operation, changed);
    };
  });
  const auto difference = other_rotation(subject, parse_spec(claim), nullptr);
  return difference ? difference->words : "nothing";
}

// Heads that are made smaller by as much as their roots are come out larger by it.
TEST(OtherRotationsFormula, LimitsSumsOfSquares) {
  constexpr auto claim = R"({"encoding":"qk_norm_rope","head_dim":32,"epsilon":1e-30})";
  const auto limited = [&](double (*sum_of)(double sum)) {
    const FunctionSubject subject("limited", [sum_of](const Spec& spec) -> FunctionSubject::Call {
      const std::shared_ptr<Session> right = builtin_subject()->open(spec);
      return [right, sum_of](std::string_view operation, const Tensors& inputs) {
        Tensors outputs = right->call(operation, inputs);
        auto output = outputs.begin();
        for (const char* name : {"k", "q"}) {
          const Tensor& x = inputs.at(name);
          Tensor& y = output->second;
          for (std::int64_t start = 0; start < x.elements(); start += width) {
            double sum = 0;
            for (std::int64_t i = start; i < start + width; ++i) sum += x.at(i) * x.at(i);
            if (sum == 0) continue;
            for (std::int64_t i = start; i < start + width; ++i) y.set(i, y.at(i) * std::sqrt(sum / sum_of(sum)));
          }
          ++output;
        }
        return outputs;
      };
    });
    const auto difference = other_rotation(subject, parse_spec(claim), nullptr);
    return difference ? difference->words : "nothing";
  };
  EXPECT_EQ(limited([](double sum) { return std::min(sum, 65504.0); }),
            "the sum of a head's squares is limited to 65504: greater heads come out too large");
  EXPECT_EQ(limited([](double sum) { return sum; }), "nothing");
}

TEST(OtherRotationsFormula, RoundsWeightsOfNorms) {
  constexpr auto claim = R"({"encoding":"qk_norm_rope","head_dim":32})";
  EXPECT_EQ(told_of_inputs(claim,
                           [](Tensors& inputs) {
                             Tensor& weight = inputs.at("k_weight");
                             for (std::int64_t i = 0; i < weight.elements(); ++i)
                               weight.set(i, round_to(Dtype::float16, weight.at(i)));
                           }),
            "keys' weights are rounded to float16");
  constexpr auto with_offset = R"({"encoding":"qk_norm_rope","head_dim":32,"weight_offset":1})";
  EXPECT_EQ(told_of_inputs(with_offset,
                           [](Tensors& inputs) {
                             for (const char* name : {"q_weight", "k_weight"}) {
                               Tensor& weight = inputs.at(name);
                               for (std::int64_t i = 0; i < weight.elements(); ++i)
                                 weight.set(i, round_to(Dtype::bfloat16, 1 + weight.at(i)) - 1);
                             }
                           }),
            "sums of 1 and weights are rounded to bfloat16");
}

}  // namespace
}  // namespace sextant::identify::identify_other_formulas_test
