#include "properties/identify/attention/fitted_scores.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/round_numbers.hpp"
#include "properties/model/attention_oracle.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

constexpr double unseen = -std::numeric_limits<double>::infinity();

// What is added to the scores of a head in a batch row, less the claim's own, and less that of each query's first key:
// softmax does not see what all keys of a query have in common.
struct AddedToHead {
  std::int64_t batch;
  std::int64_t head;
  std::vector<double> of;  // [queries, keys], unseen where a key is not seen
};

class AddedScores {
 public:
  AddedScores(Session& session, const Spec& claim, const AttentionCase& request, std::int64_t most_heads)
      : claim_(claim), claimed_(*held<Attention>(claim)), request_(request), tokens_(request.tokens) {
    const std::int64_t heads = std::min(most_heads, claimed_.num_heads);
    for (std::int64_t batch = 0; batch < request.batch; ++batch) {
      for (std::int64_t head = 0; head < heads; ++head)
        added_.push_back({batch, head, std::vector<double>(index(tokens_ * tokens_), unseen)});
    }
    read(session);
    take_claimed();
  }

  std::vector<OtherAttention> made() const {
    std::vector<OtherAttention> list;
    if (is_flat()) return list;
    for (const Counted& counted : counted_ways()) {
      if (auto other = linear(counted)) list.push_back(std::move(*other));
    }
    if (auto other = block()) list.push_back(std::move(*other));
    return list;
  }

 private:
  // What a score may rise with.
  struct Counted {
    const char* step;  // "from key to key"
    std::function<double(const AttentionCase& request, std::int64_t batch, std::int64_t query, std::int64_t key)> of;
  };

  std::size_t at(std::int64_t query, std::int64_t key) const { return index(query * tokens_ + key); }
  double off(double value) const {
    return 64 * std::ldexp(1, -format_of(claim_.dtype).precision) * (1 + std::fabs(value));
  }

  // Weights of queries of 0, as many keys a call as there are channels to tell them by.
  void read(Session& session) {
    AttentionCase asked = request_;
    for (std::int64_t i = 0; i < asked.q.elements(); ++i) asked.q.set(i, 0);
    const std::int64_t width = claimed_.head_dim;
    for (std::int64_t first = 0; first < tokens_; first += width) {
      const std::int64_t count = std::min(width, tokens_ - first);
      for (std::int64_t i = 0; i < asked.v.elements(); ++i)
        asked.v.set(i, i / width % tokens_ - first == i % width ? 1 : 0);
      const Tensor out = attend(session, claim_, asked);
      for (AddedToHead& added : added_) {
        const std::int64_t rows = (added.batch * claimed_.num_heads + added.head) * tokens_;
        for (std::int64_t query = 0; query < tokens_; ++query) {
          for (std::int64_t c = 0; c < count; ++c) {
            const double weight = out.at((rows + query) * width + c);
            if (weight > 0) added.of[at(query, first + c)] = std::log(weight);
          }
        }
      }
    }
  }

  void take_claimed() {
    const auto position = position_model(claim_, claimed_);
    const auto bias = position ? position->score_bias() : nullptr;
    adds_bias_ = bias != nullptr;
    const Tensor* weight = request_.weight ? &*request_.weight : nullptr;
    for (AddedToHead& added : added_) {
      for (std::int64_t query = 0; query < tokens_; ++query) {
        double first = unseen;
        for (std::int64_t key = 0; key < tokens_; ++key) {
          double& one = added.of[at(query, key)];
          if (one == unseen) continue;
          if (bias) {
            const std::int64_t row = added.batch * tokens_;
            one -= static_cast<double>(bias->quickly({request_.query_position(added.batch, query),
                                                      request_.positions[index(row + key)], added.head},
                                                     weight)
                                           .value);
          }
          if (first == unseen) first = one;
          one -= first;
        }
      }
    }
  }

  bool is_flat() const {
    return std::ranges::all_of(added_, [&](const AddedToHead& added) {
      return std::ranges::all_of(added.of, [&](double one) { return one == unseen || std::fabs(one) <= off(one); });
    });
  }

