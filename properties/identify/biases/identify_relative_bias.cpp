#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>

#include "properties/identify/biases/bias_places.hpp"
#include "properties/identify/biases/identify_bias.hpp"
#include "properties/identify/biases/other_buckets.hpp"
#include "properties/identify/fitted_answers.hpp"
#include "properties/identify/round_numbers.hpp"
#include "reference/relative_bias.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

// Keys up to so far on both sides of the query.
constexpr std::int64_t farthest = 2048;
// A 16-bit value tells so many buckets apart.
constexpr std::int64_t digit = 128;

// Of calls of several queries, that positions are not places.
constexpr std::int64_t places_away = 3;

class RelativeBiasIdentifier {
 public:
  RelativeBiasIdentifier(CountedSession& session, const Spec& claim, const RelativeBias& bias)
      : session_(session), claim_(claim), bias_(bias) {}

  Identification run() {
    ask();
    describe_borders();
    if (!name_buckets(1) && name_buckets(-1)) {
      found_.faults.emplace_back("buckets are those of query - key instead of key - query" + where_reversed());
      found_.confidence = Confidence::low;
    }
    if (!found_.spec) take_shift();
    if (!found_.spec && !take_single_query() && !take_first_query() && !take_last_queries()) take_other_buckets();
    if (!found_.spec) tell_buckets();
    take_wrong_places(session_, claim_, found_, odd_buckets());
    found_.calls = session_.calls();
    return std::move(found_);
  }

 private:
  // The bucket of each distance, from a weight whose first column is the bucket's number, low digit first.
  void ask() {
    far_ = std::min(farthest, (claim_.max_position - claim_.min_position - 1) / 2);
    const std::int64_t columns = 1 + (bias_.num_buckets - 1) / digit;
    Tensor weight = Tensor::zeros(claim_.dtype, {bias_.num_buckets, columns});
    for (std::int64_t bucket = 0; bucket < bias_.num_buckets; ++bucket) {
      std::int64_t rest = bucket;
      for (std::int64_t column = 0; column < columns; ++column, rest /= digit)
        weight.set(bucket * columns + column, static_cast<double>(column + 1 < columns ? rest % digit : rest));
    }
    std::vector<std::int64_t> keys;
    for (std::int64_t relative = -far_; relative <= far_; ++relative)
      keys.push_back(claim_.min_position + far_ + relative);
    const Tensor answer = bias(session_, claim_, std::vector{claim_.min_position + far_}, keys, weight);
    const std::int64_t count = std::ssize(keys);
    for (std::int64_t key = 0; key < count; ++key) {
      double bucket = 0;
      for (std::int64_t column = columns; column-- > 0;)
        bucket = bucket * static_cast<double>(digit) + answer.at(column * count + key);
      buckets_.push_back(bucket);
    }
  }

  double bucket_at(std::int64_t relative) const { return buckets_[static_cast<std::size_t>(relative + far_)]; }

  void describe_borders() {
    const auto first_of = [&](double bucket, std::int64_t sign) {
      for (std::int64_t n = 0; n <= far_; ++n) {
        if (bucket_at(sign * n) == bucket) return n;
      }
      return std::int64_t{-1};
    };
    for (const std::int64_t sign : {-1, 1}) {
      const double last = bucket_at(sign * far_);
      found_.seen.push_back(fmt::format(
          "keys {} the query have {} bucket{}: the last one is number {:g}, from distance {} on",
          sign < 0 ? "before" : "after", distinct(sign), distinct(sign) == 1 ? "" : "s", last, first_of(last, sign)));
    }
  }

  std::int64_t distinct(std::int64_t sign) const {
    std::vector<double> seen;
    for (std::int64_t n = 1; n <= far_; ++n) {
      const double bucket = bucket_at(sign * n);
      if (std::ranges::find(seen, bucket) == seen.end()) seen.push_back(bucket);
    }
    return std::ssize(seen);
  }

  bool is_mirrored() const {
    for (std::int64_t n = 1; n <= far_; ++n) {
      if (bucket_at(n) != bucket_at(-n)) return false;
    }
    return true;
  }

