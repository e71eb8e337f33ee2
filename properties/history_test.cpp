#include <gtest/gtest.h>

#include <algorithm>

#include "properties/catalogue.hpp"
#include "properties/engine/engine.hpp"
#include "properties/mutants/mutant.hpp"

namespace sextant::history_test {
namespace {

PropertyResult history_of(std::string_view name) {
  return audit({*property_named("history")}, *mutants::open(name), parse_spec(mutants::named(name).spec), {})
      .results.front();
}

TEST(History, NamesWhatIsKeptByShapeOrByPositions) {
  const PropertyResult by_shape = history_of("rope-table-by-shape");
  EXPECT_EQ(by_shape.verdict, Verdict::violated);
  EXPECT_NE(by_shape.simplest->finding.find("after a call of the same shape at other positions"), std::string::npos)
      << by_shape.simplest->finding;
  EXPECT_EQ(history_of("rope-table-by-start").verdict, Verdict::violated);
  EXPECT_EQ(history_of("rope-table-by-positions").verdict, Verdict::holds);
}

// Answers no call, as code that forgets to return its result does.
class Silent final : public Subject {
 public:
  std::string name() const override { return "silent"; }
  std::unique_ptr<Session> open(const Spec&) const override { return std::make_unique<Unanswered>(); }

 private:
  class Unanswered final : public Session {
   public:
    Description describe() override { return {}; }
    Tensors call(std::string_view, const Tensors&) override {
      throw SubjectFailure(FailureKind::unsupported, "rotate returned None");
    }
  };
};

TEST(History, DoesNotHoldOfWhatAnswersNothing) {
  for (const char* claim :
       {R"({"encoding":"rope","head_dim":16})", R"({"encoding":"learned","dim":16,"max_positions":512})"}) {
    const PropertyResult result = audit({*property_named("history")}, Silent(), parse_spec(claim), {}).results.front();
    EXPECT_EQ(result.verdict, Verdict::unsupported) << claim;
    EXPECT_EQ(result.cases, 0) << claim;
  }
}

// Each sequence of calls convicts a cache that only it shows, and tells which call of it made the difference.
TEST(History, NamesTheEarlierCall) {
  for (const auto& [mutant, told] :
       {std::pair{"rope-after-error", "1 token from position 0, alone and then after 1 token beyond the claim"},
        {"rope-kept-by-ends", "alone and then after 6 tokens from position 0 in another order: "},
        {"rope-growth-loses-a-row", "before it 1 token from position 1"},
        {"learned-after-long", "alone and then after 45"},
        {"attention-positions-kept", "after a call of the same shape at other positions"}}) {
    const PropertyResult result = history_of(mutant);
    EXPECT_EQ(result.verdict, Verdict::violated) << mutant;
    ASSERT_TRUE(result.simplest) << mutant;
    EXPECT_NE(result.simplest->finding.find(told), std::string::npos) << mutant << ": " << result.simplest->finding;
  }
  EXPECT_EQ(history_of("rope-refuses-beyond").verdict, Verdict::holds);
}

}  // namespace
}  // namespace sextant::history_test
