#include "properties/model/attention_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <vector>

#include "lib/numeric/ulp.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/attention_budget.hpp"
#include "properties/model/attention_oracle.hpp"
#include "reference/rounding.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;

// Products of queries and keys that the fast tier forms for one call, and the rows that it judges at least.
constexpr std::int64_t judged_products = std::int64_t{1} << 23;
constexpr std::int64_t fewest_rows = 24;

// The rows of a call that are judged: all, or of a long call the first and last tokens (the last two in the first and
// last heads and rows of the batch), those on both sides of a power of two from 64 on, where tiles end, and as many
// that `fill` draws, one from each stretch of the call.
std::vector<AttentionPlaceOfHead> judged_rows(const Attention& encoding, const AttentionCase& request,
                                              std::int64_t fill) {
  const std::int64_t queries = request.queries();
  const std::int64_t all = request.batch * encoding.num_heads * queries;
  const std::int64_t most = std::max(fewest_rows, judged_products / (request.tokens * encoding.head_dim));
  std::vector<AttentionPlaceOfHead> rows;
  if (all <= most) {
    for (std::int64_t row = 0; row < all; ++row)
      rows.push_back({row / queries / encoding.num_heads, row / queries % encoding.num_heads, row % queries});
    return rows;
  }
  for (const std::int64_t batch : {std::int64_t{0}, request.batch - 1}) {
    for (const std::int64_t head : {std::int64_t{0}, encoding.num_heads - 1}) {
      for (const std::int64_t token : {std::max<std::int64_t>(queries - 2, 0), queries - 1})
        rows.push_back({batch, head, token});
    }
  }
  std::vector<std::int64_t> tokens{0, queries - 1};
  for (std::int64_t power = 64; power < queries; power *= 2) {
    for (const std::int64_t token : {power - 1, power, power + 1}) tokens.push_back(std::min(token, tokens[1]));
  }
  const std::int64_t drawn = std::max(most - std::ssize(tokens), most / 2);
  for (std::int64_t i = 0; i < drawn; ++i) {
    const std::int64_t first = i * queries / drawn;
    const std::int64_t width = std::max<std::int64_t>((i + 1) * queries / drawn - first, 1);
    tokens.push_back(first + static_cast<std::int64_t>(gen::word(fill, i) >> 1) % width);
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto word = static_cast<std::int64_t>(gen::word(fill + 1, static_cast<std::int64_t>(i)) >> 1);
    rows.push_back({word % request.batch, word / request.batch % encoding.num_heads, tokens[i]});
  }
  // Heads of one group follow each other, so that its keys are turned once; each row is judged once.
  const auto order = [](const AttentionPlaceOfHead& place) { return std::tuple(place.batch, place.head, place.token); };
  std::ranges::sort(rows, {}, order);
  const auto are_one = [&](const auto& one, const auto& other) { return order(one) == order(other); };
  rows.erase(std::unique(rows.begin(), rows.end(), are_one), rows.end());
  return rows;
}

// The last position, on any axis, of a query and the keys that it sees: up to there a sequence must go to have all.
std::int64_t last_position(const AttentionCase& request, const KeyRange& seen, const AttentionPlace& at) {
  std::int64_t last = request.query_position(at.batch, at.token);
  const std::int64_t of_axis = request.batch * request.tokens;
  for (std::int64_t axis = 0; axis * of_axis < std::ssize(request.positions); ++axis) {
    const auto row = request.positions.begin() + axis * of_axis + at.batch * request.tokens;
    last = std::max(last, *std::max_element(row + seen.first, row + seen.end));
  }
  return last;
}

class AttentionJudge final : public Judge {
 public:
  AttentionJudge(const Spec& spec, const Attention& encoding)
      : spec_(spec), encoding_(encoding), arithmetic_(spec), oracle_(spec) {}