  bool is_its(const RelativeBias& tried, std::int64_t sign) const {
    for (std::int64_t n = 0; n <= far_; n += n < 300 ? 1 : 17) {
      for (const std::int64_t relative : {-n, n}) {
        if (bucket_at(sign * relative) != static_cast<double>(reference::bucket(tried, relative))) return false;
      }
    }
    return true;
  }

  // Whether a call of one query, which all of the above are, has no bias at all.
  bool take_single_query() {
    if (far_ < 2) return false;
    Tensor ones = Tensor::zeros(claim_.dtype, {bias_.num_buckets, 1});
    for (std::int64_t bucket = 0; bucket < bias_.num_buckets; ++bucket) ones.set(bucket, 1);
    const std::vector first{claim_.min_position};
    const bool has_none = bias(session_, claim_, first, first, ones).at(0) == 0;
    if (has_none) found_.faults.emplace_back("a call of one query has no bias");
    return has_none;
  }

  // Whether the query of a call, which all of the above have one of, is taken for the first position there is.
  bool take_first_query() {
    for (std::int64_t relative = -far_; relative <= far_; ++relative) {
      if (bucket_at(relative) != static_cast<double>(reference::bucket(bias_, relative + far_))) return false;
    }
    const auto of_places = [](std::int64_t query, std::int64_t key) { return key - query; };
    // Keys at every second position tell their places from their own positions.
    Shape apart = square();
    apart.step = 2;
    const bool are_places = are(square(), of_places) && are(apart, of_places);
    const bool are_right = are_right_of_more_queries();
    if (!are_places && !are_right) return false;
    found_.faults.emplace_back(are_places ? "queries and keys have their places in the call for their positions"
                                          : "the query of a call of one query is taken for the first position",
                               DiagnosedStage::position);
    found_.spec = claim_;
    found_.confidence = Confidence::low;
    return true;
  }

  static std::int64_t claimed_distance(std::int64_t query, std::int64_t key) { return key - query - places_away; }

  bool are_right_of_more_queries() { return are(square(), claimed_distance); }

  // In which calls buckets are reversed, which they are in a call of one query.
  std::string where_reversed() {
    if (!are_right_of_more_queries()) return {};
    if (are(wide(), claimed_distance)) return ", in calls of one query alone";
    return are(wide(), [](std::int64_t query, std::int64_t key) { return -claimed_distance(query, key); })
               ? ", in calls of more keys than queries"
               : ", in some calls of fewer queries than keys";
  }

  // Whether queries, fewer than keys, are taken for the last of these, as in decoding.
  bool take_last_queries() {
    for (std::int64_t relative = -far_; relative <= far_; ++relative) {
      if (bucket_at(relative) != static_cast<double>(reference::bucket(bias_, relative - far_))) return false;
    }
    // Of several queries among more keys; and of as many, which are right.
    const Shape few = wide();
    const auto of_last = [few](std::int64_t query, std::int64_t key) { return key - (few.keys - few.queries + query); };
    if (few.keys < 2 * few.queries + places_away || !are_right_of_more_queries() || !are(few, of_last)) return false;
    found_.faults.emplace_back(
        "queries that are fewer than keys are taken for the keys' last, whatever their positions",
        DiagnosedStage::position);
    found_.spec = claim_;
    found_.confidence = Confidence::low;
    return true;
  }

  // Each bucket's number, as far as a digit goes.
  Tensor numbered_weight() const {
    Tensor weight = Tensor::zeros(claim_.dtype, {bias_.num_buckets, 1});
    for (std::int64_t bucket = 0; bucket < bias_.num_buckets; ++bucket)
      weight.set(bucket, static_cast<double>(bucket % digit));
    return weight;
  }

  struct Shape {
    std::int64_t queries;
    std::int64_t keys;
    std::int64_t first;
    std::int64_t step = 1;
  };
  // Whether queries from position `first` on and keys from 0 on, `step` apart, have the buckets of these distances, by
  // their places.
  bool are(const Shape& shape, const std::function<std::int64_t(std::int64_t query, std::int64_t key)>& relative) {
    std::vector<std::int64_t> queries;
    std::vector<std::int64_t> keys;
    for (std::int64_t i = 0; i < shape.queries; ++i) queries.push_back(claim_.min_position + shape.first + i);
    for (std::int64_t i = 0; i < shape.keys; ++i) keys.push_back(claim_.min_position + i * shape.step);
    const Tensor answer = bias(session_, claim_, queries, keys, numbered_weight());
    for (std::int64_t i = 0; i < answer.elements(); ++i) {
      const std::int64_t bucket = reference::bucket(bias_, relative(i / shape.keys, i % shape.keys));
      if (answer.at(i) != static_cast<double>(bucket % digit)) return false;
    }
    return true;
  }

