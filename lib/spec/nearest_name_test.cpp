#include "lib/spec/nearest_name.hpp"

#include <gtest/gtest.h>

#include <array>

namespace sextant::spec_nearest_name_test {
namespace {

constexpr std::array<std::string_view, 5> names{"accuracy", "bounds", "rope_theta", "llama-3-8b", "llama-3.1-8b"};

TEST(NearestName, IsWhatAFewLettersAwayWasMeant) {
  EXPECT_EQ(did_you_mean("acuracy", names), "; did you mean accuracy?");
  EXPECT_EQ(did_you_mean("Rope-Theta", names), "; did you mean rope_theta?");
  EXPECT_EQ(did_you_mean("rope_thaet", names), "; did you mean rope_theta?");
  EXPECT_EQ(did_you_mean("bound", names), "; did you mean bounds?");
  EXPECT_EQ(did_you_mean("llama-3.1", names), "; did you mean llama-3.1-8b?");
}

TEST(NearestName, IsWhatLibrariesCallSo) {
  EXPECT_EQ(did_you_mean("theta", names), "; did you mean rope_theta?");
  constexpr std::array<std::string_view, 2> dtypes{"bfloat16", "float16"};
  EXPECT_EQ(did_you_mean("BF16", dtypes), "; did you mean bfloat16?");
  EXPECT_EQ(did_you_mean("fp32", dtypes), "");
}

TEST(NearestName, OfSeveralThatBeginWithItIsTheShortest) {
  constexpr std::array<std::string_view, 2> presets{"flux-timestep", "flux-1"};
  EXPECT_EQ(did_you_mean("flux", presets), "; did you mean flux-1?");
}

TEST(NearestName, IsNoneWhereNothingIsNear) {
  for (const char* name : {"", "x", "thermal", "isometry", "bo"}) EXPECT_EQ(did_you_mean(name, names), "") << name;
  EXPECT_EQ(did_you_mean(std::string(1000, 'a'), names), "");
  EXPECT_EQ(did_you_mean("accuracy", std::span<const std::string_view>()), "");
}

}  // namespace
}  // namespace sextant::spec_nearest_name_test
