#include <gtest/gtest.h>

#include <algorithm>

#include "lib/spec/spec.hpp"
#include "properties/catalogue.hpp"
#include "properties/engine/engine.hpp"
#include "properties/mutants/mutant.hpp"

namespace sextant::attention_laws_test {
namespace {

// A mask that is off by one at one tile end of long calls alone.
TEST(CausalLeak, CutsLongCallsAtTheEndsOfTiles) {
  const mutants::Mutant& mutant = mutants::named("attention-sees-1024");
  for (const char* property : {"causal_leak", "accuracy"}) {
    AuditOptions options;
    options.counterexamples = Counterexamples::not_sought;
    const PropertyResult result =
        audit({*property_named(property)}, *mutants::open(mutant.name), parse_spec(mutant.spec), options)
            .results.front();
    EXPECT_EQ(result.verdict, Verdict::violated) << property;
    ASSERT_TRUE(result.worst) << property;
    EXPECT_NE(result.worst->finding.find("token 1023"), std::string::npos) << result.worst->finding;
  }
}

}  // namespace
}  // namespace sextant::attention_laws_test
