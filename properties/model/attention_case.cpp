#include "properties/model/attention_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/attention_budget.hpp"
#include "properties/model/attention_scores.hpp"
#include "reference/rope.hpp"

namespace sextant {

KeyRange AttentionCase::sequence(std::int64_t row) const {
  const auto at = static_cast<std::size_t>(row);
  return {starts.empty() ? 0 : starts[at], ends.empty() ? tokens : ends[at]};
}

std::int64_t AttentionCase::token_of(std::int64_t row, std::int64_t query) const {
  return is_step() ? sequence(row).end - queries() + query : query;
}

KeyRange AttentionCase::seen_by(const Attention& encoding, std::int64_t row, std::int64_t query) const {
  const std::int64_t token = token_of(row, query);
  const KeyRange all = sequence(row);
  return all.contains(token) ? keys_seen(encoding, token, all) : KeyRange{token, token};
}

bool AttentionCase::is_cached(const Attention& encoding, std::int64_t row, std::int64_t key) const {
  return is_step() && encoding.cached_keys == CachedKeys::rotated && key < token_of(row, 0);
}

std::vector<std::int64_t> AttentionCase::lengths(LengthScope scope) const {
  std::vector<std::int64_t> all = reference::row_lengths(scope, positions, batch);
  if (is_step()) {
    std::ranges::transform(all, reference::row_lengths(scope, query_positions, batch), all.begin(),
                           [](std::int64_t of_keys, std::int64_t of_queries) { return std::max(of_keys, of_queries); });
  }
  return all;
}

std::int64_t AttentionCase::query_position(std::int64_t row, std::int64_t query) const {
  return (is_step() ? query_positions : positions)[static_cast<std::size_t>(row * queries() + query)];
}

VectorPlace place_of(const AttentionCase& request, std::int64_t batch, std::int64_t token, Role role,
                     std::span<const std::int64_t> lengths) {
  VectorPlace place{{}, lengths[static_cast<std::size_t>(batch)], role};
  const bool by_query = role == Role::query && request.is_step();
  const std::vector<std::int64_t>& positions = by_query ? request.query_positions : request.positions;
  const std::int64_t tokens = by_query ? request.queries() : request.tokens;
  for (std::int64_t at = batch * tokens + token; at < std::ssize(positions); at += request.batch * tokens)
    place.coordinates.push_back(positions[static_cast<std::size_t>(at)]);
  return place;
}

AttentionCase attention_case(const Spec& spec, const Question& question) {
  const auto& encoding = std::get<Attention>(spec.encoding);
  const std::int64_t tokens = std::min(question.tokens, longest_cache);
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
  shape_scores(request, spec, question.fill);
  if (encoding.sinks) request.sinks = drawn_sinks(spec, request, question.fill);
  return request;
}

Call call_of(AttentionCase request, std::int64_t fill) {
  return {.positions = std::move(request.positions),
          .query_positions = std::move(request.query_positions),
          .vectors = {std::move(request.q), std::move(request.k), std::move(request.v)},
          .weight = std::move(request.weight),
          .sinks = std::move(request.sinks),
          .starts = std::move(request.starts),
          .ends = std::move(request.ends),
          .fill = fill};
}

AttentionCase attention_case(const Call& call) {
  return {.q = call.vectors[0],
          .k = call.vectors[1],
          .v = call.vectors[2],
          .positions = call.positions,
          .weight = call.weight,
          .batch = call.vectors[0].shape[0],
          .tokens = call.vectors[1].shape[2],
          .sinks = call.sinks,
          .query_positions = call.query_positions,
          .starts = call.starts,
          .ends = call.ends};
}

Tensor attend(Session& session, const Spec& spec, const AttentionCase& request) {
  return attend(session, spec, request_of(request));
}

AttendRequest request_of(const AttentionCase& request) {
  return {.q = request.q,
          .k = request.k,
          .v = request.v,
          .positions = request.positions,
          .weight = request.weight ? &*request.weight : nullptr,
          .sinks = request.sinks ? &*request.sinks : nullptr,
          .query_positions = request.query_positions,
          .starts = request.starts,
          .ends = request.ends};
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
  AttentionCase part{.q = taken(request.q, first_row, batch, from),
                     .k = taken(request.k, first_row, batch, from),
                     .v = taken(request.v, first_row, batch, from),
                     .positions = {},
                     .weight = request.weight,
                     .batch = batch,
                     .tokens = std::ssize(from),
                     .sinks = request.sinks};
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

AttentionCase last_of(const AttentionCase& request, std::int64_t queries) {
  AttentionCase step = request;
  step.q = Tensor::zeros(request.q.dtype, {request.batch, request.q.shape[1], queries, request.q.shape[3]});
  std::vector<double> vector(static_cast<std::size_t>(request.q.shape[3]));
  const std::int64_t axes = std::ssize(request.positions) / request.batch / request.tokens;
  for (std::int64_t line = 0; line < request.batch * request.q.shape[1]; ++line) {
    const std::int64_t first = request.sequence(line / request.q.shape[1]).end - queries;
    for (std::int64_t query = 0; query < queries; ++query) {
      request.q.read((line * request.tokens + first + query) * std::ssize(vector), vector);
      for (std::size_t c = 0; c < vector.size(); ++c)
        step.q.set((line * queries + query) * std::ssize(vector) + static_cast<std::int64_t>(c), vector[c]);
    }
  }
  for (std::int64_t line = 0; line < axes * request.batch; ++line) {
    const auto end = request.positions.begin() + line * request.tokens + request.sequence(line % request.batch).end;
    step.query_positions.insert(step.query_positions.end(), end - queries, end);
  }
  return step;
}

AttentionCase with_padding(AttentionCase request, PaddedSide side, std::int64_t kept, std::int64_t fill, double value) {
  const std::int64_t room = request.tokens - kept;
  const auto drawn = [&](std::int64_t which, std::int64_t most) {
    return static_cast<std::int64_t>(gen::word(fill + 8, which) >> 1) % (most + 1);
  };
  for (std::int64_t row = 0; row < request.batch; ++row) {
    // One row of several has none: not all that is done for padding is done to every row.
    const bool is_full = request.batch > 1 && row == fill % request.batch;
    const std::int64_t left = is_full || side == PaddedSide::right ? 0 : drawn(2 * row, room);
    const std::int64_t right = is_full || side == PaddedSide::left ? 0 : drawn(2 * row + 1, room - left);
    request.starts.push_back(left);
    request.ends.push_back(request.tokens - right);
  }
  for (Tensor* tensor : {&request.k, &request.v}) {
    const std::int64_t width = tensor->shape[3];
    for (std::int64_t row = 0; row < tensor->elements() / width; ++row) {
      if (request.sequence(row / request.tokens / tensor->shape[1]).contains(row % request.tokens)) continue;
      for (std::int64_t c = 0; c < width; ++c) tensor->set(row * width + c, value);
    }
  }
  for (std::int64_t i = 0; i < std::ssize(request.positions); ++i) {
    const std::int64_t line = i / request.tokens;
    const KeyRange sequence = request.sequence(line % request.batch);
    if (sequence.contains(i % request.tokens)) continue;
    const std::int64_t real = line * request.tokens + sequence.first;
    request.positions[static_cast<std::size_t>(i)] = request.positions[static_cast<std::size_t>(real)];
  }
  // Sides without padding are not told.
  if (side == PaddedSide::right) request.starts.clear();
  if (side == PaddedSide::left) request.ends.clear();
  return request;
}

}  // namespace sextant
