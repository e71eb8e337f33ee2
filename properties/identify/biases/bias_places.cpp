#include "properties/identify/biases/bias_places.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/biases/asked_biases.hpp"
#include "properties/identify/biases/bias_parts.hpp"
#include "properties/identify/biases/other_bias_values.hpp"
#include "properties/identify/biases/weight_values.hpp"
#include "properties/identify/differences.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// By what wrong cells are told, and how many there are of it.
struct Parted {
  std::string words;  // empty where they do not part so
  std::size_t count = std::numeric_limits<std::size_t>::max();
};

// "keys from 64 on", of what the wrong cells alone have: a number, some, or all from one on.
Parted parted_by(const std::vector<BiasCell>& cells, std::string_view one, std::string_view several,
                 const std::function<std::int64_t(const BiasCell&)>& number) {
  struct Count {
    std::int64_t all = 0;
    std::int64_t wrong = 0;
  };
  std::map<std::int64_t, Count> counts;
  for (const BiasCell& cell : cells) {
    Count& count = counts[number(cell)];
    ++count.all;
    count.wrong += cell.is_right ? 0 : 1;
  }
  std::vector<std::int64_t> wrong;
  for (const auto& [at, count] : counts) {
    if (count.wrong == 0) continue;
    // Some may be right by chance, as where two distances share a bucket.
    if (2 * count.wrong < count.all) return {};
    wrong.push_back(at);
  }
  if (wrong.empty() || wrong.size() == counts.size()) return {};
  const auto first = counts.find(wrong.front());
  const bool is_to_the_end = static_cast<std::size_t>(std::distance(first, counts.end())) == wrong.size();
  if (wrong.size() == 1) return {fmt::format("{} {} has", one, wrong.front()), 1};
  if (is_to_the_end) return {fmt::format("{} from {} on have", several, wrong.front()), wrong.size()};
  constexpr std::size_t most_told = 4;
  if (wrong.size() <= most_told) return {fmt::format("{} {} have", several, fmt::join(wrong, ", ")), wrong.size()};
  const bool is_run = wrong.back() - wrong.front() + 1 == std::ssize(wrong);
  if (!is_run) return {};
  return {fmt::format("{} {} to {} have", several, wrong.front(), wrong.back()), wrong.size()};
}

// "query 3 with key 256", where nothing else is wrong.
std::string one_cell(const std::vector<BiasCell>& cells) {
  const auto first = std::ranges::find(cells, false, &BiasCell::is_right);
  const bool is_alone = std::ranges::all_of(cells, [&](const BiasCell& cell) {
    return cell.is_right || (cell.query == first->query && cell.key == first->key);
  });
  return is_alone ? fmt::format("query {} with key {}", first->query, first->key) : std::string();
}

std::string call_text(const BiasQuestion& question) {
  return fmt::format("{} {} and {} {}", question.queries.size(), question.queries.size() == 1 ? "query" : "queries",
                     question.keys.size(), question.keys.size() == 1 ? "key" : "keys");
}

// What wrong cells are, where, and in which calls.
struct Explained {
  OtherBiasValue value;
  std::vector<BiasPart> parts;
  std::vector<BiasCell> out;  // right cells that have another value
};

std::vector<BiasCell> wrong_cells(const AskedBiases& asked) {
  std::vector<BiasCell> list;
  std::ranges::copy_if(asked.cells(), std::back_inserter(list), [](const BiasCell& cell) { return !cell.is_right; });
  return list;
}

std::optional<Explained> explained_by(const AskedBiases& asked, const std::vector<BiasCell>& wrong,
                                      const OtherBiasValue& other) {
  using Has = AskedBiases::Has;
  if (other.value) {
    std::size_t sure = 0;
    for (const BiasCell& cell : wrong) {
      const Has has = asked.has(cell, other.value);
      if (has != Has::yes && has != Has::anything) return std::nullopt;
      sure += has == Has::yes ? 1 : 0;
    }
    // What may be anything explains nothing.
    if (2 * sure < wrong.size()) return std::nullopt;
  }
  std::vector<BiasCell> out;
  for (const BiasCell& cell : asked.cells()) {
    if (cell.is_right && (!other.value || asked.has(cell, other.value) == Has::no)) out.push_back(cell);
  }
  auto parts = dividing_parts(asked, wrong, out);
  if (!parts) return std::nullopt;
  return Explained{other, std::move(*parts), std::move(out)};
}

