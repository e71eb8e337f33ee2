#include <fmt/format.h>

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "properties/mutants/mutant.hpp"
#include "properties/suites/suite.hpp"
#include "subjects/builtin.hpp"

// The table of docs/test-suites.md, as Markdown on standard output: what suites like the public ones let through of the
// mutants, and whether they refuse right values. Standard error names the mutants.

namespace sextant::suites {
namespace {

using mutants::Mutant;

// A mutant of one call: those of gradients, and of processes that compute several specs, are no matter of these suites,
// nor are those that are within every bound and not the bits that they are said to be.
bool is_of_one_call(const Mutant& mutant) {
  return mutant.kind == mutants::Kind::defect && mutant.begin == nullptr && mutant.recipe.empty() &&
         mutant.name.find("gradient") == std::string::npos;
}

// Nothing where the subject has no such operation, dtype or spec.
std::optional<Outcome> asked(const Suite& suite, const Subject& subject, const Spec& claim) {
  try {
    return suite.ask(subject, claim);
  } catch (const SpecError&) {
    return std::nullopt;
  } catch (const SubjectFailure& failure) {
    if (failure.kind() == FailureKind::unsupported) return std::nullopt;
    return Outcome{false, failure.what()};
  }
}

struct Claim {
  Spec spec;
  std::vector<const Mutant*> mutants = {};
};

// By the JSON of their specs.
std::vector<Claim> claims_of(const Suite& suite) {
  std::map<std::string, Claim> claims;
  for (const Mutant& mutant : mutants::registry()) {
    if (!is_of_one_call(mutant)) continue;
    const Spec spec = parse_spec(mutant.spec);
    if (!suite.is_about(spec)) continue;
    claims.try_emplace(to_json(spec), Claim{spec}).first->second.mutants.push_back(&mutant);
  }
  std::vector<Claim> list;
  for (auto& [json, claim] : claims) list.push_back(std::move(claim));
  return list;
}

struct Row {
  std::size_t applying = 0;
  std::size_t passed = 0;
  std::size_t claims = 0;
  std::size_t refused = 0;  // claims whose right values are
  std::string why = {};     // of the first of them
  std::string names = {};
};

Row row_of(const Suite& suite) {
  Row row;
  const auto usual = usual_implementation();
  const auto right = builtin_subject();
  for (const Claim& claim : claims_of(suite)) {
    // Laws that a claim does not have, and dtypes that it has not.
    const auto own = asked(suite, *usual, claim.spec);
    if (!own || !own->passes) continue;
    ++row.claims;
    const auto of_right = asked(suite, *right, claim.spec);
    if (of_right && !of_right->passes) {
      if (row.refused++ == 0) row.why = of_right->why;
    }
    for (const Mutant* mutant : claim.mutants) {
      const auto outcome = asked(suite, *mutants::open(mutant->name), claim.spec);
      if (!outcome) continue;
      ++row.applying;
      if (!outcome->passes) continue;
      ++row.passed;
      row.names += " " + mutant->name;
    }
  }
  return row;
}

}  // namespace
}  // namespace sextant::suites

// All of them, or those of one project: sextant-suites [PROJECT].
int main(int count, char** arguments) {
  using namespace sextant::suites;
  std::vector<Suite> list(suites().begin(), suites().end());
  if (count > 1) std::erase_if(list, [&](const Suite& suite) { return suite.project != arguments[1]; });
  std::vector<Row> rows(list.size());
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> helpers;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
      helpers.emplace_back([&] {
        // The longest are the last ones.
        for (std::size_t done = next++; done < list.size(); done = next++) {
          const std::size_t at = list.size() - 1 - done;
          rows[at] = row_of(list[at]);
          fmt::print(stderr, "{} {}:{}\n", list[at].project, list[at].test, rows[at].names);
        }
      });
    }
  }
  fmt::print(
      "| Test | Compares | Positions | With | Lets through | Refuses right values |\n|---|---|---|---|---:|---|\n");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Suite& suite = list[i];
    const Row& row = rows[i];
    const std::string refuses =
        row.refused == 0 ? "no" : fmt::format("under {} of {} claims: {}", row.refused, row.claims, row.why);
    fmt::print("| {} [{}]({}) | {} | {} | {} | {} of {} | {} |\n", suite.project, suite.test, suite.link,
               suite.compares, suite.positions, suite.reference, row.passed, row.applying, refuses);
  }
  return 0;
}
