#include "properties/diagnose/places/readings_of_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "lib/spec/operation.hpp"
#include "properties/diagnose/rotations/other_rotations.hpp"
#include "properties/identify/rotations/other_lengths.hpp"
#include "properties/identify/rotations/taken_vectors.hpp"
#include "properties/identify/round_numbers.hpp"
#include "reference/rope_scaling.hpp"

namespace sextant::identify {
namespace {

// Readings of which a whole answer is told by name, as another claim: of a place they are told by what changes.
std::vector<VectorReading> other_fields(const Spec& claim) {
  std::vector<VectorReading> list;
  const Rope& own = *rope_of(claim);
  const auto add = [&](std::string words, DiagnosedStage stage, const std::function<void(Rope & rope)>& change) {
    Spec other = with_rope(claim, change);
    if (to_json(other) == to_json(claim)) return;
    list.push_back({std::move(words), stage, [other = std::move(other)](const VectorInCall& vector) {
                      return std::optional(as_claimed(other, vector));
                    }});
  };
  add("the claim's rope_scaling is left out", DiagnosedStage::frequency,
      [](Rope& rope) { rope.rope_scaling = DefaultScaling{}; });
  if (std::get_if<YarnScaling>(&own.rope_scaling) != nullptr) {
    const double factor = reference::RopeFrequencies(own).attention_factor(0, reference::first_precision).upper();
    const auto with_factor = [](double other) {
      return [other](Rope& rope) {
        auto& yarn = std::get<YarnScaling>(rope.rope_scaling);
        yarn.mscale.reset();
        yarn.mscale_all_dim.reset();
        yarn.attention_factor = other;
      };
    };
    add("the attention factor is left out", DiagnosedStage::table, with_factor(1));
    add("the attention factor is applied twice", DiagnosedStage::table, with_factor(factor * factor));
  }
  add("pairs are turned the other way", DiagnosedStage::rotation, [](Rope& rope) {
    rope.direction = rope.direction == Direction::clockwise ? Direction::counterclockwise : Direction::clockwise;
  });
  for (const auto& [pairing, words] :
       {std::pair(Pairing::half, "pairs are halves"), std::pair(Pairing::interleaved, "pairs are neighbours")})
    add(words, DiagnosedStage::rotation,
        [pairing = pairing](Rope& rope) { rope.pairing = rope.output_pairing = pairing; });
  for (const double base : bases_in_use)
    add(fmt::format("the base is {:.10g}, where the claim has {:.10g}", base, own.rope_theta),
        DiagnosedStage::frequency, [base](Rope& rope) { rope.rope_theta = base; });
  return list;
}

bool is_taken_alike(const TakenVector& a, const TakenVector& b) {
  return a.place == b.place && a.is_as_given == b.is_as_given && a.times == b.times && a.plus == b.plus &&
         a.given == b.given && a.written == b.written && to_json(a.spec) == to_json(b.spec);
}

// At position 0 nothing is turned by any frequency.
bool shows_nothing(const TakenVector& a, const TakenVector& b) {
  const auto is_at_0 = [](const TakenVector& one) {
    return std::ranges::all_of(one.place, [](std::int64_t coordinate) { return coordinate == 0; });
  };
  return is_at_0(a) && is_at_0(b);
}

VectorInCall vector_in_call(const VectorJudge& judge, const JudgedVector& vector) {
  const Call& call = judge.answered()[vector.call].call;
  return {.call = call,
          .first_call = call,
          .axes = judge.places_of(vector).axes,
          .batches = vector.batches,
          .tokens = vector.tokens,
          .heads = vector.heads,
          .query_heads = vector.heads,
          .side = VectorSide::only,
          .batch = vector.batch,
          .token = vector.token,
          .head = vector.head};
}

// Some wrong vectors of each call that has any, spread over them.
void take_wrong(AskedVectors& some, const VectorJudge& judge) {
  constexpr std::size_t most_of_call = 6;
  constexpr std::size_t most_calls = 24;
  std::map<std::size_t, std::vector<std::int64_t>> wrong;
  for (const JudgedVector& vector : judge.vectors()) {
    if (vector.is_wrong && vector.is_ordinary)
      wrong[vector.call].push_back((vector.batch * vector.tokens + vector.token) * vector.heads + vector.head);
  }
  const std::size_t step = std::max<std::size_t>(wrong.size() / most_calls, 1);
  std::size_t number = 0;
  for (const auto& [call, vectors] : wrong) {
    if (number++ % step != 0) continue;
    std::vector<std::int64_t> chosen;
    const std::size_t apart = std::max<std::size_t>(vectors.size() / most_of_call, 1);
    for (std::size_t i = 0; i < vectors.size(); i += apart) chosen.push_back(vectors[i]);
    const VectorJudge::Answered& answered = judge.answered()[call];
    some.take(answered.call, answered.answer, chosen);
  }
}

}  // namespace

std::optional<ReadingOfPlace> reading_of_wrong(const Subject& subject, const Spec& claim, const VectorJudge& judge) {
  if (rope_of(claim) == nullptr || operation_of(claim.encoding) != Operation::rotate) return std::nullopt;
  const auto session = subject.open(claim);
  AskedVectors some(*session, claim);
  take_wrong(some, judge);
  const VectorReading own = own_reading(claim);
  // Fewer may be so by chance.
  constexpr std::int64_t enough = 3;
  if (some.find_wrong(own) < enough) return std::nullopt;
  std::vector<VectorReading> readings = other_fields(claim);
  for (VectorReading& reading : other_readings(claim)) readings.push_back(std::move(reading));
  for (VectorReading& reading : readings) {
    if (!some.are_explained(reading)) continue;
    return ReadingOfPlace{reading.words, reading.stage, [own, reading, &judge](const JudgedVector& vector) {
                            const VectorInCall at = vector_in_call(judge, vector);
                            const auto claimed = own.taken(at);
                            const auto other = reading.taken(at);
                            return claimed && other && !is_taken_alike(*claimed, *other) &&
                                   !shows_nothing(*claimed, *other);
                          }};
  }
  return std::nullopt;
}

}  // namespace sextant::identify
