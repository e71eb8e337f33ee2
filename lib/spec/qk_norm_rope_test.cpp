#include "lib/spec/qk_norm_rope.hpp"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "lib/spec/spec.hpp"

namespace sextant::spec_qk_norm_rope_test {
namespace {

std::string with(const std::string& fields) { return R"({"encoding":"qk_norm_rope","head_dim":8)" + fields + "}"; }

TEST(QkNormRope, HasTheFieldsOfARopeAndThoseOfTheNorm) {
  const Spec spec = parse_spec(with(R"(,"rotary_dim":4,"pairing":"interleaved","epsilon":1e-5,"weight_offset":1)"));
  const auto& encoding = std::get<QkNormRope>(spec.encoding);
  EXPECT_EQ(encoding.rope.rotary_dim, 4);
  EXPECT_EQ(encoding.epsilon, 1e-5);
  EXPECT_EQ(encoding.weight_offset, 1);
  const std::string json = to_json(spec);
  EXPECT_EQ(to_json(parse_spec(json)), json);
  EXPECT_EQ(operation_of(spec.encoding), Operation::qk_norm_rope);
  EXPECT_EQ(signature_of(spec.encoding).head_dim, 8);
}

TEST(QkNormRope, HasDefaults) {
  const auto encoding = std::get<QkNormRope>(parse_spec(with("")).encoding);
  EXPECT_EQ(encoding.epsilon, 1e-6);
  EXPECT_EQ(encoding.weight_offset, 0);
}

TEST(QkNormRope, RefusesWhatItHasNot) {
  for (const char* fields :
       {R"(,"epsilon":0)", R"(,"epsilon":-1e-6)", R"(,"epsilon":2)", R"(,"epsilon":1e-40)", R"(,"weight_offset":0.5)",
        R"(,"position_dtype":"float32")", R"(,"dtype":"bfloat16","evaluation":"dtype-accumulate")"})
    EXPECT_THROW(parse_spec(with(fields)), SpecError) << fields;
  EXPECT_THROW(parse_spec(R"({"encoding":"attention","num_heads":1,"head_dim":8,)"
                          R"("position":{"encoding":"qk_norm_rope","head_dim":8}})"),
               SpecError);
}

}  // namespace
}  // namespace sextant::spec_qk_norm_rope_test
