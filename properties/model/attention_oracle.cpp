#include "properties/model/attention_oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "lib/numeric/ulp.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/attention_budget.hpp"
#include "properties/model/attention_scores.hpp"
#include "properties/model/family.hpp"
#include "properties/model/row_agreement.hpp"
#include "reference/rope.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Enclosure;
using reference::Precision;
using reference::RealPair;
using reference::RealVector;

// Rows whose truths are compared where theory says that they differ.
constexpr std::int64_t compared_rows = 3;
// Once a violation is known, of so many more rows the bound is formed in the search for a worse one.
constexpr std::int64_t rows_after_violation = 64;

}  // namespace

VectorPlace place_of(const AttentionCase& request, std::int64_t batch, std::int64_t token, Role role) {
  return place_of(request, batch, token, role, reference::sequence_length(std::span(request.positions)));
}

VectorPlace place_of(const AttentionCase& request, std::int64_t batch, std::int64_t token, Role role,
                     std::int64_t length) {
  VectorPlace place{{}, length, role};
  for (std::int64_t at = batch * request.tokens + token; at < std::ssize(request.positions);
       at += request.batch * request.tokens) {
    place.coordinates.push_back(request.positions[static_cast<std::size_t>(at)]);
  }
  return place;
}

AttentionCase attention_case(const Spec& spec, const Question& question) {
  const auto& encoding = std::get<Attention>(spec.encoding);
  const std::int64_t tokens = std::min(question.tokens, longest_attention);
  const std::int64_t batch = std::min(question.batch, most_rows);
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
  shape_scores(request, AttentionArithmetic(spec), question.fill);
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

RealVector AttentionOracle::row(const AttentionCase& request, std::int64_t batch, std::int64_t head, std::int64_t token,
                                Precision precision) {
  const std::int64_t kv = kv_head(encoding_, head);
  const auto position = [&](std::int64_t t) {
    return request.positions[static_cast<std::size_t>(batch * request.tokens + t)];
  };
  const Vector query = turned(request.q, (batch * encoding_.num_heads + head) * request.tokens + token,
                              place_of(request, batch, token, Role::query), precision);
  std::vector<RealVector> rotated_keys;
  std::vector<RealVector> values;
  std::vector<Enclosure> biases;
  for (std::int64_t t = 0; t < request.tokens; ++t) {
    const std::int64_t row = (batch * encoding_.num_kv_heads + kv) * request.tokens + t;
    rotated_keys.push_back(turned(request.k, row, place_of(request, batch, t, Role::key), precision).value);
    RealVector value;
    for (std::int64_t c = 0; c < encoding_.head_dim; ++c)
      value.emplace_back(request.v.at(row * encoding_.head_dim + c), precision);
    values.push_back(std::move(value));
    biases.push_back(bias_at({.query = position(token), .key = position(t), .head = head},
                             request.weight ? &*request.weight : nullptr, precision)
                         .value);
  }
  return reference::attend(encoding_,
                           {token, query.value, rotated_keys, values,
                            bias_ ? std::span<const Enclosure>(biases) : std::span<const Enclosure>()},
                           precision);
}

ScoreTerm AttentionOracle::bias_at(const BiasPlace& place, const Tensor* weight, Precision precision) {
  return bias_ ? bias_->at(place, weight, precision) : ScoreTerm{Enclosure(std::int64_t{0}, precision), 0};
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

std::unique_ptr<QuickAttention> AttentionOracle::quick(const AttentionCase& request) {
  return quick_attention(spec_, request, turning_.get(), bias_.get());
}

namespace {

// Says of a row of two answers that it agrees, or that its bound must tell.
bool certainly_agree(std::span<const double> a, std::span<const double> b, double bound) {
  bool agree = true;
  // Not (difference > bound), so that a NaN does not agree.
  for (std::size_t c = 0; c < a.size(); ++c) agree = agree && std::fabs(a[c] - b[c]) <= bound;
  return agree;
}

// Whether the truths of two rows lie so close that right answers may be within both bounds of each other.
bool may_hide_difference(const AttentionArithmetic& arithmetic, const QuickAttentionRow& one,
                         const QuickAttentionRow& other) {
  for (std::size_t c = 0; c < one.value.size(); ++c) {
    const auto difference = static_cast<double>(std::fabs(one.value[c] - other.value[c]));
    const double size = static_cast<double>(std::max(std::fabs(one.value[c]), std::fabs(other.value[c])));
    const double bound = value_bound(arithmetic, one.bounds[c], size) + value_bound(arithmetic, other.bounds[c], size);
    if (difference > (2 * bound + one.errors[c] + other.errors[c]) * (1 + 1e-9)) return false;
  }
  return true;
}

}  // namespace

Judgement judge_same(const Spec& spec, AttentionOracle& oracle, const AttentionCase& one_case, const Tensor& one,
                     const AttentionCase& other_case, const Tensor& other, std::int64_t fill,
                     const std::function<AttentionPlace(const AttentionPlace&)>& in_other) {
  using reference::Certainty;
  const auto& encoding = std::get<Attention>(spec.encoding);
  const AttentionArithmetic arithmetic(spec);
  const std::int64_t width = encoding.head_dim;
  const std::int64_t rows = one.elements() / width;
  const std::int64_t step = std::max<std::int64_t>(1, rows / compared_rows);
  const auto one_rows = oracle.quick(one_case);
  const auto other_rows = oracle.quick(other_case);
  std::vector<double> a(static_cast<std::size_t>(width));
  std::vector<double> b(a.size());
  std::int64_t opened = 0;
  Judgement judgement;
  judgement.may_hide = true;
  for (std::int64_t row = 0; row < rows; ++row) {
    const AttentionPlace here{row / one_case.tokens / encoding.num_heads, row % one_case.tokens};
    const AttentionPlace there = in_other(here);
    const std::int64_t head = row / one_case.tokens % encoding.num_heads;
    const std::int64_t other_row = (there.batch * encoding.num_heads + head) * other_case.tokens + there.token;
    const AttentionPlaceOfHead in_one{here.batch, head, here.token};
    const AttentionPlaceOfHead in_the_other{there.batch, head, there.token};
    one.read(row * width, a);
    other.read(other_row * width, b);
    const bool is_same = certainly_agree(a, b, 0);
    if (row % step == fill % step) {
      const QuickAttentionRow in_one_row = one_rows->row(in_one);
      const QuickAttentionRow in_other_row = other_rows->row(in_the_other);
      judgement.may_hide = judgement.may_hide && may_hide_difference(arithmetic, in_one_row, in_other_row);
      const bool is_anything = !is_same && in_one_row.is_anything && in_other_row.is_anything;
      ++(is_anything ? judgement.uninformative : judgement.informative);
    }
    if (is_same) continue;
    const double limit = agreement_limit(judgement);
    if (certainly_agree(a, b, limit * (one_rows->least_bound(in_one) + other_rows->least_bound(in_the_other))))
      continue;
    if (judgement.within == Certainty::no && ++opened > rows_after_violation) break;
    const std::vector<double> bounds_in_one = one_rows->row(in_one).bounds;
    const std::vector<double> bounds_in_other = other_rows->row(in_the_other).bounds;
    for (std::size_t c = 0; c < a.size(); ++c) {
      const auto place = [&] {
        return fmt::format("batch row {}, head {}, token {}, channel {}", there.batch, head, there.token, c);
      };
      if (!std::isfinite(a[c]) || !std::isfinite(b[c])) {
        judgement.add(Certainty::no, not_finite(), [&] { return place() + ": NaN or infinite"; });
        continue;
      }
      // The truth is no larger than either answer and its bound.
      const double of_one = bounds_in_one[c];
      const double of_other = bounds_in_other[c];
      const double bound = value_bound(arithmetic, of_one, std::fabs(a[c]) + of_one) +
                           value_bound(arithmetic, of_other, std::fabs(b[c]) + of_other);
      const double error = std::fabs(a[c] - b[c]);
      const Deviation deviation{error / bound, error, error / ulp(spec.dtype, a[c])};
      judgement.add(error <= bound ? Certainty::yes : Certainty::no, deviation, [&] {
        const bool is_here = here.batch == there.batch && here.token == there.token;
        return fmt::format("{}: {} in one call, {} in the other{}: {:.3g} times the bound", place(),
                           value_text(spec.dtype, b[c]), value_text(spec.dtype, a[c]),
                           is_here ? "" : fmt::format(" (batch row {}, token {})", here.batch, here.token),
                           deviation.of_bound);
      });
    }
  }
  if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return "the same in both calls"; });
  return judgement;
}

