#include "lib/kernels/targets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/kernels/targets_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

const char* TargetOfDispatch() { return hwy::TargetName(HWY_TARGET); }

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(TargetOfDispatch);

std::string target_of_dispatch() { return HWY_DYNAMIC_DISPATCH(TargetOfDispatch)(); }

TEST(Targets, OneOfThoseSupportedIsInUse) {
  const std::vector<std::string_view> names = supported_targets();
  ASSERT_FALSE(names.empty());
  EXPECT_NE(std::find(names.begin(), names.end(), target_in_use()), names.end());
  if (std::getenv("SEXTANT_FORCE_TARGET") == nullptr) {
    EXPECT_EQ(target_in_use(), names.front());
  }
  EXPECT_EQ(target_in_use(), target_of_dispatch());
}

// Asked of Highway itself: the tests below need the variable unread.
std::string plainest_target() { return hwy::TargetName(hwy::SupportedAndGeneratedTargets().back()); }

// In a child process each, since the variable is read once.
TEST(Targets, AForcedOneIsInUse) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const std::string last = plainest_target();
  EXPECT_EXIT(
      {
        setenv("SEXTANT_FORCE_TARGET", last.c_str(), 1);
        std::exit(target_in_use() == last && target_of_dispatch() == last && target_of_dispatch() == last ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(Targets, AnUnknownOneIsRefusedWithTheChoices) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("SEXTANT_FORCE_TARGET", "MMX", 1);
        try {
          target_in_use();
        } catch (const TargetError& error) {
          std::fputs(error.what(), stderr);
          std::exit(3);
        }
        std::exit(0);
      },
      testing::ExitedWithCode(3), "SEXTANT_FORCE_TARGET=MMX: expected one of .*" + plainest_target());
}

}  // namespace
}  // namespace sextant
#endif