  static std::vector<Counted> counted_ways() {
    const auto position = [](const AttentionCase& request, std::int64_t batch, std::int64_t token) {
      return static_cast<double>(request.positions[index(batch * request.tokens + token)]);
    };
    return {{"from key to key", [](const AttentionCase&, std::int64_t, std::int64_t,
                                   std::int64_t key) { return static_cast<double>(key); }},
            {"with each position of the key", [position](const AttentionCase& request, std::int64_t batch, std::int64_t,
                                                         std::int64_t key) { return position(request, batch, key); }},
            {"with each token between query and key",
             [](const AttentionCase&, std::int64_t, std::int64_t query, std::int64_t key) {
               return static_cast<double>(std::abs(query - key));
             }},
            {"with each position between query and key",
             [position](const AttentionCase& request, std::int64_t batch, std::int64_t query, std::int64_t key) {
               return std::fabs(position(request, batch, query) - position(request, batch, key));
             }}};
  }

  // How much a head's scores rise with each of what is counted, where they all do.
  std::optional<double> slope(const AddedToHead& added, const Counted& counted) const {
    double steps = 0;
    double risen = 0;
    const auto each = [&](auto take) {
      for (std::int64_t query = 0; query < tokens_; ++query) {
        std::optional<double> first;
        for (std::int64_t key = 0; key < tokens_; ++key) {
          const double one = added.of[at(query, key)];
          if (one == unseen) continue;
          const double count = counted.of(request_, added.batch, query, key);
          if (!first) first = count;
          take(count - *first, one);
        }
      }
    };
    each([&](double count, double one) {
      if (std::fabs(count) <= std::fabs(steps)) return;
      steps = count;
      risen = one;
    });
    if (steps == 0) return std::nullopt;
    const double unrounded = risen / steps;
    if (std::fabs(risen) <= off(risen)) return 0;
    const double half = off(risen) / std::fabs(steps);
    const double size = std::fabs(unrounded);
    const double slope = std::copysign(roundest_in({std::max(size - half, size / 2), size + half}).value, unrounded);
    bool all = true;
    each([&](double count, double one) { all = all && std::fabs(one - slope * count) <= 2 * off(one); });
    return all ? std::optional(slope) : std::nullopt;
  }

  std::optional<OtherAttention> linear(const Counted& counted) const {
    std::vector<double> slopes(index(claimed_.num_heads), 0);
    for (const AddedToHead& added : added_) {
      const auto one = slope(added, counted);
      // What some heads alone have is another rule of heads.
      if (!one || *one == 0) return std::nullopt;
      double& of_head = slopes[index(added.head)];
      if (added.batch > 0 && std::fabs(*one - of_head) > off(*one)) return std::nullopt;
      if (added.batch == 0) of_head = *one;
    }
    const auto seen = std::span(slopes).first(index(added_.back().head + 1));
    const bool are_alike = std::ranges::all_of(seen, [&](double one) { return one == seen.front(); });
    if (are_alike) std::ranges::fill(slopes, seen.front());
    std::vector<double> sizes;
    for (const double one : seen) sizes.push_back(std::fabs(one));
    if (are_alike) sizes.resize(1);
    const bool rise = std::ranges::all_of(seen, [](double one) { return one >= 0; });
    if (!rise && !std::ranges::all_of(seen, [](double one) { return one <= 0; })) return std::nullopt;
    OtherAttention other =
        named(fmt::format("scores {} by {:.6g}{} {}, {}", rise ? "rise" : "fall", fmt::join(sizes, ", "),
                          are_alike ? "" : fmt::format(" of heads 0 to {}", seen.size() - 1), counted.step,
                          adds_bias_ ? "besides what the claim adds" : "where the claim adds nothing to them"));
    other.stage = DiagnosedStage::position;
    other.scores = [slopes, of = counted.of](const ScoresOfQuery& row) {
      for (std::int64_t key = row.keys.first; key < row.keys.end; ++key)
        row.scores[index(key - row.keys.first)] +=
            slopes[index(row.place.head)] * of(row.request, row.place.batch, row.place.token, key);
    };
    return other;
  }

  struct Block {
    std::int64_t first_query = 0;
    std::int64_t last_query = 0;
    std::int64_t first_key = 0;
    std::int64_t last_key = 0;
    bool is_before = false;  // of keys before the query alone
    double added = 0;

