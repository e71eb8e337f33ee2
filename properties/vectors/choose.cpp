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
#include "properties/mutants/mutant.hpp"
#include "properties/vectors/asked.hpp"
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

std::int64_t values_of(const EncodingModel& model, const Ask& ask) {
  const Question& q = ask.question;
  const Operation operation = signature_of(model.spec().encoding).operation;
  std::int64_t vectors = q.tokens * q.batch;
  if (operation == Operation::rotate || operation == Operation::qk_norm_rope) vectors *= q.heads;
  if (operation == Operation::attend) vectors *= q.tokens;  // products
  return vectors * std::max<std::int64_t>(model.judged_values(), 1);
}

// What is tried, in this order: a prompt and its steps, the positions that break things, then what
// the model asks first.
std::vector<Ask> candidates(const EncodingModel& model) {
  const auto [first, last] = model.range();
  std::vector<Ask> small;
  const auto add = [&](Kind kind, Question question) {
    question.position = std::clamp(question.position, first, last - 1);
    question.tokens = std::min(question.tokens, std::max<std::int64_t>(last - question.position, 1));
    if (can_ask(model, kind) && model.admits(question)) small.push_back({kind, question});
  };
  add(Kind::plain, {.position = 5, .tokens = 7, .batch = 2, .heads = 3, .fill = 1});
  add(Kind::breaking, {.position = first, .tokens = 1, .heads = 1, .fill = 2});
  add(Kind::plain, {.position = last - 3, .tokens = 3, .batch = 2, .heads = 5, .fill = 3, .order = 3});
  add(Kind::gradient, {.position = 3, .tokens = 3, .batch = 2, .heads = 2, .fill = 4});
  add(Kind::nothing, {.position = std::max<std::int64_t>(first, 0), .tokens = 1});
  add(Kind::plain, {.position = 40, .tokens = 1, .heads = 2, .fill = 5});
  add(Kind::plain, {.position = 9, .tokens = 1, .heads = 2, .fill = 6});
  for (const std::int64_t fill : {9, 10, 11}) {
    add(Kind::step, {.position = 3, .tokens = 7 + fill % 2, .batch = 2, .fill = fill});
    add(Kind::padded, {.position = 0, .tokens = 9 + fill % 2, .batch = 3, .fill = fill + 3});
  }
  for (const std::int64_t fill : {801, 802}) {
    add(Kind::step, {.position = 0, .tokens = 66, .batch = 2, .fill = fill});
    add(Kind::padded, {.position = 1, .tokens = 34, .batch = 3, .fill = fill});
  }
  std::vector<Ask> others;
  for (const Question& question : model.first_questions()) others.push_back({Kind::plain, question});
  for (const auto& block : model.sweep(std::int64_t{1} << 18).blocks) others.push_back({Kind::plain, block.values});
  if (can_ask(model, Kind::gradient)) {
    for (const auto& [batch, tokens, heads] : {std::array{1, 2, 65}, {33, 2, 1}, {1, 1600, 1}})
      others.push_back({Kind::gradient, {.position = 0, .tokens = tokens, .batch = batch, .heads = heads, .fill = 8}});
  }
  std::ranges::stable_sort(others, {}, [&](const Ask& ask) { return values_of(model, ask); });
  small.insert(small.end(), others.begin(), others.end());
  constexpr std::int64_t most = std::int64_t{1} << 19;
  std::erase_if(small, [&](const Ask& ask) { return values_of(model, ask) > most; });
  return small;
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
    // Of a backward pass, or between the modules of one process or its threads, a call tells nothing.
    const auto is_out_of_reach = [&](const Mutant* mutant) {
      const bool is_rotation = can_ask(*model_, Kind::gradient);
      return mutant->begin != nullptr || mutant->name.find("threads") != std::string::npos ||
             (mutant->name.find("gradient") != std::string::npos && !is_rotation);
    };
    std::ranges::copy_if(alive_, std::back_inserter(claim_.left), is_out_of_reach);
    std::erase_if(alive_, is_out_of_reach);
    const double longest = 3 + 0.8 * static_cast<double>(alive_.size());
    const double start = processor_seconds();
    for (const Ask& ask : candidates(*model_)) {
      if (alive_.empty() || most-- == 0 || processor_seconds() - start > longest) break;
      try {
        try_ask(ask);
      } catch (const SubjectFailure& failure) {
        fmt::print(stderr, "{}: {}: {}\n", claim_.spec, text_of(*model_, ask), failure.what());
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
    const auto judge = ask.kind == Kind::gradient ? model_->gradient_judge() : model_->judge();
    std::set<std::string> rows;
    std::set<std::int64_t> elements;
    bool is_needed = false;
    std::vector<const Mutant*> left;
    const std::vector<const Mutant*> asked = alive_;
    for (const Mutant* mutant : asked) {
      const auto conviction = convicted(*mutant, ask, call, exchange, *judge, elements);
      if (conviction && conviction->element && try_alone(*mutant, ask, call, exchange.answer, *conviction->element)) {
        --claim_.convicted;  // counted there
        continue;
      }
      if (!conviction) {
        left.push_back(mutant);
        continue;
      }
      is_needed = true;
      if (conviction->element) elements.insert(*conviction->element);
      for (std::size_t start = 0; start < mutant->row.size();) {
        const std::size_t end = std::min(mutant->row.find(',', start), mutant->row.size());
        rows.insert(mutant->row.substr(start, end - start));
        start = end + 1;
      }
    }
    if (left.size() == asked.size()) return;
    claim_.convicted += asked.size() - left.size();
    alive_ = std::move(left);
    if (!is_needed) return;
    const Question& q = ask.question;
    claim_.lines +=
        fmt::format("ASK({}, {}, {}, {}, {}, {}, {}, \"{}\", \"{}\")\n", static_cast<int>(ask.kind), q.position,
                    q.tokens, q.batch, q.heads, q.fill, q.order, fmt::join(elements, " "), fmt::join(rows, " "));
    constexpr std::int64_t small = 8192;
    if (values_of(*model_, ask) < small) before_.push_back({exchange.operation, exchange.inputs, {}, {}});
  }

  // Where a token of a long call is wrong by itself too, that is asked instead.
  bool try_alone(const Mutant& mutant, const Ask& ask, const Call& call, const Tensor& answer, std::int64_t element) {
    const Operation operation = signature_of(spec_.encoding).operation;
    constexpr std::int64_t few = 1024;
    if (ask.kind != Kind::plain || answer.elements() <= few || axes_of(spec_.encoding) > 1) return false;
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

  std::optional<Conviction> convicted(const Mutant& mutant, const Ask& ask, const Call& call, Exchange& exchange,
                                      Judge& judge, const std::set<std::int64_t>& elements) {
    Tensor answer;
    try {
      const auto session = mutants::open(mutant.name)->open(spec_);
      constexpr std::size_t recent = 2;
      for (std::size_t i = before_.size() - std::min(before_.size(), recent); i < before_.size(); ++i) {
        const Exchange& earlier = before_[i];
        try {
          send(*session, earlier.operation, earlier.inputs);
        } catch (const SubjectFailure&) {
        }
      }
      const Tensors inputs = exchange.inputs;
      const Tensors reply = with_named_parts(exchange.operation, send(*session, exchange.operation, inputs));
      for (const auto& [name, tensor] : exchange.inputs) {
        if (inputs.at(name).data != tensor.data) return Conviction{};
      }
      for (const auto& [name, tensor] : exchange.reply) {
        const auto found = reply.find(name);
        if (found == reply.end() || found->second.dtype != tensor.dtype || found->second.shape != tensor.shape)
          return Conviction{};
      }
      answer = answer_of(*model_, ask.kind, call, reply);
    } catch (const SubjectFailure& failure) {
      return failure.kind() == FailureKind::unsupported ? std::nullopt : std::optional(Conviction{});
    }
    if (judge.values(call, answer).within == reference::Certainty::yes) return std::nullopt;
    std::vector<std::int64_t> suspects(elements.begin(), elements.end());
    for (const std::int64_t element : suspects_of(answer, exchange.answer)) suspects.push_back(element);
    for (const std::int64_t element : suspects) {
      const double got = answer.at(element);
      if (got == exchange.answer.at(element)) continue;
      const auto tolerance = tolerance_of(judge, call, exchange.answer, element);
      if (tolerance && !(std::fabs(got - exchange.answer.at(element)) <= *tolerance)) return Conviction{element};
    }
    return std::nullopt;
  }

  Claim& claim_;
  Spec spec_;
  std::unique_ptr<EncodingModel> model_;
  std::unique_ptr<Session> builtin_;
  std::vector<const Mutant*> alive_;
  std::vector<Exchange> before_;
};

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
  // Fields that are not read are seen where they are others.
  std::vector<Claim> changed;
  std::map<std::string, std::size_t> places;
  for (const Claim& claim : list) {
    for (const Mutant* mutant : claim.left) {
      if (!ignores_a_field(*mutant)) continue;
      for (const auto& variant : sextant::model_of(sextant::parse_spec(claim.spec))->variants()) {
        const std::string spec = to_json(variant.spec);
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
