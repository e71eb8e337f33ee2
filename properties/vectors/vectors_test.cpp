#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "lib/spec/of.hpp"
#include "properties/model/siblings.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/mutants/recipe_subject.hpp"
#include "properties/vectors/compare.hpp"
#include "properties/vectors/groups.hpp"
#include "properties/vectors/maker.hpp"
#include "properties/vectors/tolerances.hpp"
#include "subjects/builtin.hpp"

namespace sextant::vectors::vectors_test {
namespace {

// In the order of the files.
const std::vector<Group>& groups_in_order() {
  static const std::vector<Group> all = [] {
    std::vector<Group> list;
    const auto builtin = builtin_subject();
    for (const ChosenClaim& claim : chosen_claims()) list.push_back(made_group(claim, *builtin));
    return list;
  }();
  return all;
}

// By the JSON of their specs.
const std::map<std::string, const Group*>& groups() {
  static const std::map<std::string, const Group*> all = [] {
    std::map<std::string, const Group*> list;
    for (const Group& group : groups_in_order()) list.emplace(to_json(group.spec), &group);
    return list;
  }();
  return all;
}

// What the runner says of a subject in the tests of a claim: of the first that is not as it must be.
std::optional<std::string> convicted(Session& session, const Group& group) {
  for (const vectors::Test& test : group.tests) {
    if (auto text = asked_difference(session, test)) return fmt::format("{}: {}", test.comment, *text);
  }
  return std::nullopt;
}
std::optional<std::string> convicted(const Subject& subject, const Group& group) {
  try {
    return convicted(*subject.open(group.spec), group);
  } catch (const SubjectFailure& failure) {
    return std::string(failure.what());
  }
}

// The same of a subject that keeps something for its whole process, as the runner's module does: groups of its own
// claim and of those like it, in the order of their file.
std::optional<std::string> convicted_together(const Subject& subject, const Spec& spec) {
  std::set<std::string> names{to_json(spec)};
  for (const Variant& variant : siblings_of(spec)) names.insert(to_json(variant.spec));
  std::vector<const Group*> asked;
  std::vector<Spec> specs;
  for (const Group& group : groups_in_order()) {
    if (!names.contains(to_json(group.spec))) continue;
    asked.push_back(&group);
    specs.push_back(group.spec);
  }
  const auto sessions = subject.open_together(specs);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (auto text = convicted(*sessions[i], *asked[i])) return text;
  }
  return std::nullopt;
}

// Under its own claim, or under that with one field changed.
bool is_convicted(const mutants::Mutant& mutant) {
  const Spec spec = parse_spec(mutant.spec);
  const auto subject = mutants::open(mutant.name);
  if (mutant.begin) return convicted_together(*subject, spec).has_value();
  const auto own = groups().find(to_json(spec));
  if (own != groups().end() && convicted(*subject, *own->second)) return true;
  for (const Variant& variant : model_of(spec)->variants()) {
    const auto other = groups().find(to_json(variant.spec));
    if (other != groups().end() && convicted(*subject, *other->second)) return true;
  }
  return false;
}

// Left are faults between threads, of NaN in attention and signs of zero, and in calls that are longer than the
// vectors'.
TEST(Vectors, ConvictMostMutants) {
  std::size_t all = 0;
  std::size_t caught = 0;
  std::string left;
  for (const mutants::Mutant& mutant : mutants::registry()) {
    if (mutant.kind != mutants::Kind::defect) continue;
    ++all;
    if (is_convicted(mutant)) {
      ++caught;
    } else {
      left += mutant.name + " ";
    }
  }
  fmt::print("{} of {} mutants convicted; left: {}\n", caught, all, left);
  EXPECT_GE(100 * caught, 90 * all) << left;
}

// What is wrong under a claim in float32 is seen in a branch for 16 bits, too: most of what is convicted there.
TEST(Vectors, ConvictMostMutantsIn16Bits) {
  std::size_t all = 0;
  std::size_t caught = 0;
  std::string left;
  for (const mutants::Mutant& mutant : mutants::registry()) {
    const Spec spec = parse_spec(mutant.spec);
    const auto wide = groups().find(to_json(spec));
    if (mutant.kind != mutants::Kind::defect || mutant.begin || spec.dtype != Dtype::float32 ||
        wide == groups().end() || held<Attention>(spec))
      continue;
    const auto subject = mutants::open(mutant.name);
    if (!convicted(*subject, *wide->second)) continue;
    // Mutants round once, as that evaluation does; of a table in 16 bits they know nothing.
    bool is_there = false;
    bool is_caught = false;
    for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16}) {
      Spec narrow = spec;
      narrow.dtype = dtype;
      const auto found = groups().find(to_json(narrow));
      if (found == groups().end()) continue;
      is_there = true;
      is_caught = is_caught || convicted(*subject, *found->second);
    }
    if (!is_there) continue;
    ++all;
    if (is_caught) {
      ++caught;
    } else {
      left += mutant.name + " ";
    }
  }
  fmt::print("{} of {} mutants convicted in 16 bits; left: {}\n", caught, all, left);
  EXPECT_GE(100 * caught, 70 * all) << left;
}

