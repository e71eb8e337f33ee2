#include "properties/identify/rotations/taken_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "lib/numeric/ulp.hpp"
#include "lib/spec/of.hpp"

namespace sextant::identify {
namespace {

// So many vectors of a call are looked at, spread over it, and those beside the borders of blocks.
constexpr std::int64_t most_spread = 24;
// Blocks that begin so are those that hold the vectors before number 1017, or 2034, one of each size from 16 to 1024.
constexpr std::int64_t block_borders[] = {32,   64,   128,  256,  512,  768,  896,  960, 992,
                                          1008, 1024, 1536, 1792, 1920, 1984, 2016, 2032};
constexpr std::int64_t token_borders[] = {32, 64, 128, 256, 512, 1024};

std::set<std::int64_t> chosen_of(std::int64_t vectors, std::int64_t vectors_of_token) {
  std::set<std::int64_t> chosen;
  const std::int64_t count = std::min(vectors, most_spread);
  for (std::int64_t i = 0; i < count; ++i) chosen.insert(count == 1 ? 0 : i * (vectors - 1) / (count - 1));
  for (const std::int64_t border : block_borders) {
    for (const std::int64_t vector : {border - 1, border})
      if (vector < vectors) chosen.insert(vector);
  }
  for (const std::int64_t border : token_borders) {
    for (const std::int64_t token : {border - 1, border})
      if (token * vectors_of_token < vectors) chosen.insert(token * vectors_of_token);
  }
  return chosen;
}

// The vector of number `index`, in this shape.
Tensor vector_at(const Tensor& all, std::int64_t index) {
  const std::int64_t width = all.shape.back();
  Tensor one = Tensor::zeros(all.dtype, {1, 1, 1, width});
  const auto bytes = static_cast<std::ptrdiff_t>(one.data.size());
  std::copy_n(all.data.begin() + index * bytes, bytes, one.data.begin());
  return one;
}

// Twice over, as queries and keys of one head are.
Tensor doubled(const Tensor& one) {
  Tensor both = Tensor::zeros(one.dtype, {1, 1, 2, one.shape.back()});
  std::ranges::copy(one.data, both.data.begin());
  std::ranges::copy(one.data, both.data.begin() + static_cast<std::ptrdiff_t>(one.data.size()));
  return both;
}

Tensor both_rows(const Tensor& row) {
  Tensor both = Tensor::zeros(row.dtype, {2, row.elements()});
  std::ranges::copy(row.data, both.data.begin());
  std::ranges::copy(row.data, both.data.begin() + static_cast<std::ptrdiff_t>(row.data.size()));
  return both;
}

// An answer y is off by its bound b(y), and t y by t b(y) <= 2 b(t y), as the bounds of a binade are twice those of the
// one below. That t y is written in the format adds b(t y) at most.
constexpr double bounds_of_rounded_again = 3;

}  // namespace

Tensor weight_row(const Tensor& weights, std::int64_t row) {
  const auto bytes = static_cast<std::ptrdiff_t>(weights.data.size()) / weights.shape[0];
  Tensor one = Tensor::zeros(weights.dtype, {weights.shape[1]});
  std::copy_n(weights.data.begin() + row * bytes, bytes, one.data.begin());
  return one;
}

std::int64_t VectorInCall::coordinate(std::int64_t axis, std::int64_t of_batch, std::int64_t of_token) const {
  return call.positions[static_cast<std::size_t>((axis * batches + of_batch) * tokens + of_token)];
}

std::vector<std::int64_t> VectorInCall::place() const {
  std::vector<std::int64_t> coordinates;
  for (std::int64_t axis = 0; axis < axes; ++axis) coordinates.push_back(coordinate(axis, batch, token));
  return coordinates;
}

std::int64_t VectorInCall::row_length(std::int64_t of_batch) const {
  std::int64_t length = 0;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    for (std::int64_t at = 0; at < tokens; ++at) length = std::max(length, coordinate(axis, of_batch, at) + 1);
  }
  return length;
}

std::int64_t VectorInCall::call_length() const { return std::ranges::max(call.positions) + 1; }

std::vector<double> VectorInCall::values(std::int64_t of_number) const {
  const Tensor& x = call.vectors[side == VectorSide::key ? 1 : 0];
  std::vector<double> channels(static_cast<std::size_t>(x.shape.back()));
  x.read(of_number * std::ssize(channels), channels);
  return channels;
}

AskedVectors::AskedVectors(Session& session, const Spec& claim)
    : session_(session), claim_(claim), model_(model_of(claim)) {}

