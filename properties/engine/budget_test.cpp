#include "properties/engine/budget.hpp"

#include <gtest/gtest.h>

#include "properties/catalogue.hpp"
#include "subjects/builtin.hpp"

// Subjects that take a time of their own, on a clock that they alone advance: what an audit comes to, to the second.

namespace sextant::engine_budget_test {
namespace {

// What a subject takes, in seconds.
struct Dearness {
  double session = 0;
  double call = 0;
  double value = 0;  // that is answered
};

class DearSubject final : public Subject {
 public:
  explicit DearSubject(const Dearness& dearness) : dearness_(dearness) {}

  std::string name() const override { return "dear"; }
  std::unique_ptr<Session> open(const Spec& spec) const override {
    seconds_ += dearness_.session;
    return std::make_unique<Dear>(*this, subject_->open(spec));
  }
  std::vector<std::unique_ptr<Session>> open_together(std::span<const Spec> specs) const override {
    seconds_ += dearness_.session;  // of one process
    std::vector<std::unique_ptr<Session>> sessions = subject_->open_together(specs);
    for (std::unique_ptr<Session>& session : sessions) session = std::make_unique<Dear>(*this, std::move(session));
    return sessions;
  }
  double seconds() const { return seconds_; }

 private:
  class Dear final : public Session {
   public:
    Dear(const DearSubject& subject, std::unique_ptr<Session> session)
        : subject_(subject), session_(std::move(session)) {}
    Description describe() override { return session_->describe(); }
    Tensors call(std::string_view operation, const Tensors& inputs) override {
      return paid(session_->call(operation, inputs));
    }
    Tensors backward(std::string_view of, const Tensors& inputs) override {
      return paid(session_->backward(of, inputs));
    }

   private:
    Tensors paid(Tensors answer) const {
      subject_.seconds_ += subject_.dearness_.call;
      for (const auto& [name, tensor] : answer)
        subject_.seconds_ += subject_.dearness_.value * static_cast<double>(tensor.elements());
      return answer;
    }

    const DearSubject& subject_;
    std::unique_ptr<Session> session_;
  };

  Dearness dearness_;
  std::unique_ptr<Subject> subject_ = builtin_subject();
  mutable double seconds_ = 0;
};

struct Spent {
  BudgetedAmount chosen;
  double seconds;  // choosing and auditing
  AuditOutcome outcome;
};

Spent audited(double budget, const Dearness& dearness, const Spec& spec) {
  const DearSubject subject(dearness);
  AuditOptions options;
  const BudgetedAmount chosen =
      amount_within(budget, catalogue(), subject, spec, options, [&] { return subject.seconds(); });
  options.amount = chosen.amount;
  AuditOutcome outcome = audit(catalogue(), subject, spec, options);
  return {chosen, subject.seconds(), std::move(outcome)};
}

struct Slow {
  const char* claim;
  Dearness dearness;
  double budget;
};

// As slow as their budget is long, so that few values are judged.
const Slow slow_subjects[] = {
    {R"({"encoding":"rope","head_dim":64,"max_position":32768})", {.session = 0.005, .call = 0.007}, 5},
    {R"({"encoding":"rope","head_dim":64,"max_position":32768})", {.call = 1e-4, .value = 4e-6}, 5},
    {R"({"encoding":"rope","head_dim":64,"max_position":32768})", {.session = 0.5, .call = 0.05, .value = 1e-6}, 60},
    {R"({"encoding":"sinusoidal","dim":64,"max_position":32768})", {.session = 0.02, .call = 1e-3, .value = 5e-6}, 5},
    {R"({"encoding":"sinusoidal","dim":64,"max_position":32768})", {.call = 0.1}, 60},
    {R"({"encoding":"alibi","num_heads":8,"max_position":2048})", {.call = 0.01, .value = 1e-5}, 5},
    {R"({"encoding":"attention","num_heads":4,"head_dim":16,"max_position":4096})", {.call = 0.01, .value = 1e-5}, 30},
    {R"({"encoding":"integer","max_position":4096})", {.call = 0.01}, 5},
};

TEST(Budget, IsKept) {
  for (const auto& [claim, dearness, budget] : slow_subjects) {
    const Spent spent = audited(budget, dearness, parse_spec(claim));
    EXPECT_LE(spent.chosen.seconds, budget) << claim;
    EXPECT_LE(spent.seconds, budget) << claim;
    EXPECT_GE(spent.seconds, budget / 3) << claim;
    for (const PropertyResult& result : spent.outcome.results)
      EXPECT_TRUE(result.verdict == Verdict::holds || result.verdict == Verdict::not_applicable)
          << claim << " " << result.id << " " << result.reason;
  }
}

TEST(Budget, SaysWhatTheLeastTakes) {
  const Spent spent = audited(5, {.session = 2, .call = 0.1}, parse_spec(slow_subjects[0].claim));
  EXPECT_EQ(spent.chosen.amount.cases, 1);
  ASSERT_TRUE(spent.chosen.seconds_of_enough);
  const double enough = *spent.chosen.seconds_of_enough;
  EXPECT_GT(enough, spent.chosen.seconds);
  const Spent longer = audited(1.5 * enough, {.session = 2, .call = 0.1}, parse_spec(slow_subjects[0].claim));
  EXPECT_GE(longer.chosen.amount.cases.value_or(enough_cases), enough_cases);
  EXPECT_FALSE(longer.chosen.seconds_of_enough);
  EXPECT_GT(spent.chosen.seconds, 5);
  EXPECT_LE(spent.seconds, 1.3 * spent.chosen.seconds);
  EXPECT_GE(spent.seconds, spent.chosen.seconds / 2);
}

TEST(Budget, LeavesAQuickSubjectItsProfile) {
  const DearSubject subject({.call = 1e-6});
  EXPECT_EQ(
      amount_within(60, catalogue(), subject, parse_spec(slow_subjects[0].claim), {}, [&] { return subject.seconds(); })
          .amount,
      Amount());
}

}  // namespace
}  // namespace sextant::engine_budget_test
