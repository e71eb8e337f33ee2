#include "properties/model/attention_oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/numeric/ulp.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/family.hpp"
#include "reference/rope.hpp"
#include "subjects/operations.hpp"

// What attention may be off by, in arithmetic of roundoff u: docs/proofs/attention-oracle.md. With A the error of a
// score (steps 1 to 4), D the head_dim, n the number of keys and gamma_k = k u/(1 - k u), the result is within (step 6)
//   max|v| (e^(2 A + 4 u) (1 + gamma_(2n+4)) - 1) + k ulp(max|v|), and never more than 2 max|v| + k ulp(max|v|).

namespace sextant {
namespace {

using reference::Enclosure;
using reference::Precision;
using reference::RealPair;
using reference::RealVector;

constexpr std::int64_t compared_rows = 3;  // the bound of each costs about a millisecond a key

double gamma(double k, double u) { return k * u < 0.5 ? k * u / (1 - k * u) : 1e9; }

double roundoff_of(const Spec& spec) { return unit_roundoff(spec.dtype); }

VectorPlace place_of(const AttentionCase& request, std::int64_t batch, std::int64_t token, Role role) {
  VectorPlace place{{}, reference::sequence_length(std::span(request.positions)), role};
  for (std::int64_t at = batch * request.tokens + token; at < std::ssize(request.positions);
       at += request.batch * request.tokens) {
    place.coordinates.push_back(request.positions[static_cast<std::size_t>(at)]);
  }
  return place;
}

}  // namespace

AttentionCase attention_case(const Spec& spec, const Question& question) {
  const auto& encoding = std::get<Attention>(spec.encoding);
  const std::int64_t tokens = std::min<std::int64_t>(question.tokens, 9);
  const std::int64_t batch = std::min<std::int64_t>(question.batch, 2);
  const auto drawn = [&](std::int64_t heads, std::int64_t which) {
    return gen::values(spec.dtype, {batch, heads, tokens, encoding.head_dim}, 4 * question.fill + which);
  };
  AttentionCase request{drawn(encoding.num_heads, 1),
                        drawn(encoding.num_kv_heads, 2),
                        drawn(encoding.num_kv_heads, 3),
                        {},
                        {},
                        batch,
                        tokens};
  const gen::PositionRange range{spec.min_position, last_position_of(spec)};
  for (std::int64_t axis = 0; axis < axes_of(spec.encoding); ++axis) {
    // Each axis has a start and a stride of its own: where all distances are equal, one axis could stand for another.
    const std::int64_t first = (question.position - range.first) / (axis + 1);
    for (std::int64_t row = 0; row < batch; ++row) {
      for (std::int64_t token = 0; token < tokens; ++token) {
        request.positions.push_back(range.first + (first + gen::batch_row_distance * row + (axis + 1) * token) %
                                                      (range.last - range.first));
      }
    }
  }
  // Under a causal mask the token at index t sees those up to t: positions must not fall, or the bias would hide keys
  // that the mask shows.
  for (auto row = request.positions.begin(); row != request.positions.end(); row += tokens)
    std::sort(row, row + tokens);
  if (const auto weight = signature_of(encoding).weight)
    request.weight = gen::values(spec.dtype, {weight->rows, encoding.num_heads}, 4 * question.fill + 4);
  return request;
}

Call call_of(AttentionCase request, std::int64_t fill) {
  return {.positions = std::move(request.positions),
          .vectors = {std::move(request.q), std::move(request.k), std::move(request.v)},
          .weight = std::move(request.weight),
          .fill = fill};
}

AttentionCase attention_case(const Call& call) {
  return {call.vectors[0], call.vectors[1],          call.vectors[2],         call.positions,
          call.weight,     call.vectors[0].shape[0], call.vectors[0].shape[2]};
}

Tensor attend(Session& session, const Spec& spec, const AttentionCase& request) {
  return attend(
      session, spec,
      AttendRequest{request.q, request.k, request.v, request.positions, request.weight ? &*request.weight : nullptr});
}

std::unique_ptr<EncodingModel> position_model(const Spec& spec, const Attention& encoding) {
  if (!encoding.position) return nullptr;
  Spec alone = spec;
  std::visit([&](const auto& position) { alone.encoding = position; }, *encoding.position);
  return model_of(alone);
}

AttentionOracle::AttentionOracle(const Spec& spec) : spec_(spec), encoding_(std::get<Attention>(spec.encoding)) {
  if (const auto position = position_model(spec, encoding_)) {
    turning_ = position->turning();
    bias_ = position->score_bias();
  }
}

AttentionOracle::Row AttentionOracle::row(const AttentionCase& request, std::int64_t batch, std::int64_t head,
                                          std::int64_t token, Precision precision) {
  const std::int64_t keys = encoding_.causal ? token + 1 : request.tokens;
  const std::int64_t kv = kv_head(encoding_, head);
  const auto position = [&](std::int64_t t) {
    return request.positions[static_cast<std::size_t>(batch * request.tokens + t)];
  };
  const Vector query = turned(request.q, (batch * encoding_.num_heads + head) * request.tokens + token,
                              place_of(request, batch, token, Role::query), precision);
  const double u = roundoff_of(spec_);
  const auto width = static_cast<double>(encoding_.head_dim);

  std::vector<RealVector> rotated_keys;
  std::vector<RealVector> values;
  std::vector<Enclosure> biases;
  double score_error = 0;
  double largest_score = 0;
  double largest_value = 0;
  for (std::int64_t t = 0; t < request.tokens; ++t) {
    const std::int64_t row = (batch * encoding_.num_kv_heads + kv) * request.tokens + t;
    const Vector key = turned(request.k, row, place_of(request, batch, t, Role::key), precision);
    rotated_keys.push_back(key.value);
    RealVector value;
    for (std::int64_t c = 0; c < encoding_.head_dim; ++c) {
      const double element = request.v.at(row * encoding_.head_dim + c);
      value.emplace_back(element, precision);
      if (t < keys) largest_value = std::max(largest_value, std::fabs(element));
    }
    values.push_back(std::move(value));
    const ScoreTerm bias = bias_ ? bias_->at({.query = position(token), .key = position(t), .head = head},
                                             request.weight ? &*request.weight : nullptr, precision)
                                 : ScoreTerm{Enclosure(std::int64_t{0}, precision), 0};
    biases.push_back(bias.value);
    if (t >= keys) continue;
    double products = 0;
    double rotation = 0;
    for (std::size_t i = 0; i < query.norms.size(); ++i) {
      products += query.norms[i] * key.norms[i];
      rotation += query.errors[i] * key.norms[i] + key.errors[i] * query.norms[i] + query.errors[i] * key.errors[i];
    }
    const double size = abs(bias.value).upper();
    score_error = std::max(score_error, (gamma(width + 4, u) * products + rotation) / std::sqrt(width) + 2 * u * size +
                                            gamma(bias.roundings, u) * size);
    largest_score = std::max(largest_score, products / std::sqrt(width) + size);
  }
  RealVector result = reference::attend(encoding_,
                                        {token, query.value, rotated_keys, values,
                                         bias_ ? std::span<const Enclosure>(biases) : std::span<const Enclosure>()},
                                        precision);
  const double a = score_error + 2 * u * largest_score;
  const double spread = a < 20 ? std::exp(2 * a + 4 * u) * (1 + gamma(2 * static_cast<double>(keys) + 4, u)) - 1 : 2;
  // The few roundings of this estimate are covered by the last factor.
  return {std::move(result),
          (largest_value * std::min(spread, 2.0) + 4 * ulp(spec_.dtype, largest_value)) * (1 + 1e-9)};
}

AttentionOracle::Vector AttentionOracle::turned(const Tensor& tensor, std::int64_t row, const VectorPlace& place,
                                                Precision precision) {
  Vector vector;
  std::vector<bool> in_pair(static_cast<std::size_t>(encoding_.head_dim), false);
  for (std::int64_t c = 0; c < encoding_.head_dim; ++c)
    vector.value.emplace_back(tensor.at(row * encoding_.head_dim + c), precision);
  if (turning_) {
    const Rope& head = turning_->head();
    const RealVector given = vector.value;
    for (const Passthrough& channel : passthrough_channels(head))
      vector.value[static_cast<std::size_t>(channel.output)] = given[static_cast<std::size_t>(channel.input)];
    for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
      const Channels from = channels_of_pair(head, head.pairing, pair);
      const Channels to = channels_of_pair(head, head.output_pairing, pair);
      TurnedPair turned = turning_->turned(
          place, pair, {given[static_cast<std::size_t>(from.first)], given[static_cast<std::size_t>(from.second)]},
          precision);
      vector.value[static_cast<std::size_t>(to.first)] = std::move(turned.value.first);
      vector.value[static_cast<std::size_t>(to.second)] = std::move(turned.value.second);
      vector.norms.push_back(turned.norm.upper());
      vector.errors.push_back(turned.bound.upper());
      in_pair[static_cast<std::size_t>(to.first)] = in_pair[static_cast<std::size_t>(to.second)] = true;
    }
  }
  for (std::size_t c = 0; c < in_pair.size(); ++c) {
    if (in_pair[c]) continue;
    vector.norms.push_back(abs(vector.value[c]).upper());
    vector.errors.push_back(0);
  }
  return vector;
}

