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
#include "properties/vectors/gradients.hpp"
#include "properties/vectors/maker.hpp"
#include "properties/vectors/tolerances.hpp"
#include "subjects/builtin.hpp"

// Over 400 lines, since a claim by itself and two in one process are tried alike.
//
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

// Some elements of an answer that differ from another's: those furthest off, in ULP and as they are, and others spread
// over the list, since a claim need not say something of all.
std::vector<std::int64_t> suspects_of(const Tensor& got, const Tensor& expected) {
  std::vector<std::pair<double, std::int64_t>> in_ulps;
  std::vector<std::pair<double, std::int64_t>> as_is;
  for (std::int64_t i = 0; i < expected.elements(); ++i) {
    const double value = expected.at(i);
    const double off = std::fabs(got.at(i) - value);
    if (off == 0 || !std::isfinite(value)) continue;
    const double size = std::isnan(off) ? std::numeric_limits<double>::infinity() : off;
    in_ulps.emplace_back(size / ulp(expected.dtype, value), i);
    as_is.emplace_back(size, i);
  }
  std::vector<std::int64_t> elements;
  for (auto* list : {&as_is, &in_ulps}) {
    std::ranges::sort(*list, std::greater<>());
    for (std::size_t i = 0; i < std::min<std::size_t>(list->size(), 4); ++i) elements.push_back((*list)[i].second);
    for (std::size_t i = 0; i < 16 && !list->empty(); ++i) elements.push_back((*list)[i * list->size() / 16].second);
  }
  return elements;
}

// How a mutant gives itself away in a call: by an element of its answer, or whatever the elements.
struct Conviction {
  std::optional<std::int64_t> element;
};

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

// What is asked, and the right answer.
struct Asked {
  const EncodingModel& model;
  const Ask& ask;
  const Call& call;
  Exchange& right;
  Judge& judge;
};

void send_to(Session& session, const Exchange& earlier) {
  try {
    send(session, earlier.operation, earlier.inputs);
  } catch (const SubjectFailure&) {
    // A runner goes on to the next test.
  }
}

// By one of these elements where they do.
std::optional<Conviction> conviction(Session& session, const Asked& asked, const std::set<std::int64_t>& elements) {
  Tensor& expected = asked.right.answer;
  Tensor answer;
  try {
    const Tensors inputs = asked.right.inputs;
    const Tensors reply = with_named_parts(asked.right.operation, send(session, asked.right.operation, inputs));
    for (const auto& [name, tensor] : asked.right.inputs) {
      if (inputs.at(name).data != tensor.data) return Conviction{};
    }
    for (const auto& [name, tensor] : asked.right.reply) {
      const auto found = reply.find(name);
      if (found == reply.end() || found->second.dtype != tensor.dtype || found->second.shape != tensor.shape)
        return Conviction{};
    }
    answer = answer_of(asked.model, asked.ask.kind, asked.call, reply);
  } catch (const SubjectFailure& failure) {
    return failure.kind() == FailureKind::unsupported ? std::nullopt : std::optional(Conviction{});
  }
  if (asked.judge.values(asked.call, answer).within == reference::Certainty::yes) return std::nullopt;
  std::vector<std::int64_t> suspects(elements.begin(), elements.end());
  for (const std::int64_t element : suspects_of(answer, expected)) suspects.push_back(element);
  for (const std::int64_t element : suspects) {
    const double got = answer.at(element);
    if (got == expected.at(element)) continue;
    const auto tolerance = tolerance_of(asked.judge, asked.call, expected, element);
    if (tolerance && !(std::fabs(got - expected.at(element)) <= *tolerance)) return Conviction{element};
  }
  return std::nullopt;
}

std::set<std::string> rows_of(const Mutant& mutant) {
  std::set<std::string> rows;
  for (std::size_t start = 0; start < mutant.row.size();) {
    const std::size_t end = std::min(mutant.row.find(',', start), mutant.row.size());
    rows.insert(mutant.row.substr(start, end - start));
    start = end + 1;
  }
  return rows;
}

std::string line_of(const Ask& ask, const std::set<std::int64_t>& elements, const std::set<std::string>& rows) {
  const Question& q = ask.question;
  return fmt::format("ASK({}, {}, {}, {}, {}, {}, {}, \"{}\", \"{}\")\n", static_cast<int>(ask.kind), q.position,
                     q.tokens, q.batch, q.heads, q.fill, q.order, fmt::join(elements, " "), fmt::join(rows, " "));
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
  void try_ask(const Ask& ask) {
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
      rows.merge(rows_of(*mutant));
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
                           line_of(ask, elements, which == 1 ? rows_of(mutant_) : std::set<std::string>()));
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
