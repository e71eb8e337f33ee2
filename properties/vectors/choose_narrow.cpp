#include "properties/vectors/choose_narrow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "lib/spec/operation.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/vectors/candidates.hpp"
#include "properties/vectors/chosen.hpp"
#include "properties/vectors/compare.hpp"
#include "properties/vectors/conviction.hpp"
#include "properties/vectors/gradients.hpp"
#include "properties/vectors/maker.hpp"
#include "subjects/builtin.hpp"

namespace sextant::vectors {
namespace {

using mutants::Mutant;

struct Narrow {
  Dtype dtype;
  Evaluation evaluation;
};

// What fits into a megabyte: of a claim the first question, others that convict two mutants more, and no long lists of
// positions.
constexpr std::ptrdiff_t worthwhile = 2;
constexpr std::int64_t most_values = 1 << 14;
constexpr std::int64_t most_tokens = 130;

bool turns(const Spec& spec) {
  const Operation operation = signature_of(spec.encoding).operation;
  return operation == Operation::rotate || operation == Operation::qk_norm_rope;
}

// Of rotations one dtype is evaluated in float32 and the other one by a table in that dtype, by turns from claim to
// claim. Of codes, where nothing follows the table, either dtype by turns.
std::vector<Narrow> narrow_of(const Spec& spec, std::size_t number) {
  const bool is_even = number % 2 == 0;
  if (!turns(spec)) return {{is_even ? Dtype::bfloat16 : Dtype::float16, Evaluation::float32}};
  if (is_even) return {{Dtype::bfloat16, Evaluation::float32}, {Dtype::float16, Evaluation::table}};
  return {{Dtype::bfloat16, Evaluation::table}, {Dtype::float16, Evaluation::float32}};
}

std::optional<Spec> narrowed(Spec spec, const Narrow& narrow) {
  spec.dtype = narrow.dtype;
  spec.evaluation = narrow.evaluation;
  try {
    validate(spec);
  } catch (const SpecError&) {
    return std::nullopt;
  }
  return model_of(spec)->not_judged() ? std::nullopt : std::optional(std::move(spec));
}

// What a question convicts.
struct Tried {
  const ChosenAsk* asked;
  std::set<const Mutant*> convicted = {};
  std::set<std::int64_t> elements = {};
  std::set<std::string> rows = {};
};

class NarrowChooser {
 public:
  // Mutants compute in float32 and round once, so that they are asked under that evaluation.
  NarrowChooser(const Spec& spec, std::vector<const Mutant*> mutants)
      : spec_(spec), plain_(spec), mutants_(std::move(mutants)) {
    plain_.evaluation = Evaluation::float32;
    model_ = model_of(plain_);
  }

  // The claim's lines; nothing where it cannot be asked.
  std::string chosen(const ChosenClaim& claim) {
    std::vector<Tried> all;
    for (const ChosenAsk& asked : claim.asks) {
      if (auto tried = outcome(asked)) all.push_back(std::move(*tried));
    }
    if (all.empty()) return {};
    std::set<const Mutant*> alive(mutants_.begin(), mutants_.end());
    std::vector<const Tried*> taken;
    const auto gain = [&](const Tried& tried) {
      return std::ranges::count_if(tried.convicted, [&](const Mutant* mutant) { return alive.contains(mutant); });
    };
    while (true) {
      const auto best = std::ranges::max_element(all, {}, gain);
      if (!taken.empty() && gain(*best) < worthwhile) break;
      taken.push_back(&*best);
      for (const Mutant* mutant : best->convicted) alive.erase(mutant);
    }
    std::ranges::sort(taken);
    std::string text = fmt::format("CLAIM(R\"({})\")\n", to_json(spec_));
    for (const Tried* tried : taken) text += line_of(tried->asked->ask, tried->elements, tried->rows);
    return text;
  }

 private:
  std::optional<Tried> outcome(const ChosenAsk& asked) {
    const Ask& ask = asked.ask;
    const bool is_long = size_of(*model_, ask) > most_values || ask.question.tokens * ask.question.batch > most_tokens;
    if (is_refused(ask.kind) || !can_ask(*model_, ask.kind) || is_long) return std::nullopt;
    Tried tried{.asked = &asked};
    try {
      // That it can be made under the claim itself, too.
      const Test made = Maker(spec_, builtin_subject()->open(spec_)).made(ask, {});
      if (std::ranges::all_of(made.outputs, [](const ExpectedTensor& one) { return one.values.empty(); }))
        return std::nullopt;
      if (ask.kind == Kind::special) {
        const Test test = Maker(plain_, builtin_subject()->open(plain_)).made(ask, {});
        for (const Mutant* mutant : mutants_) {
          if (asked_difference(*mutants::open(mutant->name)->open(plain_), test)) take(tried, *mutant, {});
        }
        return tried;
      }
      const Call call = call_of(*model_, ask);
      Exchange right = exchanged(*builtin_subject()->open(plain_), *model_, ask.kind, call);
      const auto judge = ask.kind == Kind::gradient ? gradient_judge_of(*model_) : model_->judge();
      for (const Mutant* mutant : mutants_) {
        const auto session = mutants::open(mutant->name)->open(plain_);
        if (const auto found = conviction(*session, {*model_, ask, call, right, *judge}, tried.elements))
          take(tried, *mutant, found->element);
      }
    } catch (const SubjectFailure&) {
      return std::nullopt;
    } catch (const std::logic_error&) {
      return std::nullopt;
    }
    return tried;
  }

  static void take(Tried& tried, const Mutant& mutant, std::optional<std::int64_t> element) {
    tried.convicted.insert(&mutant);
    if (element) tried.elements.insert(*element);
    tried.rows.merge(rows_of(mutant.row));
  }

  Spec spec_;
  Spec plain_;
  std::vector<const Mutant*> mutants_;
  std::unique_ptr<EncodingModel> model_;
};

}  // namespace

void choose_narrow() {
  const std::vector<ChosenClaim> claims = claims_with_mutants();
  std::set<std::string> present;
  for (const ChosenClaim& claim : claims) present.insert(to_json(parse_spec(claim.spec)));
  std::map<std::string, std::vector<const Mutant*>> mutants;
  for (const Mutant& mutant : mutants::registry()) {
    if (mutant.kind == mutants::Kind::defect && mutant.begin == nullptr)
      mutants[to_json(parse_spec(mutant.spec))].push_back(&mutant);
  }
  struct Job {
    const ChosenClaim* claim;
    Spec spec;
    std::string lines = {};
  };
  std::vector<Job> jobs;
  std::size_t number = 0;
  for (const ChosenClaim& claim : claims) {
    const Spec spec = parse_spec(claim.spec);
    // Attention in 16 bits has mutants of its own.
    if (spec.dtype != Dtype::float32 || held<Attention>(spec)) continue;
    for (const Narrow& narrow : narrow_of(spec, number++)) {
      const auto narrower = narrowed(spec, narrow);
      if (narrower && present.insert(to_json(*narrower)).second) jobs.push_back({&claim, *narrower});
    }
  }
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> helpers;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
      helpers.emplace_back([&] {
        for (std::size_t at = next++; at < jobs.size(); at = next++) {
          Job& job = jobs[at];
          job.lines = NarrowChooser(job.spec, mutants[to_json(parse_spec(job.claim->spec))]).chosen(*job.claim);
        }
      });
    }
  }
  for (const Job& job : jobs) fmt::print("{}", job.lines);
  fmt::print(stderr, "{} claims in 16 bits\n", jobs.size());
}

}  // namespace sextant::vectors