void AskedVectors::ask(const CallPlaces& places) {
  const std::int64_t axes = axes_of(claim_.encoding);
  const std::int64_t tokens = std::ssize(places.positions) / axes / places.batches;
  const gen::PositionRange range = model_->range();
  if (tokens == 0 || !std::ranges::all_of(places.positions, [&](std::int64_t position) {
        return position >= range.first && position < range.last;
      }))
    return;
  Call call = model_->call_of({.position = range.first,
                               .tokens = tokens,
                               .batch = places.batches,
                               .heads = places.heads,
                               .fill = 7 + std::ssize(answers_)});
  call.positions = places.positions;
  if (places.times != 1) {
    for (Tensor& x : call.vectors) {
      for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, x.at(i) * places.times);
    }
  }
  Tensor answer = model_->ask(session_, call);
  add(std::move(call), std::move(answer), 0);
}

void AskedVectors::ask_alone(Session& session, Call call) {
  Tensor answer = model_->ask(session, call);
  add(std::move(call), std::move(answer), answers_.size());
}

void AskedVectors::add(Call call, Tensor answer, std::size_t first) {
  const std::vector<std::int64_t> shape = call.vectors.front().shape;
  const std::int64_t heads = shape[2];
  const std::int64_t key_heads = call.vectors.size() > 1 ? call.vectors[1].shape[2] : 0;
  const std::int64_t vectors = shape[0] * shape[1] * (heads + key_heads);
  if (answer.elements() != vectors * shape.back()) return;
  for (const std::int64_t vector : chosen_of(vectors, heads + key_heads)) looked_.push_back({answers_.size(), vector});
  answers_.push_back({std::move(call), std::move(answer), shape[0], shape[1], heads, key_heads, first});
}

void AskedVectors::take(Call call, Tensor answer, const std::vector<std::int64_t>& vectors) {
  const std::vector<std::int64_t> shape = call.vectors.front().shape;
  const std::int64_t key_heads = call.vectors.size() > 1 ? call.vectors[1].shape[2] : 0;
  for (const std::int64_t vector : vectors) looked_.push_back({answers_.size(), vector});
  answers_.push_back({std::move(call), std::move(answer), shape[0], shape[1], shape[2], key_heads, 0});
}

VectorInCall AskedVectors::vector_of(const Looked& one) const {
  const Answered& of = answers_[one.answer];
  const std::int64_t together = of.heads + of.key_heads;
  const std::int64_t token = one.vector / together;
  const std::int64_t head = one.vector % together;
  const bool is_key = head >= of.heads;
  return {.call = of.call,
          .first_call = answers_[of.first].call,
          .axes = axes_of(claim_.encoding),
          .batches = of.batches,
          .tokens = of.tokens,
          .heads = is_key ? of.key_heads : of.heads,
          .query_heads = of.heads,
          .side = of.key_heads == 0 ? VectorSide::only
                  : is_key          ? VectorSide::key
                                    : VectorSide::query,
          .batch = token / of.tokens,
          .token = token % of.tokens,
          .head = is_key ? head - of.heads : head};
}

AskedVectors::Judged* AskedVectors::judge_of(const Spec& spec) {
  const auto [kept, is_new] = judges_.try_emplace(to_json(spec));
  Judged& judged = kept->second;
  if (is_new) {
    try {
      validate(spec);
    } catch (const SpecError&) {
      return nullptr;
    }
    judged.model = model_of(spec);
    if (!judged.model->not_judged()) judged.judge = judged.model->judge();
  }
  return judged.judge ? &judged : nullptr;
}

