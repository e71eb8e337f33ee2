#pragma once

#include <gtest/gtest.h>
#include <hwy/detect_targets.h>
#include <hwy/targets.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/kernels/targets.hpp"

namespace sextant {

/// A test that runs once on every target that this machine has, the target named in its id. It fails if nothing was
/// dispatched, or if what was dispatched ran on another target. Use with SEXTANT_ON_EVERY_TARGET.
class OnEveryTarget : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override {
    // Compiled for one target only (64-bit Arm), Highway calls its kernels directly.
    constexpr bool several_targets = (HWY_TARGETS & (HWY_TARGETS - 1)) != 0;
    EXPECT_TRUE(!several_targets || hwy::GetChosenTarget().IsInitialized()) << "no kernel was dispatched";
    EXPECT_EQ(target_in_use(), hwy::TargetName(GetParam())) << "the kernels ran on another target";
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
};

inline std::string target_of_test(const testing::TestParamInfo<std::int64_t>& info) {
  return hwy::TargetName(info.param);
}

#define SEXTANT_ON_EVERY_TARGET(fixture)                                                            \
  INSTANTIATE_TEST_SUITE_P(Target, fixture, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), \
                           sextant::target_of_test)

}  // namespace sextant
