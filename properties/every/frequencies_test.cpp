#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "lib/numeric/ulp.hpp"
#include "lib/spec/of.hpp"
#include "properties/catalogue.hpp"
#include "properties/engine/engine.hpp"
#include "properties/mutants/plain_rope.hpp"
#include "properties/mutants/recipe_subject.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::every_frequencies_test {
namespace {

PropertyResult audited(const Subject& subject, const std::string& text) {
  AuditOptions options;
  options.profile = Profile::quick;
  return audit({*property_named("frequencies")}, subject, parse_spec(text), options).results.front();
}

constexpr const char* rope = R"({"encoding":"rope","head_dim":128})";

// A rope in float32 whose list of frequencies is changed.
FunctionSubject with_frequencies(void (*change)(std::vector<double>&)) {
  return {"changed frequencies", of<Rope>([change](const Spec& spec, const Rope& claimed) -> FunctionSubject::Call {
            mutants::PlainRope plain(claimed, spec.dtype);
            plain.frequencies = [own = plain.frequencies, change](const mutants::RotateCall& call) {
              std::vector<double> list = own(call);
              for (double& w : list) w = round_to(Dtype::float32, w);
              change(list);
              return list;
            };
            return [plain](std::string_view operation, const Tensors& inputs) -> Tensors {
              if (operation != "rotate") throw SubjectFailure(FailureKind::unsupported, "rotate only");
              return {{"y", plain.rotate(inputs.at("x"), inputs.at("positions").integers())}};
            };
          })};
}

TEST(Frequencies, OfTheBuiltinEncoderAreToldToBeRight) {
  const PropertyResult result = audited(*builtin_subject(), rope);
  EXPECT_EQ(result.verdict, Verdict::holds);
  EXPECT_EQ(result.reason.find("over all positions no frequency is off by more than its phases leave open; the "
                               "frequencies are those of recipe:"),
            0U)
      << result.reason;
  EXPECT_NE(result.reason.find("recipe:float64"), std::string::npos) << result.reason;
}

TEST(Frequencies, OfEachRecipeAreNamedByIt) {
  for (const std::string name : {"float32", "float32-power", "float32-exponential", "float64"}) {
    for (const char* spec : {rope, R"({"encoding":"sinusoidal","dim":128})"}) {
      const PropertyResult result = audited(*mutants::open_recipe(name), spec);
      EXPECT_EQ(result.verdict, Verdict::holds) << name << spec;
      EXPECT_NE(result.reason.find("the frequencies are those of recipe:"), std::string::npos)
          << name << spec << result.reason;
      EXPECT_NE(result.reason.find("recipe:" + name), std::string::npos) << name << spec << result.reason;
      EXPECT_EQ(result.reason.find("but for"), std::string::npos) << name << spec << result.reason;
    }
  }
}

// Within what float32-angle allows, so that it holds; and told.
TEST(Frequencies, OneThatIsThreeUlpsOffIsNamed) {
  const FunctionSubject wrong =
      with_frequencies([](std::vector<double>& list) { list[37] += 3 * ulp(Dtype::float32, list[37]); });
  const PropertyResult result = audited(wrong, rope);
  EXPECT_EQ(result.verdict, Verdict::holds);
  EXPECT_NE(result.reason.find("but for pair 37's 3"), std::string::npos) << result.reason;
  EXPECT_NE(result.reason.find("ULP above"), std::string::npos) << result.reason;
}

// Channels that do not turn together have no frequency, and none is told.
TEST(Frequencies, OfWrongPairsAreNone) {
  const auto builtin = builtin_subject();
  const Spec other = parse_spec(R"({"encoding":"rope","head_dim":128,"pairing":"interleaved"})");
  const FunctionSubject wrong("other pairs", [&](const Spec&) -> FunctionSubject::Call {
    std::shared_ptr<Session> session = builtin->open(other);
    return [session](std::string_view operation, const Tensors& inputs) { return session->call(operation, inputs); };
  });
  const PropertyResult result = audited(wrong, rope);
  EXPECT_EQ(result.verdict, Verdict::violated);
  EXPECT_NE(result.reason.find("their channels do not turn together, and what two positions show is no frequency"),
            std::string::npos)
      << result.reason;
  EXPECT_NE(result.simplest->finding.find("do not turn together"), std::string::npos) << result.simplest->finding;
}

TEST(Frequencies, OfFloat16AreViolatedAndThoseOfTheRecipeThatRoundsThem) {
  const FunctionSubject wrong = with_frequencies([](std::vector<double>& list) {
    for (double& w : list) w = round_to(Dtype::float16, w);
  });
  const PropertyResult result = audited(wrong, rope);
  EXPECT_EQ(result.verdict, Verdict::violated);
  EXPECT_NE(result.reason.find("the frequencies are those of recipe:float16-angle"), std::string::npos)
      << result.reason;
}

}  // namespace
}  // namespace sextant::every_frequencies_test
