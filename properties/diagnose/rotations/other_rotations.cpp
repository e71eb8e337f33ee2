#include "properties/diagnose/rotations/other_rotations.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/diagnose/rotations/other_formulas.hpp"
#include "properties/diagnose/rotations/other_norms.hpp"
#include "properties/diagnose/rotations/other_positions.hpp"
#include "properties/diagnose/rotations/other_rows.hpp"
#include "properties/diagnose/rotations/other_sequences.hpp"
#include "properties/identify/rotations/other_grids.hpp"
#include "properties/identify/rotations/other_lengths.hpp"
#include "properties/identify/rotations/taken_vectors.hpp"

namespace sextant::identify {
namespace {

// Large vectors: of drawn ones few channels are beyond what results may be limited to.
CallPlaces call_of_vectors_times(double times, const Spec& claim) {
  const std::int64_t axes = axes_of(claim.encoding);
  CallPlaces places{.batches = 1, .heads = 4, .positions = {}, .times = times};
  for (std::int64_t axis = 0; axis < axes; ++axis) places.positions.insert(places.positions.end(), {1, 2, 3, 5, 8, 13});
  return places;
}

std::optional<DiagnosedDifference> worded(std::string words) {
  if (words.empty()) return std::nullopt;
  return DiagnosedDifference{std::move(words), "", DiagnosedStage::other};
}

}  // namespace

VectorReading own_reading(const Spec& claim) {
  return {"", DiagnosedStage::other,
          [claim](const VectorInCall& vector) { return std::optional(as_claimed(claim, vector)); }};
}

std::vector<VectorReading> other_readings(const Spec& claim) {
  std::vector<VectorReading> list;
  if (rope_of(claim) == nullptr) return list;
  for (auto* readings :
       {&other_lengths, &other_positions, &other_rows, &other_sequences, &other_formulas, &other_grids, &other_norms})
    std::ranges::move((*readings)(claim), std::back_inserter(list));
  return list;
}

std::optional<DiagnosedDifference> other_rotation(const Subject& subject, const Spec& claim, const Spec* named,
                                                  const std::vector<Question>& failing) {
  if (rope_of(claim) == nullptr || model_of(claim)->not_judged()) return std::nullopt;
  const auto session = subject.open(claim);
  AskedVectors asked(*session, claim);
  for (auto* calls : {&calls_about_extents, &calls_about_rows, &calls_about_lengths, &calls_about_grids}) {
    for (const CallPlaces& places : (*calls)(claim)) asked.ask(places);
  }
  asked.ask(call_of_vectors_times(1024, claim));
  // Where a mean of squares is near an epsilon, or far below it.
  if (is_of<QkNormRope>(claim)) {
    for (const double times : {0x1p-7, 0x1p-10, 0x1p-14}) asked.ask(call_of_vectors_times(times, claim));
  }
  const auto model = model_of(claim);
  for (const Question& question : failing) {
    // Other vectors may be of every magnitude, of which a reading says nothing.
    if (question.fill < whole_numbers) asked.ask_alone(*subject.open(claim), model->accuracy_call(question));
  }
  const bool is_named = named != nullptr && named->accuracy == claim.accuracy && rope_of(*named) != nullptr;
  if (is_named && asked.find_wrong(own_reading(*named)) == 0) return std::nullopt;
  const VectorReading own = own_reading(claim);
  if (asked.find_wrong(own) == 0) return std::nullopt;
  if (const auto limit = asked.often_greatest()) {
    const auto reading = limited_results(claim, *limit);
    if (reading && asked.are_explained(*reading)) return DiagnosedDifference{reading->words, "", reading->stage};
  }
  for (const VectorReading& reading : other_readings(claim)) {
    if (asked.are_explained(reading)) return DiagnosedDifference{reading.words, "", reading.stage};
  }
  if (const auto reading = sequence_of_long_calls(asked, *session, claim))
    return DiagnosedDifference{reading->words, "", reading->stage};
  if (std::string words = rows_by_extents(asked, claim); !words.empty())
    return DiagnosedDifference{std::move(words), "", DiagnosedStage::position};
  return worded(wrong_by_comparison(asked, own, ComparedWith::extents));
}

std::optional<DiagnosedDifference> wrong_block(const Subject& subject, const Spec& claim) {
  if (rope_of(claim) == nullptr || model_of(claim)->not_judged()) return std::nullopt;
  const auto session = subject.open(claim);
  AskedVectors asked(*session, claim);
  for (const CallPlaces& places : calls_about_extents(claim)) asked.ask(places);
  const VectorReading own = own_reading(claim);
  if (asked.find_wrong(own) == 0) return std::nullopt;
  return worded(wrong_by_comparison(asked, own, ComparedWith::block));
}

}  // namespace sextant::identify
