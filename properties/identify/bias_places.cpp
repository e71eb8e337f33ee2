#include "properties/identify/bias_places.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/identify/other_biases.hpp"
#include "properties/model/attention_case.hpp"
#include "properties/model/attention_part.hpp"
#include "properties/model/biases.hpp"
#include "properties/model/model.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

// Of a relative bias, which has any number of them: more than the 16 of a tile.
constexpr std::int64_t heads_asked = 20;

struct BiasCall {
  std::int64_t queries;
  std::int64_t keys;
};

// Queries are the last of the keys' tokens, so that a causal mask shows as many keys as there are.
std::int64_t first_query(const BiasCall& call) { return std::max<std::int64_t>(call.keys - call.queries, 0); }

// One value of a call, by the indices of its query and key.
struct BiasCell {
  std::int64_t head;
  std::int64_t query;
  std::int64_t key;
  bool is_right;
};

// Values that tell buckets and heads apart in every dtype: whole numbers below 256, in no order.
Tensor told_apart(Dtype dtype, std::int64_t rows, std::int64_t heads) {
  Tensor weight = Tensor::zeros(dtype, {rows, heads});
  for (std::int64_t i = 0; i < weight.elements(); ++i) weight.set(i, static_cast<double>(i * 97 % 251));
  return weight;
}

// One call of `bias`, held against the claim or another bias.
class AskedBias {
 public:
  AskedBias(Session& session, const Spec& claim, const BiasCall& call) : claim_(claim) {
    const auto* relative = held<RelativeBias>(claim);
    const auto positions = [&](std::int64_t count, std::int64_t from) {
      std::vector<std::int64_t> list(static_cast<std::size_t>(count));
      std::iota(list.begin(), list.end(), claim.min_position + from);
      return list;
    };
    queries_ = positions(call.queries, first_query(call));
    keys_ = positions(call.keys, 0);
    heads_ = relative == nullptr ? held<Alibi>(claim)->num_heads : heads_asked;
    if (relative != nullptr) weight_ = told_apart(claim.dtype, relative->num_buckets, heads_);
    answer_ = weight_ ? bias(session, claim, queries_, keys_, *weight_) : bias(session, claim, queries_, keys_);
  }

  // All that the mask shows.
  std::vector<BiasCell> cells(const OtherAttention& other) const {
    std::vector<BiasCell> list;
    each(other, [&](const BiasCell& cell) {
      list.push_back(cell);
      return true;
    });
    return list;
  }

  bool is(const OtherAttention& other) const {
    bool all = true;
    each(other, [&](const BiasCell& cell) { return all = cell.is_right; });
    return all;
  }

  // The claim's own bias under another head's number, another distance and so on, as in attention.
  std::string named() const {
    Attention attention;
    attention.num_heads = attention.num_kv_heads = heads_;
    attention.softmax_scale = 1;  // a bias has none: what is multiplied by it is the claim's
    if (const auto* alibi = held<Alibi>(claim_)) attention.position = *alibi;
    if (const auto* relative = held<RelativeBias>(claim_)) attention.position = *relative;
    std::vector<OtherAttention> others;
    add_other_biases(attention, others);
    const auto found = std::ranges::find_if(others, [&](const OtherAttention& other) { return is(other); });
    return found == others.end() ? std::string() : found->words;
  }

