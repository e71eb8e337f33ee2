#include "properties/model/rotations.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "properties/gen/values.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/reshaped.hpp"
#include "properties/model/value_judge.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Enclosure;
using reference::Precision;
using reference::RealPair;

// The vectors of a call that the exact tier judges: about a millisecond each.
constexpr std::int64_t judged_vectors = 6;

// Tokens [first, first + count) of vectors of one batch row.
Tensor slice(const Tensor& x, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> shape = x.shape;
  const auto row_bytes = static_cast<std::ptrdiff_t>(x.data.size()) / shape[1];
  shape[1] = count;
  const auto begin = x.data.begin() + first * row_bytes;
  return {x.dtype, std::move(shape), {begin, begin + count * row_bytes}};
}

}  // namespace

Tensor RotationModel::drawn(const gen::Extents& extents, std::int64_t fill) const {
  return gen::values(spec().dtype, {extents.batch, extents.tokens, extents.heads, head_dim_}, fill);
}

std::vector<FieldOf<Question>> RotationModel::question_fields() const {
  std::vector<FieldOf<Question>> fields = sextant::question_fields(spec());
  fields.push_back(order_field());
  return fields;
}

rc::Gen<Question> RotationModel::drawn_questions() const {
  return of_many_shapes(EncodingModel::drawn_questions(), range(),
                        {{most_rows, longest_call, most_heads}, values_of_call / head_dim_});
}

Call RotationModel::call_of(const Question& question) const {
  return {.positions = positions_of(spec(), question, question.batch),
          .vectors = {gen::values(spec().dtype, {question.batch, question.tokens, question.heads, head_dim_},
                                  question.fill + 1)},
          .fill = question.fill};
}

// Coordinates that differ on every axis.
Call RotationModel::accuracy_call(const Question& question) const {
  const auto [first, last] = range();
  const std::int64_t start = question.position - first;
  Call call{.vectors = {drawn({question.batch, question.tokens, question.heads}, question.fill + first_drawing())},
            .fill = question.fill};
  for (std::int64_t axis = 0; axis < axes_of(spec().encoding); ++axis) {
    for (std::int64_t token = 0; token < question.batch * question.tokens; ++token) {
      const std::int64_t step = gen::steps(static_cast<gen::Order>(question.order), token / question.tokens,
                                           token % question.tokens, question.tokens);
      const std::int64_t turned = start / (1 + axis * (1 + question.fill % 3)) + step * (axis + 1) + axis * 6;
      call.positions.push_back(first + turned % (last - first));
    }
  }
  return call;
}

Parts RotationModel::chunk_of(const Chunk& chunk) const {
  const Tensor x = drawn({.batch = 1, .tokens = chunk.length, .heads = 1}, chunk.fill + first_drawing());
  return {.whole = {.positions = positions_of(spec(), chunk, 0, chunk.length), .vectors = {x}},
          .part = {.positions = positions_of(spec(), chunk, chunk.skip, chunk.count),
                   .vectors = {slice(x, chunk.skip, chunk.count)}},
          .in_whole = [offset = chunk.skip * head_dim_](std::int64_t element) { return offset + element; }};
}

Parts RotationModel::one_of(const Question& question, std::int64_t which) const {
  const Tensor x = drawn({question.batch, question.tokens, question.heads}, question.fill + 1);
  const std::int64_t tokens = question.batch * question.tokens;
  const std::vector<std::int64_t> positions = scattered_positions(spec(), question.position, tokens);
  const std::int64_t vector = which % (tokens * question.heads);
  const std::int64_t start = vector * head_dim_;
  Tensor own = Tensor::zeros(spec().dtype, {1, 1, 1, head_dim_});
  for (std::int64_t i = 0; i < head_dim_; ++i) own.set(i, x.at(start + i));
  return {.whole = {.positions = positions, .vectors = {x}},
          .part = {.positions = place_at(positions, tokens, vector / question.heads), .vectors = {std::move(own)}},
          .in_whole = [start](std::int64_t element) { return start + element; }};
}

std::int64_t RotationModel::shapes() const { return 2 + token_shapes; }

gen::LargestCall RotationModel::largest_reshaped() const {
  return {{most_rows, longest_call, most_heads}, std::max<std::int64_t>(2 * values_of_call / head_dim_, 1)};
}

// Rows joined to one, heads from the cut on, and the shapes of tokens.
Parts RotationModel::reshaped(const Question& question, std::int64_t shape, std::int64_t cut) const {
  Call whole = accuracy_call(question);
  const Tensor& x = whole.vectors[0];
  const std::int64_t batch = x.shape[0];
  const std::int64_t tokens = x.shape[1];
  const std::int64_t heads = x.shape[2];
  Call part{.positions = whole.positions, .fill = whole.fill};
  if (shape == 0) {
    part.vectors.push_back({x.dtype, {1, batch * tokens, heads, head_dim_}, x.data});
    return {std::move(whole), std::move(part), [](std::int64_t element) { return element; }};
  }
  const std::int64_t first_head = shape == 1 ? cut_of(heads, cut) : 0;
  const std::vector<std::int64_t> from =
      shape == 1 ? gen::consecutive(0, tokens) : tokens_again(static_cast<TokenShape>(shape - 2), tokens, cut);
  const std::int64_t count = std::ssize(from);
  part.positions = positions_again(whole.positions, tokens, from);
  Tensor again = Tensor::zeros(x.dtype, {batch, count, heads - first_head, head_dim_});
  const std::int64_t width = (heads - first_head) * head_dim_;
  const auto start_in_whole = [=, dim = head_dim_](std::int64_t row, std::int64_t token) {
    return ((row * tokens + token) * heads + first_head) * dim;
  };
  const std::size_t bytes = size_of(x.dtype);
  for (std::int64_t row = 0; row < batch; ++row) {
    for (std::int64_t token = 0; token < count; ++token) {
      std::memcpy(again.data.data() + static_cast<std::size_t>((row * count + token) * width) * bytes,
                  x.data.data() + static_cast<std::size_t>(start_in_whole(row, source_of(from, token, tokens))) * bytes,
                  static_cast<std::size_t>(width) * bytes);
    }
  }
  part.vectors.push_back(std::move(again));
  return {std::move(whole), std::move(part), [=](std::int64_t element) {
            const std::int64_t vector = element / width;
            const std::int64_t own = from[static_cast<std::size_t>(vector % count)];
            return own < 0 ? own : start_in_whole(vector / count, own) + element % width;
          }};
}

