#include "properties/gen/values.hpp"

#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <string>

namespace sextant::gen::gen_values_test {
namespace {

class ValuesOn : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { hwy::SetSupportedTargetsForTest(GetParam()); }
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

INSTANTIATE_TEST_SUITE_P(Target, ValuesOn, testing::ValuesIn(hwy::SupportedAndGeneratedTargets()),
                         [](const auto& target) { return std::string(hwy::TargetName(target.param)); });

// More than two blocks, and a third that is not full; fills whose hashes are not alike.
TEST_P(ValuesOn, AreThoseOfEachElement) {
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16}) {
    for (const std::int64_t fill : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-7}, std::int64_t{1} << 60}) {
      const Tensor tensor = values(dtype, {3, 733}, fill);
      Tensor expected = Tensor::zeros(dtype, {3, 733});
      for (std::int64_t i = 0; i < expected.elements(); ++i) expected.set(i, value(fill, i));
      EXPECT_EQ(tensor.data, expected.data) << name_of(dtype) << " of fill " << fill;
    }
  }
}

}  // namespace
}  // namespace sextant::gen::gen_values_test