// The one of fewest parts, likeliest first.
std::optional<Explained> explained(const AskedBiases& asked, const std::optional<OtherBiasValue>& first) {
  const std::vector<BiasCell> wrong = wrong_cells(asked);
  std::optional<Explained> best;
  std::vector<OtherBiasValue> values = other_bias_values(asked);
  if (first) values.insert(values.begin(), *first);
  for (const OtherBiasValue& other : values) {
    auto found = explained_by(asked, wrong, other);
    if (found && (!best || found->parts.size() < best->parts.size())) best = std::move(found);
    if (best && best->parts.size() < 2) return best;
  }
  if (!best) best = explained_by(asked, wrong, {"are wrong", {}});
  return best;
}

// Whether the claim has all positions of a call.
bool is_of_claim(const BiasQuestion& question, const Spec& claim) {
  const auto* window = held<WindowBias>(claim);
  const std::int64_t end =
      window == nullptr ? claim.max_position : std::min(claim.max_position, position_count(*window));
  const auto has = [&](std::int64_t position) { return position >= claim.min_position && position < end; };
  return std::ranges::all_of(question.queries, has) && std::ranges::all_of(question.keys, has);
}

// Calls between the border of a part and what is not of it.
bool ask_borders(AskedBiases& asked, const Explained& found) {
  std::vector<BiasQuestion> more;
  for (const BiasPart& part : found.parts) {
    if (!part.next) continue;
    std::vector<BiasCell> beside;
    std::ranges::copy_if(found.out, std::back_inserter(beside), [&](const BiasCell& cell) {
      const BiasQuestion& question = asked.question(cell);
      return std::ranges::all_of(found.parts, [&](const BiasPart& other) {
        return &other == &part ? !part.holds(question, cell) : other.holds(question, cell);
      });
    });
    const std::vector<BiasQuestion> list = part.next(beside);
    const auto unasked = std::ranges::find_if(list, [&](const BiasQuestion& question) {
      return is_of_claim(question, asked.claim()) &&
             std::ranges::find(asked.questions(), question) == asked.questions().end();
    });
    if (unasked != list.end()) more.push_back(*unasked);
  }
  for (BiasQuestion& question : more) asked.ask(std::move(question));
  return !more.empty();
}

std::string told_of(const Explained& found) {
  const PartWords words = words_of(found.parts);
  const std::string rest = found.parts.empty() ? "" : ", and the rest is right";
  if (found.value.is_sentence()) {
    const std::string cells = words.of_cells.empty() ? "" : "," + words.of_cells;
    return fmt::format("{}{}{}{}", found.value.words, cells, words.of_calls, rest);
  }
  return fmt::format("biases{} {}{}{}", words.of_cells, found.value.words, words.of_calls, rest);
}

// Of positions that are right up to one and wrong from there on: calls about that one, which halving finds.
void ask_about_border(AskedBiases& asked, std::int64_t right, std::int64_t wrong,
                      const std::function<BiasQuestion(std::int64_t at)>& question) {
  if (wrong <= right || asked.ask(question(right)) || !asked.ask(question(wrong))) return;
  while (wrong - right > 1) {
    const std::int64_t middle = right + (wrong - right) / 2;
    (asked.ask(question(middle)) ? wrong : right) = middle;
  }
}