Tensor RotationModel::ask(Session& session, const Call& call) const {
  return rotate(session, spec(), call.vectors[0], call.positions);
}

RealPair RotationJudge::pair_of(const Tensor& x, std::int64_t start, std::int64_t pair, Precision precision) const {
  const Channels channels = channels_of_pair(head_, head_.pairing, pair);
  return {Enclosure(x.at(start + channels.first), precision), Enclosure(x.at(start + channels.second), precision)};
}

Judgement RotationJudge::agreement(const Parts& calls, const Tensor& whole, const Tensor& part) {
  Judgement judgement;
  const Tensor& x = calls.part.vectors[0];
  const std::int64_t heads = x.shape[2];
  const std::int64_t tokens = x.shape[0] * x.shape[1];
  for (std::int64_t vector = 0; vector < tokens * heads; ++vector) {
    const std::int64_t start = vector * head_.head_dim;
    if (calls.in_whole(start) < 0) continue;
    const std::vector<std::int64_t> place = place_at(calls.part.positions, tokens, vector / heads);
    const TwoRows rows{whole, calls.in_whole(start), part, start, place};
    const auto agrees = [&](std::int64_t channel) {
      return std::isfinite(rows.in_one(channel)) && rows.in_one(channel) == rows.in_other(channel);
    };
    for (std::int64_t pair = 0; pair < pairs_; ++pair) {
      const Channels channels = channels_of_pair(head_, head_.output_pairing, pair);
      const Channels given = channels_of_pair(head_, head_.pairing, pair);
      const double least = least_bound(place, pair, std::hypot(x.at(start + given.first), x.at(start + given.second)));
      if (certainly_agrees(judgement, rows, channels.first, least) &&
          certainly_agrees(judgement, rows, channels.second, least))
        continue;
      // What is equal needs no oracle.
      if (!(agrees(channels.first) && agrees(channels.second)) &&
          !is_representable(place, pair, pair_of(x, start, pair, reference::first_precision)))
        continue;
      judge_pair(judgement, rows, channels, least, [&](Precision precision) {
        return allowance(place, pair, pair_of(x, start, pair, precision), precision);
      });
    }
    for (const Passthrough& channel : passthrough_) judge_same_value(judgement, rows, channel.output);
    if (judgement.finding.empty())
      judgement.add_exact(std::nullopt, [] { return "no pair whose scale the dtype can represent"; });
  }
  return judgement;
}

Judgement ExactRotationJudge::values(const Call& call, const Tensor& answer) {
  Judgement judgement;
  const Tensor& x = call.vectors[0];
  const std::int64_t heads = x.shape[2];
  const std::int64_t tokens = x.shape[0] * x.shape[1];
  const std::int64_t vectors = tokens * heads;
  const std::int64_t step = std::max<std::int64_t>(1, vectors / judged_vectors);
  for (std::int64_t vector = call.fill % step; vector < vectors; vector += step) {
    const std::int64_t token = vector / heads;
    const std::int64_t start = vector * head().head_dim;
    const std::vector<std::int64_t> place = place_at(call.positions, tokens, token);
    const auto where = [&] {
      return fmt::format("position {}, batch row {}, head {}", fmt::join(place, "/"), token / x.shape[1],
                         vector % heads);
    };
    for (std::int64_t pair = 0; pair < pairs_count(); ++pair) {
      const Channels channels = channels_of_pair(head(), head().pairing, pair);
      const auto expected_at = [&](Precision precision) {
        return expected(place, pair, pair_of(x, start, pair, precision), precision);
      };
      const Expected first = expected_at(reference::first_precision);
      if (!first.representable) continue;
      for (const std::int64_t channel : {channels.first, channels.second}) {
        std::optional<Expected> raised;
        const auto target = [&](Precision precision) -> SizedTarget {
          const Expected& known =
              precision.bits == reference::first_precision.bits ? first : raised.emplace(expected_at(precision));
          return {channel == channels.first ? known.value.first : known.value.second, known.bound, known.norm};
        };
        judge_bounded(judgement, answer.dtype, answer.at(start + channel), target,
                      [&] { return fmt::format("{}, channel {}", where(), channel); });
      }
    }
    for (const Passthrough& channel : passthrough()) {
      const double given = x.at(start + channel.input);
      const double got = answer.at(start + channel.output);
      judgement.add_exact(given == got ? std::nullopt
                                       : std::optional(fmt::format("{}, channel {}, not rotated: {} became {}", where(),
                                                                   channel.output, given, got)),
                          [] { return "equal"; });
    }
  }
  if (judgement.finding.empty())
    judgement.add_exact(std::nullopt, [] { return "no pair whose scale the dtype can represent"; });
  return judgement;
}

}  // namespace sextant