  // As many queries as keys, from another position on; and fewer.
  Shape square() const { return {side(), side(), places_away}; }
  Shape wide() const { return {std::max<std::int64_t>(side() / 4, 1), side(), places_away}; }
  std::int64_t side() const { return std::min<std::int64_t>(far_, 12); }

  // The claim's buckets, of a distance that is one more or one less.
  void take_shift() {
    for (const std::int64_t shift : {1, -1}) {
      bool is_it = true;
      for (std::int64_t relative = -far_; relative <= far_ && is_it; ++relative)
        is_it = bucket_at(relative) == static_cast<double>(reference::bucket(bias_, relative + shift));
      // Other calls may have the claimed distances.
      if (!is_it || !is_so_of_more_queries(shift)) continue;
      found_.spec = claim_;
      found_.confidence = Confidence::low;
      found_.faults.push_back(
          fmt::format("distances are one off: key - query = d has the bucket of d {} 1", shift > 0 ? '+' : '-'));
    }
  }

  void take_other_buckets() {
    if (is_mirrored()) {
      found_.faults.emplace_back("keys after the query share the buckets of those before");
      return;
    }
    take_odd_distances();
  }

  // Of what a call of one query showed; a count of them is told where it explains other calls too.
  void take_odd_distances() {
    BucketWords odd = words_of_buckets(claim_, bias_, far_, [&](std::int64_t relative) { return bucket_at(relative); });
    if (odd.are == BucketWords::Are::formula) {
      found_.faults.emplace_back(std::move(odd.words));
      found_.confidence = Confidence::low;
    } else {
      count_of_odd_ = std::move(odd.words);
    }
  }

  OddBuckets odd_buckets() const {
    if (count_of_odd_.empty()) return {};
    return {count_of_odd_, [&](std::int64_t relative) -> std::optional<std::int64_t> {
              const bool is_asked = std::abs(relative) <= far_;
              return is_asked ? std::optional(static_cast<std::int64_t>(bucket_at(relative))) : std::nullopt;
            }};
  }

