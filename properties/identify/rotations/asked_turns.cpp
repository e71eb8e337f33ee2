#include "properties/identify/rotations/asked_turns.hpp"

#include <cmath>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/rotations/other_lengths.hpp"
#include "properties/model/ordinary_vectors.hpp"
#include "reference/rope_nd.hpp"
#include "reference/rope_scaling.hpp"

namespace sextant::identify {

AskedTurns::AskedTurns(Session& session, const Spec& spec) : session_(session), spec_(spec), model_(model_of(spec)) {
  const auto* nd = held<RopeNd>(spec_);
  const auto* normed = held<QkNormRope>(spec_);
  const bool is_other = held<Rope>(spec_) == nullptr && nd == nullptr && normed == nullptr;
  if (is_other || (nd != nullptr && nd->coordinates != Coordinates::index) ||
      (normed != nullptr && normed->weight_offset != 0)) {
    is_known_ = false;
    return;
  }
  rope_ = *rope_of(spec_);
  sense_ = rope_.direction == Direction::clockwise ? -1 : 1;
  // Of rules that look at a length, as they are in short calls.
  constexpr std::int64_t length = 1;
  if (nd != nullptr) {
    reference::RopeNdReference truth(*nd);
    for (std::int64_t pair = 0; pair < pairs(rope_); ++pair)
      radians_.push_back(truth.radians(pair, length, reference::first_precision).upper());
    factor_ = truth.attention_factor(length, reference::first_precision).upper();
    return;
  }
  reference::RopeFrequencies truth(rope_);
  for (std::int64_t pair = 0; pair < pairs(rope_); ++pair)
    radians_.push_back(truth.radians(pair, length, reference::first_precision).upper());
  factor_ = truth.attention_factor(length, reference::first_precision).upper();
}

Rows AskedTurns::turned(const std::vector<std::int64_t>& positions, const std::vector<PairValues>& vectors) {
  Rows rows = asked(positions, vectors);
  // Six questions are asked of a place: of one call in five, each of them is asked alone at some place.
  constexpr int calls_for_one_alone = 5;
  if (calls_++ % calls_for_one_alone != 0) return rows;
  const Rows alone = asked({positions.front()}, vectors);
  for (std::size_t i = 0; i < rows.front().size(); ++i) {
    are_alike_ =
        are_alike_ && rows.front()[i].sin == alone.front()[i].sin && rows.front()[i].cos == alone.front()[i].cos;
  }
  return rows;
}

Rows AskedTurns::asked(const std::vector<std::int64_t>& positions, const std::vector<PairValues>& vectors) {
  const std::int64_t width = rope_.head_dim;
  const auto tokens = static_cast<std::int64_t>(positions.size());
  Call call = model_->call_of({.position = model_->range().first, .tokens = tokens, .heads = 4, .fill = 1});
  call.positions.clear();
  for (std::int64_t axis = 0; axis < axes_of(spec_.encoding); ++axis)
    call.positions.insert(call.positions.end(), positions.begin(), positions.end());
  std::vector<double> channels(static_cast<std::size_t>(width), 0);
  for (std::int64_t pair = 0; pair < count(); ++pair) {
    const Channels at = channels_of_pair(rope_, rope_.pairing, pair);
    channels[static_cast<std::size_t>(at.first)] = vectors[static_cast<std::size_t>(pair)].cos;
    channels[static_cast<std::size_t>(at.second)] = vectors[static_cast<std::size_t>(pair)].sin;
  }
  const bool is_normed = is_of<QkNormRope>(spec_);
  for (Tensor& x : call.vectors) {
    for (std::int64_t i = 0; i < x.elements(); ++i)
      x.set(i, is_normed ? 1 : channels[static_cast<std::size_t>(i % width)]);
  }
  if (is_normed) {
    for (std::int64_t i = 0; i < call.weight->elements(); ++i)
      call.weight->set(i, channels[static_cast<std::size_t>(i % width)]);
  }
  const Tensor y = model_->ask(session_, call);
  const std::int64_t heads = y.elements() / tokens / width;
  Rows rows;
  for (std::int64_t token = 0; token < tokens; ++token) {
    auto& row = rows.emplace_back();
    const std::int64_t start = token * heads * width;
    for (std::int64_t i = width; i < heads * width; ++i)
      are_alike_ = are_alike_ && y.at(start + i) == y.at(start + i % width);
    for (std::int64_t pair = 0; pair < count(); ++pair) {
      const Channels at = channels_of_pair(rope_, rope_.output_pairing, pair);
      row.push_back({.sin = y.at(start + at.second), .cos = y.at(start + at.first)});
    }
  }
  return rows;
}

std::optional<bool> AskedTurns::are_heads_rounded() {
  const auto* normed = held<QkNormRope>(spec_);
  if (normed == nullptr || range().first > 0) return std::nullopt;
  const std::int64_t width = rope_.head_dim;
  Call call = model_->call_of({.position = 0, .fill = 1});
  double squares = 0;
  const std::vector<PairValues> drawn = ordinary_vectors(width, spec_.dtype);
  for (Tensor& x : call.vectors) {
    for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, drawn[static_cast<std::size_t>(i % width)].cos);
  }
  for (const PairValues& one : drawn) squares += one.cos * one.cos;
  for (std::int64_t i = 0; i < call.weight->elements(); ++i)
    call.weight->set(i, drawn[static_cast<std::size_t>(i % width)].sin);
  const double norm = std::sqrt(squares / static_cast<double>(width) + normed->epsilon);
  const Tensor y = model_->ask(session_, call);
  std::int64_t of_rounded = 0;
  std::int64_t of_exact = 0;
  for (std::int64_t pair = 0; pair < count(); ++pair) {
    const Channels from = channels_of_pair(rope_, rope_.pairing, pair);
    const Channels to = channels_of_pair(rope_, rope_.output_pairing, pair);
    for (const auto& [channel, written] : {std::pair(from.first, to.first), std::pair(from.second, to.second)}) {
      const PairValues& one = drawn[static_cast<std::size_t>(channel)];
      const double head = one.cos / norm;
      const double rounded = round_to(spec_.dtype, round_to(spec_.dtype, head) * one.sin * factor_);
      const double exact = round_to(spec_.dtype, head * one.sin * factor_);
      if (rounded == exact) continue;
      of_rounded += y.at(written) == rounded ? 1 : 0;
      of_exact += y.at(written) == exact ? 1 : 0;
    }
  }
  // A mean of squares in float32 turns few of them over.
  constexpr std::int64_t fewest = 6;
  if (of_rounded >= fewest && of_rounded > 8 * of_exact) return true;
  if (of_exact >= fewest && of_exact > 8 * of_rounded) return false;
  return std::nullopt;
}

}  // namespace sextant::identify
