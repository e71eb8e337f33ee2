// The header for programs in C++ as its programs use it: they are started, and asked as audits ask them.

#include "subjects/c/sextant_worker.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "subjects/operations.hpp"
#include "subjects/worker.hpp"

namespace sextant::sextant_worker_test {
namespace {

using sextant_worker::Json;

TEST(WorkerHeader, ReadsJson) {
  const Json json =
      Json::parse(R"( {"a": [1, -2.5e3, true, null], "b/": {}, "c": {"d": ["x", {"e": "\u00e9\n\"\\"}]}} )");
  EXPECT_EQ(json.at("a/0").number(), 1);
  EXPECT_EQ(json.at("a/1").number(), -2500);
  EXPECT_EQ(json.at("a/2").number(), 1);
  EXPECT_TRUE(json.at("a/3").is_null());
  EXPECT_TRUE(json.at("a/4").is_null());
  EXPECT_TRUE(json.at("nothing/here").is_null());
  EXPECT_EQ(json.at("c/d/0").text(), "x");
  EXPECT_EQ(json.at("c/d/1/e").text(), "\xC3\xA9\n\"\\");
  EXPECT_TRUE(std::isnan(json.at("c").number()));
  for (const char* text : {"", "{", "[1,", "{\"a\" 1}", "\"x", "1 2", "nul", "\"\\q\"", "\"\\u1"})
    EXPECT_THROW(Json::parse(text), std::runtime_error) << text;
  EXPECT_THROW(Json::parse(std::string(1000, '[')), std::runtime_error);
}

TEST(WorkerHeader, ServesWhatAProgramDefines) {
  const Spec spec = parse_spec(R"({"encoding":"alibi","num_heads":2})");
  const auto subject = worker_subject("exec:", Command{{SEXTANT_BINARY_DIR "/plugins/alibi_worker"}}, WorkerLimits{});
  const auto session = subject->open(spec);
  const Description said = session->describe();
  EXPECT_EQ(said.name, "ALiBi in C++");
  EXPECT_EQ(said.operations, std::vector<std::string>{"bias"});
  const std::vector<std::int64_t> two{0, 5};
  const Tensor biases = bias(*session, spec, two, two);
  EXPECT_EQ(biases.at(2), -5.0 / 16);
  EXPECT_EQ(biases.at(6), -5.0 / 256);
  EXPECT_NO_THROW(reset(*session));
  const Spec other = parse_spec(R"({"encoding":"alibi","num_heads":2,"dtype":"bfloat16"})");
  try {
    bias(*subject->open(other), other, two, two);
    FAIL();
  } catch (const SubjectFailure& failure) {
    EXPECT_EQ(failure.kind(), FailureKind::unsupported);
  }
}

TEST(WorkerHeader, ArraysAreReadAsWhatTheyHold) {
  using sextant_worker::Array;
  using sextant_worker::Dtype;
  Array array = Array::zeros(Dtype::F32, {2, 3});
  EXPECT_EQ(array.size(), 6);
  EXPECT_EQ(array.bytes.size(), 24U);
  array.data<float>()[5] = 1;
  EXPECT_EQ(std::as_const(array).data<float>()[5], 1);
  EXPECT_THROW(array.data<double>(), sextant_worker::Unsupported);
  EXPECT_THROW(array.data<std::int64_t>(), sextant_worker::Unsupported);
  EXPECT_EQ(Array::zeros(Dtype::BF16, {3}).data<std::uint16_t>()[2], 0);
}

}  // namespace
}  // namespace sextant::sextant_worker_test