  bool is_so_of_more_queries(std::int64_t shift) {
    const Tensor weight = numbered_weight();
    std::vector<std::int64_t> positions;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(far_, 24); ++i) positions.push_back(claim_.min_position + i);
    const Tensor answer = bias(session_, claim_, positions, positions, weight);
    const std::int64_t count = std::ssize(positions);
    for (std::int64_t i = 0; i < count * count; ++i) {
      const std::int64_t relative = i % count - i / count;
      if (answer.at(i) != static_cast<double>(reference::bucket(bias_, relative + shift) % digit)) return false;
    }
    return true;
  }

  // Of weights that are the head's number in all buckets.
  bool reads_heads_in_reverse() {
    constexpr std::int64_t heads = 4;
    Tensor weight = Tensor::zeros(claim_.dtype, {bias_.num_buckets, heads});
    for (std::int64_t i = 0; i < weight.elements(); ++i) weight.set(i, static_cast<double>(i % heads));
    const std::vector<std::int64_t> first{claim_.min_position};
    const Tensor answer = bias(session_, claim_, first, first, weight);
    for (std::int64_t head = 0; head < heads; ++head) {
      if (answer.at(head) != static_cast<double>(heads - 1 - head)) return false;
    }
    return true;
  }

  // Of buckets that a call of one query has.
  void take_misfit() {
    const bool are_of_more = are_right_of_more_queries();
    if (reads_heads_in_reverse()) {
      found_.faults.emplace_back("heads are read in reverse: head 0 has the last one's weights");
    } else if (is_of_claim() && are_of_more) {
      found_.faults.push_back(misfit("buckets are these, and biases are not their weights as given"));
    } else {
      found_.faults.push_back(misfit(is_of_claim() ? "a query alone has these buckets, and other calls have not"
                                                   : "a query alone has these buckets, and other calls have others, or "
                                                     "biases are not their weights"));
    }
  }

  bool is_of_claim() const { return found_.spec && to_json(*found_.spec) == to_json(claim_); }

  // The distance from which on keys on one side of the query share the last bucket.
  std::int64_t last_begins(std::int64_t side) const {
    const double last = bucket_at(side * far_);
    std::int64_t begins = far_;
    while (begins > 1 && bucket_at(side * (begins - 1)) == last) --begins;
    return begins;
  }

  // The last bucket begins at E (M/E)^((B-E-1)/(B-E)), which tells M, the greatest distance, within a range; or M is
  // beyond what was asked.
  std::vector<std::int64_t> distances(const RelativeBias& tried, std::int64_t sign) const {
    if (tried.buckets == BucketRule::clipped) return {directed_buckets(tried)};
    if (tried.buckets == BucketRule::log) return {tried.max_distance, last_begins(sign)};
    const std::int64_t directed = directed_buckets(tried);
    const std::int64_t exact = directed / 2;
    if (exact < 1 || directed - exact < 2) return {tried.max_distance};
    const std::int64_t begins = last_begins(-sign);
    const auto e = static_cast<double>(exact);
    const double power = static_cast<double>(directed - exact) / static_cast<double>(directed - exact - 1);
    const auto from = [&](std::int64_t n) { return e * std::pow(static_cast<double>(n) / e, power); };
    const Range range{std::floor(from(std::max(begins - 1, exact))), std::ceil(from(begins))};
    std::vector<std::int64_t> list{tried.max_distance};
    if (const auto round = roundest_length_in(range)) list.push_back(round->value);
    for (std::int64_t n = 0; n < 400 && range.low + static_cast<double>(n) <= range.high; ++n)
      list.push_back(static_cast<std::int64_t>(range.low) + n);
    return list;
  }

  bool name_buckets(std::int64_t sign) {
    struct Directions {
      bool bidirectional;
      LaterKeys later;
      BucketRule rule = BucketRule::t5;
    };
    for (const Directions& way :
         {Directions{bias_.bidirectional, bias_.later_keys, bias_.buckets}, Directions{true, LaterKeys::at_zero},
          Directions{false, LaterKeys::at_zero}, Directions{false, LaterKeys::mirrored},
          Directions{true, LaterKeys::at_zero, BucketRule::log},
          Directions{true, LaterKeys::at_zero, BucketRule::clipped}}) {
      RelativeBias tried = bias_;
      tried.bidirectional = way.bidirectional;
      tried.later_keys = way.later;
      tried.buckets = way.rule;
      for (const std::int64_t distance : distances(tried, sign)) {
        tried.max_distance = distance;
        Spec spec = claim_;
        spec.encoding = tried;
        try {
          validate(spec);
        } catch (const SpecError&) {
          continue;
        }
        if (!is_its(tried, sign)) continue;
        found_.spec = spec;
        if (sign < 0) return true;
        const FittedAnswers fitted = fitted_answers(session_, spec);
        found_.of_bound = fitted.of_bound;
        found_.confidence = fitted.hold ? Confidence::high : Confidence::low;
        if (fitted.hold && to_json(spec) == to_json(claim_)) take_odd_distances();
        if (!fitted.hold) take_misfit();
        return true;
      }
    }
    return false;
  }

  void tell_buckets() {
    // Where buckets begin.
    found_.table.push_back(fmt::format("key - query = 0 has bucket {:g}", bucket_at(0)));
    for (const std::int64_t sign : {-1, 1}) {
      for (std::int64_t n = 1; n <= far_; ++n) {
        if (bucket_at(sign * n) == bucket_at(sign * (n - 1))) continue;
        found_.table.push_back(
            fmt::format("from {} {} bucket {:g}", sign * n, sign < 0 ? "down" : "up", bucket_at(sign * n)));
      }
    }
  }

  CountedSession& session_;
  Spec claim_;
  RelativeBias bias_;
  std::int64_t far_ = 0;
  std::vector<double> buckets_;
  std::string count_of_odd_;  // how many distances have another bucket in a call of one query
  Identification found_;
};

}  // namespace

Identification identify_relative_bias(CountedSession& session, const Spec& claim, const RelativeBias& bias) {
  return RelativeBiasIdentifier(session, claim, bias).run();
}

}  // namespace sextant::identify
