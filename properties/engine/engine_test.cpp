// Over 400 lines, since every test here shares the same few subjects and properties, each a few lines.

#include "properties/engine/engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>

#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/verdict/tally.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"
#include "subjects/operations.hpp"
#include "subjects/unusable.hpp"

namespace sextant::engine_test {
namespace {

using reference::Certainty;

const Spec spec = parse_spec(R"({"encoding":"sinusoidal","dim":4,"max_position":1000})");

struct Number {
  std::int64_t n;
};

CasesOf<Number> below_a_thousand() {
  CasesOf<Number> cases;
  cases.fields = [](const Spec&) -> std::vector<FieldOf<Number>> {
    return {{"n", FieldRole::count, &Number::n, {0, 999}}};
  };
  cases.first = [](const Spec&) -> std::vector<Number> { return {{0}}; };
  cases.drawn = [](const Spec&) {
    return rc::gen::map(rc::gen::inRange<std::int64_t>(0, 1000), [](std::int64_t n) { return Number{n}; });
  };
  return cases;
}

// A property of one integer field n in [0, 1000), judged by `check`.
Property numbers(const CheckOf<Number>& check, const CasesOf<Number>& cases = below_a_thousand()) {
  Property property;
  property.id = "numbers";
  property.explanation.title = "a property for the test";
  property.not_applicable = [](const Spec&) { return std::nullopt; };
  use_cases(property, cases, [check](const Spec&) { return check; });
  return property;
}

Judgement judged(Certainty within, double of_bound) {
  Judgement judgement;
  judgement.add(within, {of_bound, of_bound, of_bound}, [] { return "found"; });
  return judgement;
}

// A subject whose encode does what the test says, with a fresh state in each session.
FunctionSubject encoding(const FunctionSubject::Make& make) { return {"test", make}; }

FunctionSubject zeros() {
  return encoding([](const Spec&) -> FunctionSubject::Call {
    return [](std::string_view, const Tensors& inputs) -> Tensors {
      return {{"encoding", Tensor::zeros(Dtype::float32, {inputs.at("positions").shape[0], 4})}};
    };
  });
}

PropertyResult run(const Property& property, const Subject& subject) {
  return audit({property}, subject, spec, {}).results.front();
}

TEST(Engine, HoldsWhenEveryCaseDoes) {
  const PropertyResult result = run(numbers([](Session&, const Number& asked) {
                                      return judged(Certainty::yes, static_cast<double>(asked.n) / 1000);
                                    }),
                                    zeros());
  EXPECT_EQ(result.verdict, Verdict::holds);
  EXPECT_EQ(result.cases, 201);
  EXPECT_GT(result.worst->deviation.of_bound, 0.9);
  EXPECT_FALSE(result.simplest);
}

TEST(Engine, ReportsTheSimplestAndTheWorst) {
  const Property property = numbers([](Session&, const Number& asked) {
    return asked.n < 300 ? judged(Certainty::yes, 0.5) : judged(Certainty::no, static_cast<double>(asked.n));
  });
  const PropertyResult result = run(property, zeros());
  EXPECT_EQ(result.verdict, Verdict::violated);
  EXPECT_EQ(result.simplest->token, "numbers:n=300");
  EXPECT_GT(result.worst->deviation.of_bound, 900);
  EXPECT_EQ(replay(property, "numbers:n=300", zeros(), spec).results.front().verdict, Verdict::violated);
  EXPECT_EQ(replay(property, "numbers:n=299", zeros(), spec).results.front().verdict, Verdict::holds);
  EXPECT_THROW(replay(property, "numbers:n=1000", zeros(), spec), TokenError);
}

TEST(Engine, AnOpenCaseLeavesTheVerdictUndecided) {
  const PropertyResult result = run(numbers([](Session&, const Number& asked) {
                                      return judged(asked.n > 500 ? Certainty::unknown : Certainty::yes, 1);
                                    }),
                                    zeros());
  EXPECT_EQ(result.verdict, Verdict::undecided);
  EXPECT_NE(result.reason.find("could not be decided"), std::string::npos);
}

TEST(Engine, NoCaseIsNoSuccess) {
  CasesOf<Number> none = below_a_thousand();
  none.related = [](const Spec&, const Number&) { return false; };
  const PropertyResult result =
      run(numbers([](Session&, const Number&) { return judged(Certainty::yes, 0); }, none), zeros());
  EXPECT_EQ(result.verdict, Verdict::undecided);
  EXPECT_EQ(result.reason, "no case ran");
  EXPECT_EQ(exit_status({result}, Strictness::lenient), 4);
}

// Fails from position 300 on, in the manner of `kind`.
FunctionSubject failing(FailureKind kind) {
  return encoding([kind](const Spec&) -> FunctionSubject::Call {
    return [kind](std::string_view, const Tensors& inputs) -> Tensors {
      if (inputs.at("positions").integers()[0] >= 300) throw SubjectFailure(kind, "it broke");
      return {{"encoding", Tensor::zeros(Dtype::float32, {1, 4})}};
    };
  });
}

Property asking() {
  return numbers([](Session& session, const Number& asked) {
    encode(session, spec, std::vector{asked.n});
    return judged(Certainty::yes, 0);
  });
}

TEST(Engine, ASubjectThatFailsGetsAVerdictAndItsSimplestCase) {
  for (const FailureKind kind : {FailureKind::crashed, FailureKind::protocol, FailureKind::error}) {
    const PropertyResult result = run(asking(), failing(kind));
    EXPECT_EQ(result.verdict, Verdict::crashed);
    EXPECT_EQ(result.simplest->token, "numbers:n=300");
    EXPECT_NE(result.reason.find("it broke"), std::string::npos);
  }
  EXPECT_EQ(run(asking(), failing(FailureKind::timed_out)).verdict, Verdict::timed_out);
}

TEST(Engine, ASubjectThatAlwaysHangsCostsOneTimeOut) {
  std::atomic<int> calls = 0;
  const FunctionSubject hanging = encoding([&](const Spec&) -> FunctionSubject::Call {
    return [&](std::string_view, const Tensors&) -> Tensors {
      ++calls;
      throw SubjectFailure(FailureKind::timed_out, "no answer");
    };
  });
  for (const PropertyResult& result : audit(catalogue(), hanging, spec, {}).results) {
    EXPECT_TRUE(result.verdict == Verdict::timed_out || result.verdict == Verdict::not_applicable) << result.id;
  }
  EXPECT_EQ(calls, 1);
}

TEST(Engine, UnsupportedCasesAreLeftOut) {
  const PropertyResult some = run(asking(), failing(FailureKind::unsupported));
  EXPECT_EQ(some.verdict, Verdict::holds);
  EXPECT_NE(some.reason.find("more cases are unsupported"), std::string::npos);
  // Of a sweep they are positions of the claim that nobody has seen.
  Tally swept;
  swept.judged = 3;
  swept.unsupported = 2;
  swept.why_unsupported = Remark{1, "too long"};
  swept.coverage = Coverage{3, 5, 15};
  const PropertyResult open = settled(PropertyResult{}, swept, Extent::whole);
  EXPECT_EQ(open.verdict, Verdict::undecided);
  EXPECT_EQ(open.reason, "2 of 5 calls of the claim are unsupported, which leaves it open: too long");
  const FunctionSubject none = encoding([](const Spec&) -> FunctionSubject::Call {
    return [](std::string_view, const Tensors&) -> Tensors { throw SubjectFailure(FailureKind::unsupported, "never"); };
  });
  const PropertyResult result = run(asking(), none);
  EXPECT_EQ(result.verdict, Verdict::unsupported);
  EXPECT_EQ(exit_status({result}, Strictness::lenient), 4);
}

TEST(Engine, AnAnswerThatDependsOnEarlierCallsIsSaidToBeSo) {
  // Wrong only after a call beyond position 600, for the rest of the session.
  const FunctionSubject sticky = encoding([](const Spec&) -> FunctionSubject::Call {
    return [spoilt = false](std::string_view, const Tensors& inputs) mutable -> Tensors {
      Tensor table = Tensor::zeros(Dtype::float32, {1, 4});
      table.set(0, spoilt ? 1 : 0);
      spoilt = spoilt || inputs.at("positions").integers()[0] >= 600;
      return {{"encoding", table}};
    };
  });
  const PropertyResult result = run(numbers([](Session& session, const Number& asked) {
                                      return encode(session, spec, std::vector{asked.n}).at(0) == 0
                                                 ? judged(Certainty::yes, 0)
                                                 : judged(Certainty::no, 2);
                                    }),
                                    sticky);
  EXPECT_EQ(result.verdict, Verdict::violated);
  EXPECT_NE(result.simplest->finding.find("only after other calls"), std::string::npos);
  EXPECT_EQ(result.simplest->shown, Shown::after_other_calls);
}

TEST(Engine, AFailureThatNeedsEarlierCallsIsSaidToBeSo) {
  const auto failing_from = [](int call) {
    return encoding([call](const Spec&) -> FunctionSubject::Call {
      return [call, calls = 0](std::string_view, const Tensors&) mutable -> Tensors {
        if (++calls >= call) throw SubjectFailure(FailureKind::crashed, "gone");
        return {{"encoding", Tensor::zeros(Dtype::float32, {1, 4})}};
      };
    });
  };
  EXPECT_NE(run(asking(), failing_from(5)).reason.find("only after other calls"), std::string::npos);
  EXPECT_EQ(run(asking(), failing_from(1)).reason.find("only after other calls"), std::string::npos);
}

TEST(Engine, TheSameSeedGivesTheSameResultsOnAnyNumberOfThreads) {
  const auto tokens = [](int threads, std::uint64_t seed) {
    AuditOptions options;
    options.profile = Profile::quick;
    options.threads = threads;
    options.seed = seed;
    std::string text;
    for (const PropertyResult& result : audit(catalogue(), *builtin_subject(), spec, options).results) {
      text += result.id + std::string(name_of(result.verdict)) + result.reason;
      if (result.worst) text += result.worst->token + result.worst->finding;
    }
    return text;
  };
  EXPECT_EQ(tokens(1, 5), tokens(3, 5));
  EXPECT_NE(tokens(1, 5), tokens(1, 6));
}

// A judge that never comes to an end: the case n = 700 and those beyond ask the exact tier on and on. Those from
// `violated` on are.
Property endless(std::int64_t violated) {
  return numbers([violated](Session&, const Number& asked) {
    for (reference::Enclosure sum(1.0, reference::first_precision); asked.n >= 700;) sum = sqrt(sum);
    return asked.n >= violated ? judged(Certainty::no, 2) : judged(Certainty::yes, 0.5);
  });
}

TEST(Engine, WorkWithoutEndIsUndecidedAndAlikeOnAnyNumberOfThreads) {
  AuditOptions options;
  options.steps = 1 << 22;
  Property late = endless(700);
  late.first_cases = [](const Spec&) { return std::vector<Case>{{0}, {1}, {999}}; };
  const auto text = [&](int threads) {
    options.threads = threads;
    std::string all;
    for (const PropertyResult& result : audit({late, late, late}, zeros(), spec, options).results) {
      EXPECT_EQ(result.verdict, Verdict::undecided);
      all += result.reason + result.worst->token;
    }
    return all;
  };
  const std::string reason = text(1);
  EXPECT_EQ(reason, text(3));
  EXPECT_NE(reason.find("numbers:n=999: judging it exceeds the limit of work; 1"), std::string::npos) << reason;
  EXPECT_EQ(exit_status(audit({late}, zeros(), spec, options).results, Strictness::lenient), 4);
  // A case alone ends too, in seconds.
  EXPECT_EQ(replay(endless(700), "numbers:n=700", zeros(), spec).results.front().verdict, Verdict::undecided);
}

TEST(Engine, AViolationStandsThoughTheWorkHasNoEnd) {
  AuditOptions options;
  options.steps = 1 << 22;
  Property late = endless(600);
  late.first_cases = [](const Spec&) { return std::vector<Case>{{0}, {999}, {650}}; };
  const PropertyResult result = audit({late}, zeros(), spec, options).results.front();
  EXPECT_EQ(result.verdict, Verdict::violated);
  EXPECT_EQ(result.simplest->token, "numbers:n=600");
}

// A recipe computes its own answers with the exact tier: that is the subject's work.
TEST(Engine, TheSubjectsWorkIsNotTheJudges) {
  AuditOptions options;
  options.steps = 1 << 16;
  const FunctionSubject busy = encoding([](const Spec&) -> FunctionSubject::Call {
    return [](std::string_view, const Tensors& inputs) -> Tensors {
      reference::Enclosure x(2.0, reference::first_precision);
      for (int i = 0; i < 10000; ++i) x = sqrt(x);
      return {{"encoding", Tensor::zeros(Dtype::float32, {inputs.at("positions").shape[0], 4})}};
    };
  });
  EXPECT_EQ(audit({asking()}, busy, spec, options).results.front().verdict, Verdict::holds);
}

// The results of a run in `count` parts, put together in an odd order.
PropertyResult of_parts(const Property& property, const Subject& subject, std::int64_t count) {
  std::optional<PropertyResult> whole;
  for (std::int64_t i = 0; i < count; ++i) {
    AuditOptions options;
    options.part = {(i + count / 2) % count + 1, count};
    PropertyResult part = audit({property}, subject, spec, options).results.front();
    if (whole) part.share = std::make_shared<const Tally>(joined(*whole->share, *part.share));
    whole = part;
  }
  PropertyResult about;
  about.theory = whole->theory;
  return settled(about, *whole->share, Extent::whole);
}

void expect_same(const std::optional<Example>& one, const std::optional<Example>& other) {
  ASSERT_EQ(one.has_value(), other.has_value());
  if (!one) return;
  EXPECT_EQ(one->token, other->token);
  EXPECT_EQ(one->finding, other->finding);
  EXPECT_EQ(std::isnan(one->deviation.of_bound), std::isnan(other->deviation.of_bound));
  if (!std::isnan(one->deviation.of_bound)) {
    EXPECT_EQ(one->deviation.of_bound, other->deviation.of_bound);
  }
}

TEST(Engine, PartsOfARunComeToTheSameResult) {
  using Look = std::function<Judgement(std::int64_t)>;
  const auto open = [](std::int64_t n) { return n % 5 == 0 ? Certainty::unknown : Certainty::yes; };
  const auto wrong = [](std::int64_t n) { return n > 300 && n % 3 == 0 ? Certainty::no : Certainty::yes; };
  const std::vector<std::pair<const char*, Look>> looks = {
      {"holds", [](std::int64_t n) { return judged(Certainty::yes, static_cast<double>(n % 100) / 1000); }},
      {"undecided", [&](std::int64_t n) { return judged(open(n), 1); }},
      {"violated", [&](std::int64_t n) { return judged(wrong(n), static_cast<double>(n) / 500); }},
      {"not a number", [&](std::int64_t n) { return judged(wrong(n), n % 7 == 0 ? std::nan("") : 1.5); }},
  };
  for (const auto& [name, look] : looks) {
    for (const Theory theory : {Theory::holds, Theory::fails}) {
      Property property = numbers([look = look](Session&, const Number& asked) { return look(asked.n); });
      property.theory = [theory](const Spec&) { return theory; };
      const PropertyResult whole = run(property, zeros());
      for (const std::int64_t count : {2, 3, 64, 1000}) {
        SCOPED_TRACE(testing::Message() << name << " in " << count << " parts");
        const PropertyResult parts = of_parts(property, zeros(), count);
        EXPECT_EQ(parts.verdict, whole.verdict);
        EXPECT_EQ(parts.reason, whole.reason);
        EXPECT_EQ(parts.cases, whole.cases);
        EXPECT_EQ(parts.horizon, whole.horizon);
        expect_same(parts.worst, whole.worst);
        expect_same(parts.simplest, whole.simplest);
      }
    }
  }
  for (const FailureKind kind : {FailureKind::error, FailureKind::timed_out, FailureKind::unsupported}) {
    const PropertyResult whole = run(asking(), failing(kind));
    const PropertyResult parts = of_parts(asking(), failing(kind), 7);
    EXPECT_EQ(parts.verdict, whole.verdict);
    EXPECT_EQ(parts.reason, whole.reason);
    EXPECT_EQ(parts.cases, whole.cases);
    expect_same(parts.simplest, whole.simplest);
  }
}

TEST(Engine, EachPartJudgesItsShare) {
  const Property property = numbers([](Session&, const Number&) { return judged(Certainty::yes, 0); });
  AuditOptions options;
  std::int64_t judged_cases = 0;
  for (std::int64_t index = 1; index <= 64; ++index) {
    options.part = {index, 64};
    // Three properties' cases are one hand: no part gets more than one case above another.
    std::int64_t own = 0;
    for (const PropertyResult& result : audit({property, property, property}, zeros(), spec, options).results)
      own += result.cases;
    EXPECT_GE(own, 3 * 201 / 64);
    EXPECT_LE(own, 3 * 201 / 64 + 1);
    judged_cases += own;
  }
  EXPECT_EQ(judged_cases, 3 * 201);
  // A part of more than there are cases judges none, and says so.
  options.part = {500, 500};
  const PropertyResult idle = audit({property}, zeros(), spec, options).results.front();
  EXPECT_EQ(idle.verdict, Verdict::not_applicable);
  EXPECT_EQ(idle.reason, "none of its cases falls to this shard");
}

TEST(Engine, AStopRequestEndsTheAudit) {
  std::stop_source source;
  AuditOptions options;
  options.stop = source.get_token();
  options.threads = 2;
  options.progress = [&](std::int64_t done, std::int64_t) {
    if (done > 20) source.request_stop();
  };
  EXPECT_THROW(audit(catalogue(), *builtin_subject(), spec, options), Interrupted);
}

TEST(Engine, ASubjectThatCannotBeAskedEndsTheAudit) {
  const FunctionSubject unusable =
      encoding([](const Spec&) -> FunctionSubject::Call { throw SubjectUnusable("line 3: no"); });
  try {
    audit(catalogue(), unusable, spec, {});
    FAIL();
  } catch (const SubjectNameError& error) {
    EXPECT_STREQ(error.what(), "test: line 3: no");
  }
}

TEST(Engine, TellsEachResultOnceItIsThere) {
  const Property one = numbers([](Session&, const Number&) { return judged(Certainty::yes, 0); });
  std::vector<Property> properties(5, one);
  for (std::size_t i = 0; i < properties.size(); ++i) properties[i].id = std::to_string(i);
  std::vector<std::string> told;
  AuditOptions options;
  options.threads = 3;
  options.introduced = [&](const Description&) { told.push_back("introduced"); };
  options.judged = [&](const PropertyResult& result) { told.push_back(result.id); };
  audit(properties, zeros(), spec, options);
  ASSERT_EQ(told.size(), 6U);
  EXPECT_EQ(told.front(), "introduced");
  std::ranges::sort(told);
  EXPECT_EQ(told, (std::vector<std::string>{"0", "1", "2", "3", "4", "introduced"}));
}

TEST(Engine, WhatAListenerThrowsEndsTheAudit) {
  AuditOptions options;
  options.threads = 2;
  std::atomic<int> heard = 0;
  options.judged = [&](const PropertyResult&) {
    ++heard;
    throw std::runtime_error("the disk is full");
  };
  const std::vector<Property> properties(50,
                                         numbers([](Session&, const Number&) { return judged(Certainty::yes, 0); }));
  EXPECT_THROW(audit(properties, zeros(), spec, options), std::runtime_error);
  EXPECT_LE(heard, 2);
}

TEST(Engine, ProgressReachesItsTotal) {
  std::int64_t last = 0;
  std::int64_t whole = -1;
  AuditOptions options;
  options.progress = [&](std::int64_t done, std::int64_t total) {
    EXPECT_GE(done, last);
    last = done;
    whole = total;
  };
  audit(catalogue(), *builtin_subject(), spec, options);
  EXPECT_EQ(last, whole);
}

}  // namespace
}  // namespace sextant::engine_test
