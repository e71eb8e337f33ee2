// include/sextant/gtest.h as a suite of its users has it, and what its tests say of functions that are wrong.

#include "testing/function_audit.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <sextant/gtest.h>
#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <stdexcept>

namespace {

using sextant::function_audit::Amount;
using sextant::function_audit::Finding;
using sextant::function_audit::judge;
using sextant_worker::Array;
using sextant_worker::Call;

constexpr const char* claim = R"({"encoding": "rope", "head_dim": 8, "max_position": 4096})";

// Half pairing; the angle of position p is that of `turned_as(p)`.
template <class Turn>
Array turned(const Call& call, const Turn& turned_as) {
  if (call.spec.at("encoding").text() != "rope" || !call.spec.at("rope_scaling").is_null())
    throw sextant_worker::Unsupported("plain rope only");
  const Array& x = call["x"];
  Array y = Array::like(x);
  const std::int64_t heads = x.shape[2];
  const std::int64_t d = x.shape[3];
  const double theta = call.spec.at("rope_theta").number();
  for (std::int64_t vector = 0; vector < x.shape[0] * x.shape[1] * heads; ++vector) {
    const float* from = x.data<float>() + vector * d;
    float* to = y.data<float>() + vector * d;
    const double position = turned_as(call["positions"].data<std::int64_t>()[vector / heads]);
    for (std::int64_t i = 0; i < d / 2; ++i) {
      const double angle = position * std::pow(theta, -2 * static_cast<double>(i) / static_cast<double>(d));
      const double a = from[i];
      const double b = from[i + d / 2];
      to[i] = static_cast<float>(a * std::cos(angle) - b * std::sin(angle));
      to[i + d / 2] = static_cast<float>(a * std::sin(angle) + b * std::cos(angle));
    }
  }
  return y;
}

Array rotate(const Call& call) {
  return turned(call, [](std::int64_t position) { return static_cast<double>(position); });
}

Array rotate_short(const Call& call) {
  return turned(call,
                [](std::int64_t position) { return static_cast<double>(std::min<std::int64_t>(position, 1000)); });
}

SEXTANT_AUDIT(RotaryInHalves, claim, {.rotate = rotate});

TEST(FunctionAudit, AsksWhatAppliesAndNoAdvice) {
  const auto asked = sextant::function_audit::questions(claim);
  const auto has = [&](const char* id) {
    return std::ranges::count(asked, id, &sextant::function_audit::Question::property) == 1;
  };
  EXPECT_TRUE(has("accuracy"));
  EXPECT_TRUE(has("isometry"));
  EXPECT_FALSE(has("bias_translation"));
  EXPECT_FALSE(has("parameter_liveness"));
  EXPECT_EQ(sextant::function_audit::questions("llama-2-7b").front().property, asked.front().property);
  EXPECT_THROW(sextant::function_audit::questions(R"({"encoding": "rope"})"), std::exception);
}

TEST(FunctionAudit, AViolationSaysWhatWasFoundAndHowToReplayIt) {
  const sextant_worker::Subject functions{.rotate = rotate_short};
  const Finding finding = judge("accuracy", claim, functions, {});
  ASSERT_EQ(finding.kind, Finding::Kind::fails);
  EXPECT_NE(finding.text.find("accuracy violated"), std::string::npos) << finding.text;
  EXPECT_NE(finding.text.find("position 1001"), std::string::npos) << finding.text;
  const std::string token = "accuracy:position=1001,tokens=1,batch=1,heads=1,fill=0";
  EXPECT_NE(finding.text.find(token), std::string::npos) << finding.text;
  EXPECT_EQ(judge("accuracy", claim, functions, {.replay = token}).kind, Finding::Kind::fails);
  EXPECT_EQ(judge("accuracy", claim, {.rotate = rotate}, {.replay = token}).kind, Finding::Kind::holds);
}

TEST(FunctionAudit, ACrashIsOneFailure) {
  const sextant_worker::Subject functions{.rotate = [](const Call&) -> Array {
    std::raise(SIGSEGV);
    return {};
  }};
  const Finding finding = judge("accuracy", claim, functions, {});
  EXPECT_EQ(finding.kind, Finding::Kind::fails);
  EXPECT_NE(finding.text.find("signal 11"), std::string::npos) << finding.text;
}

TEST(FunctionAudit, AnExceptionIsAFailureWithItsText) {
  const sextant_worker::Subject functions{.rotate = [](const Call&) -> Array { throw std::logic_error("not today"); }};
  const Finding finding = judge("isometry", claim, functions, {});
  EXPECT_EQ(finding.kind, Finding::Kind::fails);
  EXPECT_NE(finding.text.find("rotate: not today"), std::string::npos) << finding.text;
}

TEST(FunctionAudit, WhatIsNotSupportedIsSkipped) {
  const Finding finding = judge("adjoint", claim, {.rotate = rotate}, {});
  EXPECT_EQ(finding.kind, Finding::Kind::skipped);
  EXPECT_EQ(finding.text, "the subject has no backward");
  const Finding other = judge("accuracy", "bloom-7b1", {.rotate = rotate}, {});
  EXPECT_EQ(other.kind, Finding::Kind::skipped);
}

TEST(FunctionAudit, AHangEndsAtTheTimeOut) {
  const sextant_worker::Subject functions{.rotate = [](const Call&) -> Array {
    while (true) pause();
  }};
  const Finding finding = judge("isometry", claim, functions, {.timeout = 0.5});
  EXPECT_EQ(finding.kind, Finding::Kind::fails);
  EXPECT_NE(finding.text.find("timed_out"), std::string::npos) << finding.text;
}

// Sines of positions up to `last`, and those of it beyond.
sextant_worker::Subject sines_up_to(double last) {
  return {.encode = [last](const Call& call) {
    const auto dim = static_cast<std::int64_t>(call.spec.at("dim").number());
    const Array& positions = call["positions"];
    Array table = Array::zeros(sextant_worker::Dtype::F32, {positions.size(), dim});
#pragma omp parallel for
    for (std::int64_t i = 0; i < table.size(); ++i) {
      const double channel = static_cast<double>(i % dim / 2 * 2);
      const double position = static_cast<double>(positions.data<std::int64_t>()[i / dim]);
      const double angle = std::min(position, last) * std::pow(10000.0, -channel / static_cast<double>(dim));
      table.data<float>()[i] = static_cast<float>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
    return table;
  }};
}

// Also where the tests have used it before, whose threads a fork does not take along.
TEST(FunctionAudit, FunctionsMayUseOpenMP) {
  const char* spec = R"({"encoding": "sinusoidal", "dim": 8, "max_position": 4096})";
#pragma omp parallel
  { omp_get_num_threads(); }
  const Finding finding = judge("accuracy", spec, sines_up_to(2000), {.timeout = 20});
  EXPECT_EQ(finding.kind, Finding::Kind::fails);
  EXPECT_NE(finding.text.find("accuracy violated"), std::string::npos) << finding.text;
  EXPECT_EQ(judge("accuracy", spec, sines_up_to(5000), {.timeout = 20}).kind, Finding::Kind::holds);
}

TEST(FunctionAudit, WhatCannotBeAskedIsRefused) {
  const sextant_worker::Subject functions{.rotate = rotate};
  EXPECT_THROW(judge("no_such", claim, functions, {}), std::invalid_argument);
  EXPECT_THROW(judge("accuracy", claim, functions, {.profile = "slow"}), std::invalid_argument);
  EXPECT_THROW(judge("accuracy", claim, functions, {.replay = "accuracy:position=x"}), std::exception);
}

}  // namespace
