#include "properties/identify/short_calls.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "lib/spec/of.hpp"
#include "lib/spec/operation.hpp"
#include "lib/spec/position_grid.hpp"

namespace sextant::identify {
namespace {

// Near 0, beyond the whole numbers of 8, 11 and 16 bits, and with no low bits alike; and below 0, where a claim goes.
constexpr std::array<std::int64_t, 10> positions_asked{0, 1, 2, 5, 301, 4099, 9001, 100003, -1, -301};

constexpr std::int64_t early = 301;
constexpr std::int64_t early_tokens = 4;

// What a sentence says where it is so, other than by a position.
constexpr std::array<std::string_view, 7> names_of_calls{"call",       "batch",     "token",         "row's",
                                                         "rows whose", "rows that", "at some places"};

bool is_asked(const Spec& claim) {
  const Operation operation = operation_of(claim.encoding);
  return operation == Operation::encode || operation == Operation::rotate || operation == Operation::table;
}

// Of what is told of values or roundings drawn vectors need not show anything.
bool is_of_every_vector(DiagnosedStage stage) {
  switch (stage) {
    case DiagnosedStage::position:
    case DiagnosedStage::frequency:
    case DiagnosedStage::angle:
    case DiagnosedStage::table:
    case DiagnosedStage::rotation: return true;
    default: return false;
  }
}

std::vector<std::int64_t> numbers_in(std::string_view words) {
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 0; at < words.size();) {
    if (std::isdigit(static_cast<unsigned char>(words[at])) == 0) {
      ++at;
      continue;
    }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(words.data() + at, words.data() + words.size(), number);
    if (error == std::errc()) numbers.push_back(number);
    at = static_cast<std::size_t>(end - words.data());
  }
  return numbers;
}

bool is_refutable(const Fault& fault) {
  return fault.kind == FaultKind::cause || fault.kind == FaultKind::vague
             ? is_of_every_vector(fault.stage) && !names_calls(fault)
             : false;
}

}  // namespace

ShortCalls::ShortCalls(const Subject& subject, const Spec& claim) : claim_(claim), model_(model_of(claim)) {
  if (!is_asked(claim) || model_->not_judged()) return;
  judge_ = model_->judge();
  session_ = subject.open(claim);
  for (const std::int64_t position : positions_asked) ask_at(position);
  const gen::PositionRange range = model_->range();
  ask_at(range.last - 1);
  if (range.last - range.first <= early_tokens) return;
  ask({.position = std::clamp(early, range.first, range.last - early_tokens),
       .tokens = early_tokens,
       .batch = 1,
       .heads = 2,
       .fill = 7});
}

void ShortCalls::ask_at(std::int64_t position) {
  const gen::PositionRange range = model_->range();
  if (!judge_ || position < range.first || position >= range.last) return;
  ask({.position = position, .tokens = 1, .batch = 1, .heads = 8, .fill = 7});
}

void ShortCalls::ask(const Question& question) {
  if (!model_->fits(question)) return;
  Call call = model_->call_of(question);
  if (question.tokens == 1) spread_axes(call.positions, question.position);
  try {
    Tensor answer = model_->ask(*session_, call);
    const bool is_right = judge_->values(call, answer).within == reference::Certainty::yes;
    answered_.push_back({std::move(call), std::move(answer), question.tokens, is_right});
  } catch (const SubjectFailure&) {
    // Of a call that is refused nothing is known.
  }
}

// Axes that are taken for each other show where their coordinates differ, and a wrong side beyond the shortest one.
void ShortCalls::spread_axes(std::vector<std::int64_t>& coordinates, std::int64_t position) const {
  const gen::PositionRange range = model_->range();
  if (coordinates.size() < 2) return;
  std::vector<std::int64_t> ends(coordinates.size(), range.last);
  if (const auto* table = held<Sinusoidal2d>(claim_)) ends = {table->height, table->width};
  of_each(claim_, [&](const auto& encoding) {
    if constexpr (requires { encoding.extents; }) {
      if (encoding.extents.size() == ends.size()) ends = encoding.extents;
    }
  });
  for (std::size_t axis = 0; axis < coordinates.size(); ++axis) {
    const auto number = static_cast<std::int64_t>(axis);
    coordinates[axis] =
        range.first + ((2 * number + 1) * (position - range.first) + number) % (ends[axis] - range.first);
  }
}

bool ShortCalls::are_single_tokens_right() const {
  const auto is_single = [](const Answered& one) { return one.tokens == 1; };
  return std::ranges::any_of(answered_, is_single) &&
         std::ranges::all_of(answered_, [&](const Answered& one) { return !is_single(one) || one.is_right; });
}

bool ShortCalls::is_early_call_right() const {
  return std::ranges::any_of(answered_, [](const Answered& one) { return one.tokens > 1 && one.is_right; });
}

bool ShortCalls::refute(const Spec& other) const {
  if (std::ranges::none_of(answered_, &Answered::is_right)) return false;
  const auto model = model_of(other);
  if (model->not_judged()) return false;
  const auto judge = model->judge();
  return std::ranges::any_of(answered_, [&](const Answered& one) {
    return one.is_right && judge->values(one.call, one.answer).within == reference::Certainty::no;
  });
}

bool names_calls(const Fault& fault) {
  return std::ranges::any_of(names_of_calls,
                             [&](std::string_view name) { return fault.words.find(name) != std::string::npos; });
}

void hold_to_short_calls(const Subject& subject, const Spec& probe, Identification& found) {
  if (!is_asked(probe)) return;
  const bool has_fields = found.spec && to_json(*found.spec) != to_json(probe);
  const auto is_any_refutable = [&](const std::vector<Fault>& faults) {
    return std::ranges::any_of(faults, is_refutable);
  };
  if (!has_fields && !is_any_refutable(found.convention) && !is_any_refutable(found.faults)) return;
  ShortCalls calls(subject, probe);
  const bool are_fields_refuted = has_fields && calls.refute(*found.spec);
  if (are_fields_refuted) {
    found.spec = probe;
    found.convention.clear();
    found.arithmetic.clear();
    found.equal.clear();
    found.recipe.clear();
  }
  // A few positions, each of which may be the one that a sentence is of.
  constexpr std::size_t most_numbers = 4;
  for (const auto* faults : {&found.convention, &found.faults}) {
    for (const Fault& fault : *faults) {
      if (!is_refutable(fault) || !calls.are_single_tokens_right()) continue;
      std::vector<std::int64_t> numbers = numbers_in(fault.words);
      numbers.resize(std::min(numbers.size(), most_numbers));
      for (const std::int64_t number : numbers) {
        for (const std::int64_t position : {number, number + 1}) calls.ask_at(position);
      }
    }
  }
  bool is_any_dropped = are_fields_refuted;
  if (calls.are_single_tokens_right()) {
    for (auto* faults : {&found.convention, &found.faults})
      is_any_dropped = std::erase_if(*faults, is_refutable) > 0 || is_any_dropped;
  }
  if (!is_any_dropped) return;
  if (!found.spec) found.spec = probe;
  found.confidence = Confidence::low;
  found.table.clear();
  if (found.faults.empty())
    found.faults.emplace_back(calls.are_single_tokens_right()
                                  ? "tokens in calls of their own that were asked are right, and some in others are not"
                                  : "some calls are answered as claimed, and others are not",
                              DiagnosedStage::position, FaultKind::remainder);
}

}  // namespace sextant::identify