bool AskedVectors::is_explained(const Looked& one, const TakenVector& taken, double bounds) {
  const Answered& of = answers_[one.answer];
  const VectorInCall vector = vector_of(one);
  Tensor x = vector_at(of.call.vectors[vector.side == VectorSide::key ? 1 : 0], vector.number());
  Tensor got = vector_at(of.answer, one.vector);
  if (taken.is_as_given) return x.data == got.data;
  Judged* judged = judge_of(taken.spec);
  if (judged == nullptr) return false;
  const Tensor answered = got;
  for (std::size_t i = 0; i < taken.written.size(); ++i)
    got.set(static_cast<std::int64_t>(i), answered.at(taken.written[i]));
  for (std::size_t i = 0; i < taken.times.size(); ++i) {
    const auto channel = static_cast<std::int64_t>(i);
    got.set(channel, got.at(channel) * taken.times[i]);
  }
  for (std::size_t i = 0; i < taken.plus.size(); ++i) {
    const auto channel = static_cast<std::int64_t>(i);
    got.set(channel, got.at(channel) + taken.plus[i]);
  }
  for (const auto& [channel, number] : taken.passed) {
    if (!(std::fabs(answered.at(channel) - number) <= ulp(got.dtype, std::fabs(number)))) return false;
    got.set(channel, x.at(channel));
  }
  for (std::size_t i = 0; i < taken.given.size(); ++i) x.set(static_cast<std::int64_t>(i), taken.given[i]);
  Call part{.positions = taken.place, .vectors = {x}, .fill = of.call.fill};
  if (is_of<QkNormRope>(taken.spec)) {
    part.vectors.push_back(x);
    part.weight =
        both_rows(taken.weight ? *taken.weight : weight_row(*of.call.weight, vector.side == VectorSide::key ? 1 : 0));
    got = doubled(got);
  }
  const Judgement judgement = judged->judge->values(part, got);
  if (judgement.within == reference::Certainty::yes) return true;
  return bounds > 1 && judgement.deviation.of_bound <= bounds;
}

std::int64_t AskedVectors::find_wrong(const VectorReading& own) {
  std::int64_t wrong = 0;
  for (Looked& one : looked_) {
    const auto taken = own.taken(vector_of(one));
    one.is_wrong = taken && !is_explained(one, *taken, 1);
    one.is_far_wrong = one.is_wrong && !is_explained(one, *taken, bounds_of_rounded_again);
    wrong += one.is_wrong ? 1 : 0;
  }
  // What is wrong refutes most readings at once.
  std::ranges::stable_sort(looked_, [](const Looked& a, const Looked& b) { return a.is_wrong && !b.is_wrong; });
  return wrong;
}

bool AskedVectors::are_explained(const VectorReading& reading) {
  bool explains_wrong = false;
  for (const Looked& one : looked_) {
    const auto taken = reading.taken(vector_of(one));
    if (!taken) continue;
    const bool is_rounded_again = !taken->times.empty() || !taken->plus.empty();
    if (!is_explained(one, *taken, is_rounded_again ? bounds_of_rounded_again : 1)) return false;
    explains_wrong = explains_wrong || (is_rounded_again ? one.is_far_wrong : one.is_wrong);
  }
  return explains_wrong;
}

bool AskedVectors::are_explained(const VectorReading& reading,
                                 const std::function<bool(const VectorInCall& vector)>& counts) {
  return are_explained({"", DiagnosedStage::other, [&](const VectorInCall& vector) -> std::optional<TakenVector> {
                          return counts(vector) ? reading.taken(vector) : std::nullopt;
                        }});
}

bool AskedVectors::are_any_wrong(const std::function<bool(const VectorInCall& vector)>& counts) const {
  return std::ranges::any_of(looked_, [&](const Looked& one) { return one.is_wrong && counts(vector_of(one)); });
}

std::optional<std::int64_t> AskedVectors::fewest_tokens_of_wrong() const {
  std::optional<std::int64_t> fewest;
  for (const Looked& one : looked_) {
    const std::int64_t tokens = answers_[one.answer].tokens;
    if (one.is_wrong && (!fewest || tokens < *fewest)) fewest = tokens;
  }
  return fewest;
}

std::optional<double> AskedVectors::often_greatest() const {
  constexpr int fewest = 4;
  double greatest = 0;
  int count = 0;
  for (const Looked& one : looked_) {
    const Tensor answered = vector_at(answers_[one.answer].answer, one.vector);
    for (std::int64_t i = 0; i < answered.elements(); ++i) {
      const double value = std::fabs(answered.at(i));
      count = value > greatest ? 1 : count + (value == greatest ? 1 : 0);
      greatest = std::max(greatest, value);
    }
  }
  return count >= fewest && std::isfinite(greatest) ? std::optional(greatest) : std::nullopt;
}

bool AskedVectors::are_wrong_where(const std::function<bool(const VectorInCall& vector)>& holds) const {
  bool is_any_right = false;
  for (const Looked& one : looked_) {
    const VectorInCall vector = vector_of(one);
    const bool is_at_0 = std::ranges::all_of(vector.place(), [](std::int64_t p) { return p == 0; });
    if (is_at_0 && !one.is_wrong) continue;
    if (one.is_wrong != holds(vector)) return false;
    is_any_right = is_any_right || !one.is_wrong;
  }
  return is_any_right;
}

}  // namespace sextant::identify
