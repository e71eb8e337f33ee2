#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <ctime>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <thread>

#include "lib/numeric/ulp.hpp"
#include "lib/spec/operation.hpp"
#include "properties/model/siblings.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/vectors/asked.hpp"
#include "properties/vectors/candidates.hpp"
#include "properties/vectors/choose_narrow.hpp"
#include "properties/vectors/compare.hpp"
#include "properties/vectors/conviction.hpp"
#include "properties/vectors/gradients.hpp"
#include "properties/vectors/maker.hpp"
#include "properties/vectors/tolerances.hpp"
#include "subjects/builtin.hpp"

// Chooses the questions of the vectors and prints them as properties/vectors/chosen.def has them: of each claim that a
// mutant is seen under, those that it takes to convict its mutants, the smallest first. Standard
// error says who is left.

namespace sextant::vectors {
namespace {

using mutants::Mutant;

struct Claim {
  std::string spec;
  std::vector<const Mutant*> mutants;
  std::string lines = {};
  std::vector<const Mutant*> left = {};
  std::size_t convicted = 0;
};

std::vector<Claim> claims(std::string_view part) {
  std::vector<Claim> list;
  std::map<std::string, std::size_t> places;
  for (const Mutant& mutant : mutants::registry()) {
    if (mutant.kind != mutants::Kind::defect) continue;
    const std::string spec = to_json(parse_spec(mutant.spec));
    if (std::string_view(mutant.spec).find(part) == std::string_view::npos) continue;
    const auto [place, is_new] = places.emplace(spec, list.size());
    if (is_new) list.push_back({.spec = mutant.spec, .mutants = {}});
    list[place->second].mutants.push_back(&mutant);
  }
  return list;
}

// Of this thread. What is chosen depends on the machine; what is made of it does not.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Whether a mutant's fault is a field that it does not read.
bool ignores_a_field(const Mutant& mutant) {
  const auto says = [&](const char* words) {
    return mutant.name.find(words) != std::string::npos || mutant.mechanism.find(words) != std::string::npos;
  };
  return says("ignored") || says("unread") || says("not read") || says("whatever") || says("always");
}

class Chooser {
 public:
  explicit Chooser(Claim& claim)
      : claim_(claim),
        spec_(parse_spec(claim.spec)),
        model_(model_of(spec_)),
        builtin_(builtin_subject()->open(spec_)) {}

  // By the first few alone.
  void choose_few() {
    constexpr std::size_t few = 8;
    choose(few);
  }

  void choose(std::size_t most = std::numeric_limits<std::size_t>::max()) {
    alive_ = claim_.mutants;
    // Between the modules of one process or its threads, a call under one claim tells nothing.
    const auto is_out_of_reach = [](const Mutant* mutant) { return mutant->begin != nullptr; };
    std::ranges::copy_if(alive_, std::back_inserter(claim_.left), is_out_of_reach);
    std::erase_if(alive_, is_out_of_reach);
    const double longest = 6 + 1.5 * static_cast<double>(alive_.size());
    const double start = processor_seconds();
    for (const Ask& ask : candidates(*model_)) {
      if (alive_.empty() || most == 0 || processor_seconds() - start > longest) break;
      --most;
      try {
        try_ask(ask);
      } catch (const SubjectFailure& failure) {
        fmt::print(stderr, "{}: {}: {}\n", claim_.spec, text_of(*model_, ask), failure.what());
      }
    }
    for (const std::vector<Ask>& asks : sequences(*model_)) {
      if (alive_.empty() || most == 0) break;
      try {
        try_sequence(asks);
      } catch (const SubjectFailure& failure) {
        fmt::print(stderr, "{}: {}\n", claim_.spec, failure.what());
        sequence_.clear();
        sequence_lines_.clear();
      }
    }
    for (const Mutant* mutant : alive_) claim_.left.push_back(mutant);
    if (!claim_.lines.empty()) fmt::print("CLAIM(R\"({})\")\n{}", claim_.spec, claim_.lines);
    std::fflush(stdout);
    fmt::print(stderr, "{} of {}: {}\n", claim_.convicted, claim_.mutants.size(), claim_.spec);
  }

 private:
  // What a test of these kinds tells is chosen with it.
  void try_told(const Ask& ask) {
    const Test test = Maker(spec_, builtin_subject()->open(spec_)).made(ask, {});
    std::set<std::string> rows;
    const auto is_convicted = [&](const Mutant* mutant) {
      const auto session = mutants::open(mutant->name)->open(spec_);
      for (const Exchange& earlier : sequence_) send_to(*session, earlier);
      if (!asked_difference(*session, test)) return false;
      rows.merge(rows_of(mutant->row));
      return true;
    };
    const std::size_t convicted = std::erase_if(alive_, is_convicted);
    claim_.convicted += convicted;
    if (convicted > 0) claim_.lines += line_of(ask, {}, rows);
    last_ = {test.operation, test.inputs, {}, {}};
  }

