#include "properties/engine/preflight.hpp"

#include <gtest/gtest.h>

#include "lib/spec/spec.hpp"
#include "properties/catalogue.hpp"
#include "properties/engine/unread_fields.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::engine_preflight_test {
namespace {

const Spec& claim() {
  static const Spec spec = parse_spec(R"({"encoding":"rope","head_dim":8})");
  return spec;
}

// Our own encoder of `spec_of(asked)`, whose calls `before` may end.
FunctionSubject rotating(const std::function<Spec(const Spec&)>& spec_of,
                         const std::function<void(const Tensors&)>& before) {
  return {"rotating", [spec_of, before](const Spec& asked) -> FunctionSubject::Call {
            const std::shared_ptr<Session> session = builtin_subject()->open(spec_of(asked));
            return [session, before](std::string_view operation, const Tensors& inputs) -> Tensors {
              before(inputs);
              return session->call(operation, inputs);
            };
          }};
}

Spec as_asked(const Spec& asked) { return asked; }
Spec as_claimed(const Spec&) { return claim(); }
void pass(const Tensors&) {}

TEST(Preflight, StopsASubjectThatFailsHoweverItIsAsked) {
  const auto fails = [](const Tensors&) {
    throw SubjectFailure(FailureKind::error, "no", {{"mine.py", 7}, "Traceback", "try it"});
  };
  const Preflight flight = preflight(rotating(as_asked, fails), claim(), FirstAsked::calls);
  ASSERT_TRUE(flight.failure);
  EXPECT_EQ(flight.failure->verdict, Verdict::crashed);
  EXPECT_EQ(flight.failure->reason, "reported an error: no");
  EXPECT_EQ(flight.failure->trace.place.line, 7);
  EXPECT_EQ(flight.failure->trace.fix, "try it");
  EXPECT_FALSE(preflight(rotating(as_asked, fails), claim(), FirstAsked::description).failure);
}

TEST(Preflight, LetsPassWhatSomeCallsFailOrAreUnsupported) {
  const auto single_fails = [](const Tensors& inputs) {
    if (inputs.at("positions").elements() == 1) throw SubjectFailure(FailureKind::error, "one token");
  };
  EXPECT_FALSE(preflight(rotating(as_asked, single_fails), claim(), FirstAsked::calls).failure);
  const auto unsupported = [](const Tensors&) { throw SubjectFailure(FailureKind::unsupported, "no"); };
  EXPECT_FALSE(preflight(rotating(as_asked, unsupported), claim(), FirstAsked::calls).failure);
  EXPECT_FALSE(preflight(*builtin_subject(), claim(), FirstAsked::calls).failure);
}

TEST(Preflight, StopsASubjectWhoseAxesAreExchanged) {
  const FunctionSubject exchanged("exchanged", [](const Spec& asked) -> FunctionSubject::Call {
    const std::shared_ptr<Session> session = builtin_subject()->open(asked);
    return [session](std::string_view operation, const Tensors& inputs) -> Tensors {
      Tensors answer = session->call(operation, inputs);
      std::swap(answer.at("y").shape[1], answer.at("y").shape[2]);
      return answer;
    };
  });
  const Preflight flight = preflight(exchanged, claim(), FirstAsked::calls);
  ASSERT_TRUE(flight.failure);
  EXPECT_NE(flight.failure->trace.fix.find("layout=bhnd"), std::string::npos) << flight.failure->trace.fix;
}

// Keys of other heads are another call, whatever is read.
TEST(UnreadFields, OfAttentionAreToldByCallsOfTheSameInputs) {
  const Spec attention =
      parse_spec(R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":16,"causal":true})");
  const FunctionSubject fixed("fixed", [attention](const Spec&) -> FunctionSubject::Call {
    const std::shared_ptr<Session> session = builtin_subject()->open(attention);
    return [session](std::string_view operation, const Tensors& inputs) { return session->call(operation, inputs); };
  });
  const FieldsRead none = fields_read_by(fixed, attention, {});
  ASSERT_TRUE(none.fields);
  EXPECT_TRUE(none.fields->empty());
  EXPECT_FALSE(fields_read_by(*builtin_subject(), attention, {}).fields);
}

TEST(UnreadFields, AreThoseThatChangeNoBit) {
  const FieldsRead none = fields_read_by(rotating(as_claimed, pass), claim(), {});
  ASSERT_TRUE(none.fields);
  EXPECT_TRUE(none.fields->empty());
  EXPECT_TRUE(why_unread(*property_named("parameter_liveness"), none));
  EXPECT_TRUE(why_unread(*property_named("linear_scaling"), none));
  EXPECT_FALSE(why_unread(*property_named("siblings"), none));
  // One that reads some field has to read or refuse all.
  EXPECT_FALSE(fields_read_by(rotating(as_asked, pass), claim(), {}).fields);
  const auto theta_alone = [](const Spec& asked) {
    Spec read = claim();
    std::get<Rope>(read.encoding).rope_theta = std::get<Rope>(asked.encoding).rope_theta;
    return read;
  };
  EXPECT_FALSE(fields_read_by(rotating(theta_alone, pass), claim(), {}).fields);
  const std::string unread = unread_text(rotating(theta_alone, pass), claim());
  EXPECT_NE(unread.find("pairing, "), std::string::npos) << unread;
  EXPECT_TRUE(unread.ends_with("; if it is made for one spec, fields = [\"rope_theta\"] says so")) << unread;
  EXPECT_EQ(unread_text(rotating(as_asked, pass), claim()), "");
  // What refuses some fields is made for more than one spec, and refuses all or none.
  const auto refusing_pairings = [theta_alone](const Spec& asked) {
    if (std::get<Rope>(asked.encoding).pairing != std::get<Rope>(claim().encoding).pairing)
      throw SubjectFailure(FailureKind::unsupported, "returned None");
    return theta_alone(asked);
  };
  const std::string refused = unread_text(rotating(refusing_pairings, pass), claim());
  EXPECT_EQ(refused.find(" pairing, "), std::string::npos) << refused;
  EXPECT_TRUE(
      refused.ends_with("; refuse what is not computed (in Python return None), as it does of the field pairing"))
      << refused;
}

TEST(UnreadFields, AreThoseThatASubjectDoesNotName) {
  Description description;
  description.fields = {"rope_theta"};
  const FieldsRead read = fields_read_by(rotating(as_asked, pass), claim(), description);
  EXPECT_FALSE(why_unread(*property_named("parameter_liveness"), read));
  EXPECT_TRUE(why_unread(*property_named("linear_scaling"), read));
  description.fields->push_back("rope_scaling");
  const FieldsRead more = fields_read_by(rotating(as_asked, pass), claim(), description);
  EXPECT_FALSE(why_unread(*property_named("linear_scaling"), more));
}

}  // namespace
}  // namespace sextant::engine_preflight_test
