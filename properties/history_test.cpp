#include <gtest/gtest.h>

#include <algorithm>

#include "properties/catalogue.hpp"
#include "properties/engine/engine.hpp"
#include "properties/mutants/mutant.hpp"

namespace sextant {
namespace {

PropertyResult history_of(std::string_view name) {
  const auto mutant = std::ranges::find(mutants::registry(), name, &mutants::Mutant::name);
  return audit({*property_named("history")}, *mutants::open(name), parse_spec(mutant->spec), {}).results.front();
}

TEST(History, NamesWhatIsKeptByShapeOrByPositions) {
  const PropertyResult by_shape = history_of("rope-table-by-shape");
  EXPECT_EQ(by_shape.verdict, Verdict::violated);
  EXPECT_NE(by_shape.simplest->finding.find("after a call of the same shape at other positions"), std::string::npos)
      << by_shape.simplest->finding;
  EXPECT_EQ(history_of("rope-table-by-start").verdict, Verdict::violated);
  EXPECT_EQ(history_of("rope-table-by-positions").verdict, Verdict::holds);
}

}  // namespace
}  // namespace sextant