Judgement judge_same(const Spec& spec, AttentionOracle& oracle, const AttentionCase& one_case, const Tensor& one,
                     const AttentionCase& other_case, const Tensor& other, std::int64_t fill,
                     const std::function<AttentionPlace(const AttentionPlace&)>& in_other) {
  using reference::Certainty;
  const auto& encoding = std::get<Attention>(spec.encoding);
  const std::int64_t rows = one.elements() / encoding.head_dim;
  const std::int64_t step = std::max<std::int64_t>(1, rows / compared_rows);
  Judgement judgement;
  judgement.may_hide = true;
  for (std::int64_t row = fill % step; row < rows; row += step) {
    const AttentionPlace here{row / one_case.tokens / encoding.num_heads, row % one_case.tokens};
    const AttentionPlace there = in_other(here);
    const std::int64_t head = row / one_case.tokens % encoding.num_heads;
    const std::int64_t other_row = (there.batch * encoding.num_heads + head) * other_case.tokens + there.token;
    const AttentionOracle::Row truth = oracle.row(one_case, here.batch, head, here.token, reference::first_precision);
    const AttentionOracle::Row other_truth =
        oracle.row(other_case, there.batch, head, there.token, reference::first_precision);
    const double bound = truth.bound + other_truth.bound;
    for (std::int64_t c = 0; c < encoding.head_dim; ++c) {
      const auto i = static_cast<std::size_t>(c);
      if (reference::at_most(abs(truth.value[i] - other_truth.value[i]),
                             Enclosure(2 * bound, reference::first_precision)) == Certainty::no)
        judgement.may_hide = false;
      const double a = one.at(row * encoding.head_dim + c);
      const double b = other.at(other_row * encoding.head_dim + c);
      const auto place = [&] {
        return fmt::format("batch row {}, head {}, token {}, channel {}", here.batch, head, here.token, c);
      };
      if (!std::isfinite(a) || !std::isfinite(b)) {
        judgement.add(Certainty::no, not_finite(), [&] { return place() + ": NaN or infinite"; });
        continue;
      }
      const Deviation deviation{std::fabs(a - b) / bound, std::fabs(a - b), std::fabs(a - b) / ulp(spec.dtype, a)};
      judgement.add(std::fabs(a - b) <= bound ? Certainty::yes : Certainty::no, deviation, [&] {
        return fmt::format("{}: {} in the one, {} in the other: {:.3g} times the bound", place(),
                           value_text(spec.dtype, a), value_text(spec.dtype, b), deviation.of_bound);
      });
    }
  }
  return judgement;
}

