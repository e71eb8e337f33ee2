#include "properties/identify/biases/weight_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "properties/model/attention_part.hpp"
#include "properties/model/biases.hpp"
#include "properties/model/model.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

struct Value {
  double given;
  double seen;

  bool is_right() const { return seen == given; }
};

// One of each binary order that the dtype has, of either sign, in no order.
Tensor of_every_magnitude(Dtype dtype, std::int64_t rows, std::int64_t heads) {
  std::vector<double> magnitudes;
  for (int exponent = -160; exponent < 128; ++exponent) {
    const double value = round_to(dtype, std::ldexp(1.625, exponent));
    if (value > 0 && std::isfinite(value)) magnitudes.push_back(value);
  }
  Tensor weight = Tensor::zeros(dtype, {rows, heads});
  for (std::int64_t i = 0; i < weight.elements(); ++i)
    weight.set(i, (i % 2 == 0 ? 1 : -1) * magnitudes[index(i * 37 % std::ssize(magnitudes))]);
  return weight;
}

std::vector<Value> asked_values(Session& session, const Spec& claim) {
  const auto* relative = held<RelativeBias>(claim);
  const auto* window = held<WindowBias>(claim);
  if (relative == nullptr && window == nullptr) return {};
  const std::int64_t room = claim.max_position - claim.min_position;
  std::vector<std::int64_t> queries{claim.min_position};
  std::vector<std::int64_t> keys;
  for (std::int64_t place = 0; place < room; place += 1 + place / 8) keys.push_back(claim.min_position + place);
  if (keys.back() != queries.back()) queries.push_back(keys.back());
  constexpr std::int64_t heads = 16;
  const Tensor weight =
      of_every_magnitude(claim.dtype, relative != nullptr ? relative->num_buckets : weight_rows(*window), heads);
  const Tensor answer = bias(session, claim, queries, keys, weight);
  const auto truth = model_of(claim)->score_bias();
  std::vector<Value> values;
  for (std::int64_t i = 0; i < answer.elements(); ++i) {
    const std::int64_t query = i / std::ssize(keys) % std::ssize(queries);
    const BiasPlace place{queries[index(query)], keys[index(i % std::ssize(keys))],
                          i / std::ssize(keys) / std::ssize(queries)};
    const QuickScoreTerm term = truth->quickly(place, &weight);
    // At a border either of two rows may be read.
    if (term.error == 0) values.push_back({static_cast<double>(term.value), answer.at(i)});
  }
  return values;
}

}  // namespace

std::string changed_weights(Session& session, const Spec& claim) {
  const std::vector<Value> values = asked_values(session, claim);
  double least_right = std::numeric_limits<double>::infinity();
  double least_wrong = least_right;
  double most_right = 0;
  double most_wrong = 0;
  for (const Value& one : values) {
    double& least = one.is_right() ? least_right : least_wrong;
    double& most = one.is_right() ? most_right : most_wrong;
    least = std::min(least, std::fabs(one.given));
    most = std::max(most, std::fabs(one.given));
  }
  if (most_wrong == 0 || most_right == 0) return {};
  const auto all_wrong = [&](const std::function<bool(const Value&)>& is) {
    return std::ranges::all_of(values, [&](const Value& one) { return one.is_right() || is(one); });
  };
  const bool are_small = most_wrong < least_right;
  if (are_small && all_wrong([](const Value& one) { return one.seen == 0; })) {
    if (most_wrong < std::ldexp(1.0, format_of(claim.dtype).min_exponent)) return "subnormal weights count as 0";
    return fmt::format("weights of {:.4g} and less count as 0, and those from {:.4g} on are right", most_wrong,
                       least_right);
  }
  if (least_wrong > most_right) {
    const double limit = std::fabs(std::ranges::find_if_not(values, &Value::is_right)->seen);
    const bool are_limit = all_wrong([&](const Value& one) { return one.seen == std::copysign(limit, one.given); });
    if (are_limit && std::isinf(limit))
      return fmt::format("weights of {:.4g} and more are infinite, and those up to {:.4g} are right", least_wrong,
                         most_right);
    if (are_limit && limit >= most_right && limit < least_wrong)
      return fmt::format("weights beyond {:.10g} are clipped to it", limit);
  }
  for (const Dtype format : {Dtype::bfloat16, Dtype::float16}) {
    if (std::ranges::all_of(values, [&](const Value& one) { return one.seen == round_to(format, one.given); }))
      return fmt::format("weights are rounded to {}", name_of(format));
  }
  return {};
}

}  // namespace sextant::identify