// Of every control's claim, whether it has vectors or not: some calls that every encoding has.
TEST(Vectors, AcceptEveryControl) {
  const auto builtin = builtin_subject();
  std::size_t asked = 0;
  for (const mutants::Mutant& control : mutants::registry()) {
    if (control.kind != mutants::Kind::control) continue;
    const Spec spec = parse_spec(control.spec);
    const auto subject = mutants::open(control.name);
    const auto found = groups().find(to_json(spec));
    Group few{.spec = spec, .rounding = Rounding::correct, .tests = {}};
    if (found == groups().end()) {
      Maker maker(spec, builtin->open(spec));
      const auto [first, last] = maker.model().range();
      const std::int64_t position = std::clamp<std::int64_t>(5, first, last - 1);
      const Question question{.position = position,
                              .tokens = std::min<std::int64_t>(4, last - position),
                              .batch = 2,
                              .heads = 3,
                              .fill = 1};
      if (maker.model().admits(question)) few.tests.push_back(maker.made({Kind::plain, question}, {}));
      if (can_ask(maker.model(), Kind::breaking))
        few.tests.push_back(maker.made({Kind::breaking, {.position = first, .fill = 2}}, {}));
    }
    const Group& group = found == groups().end() ? few : *found->second;
    asked += group.tests.empty() ? 0 : 1;
    const auto text = control.begin ? convicted_together(*subject, spec) : convicted(*subject, group);
    EXPECT_EQ(text, std::nullopt) << control.name << ": " << text.value_or("");
  }
  EXPECT_GE(asked, 280U);
}

// How many tests of a group a recipe answers; each has to be accepted.
std::size_t accepted(std::string_view recipe, const Group& group) {
  std::size_t answered = 0;
  try {
    const auto session = mutants::open_recipe(recipe)->open(group.spec);
    for (const vectors::Test& test : group.tests) {
      if (test.due == Due::refusal) continue;
      const Tensors reply = send(*session, test.operation, test.inputs);
      const auto text = difference(test, reply);
      EXPECT_EQ(text, std::nullopt) << recipe << " under " << to_json(group.spec) << ": " << test.comment << ": "
                                    << *text;
      ++answered;
    }
  } catch (const SubjectFailure&) {
    return answered;  // has no such claim
  }
  return answered;
}

