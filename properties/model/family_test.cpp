#include "properties/model/family.hpp"

#include <gtest/gtest.h>

namespace sextant::model_family_test {
namespace {

const Spec rope = parse_spec(R"({"encoding":"rope","head_dim":8})");
const Spec xpos = parse_spec(R"({"encoding":"xpos","head_dim":6})");
const Spec alibi = parse_spec(R"({"encoding":"alibi","num_heads":4,"max_position":1})");

std::int64_t width(const Rope& encoding) { return encoding.head_dim; }
std::int64_t width(const Xpos& encoding) { return encoding.rope.head_dim; }

TEST(Family, GivesALawItsEncoding) {
  const auto law =
      of<Rope, Xpos>([](const Spec&, const auto& encoding, std::int64_t more) { return width(encoding) + more; });
  EXPECT_EQ(law(rope, 1), 9);
  EXPECT_EQ(law(xpos, 1), 7);
  EXPECT_THROW(law(alibi, 1), std::invalid_argument);
}

TEST(Family, SaysWhereALawIsNotStated) {
  const WhyNot plain = stated_for<Rope, Xpos>();
  EXPECT_EQ(plain(rope), std::nullopt);
  EXPECT_EQ(plain(xpos), std::nullopt);
  EXPECT_EQ(plain(alibi), "not stated for alibi");
  EXPECT_EQ(stated_for<Rope>(elsewhere_for<Alibi>("a property of rotations"))(alibi), "a property of rotations");
  EXPECT_EQ(stated_for<Rope>(elsewhere_for<Alibi>("a property of rotations"))(xpos), "not stated for xpos");
  EXPECT_EQ(stated_for<Alibi>(one_position_only)(alibi), "the claim has one position only");
  EXPECT_EQ(stated_for<Rope>(one_position_only)(rope), std::nullopt);
  const auto narrow = [](const Spec&, const Rope& encoding) -> std::optional<std::string> {
    return encoding.head_dim < 9 ? std::optional<std::string>("too narrow") : std::nullopt;
  };
  EXPECT_EQ(stated_for<Rope>(narrow)(rope), "too narrow");
  EXPECT_EQ(stated_for<Rope>(narrow)(alibi), "not stated for alibi");
}

TEST(Family, FindsWhatAttentionCarries) {
  Attention attention;
  EXPECT_EQ(carried<Alibi>(attention), nullptr);
  attention.position = Alibi{.num_heads = 3};
  ASSERT_NE(carried<Alibi>(attention), nullptr);
  EXPECT_EQ(carried<Alibi>(attention)->num_heads, 3);
  EXPECT_EQ(carried<Rope>(attention), nullptr);
}

}  // namespace
}  // namespace sextant::model_family_test
