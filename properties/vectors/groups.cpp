#include "properties/vectors/groups.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/vectors/maker.hpp"
#include "properties/vectors/tolerances.hpp"

namespace sextant::vectors {
namespace {

// The elements that a test tells of, as an answer under another claim has them; nothing where that has another shape or
// is right here too.
std::optional<WrongAnswer> wrong_answer(const Test& test, const Variant& variant, const Subject& proposer) {
  WrongAnswer wrong{.field = variant.field};
  bool is_refused = false;
  try {
    const Tensors reply = send(*proposer.open(variant.spec), test.operation, test.inputs);
    for (const ExpectedTensor& expected : test.outputs) {
      const auto found = reply.find(expected.name);
      if (found == reply.end() || found->second.shape != expected.shape || found->second.dtype != expected.dtype)
        return std::nullopt;
      std::vector<double>& values = wrong.values[expected.name];
      for (const auto& [element, value, tolerance] : expected.values) {
        values.push_back(found->second.at(element));
        // Not by a hair: also for who takes twice the tolerance.
        if (std::fabs(values.back() - value) > 2 * tolerance) is_refused = true;
        if (!std::isfinite(values.back())) return std::nullopt;
      }
    }
  } catch (const SubjectFailure&) {
    return std::nullopt;
  }
  return is_refused ? std::optional(wrong) : std::nullopt;
}

// The first that there is.
void add_wrong_answer(Test& test, const EncodingModel& model, const Subject& proposer) {
  for (const Variant& variant : model.variants()) {
    if (auto wrong = wrong_answer(test, variant, proposer)) {
      test.wrong.push_back(std::move(*wrong));
      return;
    }
  }
}

bool may_be_wrong(Kind kind) { return kind != Kind::gradient && kind != Kind::special && !is_refused(kind); }

bool tells_something(const Test& test) {
  return std::ranges::any_of(test.outputs, [](const ExpectedTensor& expected) { return !expected.values.empty(); });
}

}  // namespace

Group made_group(const ChosenClaim& claim, const Subject& proposer) {
  Group group{.spec = parse_spec(claim.spec), .rounding = Rounding::correct, .tests = {}};
  Maker maker(group.spec, proposer.open(group.spec));
  // Of 16 bits a comparison sees what it sees of float32.
  bool has_wrong = size_of(group.spec.dtype) < 4 && !held<Attention>(group.spec);
  for (const ChosenAsk& chosen : claim.asks) {
    Test test = maker.made(chosen.ask, chosen.elements);
    test.flags = chosen.flags;
    if (!has_wrong && may_be_wrong(chosen.ask.kind) && tells_something(test)) {
      add_wrong_answer(test, maker.model(), proposer);
      has_wrong = !test.wrong.empty();
    }
    if (chosen.ask.kind == Kind::breaking) test.weaker = maker.weaker(chosen.ask, test);
    group.tests.push_back(std::move(test));
  }
  group.rounding = maker.rounding();
  return group;
}

std::vector<std::string> encodings_with_vectors(const std::vector<ChosenClaim>& claims) {
  std::vector<std::string> names;
  for (const EncodingExample& example : encoding_examples()) {
    const bool is_there = std::ranges::any_of(
        claims, [&](const ChosenClaim& claim) { return encoding_name(parse_spec(claim.spec)) == example.encoding; });
    if (is_there) names.emplace_back(example.encoding);
  }
  return names;
}

}  // namespace sextant::vectors