// Which class deployed arithmetic can claim (docs/proofs/accuracy-classes.md).
TEST(Vectors, AcceptHonestRecipesAtTheirClass) {
  const std::map<AccuracyClass, std::vector<const char*>> honest{
      {AccuracyClass::float32_angle,
       {"float32", "float32-power", "float32-exponential", "wide-power", "quotient", "float32-widened"}},
      {AccuracyClass::exact_angle, {"float64"}}};
  std::size_t answered = 0;
  for (const Group& group : groups_in_order()) {
    const bool is_narrow = size_of(group.spec.dtype) < 4;
    if (group.spec.evaluation == Evaluation::table) {
      // Its angles are float32's.
      if (group.spec.accuracy == AccuracyClass::float32_angle) answered += accepted("cast-table", group);
      continue;
    }
    const auto recipes = honest.find(group.spec.accuracy);
    if (recipes == honest.end()) continue;
    for (const std::string_view name : recipes->second) {
      // Those that round each operation to a 16-bit dtype claim just that.
      if (is_narrow && (name == "float32-widened") != (group.spec.evaluation == Evaluation::float32)) continue;
      answered += accepted(name, group);
    }
  }
  EXPECT_GE(answered, 400U);
}

TEST(Vectors, RefuseAnswersToOtherClaims) {
  std::size_t wrong_answers = 0;
  for (const Group& group : groups_in_order()) {
    for (const vectors::Test& test : group.tests) {
      for (const WrongAnswer& wrong : test.wrong) {
        bool is_refused = false;
        for (const ExpectedTensor& expected : test.outputs) {
          for (std::size_t i = 0; i < expected.values.size(); ++i) {
            const auto& [element, value, tolerance] = expected.values[i];
            is_refused = is_refused || std::fabs(wrong.values.at(expected.name)[i] - value) > tolerance;
          }
        }
        EXPECT_TRUE(is_refused) << to_json(group.spec) << ": " << wrong.field;
        ++wrong_answers;
      }
    }
  }
  EXPECT_GE(wrong_answers, 100U);
}

TEST(Vectors, FlagsAreRowsOfTheBugZoo) {
  std::ifstream file(SEXTANT_SOURCE_DIR "/docs/bug-zoo.md");
  std::stringstream page;
  page << file.rdbuf();
  std::set<std::string> flags;
  for (const ChosenClaim& claim : chosen_claims()) {
    for (const ChosenAsk& ask : claim.asks) flags.insert(ask.flags.begin(), ask.flags.end());
  }
  for (const std::string& flag : flags) {
    const Bug* bug = bug_named(flag);
    ASSERT_NE(bug, nullptr) << flag;
    EXPECT_NE(page.str().find(fmt::format("| {} | ", flag)), std::string::npos) << flag;
    EXPECT_NE(page.str().find(bug->thread), std::string::npos) << flag;
  }
}

// The judge accepts what lies within the bound, so a tolerance is not below the distance of any answer that it accepts.
TEST(Vectors, TolerancesAreNotBelowTheBound) {
  const Spec spec = parse_spec(R"({"encoding":"sinusoidal","dim":16})");
  const auto model = model_of(spec);
  const auto judge = model->judge();
  const Call call{.positions = {0, 1, 255, 4097, 131071}};
  const auto session = builtin_subject()->open(spec);
  Tensor answer = model->ask(*session, call);
  for (std::int64_t i = 0; i < answer.elements(); ++i) {
    const auto tolerance = tolerance_of(*judge, call, answer, i);
    ASSERT_TRUE(tolerance);
    const double value = answer.at(i);
    for (const double share : {-1.2, -0.9, 0.9, 1.2}) {
      answer.set(i, value + share * *tolerance);
      const bool is_within = std::fabs(answer.at(i) - value) <= *tolerance;
      const auto judged = judge->values(call, answer).within;
      EXPECT_TRUE(is_within || judged != reference::Certainty::yes) << i << ": " << share;
      answer.set(i, value);
    }
  }
}

TEST(Vectors, TwoDigitsRoundedUp) {
  EXPECT_EQ(rounded_up(1.2e-7), 1.2e-7);
  EXPECT_EQ(rounded_up(1.2001e-7), 1.3e-7);
  EXPECT_EQ(rounded_up(9.91e-7), 1.0e-6);
  EXPECT_EQ(rounded_up(0.5), 0.5);
  EXPECT_EQ(rounded_up(0), 0);
}

}  // namespace
}  // namespace sextant::vectors::vectors_test