// Where positions or distances may be clamped or wrap.
void ask_about_borders(AskedBiases& asked) {
  const std::int64_t first = asked.claim().min_position;
  const std::int64_t last = asked.claim().max_position - 1;
  constexpr std::int64_t near = 8;
  if (last - first < 2 * near || is_of<WindowBias>(asked.claim())) return;
  ask_about_border(asked, first + near, last, [](std::int64_t at) {
    BiasQuestion question{{at}, {}};
    for (std::int64_t back = near; back >= 0; --back) question.keys.push_back(at - back);
    return question;
  });
  ask_about_border(asked, 1, last - first, [&](std::int64_t distance) {
    return BiasQuestion{{first + distance}, {first}};
  });
  ask_about_border(asked, 1, last - first, [&](std::int64_t distance) {
    return BiasQuestion{{first}, {first + distance}};
  });
}

// Whether a call of as many queries and keys is right where positions are others, all of them far from the first: at
// position 0 many formulas are the claim's.
bool is_right_elsewhere(AskedBiases& asked, const BiasQuestion& question) {
  if (is_of<WindowBias>(asked.claim())) return true;
  BiasQuestion moved = question;
  const std::int64_t last = asked.claim().max_position - 1;
  const std::int64_t greatest = std::max(std::ranges::max(moved.queries), std::ranges::max(moved.keys));
  const std::int64_t by = std::min<std::int64_t>(last - greatest, 41);
  for (std::int64_t& query : moved.queries) query += by;
  // Keys lie farther back, each by its number.
  for (std::size_t i = 0; i < moved.keys.size(); ++i)
    moved.keys[i] =
        std::max(asked.claim().min_position, moved.keys[i] + by - 3 * static_cast<std::int64_t>(moved.keys.size() - i));
  return !asked.ask(std::move(moved));
}

// Cells of the first call that has wrong ones: some may be right by chance.
std::string parted_in_words(AskedBiases& asked) {
  const std::size_t call = wrong_cells(asked).front().call;
  const BiasQuestion question = asked.questions()[call];
  std::vector<BiasCell> cells;
  std::ranges::copy_if(asked.cells(), std::back_inserter(cells),
                       [&](const BiasCell& cell) { return cell.call == call; });
  const Parted parts[] = {
      parted_by(cells, "head", "heads", [](const BiasCell& cell) { return cell.head; }),
      parted_by(cells, "query", "queries", [](const BiasCell& cell) { return cell.query; }),
      parted_by(cells, "key", "keys", [](const BiasCell& cell) { return cell.key; }),
      parted_by(
          cells, "key - query =", "distances key - query",
          [&](const BiasCell& cell) { return question.keys[index(cell.key)] - question.queries[index(cell.query)]; }),
  };
  // The fewest say the most.
  if (const Parted& part = *std::ranges::min_element(parts, {}, &Parted::count); !part.words.empty())
    return fmt::format("in a call of {}, {} a wrong bias", call_text(question), part.words);
  if (const std::string one = one_cell(cells); !one.empty())
    return fmt::format("in a call of {}, {} has a wrong bias", call_text(question), one);
  std::vector<bool> has_wrong(asked.questions().size(), false);
  for (const BiasCell& cell : asked.cells()) has_wrong[cell.call] = has_wrong[cell.call] || !cell.is_right;
  constexpr int most_asked = 4;
  int tried = 0;
  for (std::size_t i = 0; i < has_wrong.size() && tried < most_asked; ++i) {
    if (has_wrong[i]) continue;
    ++tried;
    const BiasQuestion right = asked.questions()[i];
    if (is_right_elsewhere(asked, right))
      return fmt::format("calls of {} are wrong, those of {} are right", call_text(question), call_text(right));
  }
  return fmt::format("calls of {} are wrong", call_text(question));
}