 private:
  template <class Take>
  void each(const OtherAttention& other, const Take& take) const {
    const auto* alibi = held<Alibi>(claim_);
    const bool is_causal = alibi != nullptr && alibi->mask == Mask::causal;
    const auto truth = model_of(claim_)->score_bias();
    const double unit = std::ldexp(1, -format_of(claim_.dtype).precision);
    AttentionCase request{};
    request.weight = weight_;
    Spec spec = claim_;
    if (other.change) other.change(spec, request);
    const Tensor* weight = request.weight ? &*request.weight : nullptr;
    const std::int64_t queries = std::ssize(queries_);
    const std::int64_t keys = std::ssize(keys_);
    for (std::int64_t head = 0; head < heads_; ++head) {
      for (std::int64_t query = 0; query < queries; ++query) {
        for (std::int64_t key = 0; key < keys; ++key) {
          const BiasPlace place{queries_[static_cast<std::size_t>(query)], keys_[static_cast<std::size_t>(key)], head};
          if (is_causal && place.key > place.query) continue;
          const QuickScoreTerm term = other.bias ? other.bias(*truth, place, weight) : truth->quickly(place, weight);
          const auto value = static_cast<double>(term.value);
          // Each of the roundings that form it is off by at most a unit; a looked up one is exact, unless changed.
          const double roundings = term.roundings > 0 ? term.roundings + 2 : other.bias ? 1 : 0;
          const double off = term.error + roundings * unit * std::fabs(value);
          const double seen = answer_.at((head * queries + query) * keys + key);
          if (!take(BiasCell{head, query, key, std::fabs(seen - value) <= off})) return;
        }
      }
    }
  }

  const Spec& claim_;
  std::vector<std::int64_t> queries_;
  std::vector<std::int64_t> keys_;
  std::int64_t heads_ = 0;
  std::optional<Tensor> weight_;
  Tensor answer_;
};

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

std::string call_text(const BiasCall& call) {
  return fmt::format("{} {} and {} keys", call.queries, call.queries == 1 ? "query" : "queries", call.keys);
}

// Empty where all that is asked is right, or what is wrong is not parted so.
std::string places_in_words(Session& session, const Spec& claim) {
  const std::int64_t room = claim.max_position - claim.min_position;
  std::optional<BiasCall> right;
  // The last are asked for places far away.
  for (const BiasCall& wanted : {BiasCall{40, 200}, BiasCall{1, 200}, BiasCall{200, 40}, BiasCall{64, 64},
                                 BiasCall{2, 301}, BiasCall{1, 5201}, BiasCall{5201, 1}}) {
    const BiasCall call{std::min(wanted.queries, room), std::min(wanted.keys, room)};
    const AskedBias asked(session, claim, call);
    const std::vector<BiasCell> cells = asked.cells({});
    if (std::ranges::all_of(cells, &BiasCell::is_right)) {
      right = right ? right : call;
      continue;
    }
    if (std::string words = asked.named(); !words.empty()) {
      if (!right) return words;
      return fmt::format("in a call of {} {}, and calls of {} are right", call_text(call), words, call_text(*right));
    }
    const Parted parts[] = {
        parted_by(cells, "head", "heads", [](const BiasCell& cell) { return cell.head; }),
        parted_by(cells, "query", "queries", [](const BiasCell& cell) { return cell.query; }),
        parted_by(cells, "key", "keys", [](const BiasCell& cell) { return cell.key; }),
        parted_by(cells, "key - query =", "distances key - query",
                  [&](const BiasCell& cell) { return cell.key - cell.query - first_query(call); }),
    };
    // The fewest say the most.
    if (const Parted& part = *std::ranges::min_element(parts, {}, &Parted::count); !part.words.empty())
      return fmt::format("in a call of {}, {} a wrong bias", call_text(call), part.words);
    if (const std::string one = one_cell(cells); !one.empty())
      return fmt::format("in a call of {}, {} has a wrong bias", call_text(call), one);
    return right ? fmt::format("calls of {} are wrong, those of {} are right", call_text(call), call_text(*right)) : "";
  }
  return {};
}

}  // namespace

void take_wrong_places(Session& session, const Spec& claim, Identification& found) {
  const bool is_told = std::ranges::any_of(found.faults, [](const Fault& one) { return one.kind == FaultKind::cause; });
  if (is_told || (found.spec && to_json(*found.spec) != to_json(claim))) return;
  std::string words = places_in_words(session, claim);
  if (words.empty()) return;
  found.faults.assign(1, Fault(std::move(words)));
  found.confidence = found.spec ? Confidence::low : Confidence::none;
}

}  // namespace sextant::identify