namespace {

// Tokens of a tensor [batch, heads, tokens, width]: of batch rows [first_row, first_row + batch) those that `from`
// numbers.
Tensor taken(const Tensor& tensor, std::int64_t first_row, std::int64_t batch, const std::vector<std::int64_t>& from) {
  Tensor result = Tensor::zeros(tensor.dtype, {batch, tensor.shape[1], std::ssize(from), tensor.shape[3]});
  const std::size_t bytes = static_cast<std::size_t>(tensor.shape[3]) * size_of(tensor.dtype);
  std::byte* to = result.data.data();
  for (std::int64_t line = first_row * tensor.shape[1]; line < (first_row + batch) * tensor.shape[1]; ++line) {
    for (const std::int64_t token : from) {
      std::memcpy(to, tensor.data.data() + static_cast<std::size_t>(line * tensor.shape[2] + token) * bytes, bytes);
      to += bytes;
    }
  }
  return result;
}

AttentionCase taken(const AttentionCase& request, std::int64_t first_row, std::int64_t batch,
                    const std::vector<std::int64_t>& from) {
  AttentionCase part{taken(request.q, first_row, batch, from),
                     taken(request.k, first_row, batch, from),
                     taken(request.v, first_row, batch, from),
                     {},
                     request.weight,
                     batch,
                     std::ssize(from)};
  const std::int64_t axes = std::ssize(request.positions) / request.batch / request.tokens;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    for (std::int64_t row = first_row; row < first_row + batch; ++row) {
      for (const std::int64_t token : from) {
        part.positions.push_back(
            request.positions[static_cast<std::size_t>((axis * request.batch + row) * request.tokens + token)]);
      }
    }
  }
  return part;
}

}  // namespace

std::int64_t longest_tokens(const Attention& encoding, double work) {
  const auto heads = static_cast<double>(encoding.num_heads);
  const double square = std::min(work / (heads * static_cast<double>(encoding.head_dim)), most_scores / heads);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::sqrt(square)), 1, longest_attention);
}

AttentionCase first_tokens(const AttentionCase& request, std::int64_t tokens) {
  return taken(request, 0, request.batch, gen::consecutive(0, tokens));
}

AttentionCase batch_row(const AttentionCase& request, std::int64_t batch) { return batch_rows(request, batch, 1); }

AttentionCase batch_rows(const AttentionCase& request, std::int64_t first, std::int64_t count) {
  return taken(request, first, count, gen::consecutive(0, request.tokens));
}

AttentionCase in_order(const AttentionCase& request, const std::vector<std::int64_t>& order) {
  return taken(request, 0, request.batch, order);
}

}  // namespace sextant