// Biases of another claim, which differs in these fields: "are those of max_distance 64".
std::optional<OtherBiasValue> value_of(const Spec& claim, const std::optional<Spec>& other) {
  if (!other || to_json(*other) == to_json(claim) || !are_of_one_encoding(*other, claim)) return std::nullopt;
  std::vector<std::string> fields;
  for (const DiagnosedDifference& one : differences(claim, *other)) fields.push_back(one.words);
  if (fields.empty()) return std::nullopt;
  const std::shared_ptr<ScoreBiasOracle> truth = model_of(*other)->score_bias();
  const auto* alibi = held<Alibi>(*other);
  const bool hides = alibi != nullptr && alibi->mask == Mask::causal;
  return OtherBiasValue{
      fmt::format("are those of another claim ({})", fmt::join(fields, "; ")),
      [truth, hides](ScoreBiasOracle&, const BiasQuestion& question, const BiasCell& cell, const Tensor* weight) {
        // Nothing is claimed of what a mask hides.
        if (hides && question.keys[index(cell.key)] > question.queries[index(cell.query)])
          return std::optional(QuickScoreTerm{0, HUGE_VAL, 0});
        return claimed_bias(*truth, question, cell, weight);
      }};
}

// Whether every cell has this value; some have.
bool are_all(const AskedBiases& asked, const BiasValue& value) {
  using Has = AskedBiases::Has;
  bool any = false;
  const bool are = std::ranges::all_of(asked.cells(), [&](const BiasCell& cell) {
    const Has has = asked.has(cell, value);
    any = any || has == Has::yes;
    return has == Has::yes || has == Has::anything;
  });
  return are && any;
}

std::optional<Fault> wrong_places_of(Session& session, const Spec& claim, const OddBuckets& odd,
                                     const std::optional<Spec>& other) {
  AskedBiases asked(session, claim);
  for (BiasQuestion& question : usual_bias_questions(claim)) asked.ask(std::move(question));
  const std::optional<OtherBiasValue> of_other = value_of(claim, other);
  if (of_other && are_all(asked, of_other->value)) return std::nullopt;
  if (!asked.has_wrong()) {
    std::string words = changed_weights(session, claim);
    return words.empty() ? std::nullopt : std::optional(Fault(std::move(words)));
  }
  if (odd.bucket) {
    const OtherBiasValue by_bucket{
        "", [&](ScoreBiasOracle& own, const BiasQuestion& question, const BiasCell& cell, const Tensor* weight) {
          const auto bucket = odd.bucket(question.keys[index(cell.key)] - question.queries[index(cell.query)]);
          if (!bucket) return claimed_bias(own, question, cell, weight);
          return std::optional(QuickScoreTerm{weight->at(*bucket * question.heads + cell.head), 0, 0});
        }};
    const bool is_it = std::ranges::all_of(
        asked.cells(), [&](const BiasCell& cell) { return asked.has(cell, by_bucket.value) == AskedBiases::Has::yes; });
    if (is_it) return Fault(odd.words);
  }
  ask_about_borders(asked);
  auto found = explained(asked, of_other);
  constexpr int most_rounds = 24;
  // With those that told of the formula fewer than 200.
  constexpr std::size_t most_questions = 184;
  const auto may_ask = [&] { return asked.questions().size() < most_questions; };
  int round = 0;
  for (; round < most_rounds && may_ask() && found && ask_borders(asked, *found); ++round)
    found = explained(asked, of_other);
  // A border that is not found is not told.
  if (round == most_rounds || !may_ask()) found.reset();
  if (found) return Fault(told_of(*found), found->value.stage);
  std::string words = odd.words.empty() ? parted_in_words(asked) : odd.words;
  if (words.empty()) return std::nullopt;
  return Fault(std::move(words));
}

}  // namespace

void take_wrong_places(Session& session, const Spec& claim, Identification& found, const OddBuckets& odd) {
  const bool is_told = std::ranges::any_of(found.faults, [](const Fault& one) { return one.kind == FaultKind::cause; });
  if (is_told) return;
  const auto fault = wrong_places_of(session, claim, odd, found.spec);
  if (!fault) return;
  // Another claim is one of some calls alone.
  if (found.spec && to_json(*found.spec) != to_json(claim)) found.spec.reset();
  found.faults.assign(1, *fault);
  found.confidence = found.spec ? Confidence::low : Confidence::none;
}

}  // namespace sextant::identify