  Judgement values(const Call& call, const Tensor& answer) override {
    Judgement judgement;
    const AttentionCase request = attention_case(call);
    const auto quick = oracle_.quick(request);
    for (const AttentionPlaceOfHead& place : judged_rows(encoding_, request, call.fill)) {
      const KeyRange seen = request.seen_by(encoding_, place.batch, place.token);
      if (seen.count() <= 0) continue;
      judgement.place = last_position(request, seen, {place.batch, place.token});
      judge_row(judgement, request, answer, place, quick->row(place));
    }
    return judgement;
  }

  Judgement agreement(const Parts& calls, const Tensor& whole, const Tensor& part) override {
    const AttentionCase in_whole = attention_case(calls.whole);
    const AttentionCase in_part = attention_case(calls.part);
    const auto place_in_whole = [&](const AttentionPlace& place) {
      const std::int64_t row =
          place.batch * encoding_.num_heads * in_part.queries() + place.token;  // of the first head
      const std::int64_t there = calls.in_whole(row * encoding_.head_dim) / encoding_.head_dim;
      return AttentionPlace{there / in_whole.queries() / encoding_.num_heads, there % in_whole.queries()};
    };
    return judge_same(spec_, oracle_, in_part, part, in_whole, whole, calls.part.fill, place_in_whole);
  }

 private:
  void judge_row(Judgement& judgement, const AttentionCase& request, const Tensor& answer,
                 const AttentionPlaceOfHead& at, const QuickAttentionRow& quick) {
    const std::int64_t row = (at.batch * encoding_.num_heads + at.head) * request.queries() + at.token;
    // Of one key alone every score makes the same.
    if (request.seen_by(encoding_, at.batch, at.token).count() + (encoding_.sinks ? 1 : 0) > 1)
      ++(quick.is_anything ? judgement.uninformative : judgement.informative);
    std::optional<reference::RealVector> exact;  // asked only for what the fast tier leaves open
    for (std::int64_t c = 0; c < encoding_.head_dim; ++c) {
      const auto at_channel = static_cast<std::size_t>(c);
      const double value = answer.at(row * encoding_.head_dim + c);
      const auto place = [&] {
        return fmt::format("batch row {}, head {}, token {}, channel {}", at.batch, at.head, at.token, c);
      };
      if (!std::isfinite(value)) {
        judgement.add(Certainty::no, not_finite(),
                      [&] { return fmt::format("{}: {}", place(), not_finite_text(value)); });
        continue;
      }
      const long double expected = quick.value[at_channel];
      auto truth = static_cast<double>(expected);
      auto error = static_cast<double>(std::fabs(static_cast<long double>(value) - expected));
      double bound = value_bound(arithmetic_, quick.bounds[at_channel], std::fabs(truth));
      Certainty within = error + quick.errors[at_channel] <= bound  ? Certainty::yes
                         : error - quick.errors[at_channel] > bound ? Certainty::no
                                                                    : Certainty::unknown;
      if (within == Certainty::unknown) {
        if (!exact) exact = oracle_.row(request, at.batch, at.head, at.token, reference::first_precision);
        const Enclosure& enclosed = (*exact)[at_channel];
        const Enclosure distance = abs(Enclosure(value, reference::first_precision) - enclosed);
        truth = enclosed.upper();
        error = distance.upper();
        bound = value_bound(arithmetic_, quick.bounds[at_channel], std::fabs(truth));
        within = reference::at_most(distance, Enclosure(bound, reference::first_precision));
      }
      const Deviation deviation{bound > 0 ? error / bound : not_finite().of_bound, error,
                                error / ulp(spec_.dtype, truth)};
      judgement.add(within, deviation, [&] {
        return fmt::format("{}: {}", place(), comparison_text(spec_.dtype, value, truth, deviation));
      });
    }
  }

  Spec spec_;
  Attention encoding_;
  AttentionArithmetic arithmetic_;
  AttentionOracle oracle_;
};

}  // namespace

std::unique_ptr<Judge> attention_judge(const Spec& spec, const Attention& encoding) {
  return std::make_unique<AttentionJudge>(spec, encoding);
}

}  // namespace sextant