  void try_ask(const Ask& ask) {
    if (ask.kind == Kind::special || is_refused(ask.kind)) return try_told(ask);
    const Call call = call_of(*model_, ask);
    Exchange exchange = exchanged(*builtin_, *model_, ask.kind, call);
    const auto judge = ask.kind == Kind::gradient ? gradient_judge_of(*model_) : model_->judge();
    std::set<std::string> rows;
    std::set<std::int64_t> elements;
    bool is_needed = false;
    std::vector<const Mutant*> left;
    const std::vector<const Mutant*> asked = alive_;
    for (const Mutant* mutant : asked) {
      const auto found = convicted(*mutant, {*model_, ask, call, exchange, *judge}, elements);
      if (found && found->element && try_alone(*mutant, ask, call, exchange.answer, *found->element)) {
        --claim_.convicted;  // counted there
        continue;
      }
      if (!found) {
        left.push_back(mutant);
        continue;
      }
      is_needed = true;
      if (found->element) elements.insert(*found->element);
      rows.merge(rows_of(mutant->row));
    }
    if (left.size() < asked.size()) {
      claim_.convicted += asked.size() - left.size();
      alive_ = std::move(left);
    }
    if (is_needed) {
      for (const std::string& line : sequence_lines_) {
        if (claim_.lines.find(line) == std::string::npos) claim_.lines += line;
      }
      claim_.lines += line_of(ask, elements, rows);
      constexpr std::int64_t small = 8192;
      if (size_of(*model_, ask) < small) before_.push_back({exchange.operation, exchange.inputs, {}, {}});
    }
    last_ = {std::move(exchange.operation), std::move(exchange.inputs), {}, {}};
  }

  // One after the other in one session, with nothing between.
  void try_sequence(const std::vector<Ask>& asks) {
    for (const Ask& ask : asks) {
      try_ask(ask);
      sequence_.push_back(std::move(last_));
      sequence_lines_.push_back(line_of(ask, {}, {}));
    }
    sequence_.clear();
    sequence_lines_.clear();
  }

  // Where a token of a long call is wrong by itself too, that is asked instead.
  bool try_alone(const Mutant& mutant, const Ask& ask, const Call& call, const Tensor& answer, std::int64_t element) {
    const Operation operation = signature_of(spec_.encoding).operation;
    constexpr std::int64_t few = 1024;
    const bool is_one = ask.kind == Kind::plain && sequence_.empty();
    if (!is_one || answer.elements() <= few || axes_of(spec_.encoding) > 1) return false;
    if (operation != Operation::encode && operation != Operation::rotate) return false;
    const std::int64_t width = answer.elements() / std::ssize(call.positions);
    const Ask alone{Kind::plain,
                    {.position = call.positions[static_cast<std::size_t>(element / width)], .fill = ask.question.fill}};
    const std::vector<const Mutant*> others = std::exchange(alive_, {&mutant});
    try_ask(alone);
    const bool is_convicted = alive_.empty();
    alive_ = others;
    return is_convicted;
  }

  std::optional<Conviction> convicted(const Mutant& mutant, const Asked& asked,
                                      const std::set<std::int64_t>& elements) {
    const auto session = mutants::open(mutant.name)->open(spec_);
    constexpr std::size_t recent = 2;
    const auto skipped = static_cast<std::ptrdiff_t>(before_.size() - std::min(before_.size(), recent));
    for (const auto* list : {&before_, &sequence_}) {
      for (auto earlier = list->begin() + (list == &before_ ? skipped : 0); earlier != list->end(); ++earlier)
        send_to(*session, *earlier);
    }
    return conviction(*session, asked, elements);
  }

  Claim& claim_;
  Spec spec_;
  std::unique_ptr<EncodingModel> model_;
  std::unique_ptr<Session> builtin_;
  std::vector<const Mutant*> alive_;
  std::vector<Exchange> before_;
  Exchange last_;
  std::vector<Exchange> sequence_;  // that come before what is tried
  std::vector<std::string> sequence_lines_;
};

// A claim as mutants have it, else as JSON of every field.
class ClaimTexts {
 public:
  explicit ClaimTexts(const std::vector<Claim>& list) {
    for (const Claim& claim : list) texts_.emplace(to_json(parse_spec(claim.spec)), claim.spec);
  }
  const std::string& text_of(const std::string& json) { return texts_.emplace(json, json).first->second; }

 private:
  std::map<std::string, std::string> texts_;
};

// The order of claims in their file, as definitions.py has it.
bool comes_before(const std::string& one, const std::string& other) {
  const auto is_late = [](const std::string& spec) { return spec.find("\"bfloat16\"") == std::string::npos; };
  return std::pair(is_late(one), one) < std::pair(is_late(other), other);
}

// A claim that is asked behind another one in one process, so that what is kept of that one shows.
class Beside {
 public:
  Beside(const Mutant& mutant, std::string first, std::string second)
      : mutant_(mutant), specs_{std::move(first), std::move(second)} {}

  // The lines of both, where the mutant is convicted.
  std::string chosen() {
    for (const bool is_far : {false, true}) {
      try {
        if (const std::string lines = lines_of(is_far); !lines.empty()) return lines;
      } catch (const SubjectFailure&) {
        // Not of these claims.
      }
    }
    return {};
  }