namespace {

// Elements whose (batch row, token) `keeps` admits, of a tensor [batch, heads, tokens, width].
template <class Keeps>
Tensor kept(const Tensor& tensor, std::int64_t batch, std::int64_t tokens, Keeps keeps) {
  Tensor result = Tensor::zeros(tensor.dtype, {batch, tensor.shape[1], tokens, tensor.shape[3]});
  std::int64_t to = 0;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const std::int64_t row = i / tensor.shape[3];
    if (keeps(row / tensor.shape[2] / tensor.shape[1], row % tensor.shape[2])) result.set(to++, tensor.at(i));
  }
  return result;
}

template <class Keeps>
AttentionCase kept(const AttentionCase& request, std::int64_t batch, std::int64_t tokens, Keeps keeps) {
  AttentionCase part{kept(request.q, batch, tokens, keeps),
                     kept(request.k, batch, tokens, keeps),
                     kept(request.v, batch, tokens, keeps),
                     {},
                     request.weight,
                     batch,
                     tokens};
  for (std::int64_t i = 0; i < std::ssize(request.positions); ++i) {
    if (keeps(i / request.tokens % request.batch, i % request.tokens))
      part.positions.push_back(request.positions[static_cast<std::size_t>(i)]);
  }
  return part;
}

}  // namespace

AttentionCase first_tokens(const AttentionCase& request, std::int64_t tokens) {
  return kept(request, request.batch, tokens, [&](std::int64_t, std::int64_t token) { return token < tokens; });
}

AttentionCase batch_row(const AttentionCase& request, std::int64_t batch) {
  return kept(request, 1, request.tokens, [&](std::int64_t row, std::int64_t) { return row == batch; });
}

}  // namespace sextant