    bool has(std::int64_t query, std::int64_t key) const {
      return query >= first_query && query <= last_query && key >= first_key && key <= last_key &&
             (!is_before || key < query);
    }
  };

  // One number that is added to the scores of a block of queries and keys, the same in every head that is read.
  std::optional<OtherAttention> block() const {
    const std::vector<double>& first = added_.front().of;
    Block found;
    std::vector<std::int64_t> queries;
    std::vector<std::int64_t> keys;
    std::vector<double> values;
    bool has_earlier_alone = true;
    for (std::int64_t query = 0; query < tokens_; ++query) {
      for (std::int64_t key = 0; key < tokens_; ++key) {
        const double one = first[at(query, key)];
        if (one == unseen || std::fabs(one) <= off(one)) continue;
        queries.push_back(query);
        keys.push_back(key);
        values.push_back(one);
        has_earlier_alone = has_earlier_alone && key < query;
      }
    }
    if (values.empty()) return std::nullopt;
    found.first_query = std::ranges::min(queries);
    found.last_query = std::ranges::max(queries);
    found.first_key = std::ranges::min(keys);
    found.last_key = std::ranges::max(keys);
    found.is_before = has_earlier_alone && found.last_key >= found.first_query;
    const double size = std::fabs(values.front());
    found.added = std::copysign(roundest_in({size - off(size) / 2, size + off(size) / 2}).value, values.front());
    for (const AddedToHead& added : added_) {
      for (std::int64_t query = 0; query < tokens_; ++query) {
        for (std::int64_t key = 0; key < tokens_; ++key) {
          const double one = added.of[at(query, key)];
          if (one == unseen) continue;
          if (std::fabs(one - (found.has(query, key) ? found.added : 0)) > 2 * off(one)) return std::nullopt;
        }
      }
    }
    // The first query of a block is told where earlier ones see its keys.
    bool is_told = false;
    for (std::int64_t query = 0; query < found.first_query; ++query) {
      for (std::int64_t key = found.first_key; key <= found.last_key; ++key)
        is_told = is_told || (first[at(query, key)] != unseen && (!found.is_before || key < query));
    }
    const auto span = [&](std::int64_t from, std::int64_t to) {
      return to + 1 == tokens_ ? fmt::format("from {} on", from)
             : from == to      ? fmt::format("{}", from)
                               : fmt::format("{} to {}", from, to);
    };
    OtherAttention other =
        named(fmt::format("of {} tokens scores of keys {}{} are {:.6g} too {} beside the other keys'{}", tokens_,
                          span(found.first_key, found.last_key), found.is_before ? " before the query" : "",
                          std::fabs(found.added), found.added > 0 ? "high" : "low",
                          is_told ? fmt::format(", for queries {}", span(found.first_query, found.last_query)) : ""));
    other.scores = [found](const ScoresOfQuery& row) {
      for (std::int64_t key = row.keys.first; key < row.keys.end; ++key)
        if (found.has(row.place.token, key)) row.scores[index(key - row.keys.first)] += found.added;
    };
    return other;
  }

  OtherAttention named(std::string words) const {
    OtherAttention other{.words = std::move(words), .weights = ScoresToWeights::of_scores};
    if (claimed_.logit_softcap)
      other.score = [cap = *claimed_.logit_softcap](double product, double bias) {
        return cap * std::tanh(product / cap) + bias;
      };
    return other;
  }

  const Spec& claim_;
  const Attention& claimed_;
  const AttentionCase& request_;
  std::int64_t tokens_;
  std::vector<AddedToHead> added_;
  bool adds_bias_ = false;
};

}  // namespace

std::vector<OtherAttention> fitted_scores(Session& session, const Spec& claim, const AttentionCase& request,
                                          std::int64_t most_heads) {
  const auto& claimed = *held<Attention>(claim);
  const bool is_whole = !request.is_step() && request.starts.empty() && request.ends.empty();
  if (!is_whole || claimed.sinks || claimed.query_scale) return {};
  return AddedScores(session, claim, request, most_heads).made();
}

}  // namespace sextant::identify