 private:
  static Ask near_or_far(const EncodingModel& model, bool is_far) {
    const auto [first, last] = model.range();
    Question question{.position = std::clamp<std::int64_t>(5, first, last - 1), .tokens = 7, .batch = 2, .heads = 3};
    if (is_far) question = {.position = std::max(first, last - 3), .tokens = 3, .batch = 2, .heads = 5, .order = 3};
    question.tokens = std::min(question.tokens, last - question.position);
    question.fill = is_far ? 3 : 1;
    return {Kind::plain, question};
  }

  std::string lines_of(bool is_far) {
    const std::vector<Spec> both{parse_spec(specs_[0]), parse_spec(specs_[1])};
    const auto sessions = mutants::open(mutant_.name)->open_together(both);
    std::string lines;
    for (std::size_t which = 0; which < both.size(); ++which) {
      const auto model = model_of(both[which]);
      const Ask ask = near_or_far(*model, is_far);
      const Call call = call_of(*model, ask);
      const auto judge = model->judge();
      Exchange right = exchanged(*builtin_subject()->open(both[which]), *model, ask.kind, call);
      const auto found = conviction(*sessions[which], {*model, ask, call, right, *judge}, {});
      if (found && which == 0) return {};  // alone it is right
      if (which == 1 && !found) return {};
      std::set<std::int64_t> elements;
      if (found && found->element) elements.insert(*found->element);
      lines += fmt::format("CLAIM(R\"({})\")\n{}", specs_[which],
                           line_of(ask, elements, which == 1 ? rows_of(mutant_.row) : std::set<std::string>()));
    }
    return lines;
  }

  const Mutant& mutant_;
  std::array<std::string, 2> specs_;
};

// Under its own claim and one with a field changed, whichever comes first in the file.
bool is_convicted_beside(const Mutant& mutant, ClaimTexts& texts) {
  for (const Variant& variant : siblings_of(parse_spec(mutant.spec))) {
    if (variant.spec.dtype == Dtype::float64) continue;  // what mutants are made of is float32 code
    std::string first = texts.text_of(to_json(parse_spec(mutant.spec)));
    std::string second = texts.text_of(to_json(variant.spec));
    if (comes_before(second, first)) std::swap(first, second);
    const std::string lines = Beside(mutant, first, second).chosen();
    fmt::print("{}", lines);
    if (!lines.empty()) return true;
  }
  return false;
}

}  // namespace
}  // namespace sextant::vectors

int main(int count, char** arguments) {
  using namespace sextant::vectors;
  if (count > 1 && std::string_view(arguments[1]) == "--narrow") {
    choose_narrow();
    return 0;
  }
  std::vector<Claim> list = claims(count > 1 ? arguments[1] : "");
  std::ranges::stable_sort(list, std::ranges::greater{}, [](const Claim& claim) { return claim.mutants.size(); });
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> helpers;
    for (int i = 0; i < 8; ++i) {
      helpers.emplace_back([&] {
        for (std::size_t at = next++; at < list.size(); at = next++) Chooser(list[at]).choose();
      });
    }
  }
  ClaimTexts texts(list);
  // Fields that are not read are seen where they are others.
  std::vector<Claim> changed;
  std::map<std::string, std::size_t> places;
  for (const Claim& claim : list) {
    for (const Mutant* mutant : claim.left) {
      if (!ignores_a_field(*mutant)) continue;
      for (const auto& variant : sextant::model_of(sextant::parse_spec(claim.spec))->variants()) {
        const std::string spec = texts.text_of(to_json(variant.spec));
        const auto [place, is_new] = places.emplace(spec, changed.size());
        if (is_new) changed.push_back({.spec = spec, .mutants = {}});
        changed[place->second].mutants.push_back(mutant);
      }
    }
  }
  std::set<std::string> late;
  for (Claim& claim : changed) {
    std::erase_if(claim.mutants, [&](const Mutant* mutant) { return late.contains(mutant->name); });
    if (claim.mutants.empty()) continue;
    Chooser(claim).choose_few();
    for (const Mutant* mutant : claim.mutants) {
      if (std::ranges::find(claim.left, mutant) == claim.left.end()) late.insert(mutant->name);
    }
  }
  for (const Claim& claim : list) {
    for (const Mutant* mutant : claim.left) {
      if (mutant->begin != nullptr && mutant->threads == sextant::FunctionSubject::Threads::one &&
          is_convicted_beside(*mutant, texts))
        late.insert(mutant->name);
    }
  }
  std::size_t all = 0;
  std::size_t convicted = 0;
  for (const Claim& claim : list) {
    all += claim.mutants.size();
    convicted += claim.convicted;
    for (const Mutant* mutant : claim.left) {
      if (!late.contains(mutant->name)) fmt::print(stderr, "left: {}\n", mutant->name);
    }
  }
  convicted += late.size();
  fmt::print(stderr, "{} of {} mutants convicted, {} claims\n", convicted, all, list.size());
  return 0;
}
