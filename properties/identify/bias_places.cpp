#include "properties/identify/bias_places.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/model/attention_part.hpp"
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

std::vector<BiasCell> asked_cells(Session& session, const Spec& claim, const BiasCall& call) {
  const auto* alibi = held<Alibi>(claim);
  const auto* relative = held<RelativeBias>(claim);
  const auto positions = [&](std::int64_t count, std::int64_t from) {
    std::vector<std::int64_t> list(static_cast<std::size_t>(count));
    std::iota(list.begin(), list.end(), claim.min_position + from);
    return list;
  };
  // Queries are the last of the keys' tokens, so that a causal mask shows as many keys as there are.
  const std::int64_t first_query = std::max<std::int64_t>(call.keys - call.queries, 0);
  const std::vector<std::int64_t> queries = positions(call.queries, first_query);
  const std::vector<std::int64_t> keys = positions(call.keys, 0);
  const std::int64_t heads = alibi != nullptr ? alibi->num_heads : heads_asked;
  std::optional<Tensor> weight;
  if (relative != nullptr) weight = told_apart(claim.dtype, relative->num_buckets, heads);
  const Tensor answer = weight ? bias(session, claim, queries, keys, *weight) : bias(session, claim, queries, keys);
  const auto truth = model_of(claim)->score_bias();
  const double unit = std::ldexp(1, -format_of(claim.dtype).precision);
  std::vector<BiasCell> cells;
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t query = 0; query < call.queries; ++query) {
      for (std::int64_t key = 0; key < call.keys; ++key) {
        if (alibi != nullptr && alibi->mask == Mask::causal && key > first_query + query) continue;
        const QuickScoreTerm term =
            truth->quickly({queries[static_cast<std::size_t>(query)], keys[static_cast<std::size_t>(key)], head},
                           weight ? &*weight : nullptr);
        const auto value = static_cast<double>(term.value);
        // Each of the roundings that form it is off by at most a unit; a looked up one is exact.
        const double off = term.error + (term.roundings > 0 ? (term.roundings + 2) * unit * std::fabs(value) : 0);
        const double seen = answer.at((head * call.queries + query) * call.keys + key);
        cells.push_back({head, query, key, std::fabs(seen - value) <= off});
      }
    }
  }
  return cells;
}

// "keys from 64 on", of what the wrong cells alone have: a number, some, or all from one on.
std::string parted_by(const std::vector<BiasCell>& cells, std::string_view one, std::string_view several,
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
  if (wrong.size() == 1) return fmt::format("{} {} has", one, wrong.front());
  if (is_to_the_end) return fmt::format("{} from {} on have", several, wrong.front());
  constexpr std::size_t most_told = 4;
  if (wrong.size() <= most_told) return fmt::format("{} {} have", several, fmt::join(wrong, ", "));
  const bool is_run = wrong.back() - wrong.front() + 1 == std::ssize(wrong);
  return is_run ? fmt::format("{} {} to {} have", several, wrong.front(), wrong.back()) : std::string();
}

std::string call_text(const BiasCall& call) {
  return fmt::format("{} {} and {} keys", call.queries, call.queries == 1 ? "query" : "queries", call.keys);
}

}  // namespace

std::string wrong_places_of_bias(Session& session, const Spec& claim) {
  const std::int64_t room = claim.max_position - claim.min_position;
  std::optional<BiasCall> right;
  for (const BiasCall& wanted : {BiasCall{40, 200}, BiasCall{1, 200}, BiasCall{200, 40}, BiasCall{64, 64}}) {
    const BiasCall call{std::min(wanted.queries, room), std::min(wanted.keys, room)};
    const std::vector<BiasCell> cells = asked_cells(session, claim, call);
    if (std::ranges::all_of(cells, &BiasCell::is_right)) {
      right = right ? right : call;
      continue;
    }
    for (const std::string& part : {
             parted_by(cells, "head", "heads", [](const BiasCell& cell) { return cell.head; }),
             parted_by(cells, "query", "queries", [](const BiasCell& cell) { return cell.query; }),
             parted_by(cells, "key", "keys", [](const BiasCell& cell) { return cell.key; }),
             parted_by(cells, "key - query =", "distances key - query",
                       [](const BiasCell& cell) { return cell.key - cell.query; }),
         }) {
      if (!part.empty()) return fmt::format("in a call of {}, {} a wrong bias", call_text(call), part);
    }
    return right ? fmt::format("calls of {} are wrong, those of {} are right", call_text(call), call_text(*right)) : "";
  }
  return {};
}

}  // namespace sextant::identify
