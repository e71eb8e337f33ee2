#include "properties/diagnose/places/refused_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "properties/diagnose/diagnose.hpp"
#include "properties/mutants/mutant.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::refused_calls_test {
namespace {

std::string said(const Subject& subject, const Spec& claim) {
  const auto difference = refused_calls(subject, claim);
  return difference ? difference->words : "";
}

TEST(RefusedCalls, AreToldByTheFirstPosition) {
  for (const char* name : {"rope-beyond-refused", "sinusoidal-beyond-refused"}) {
    const Spec claim = parse_spec(mutants::named(name).spec);
    const auto subject = mutants::open(name);
    const char* words = "positions from 4096, the first untrained one, on end in an error: position out of range";
    EXPECT_EQ(said(*subject, claim), words);
    const auto diagnosis = diagnose(*subject, claim);
    ASSERT_TRUE(diagnosis);
    EXPECT_EQ(words_of(*diagnosis), words);
  }
}

FunctionSubject refusing(bool (*is_refused)(const Tensor& x)) {
  return {"refusing", [is_refused](const Spec& spec) -> FunctionSubject::Call {
            const std::shared_ptr<Session> right = builtin_subject()->open(spec);
            return [right, is_refused](std::string_view operation, const Tensors& inputs) {
              if (is_refused(inputs.at("x"))) throw SubjectFailure(FailureKind::error, "no");
              return right->call(operation, inputs);
            };
          }};
}

TEST(RefusedCalls, AreToldByTheirExtents) {
  const Spec claim = parse_spec(R"({"encoding":"rope","head_dim":16})");
  EXPECT_EQ(said(refusing([](const Tensor& x) { return x.shape[1] > 128; }), claim),
            "calls of 129 and more tokens end in an error: no");
  EXPECT_EQ(said(refusing([](const Tensor& x) { return x.shape[2] > 32; }), claim),
            "calls of 33 and more heads end in an error: no");
  EXPECT_EQ(said(refusing([](const Tensor& x) { return x.shape[0] > 1; }), claim),
            "calls of 2 and more batch rows end in an error: no");
}

// A table that the first call builds, which a longer one reads beyond.
TEST(RefusedCalls, AreToldToComeAfterOtherCalls) {
  const Spec claim = parse_spec(R"({"encoding":"rope","head_dim":16})");
  const FunctionSubject subject("short", [](const Spec& spec) -> FunctionSubject::Call {
    const std::shared_ptr<Session> right = builtin_subject()->open(spec);
    return [right, rows = std::int64_t{0}](std::string_view operation, const Tensors& inputs) mutable {
      const std::int64_t reached = std::ranges::max(inputs.at("positions").integers()) + 1;
      if (rows > 0 && reached > rows) throw SubjectFailure(FailureKind::error, "out of bounds");
      if (rows == 0) rows = reached;
      return right->call(operation, inputs);
    };
  });
  EXPECT_EQ(said(subject, claim),
            "after other calls positions from 1 on end in an error, and before them are answered: out of bounds");
}

// A table of as many rows as a call has tokens.
TEST(RefusedCalls, AreThoseBeyondATablesLength) {
  const Spec claim = parse_spec(R"({"encoding":"rope","head_dim":16})");
  const auto with_table = [](bool is_kept) {
    return FunctionSubject("table", [is_kept](const Spec& spec) -> FunctionSubject::Call {
      const std::shared_ptr<Session> right = builtin_subject()->open(spec);
      return [=, rows = std::int64_t{0}](std::string_view operation, const Tensors& inputs) mutable {
        if (!is_kept || rows == 0) rows = inputs.at("x").shape[1];
        if (std::ranges::max(inputs.at("positions").integers()) >= rows)
          throw SubjectFailure(FailureKind::error, "out of bounds");
        return right->call(operation, inputs);
      };
    });
  };
  EXPECT_EQ(said(with_table(true), claim),
            "positions beyond the number of tokens of a session's first call end in an error: out of bounds");
  EXPECT_EQ(said(with_table(false), claim),
            "positions beyond the number of tokens of their call end in an error: out of bounds");
}

TEST(RefusedCalls, AreNotToldWhereNoBorderPartsThem) {
  const Spec claim = parse_spec(R"({"encoding":"rope","head_dim":16})");
  EXPECT_EQ(said(*builtin_subject(), claim), "");
  EXPECT_EQ(said(refusing([](const Tensor&) { return true; }), claim), "");
  EXPECT_EQ(said(refusing([](const Tensor& x) { return x.shape[1] % 2 == 0; }), claim), "");
}

}  // namespace
}  // namespace sextant::identify::refused_calls_test
