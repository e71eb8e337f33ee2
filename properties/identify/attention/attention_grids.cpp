#include "properties/identify/attention/attention_grids.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/attention/asked_attention.hpp"
#include "properties/identify/attention/attention_calls.hpp"
#include "properties/identify/rotations/other_grids.hpp"
#include "properties/model/attention_case.hpp"

namespace sextant::identify {
namespace {

// Each token stands where a reading takes a vector of head 0 to stand.
OtherAttention as_read(const VectorReading& reading, std::int64_t axes) {
  OtherAttention other{.words = reading.words, .stage = reading.stage};
  other.change = [taken = reading.taken, axes](Spec&, AttentionCase& request) {
    Call call;
    call.positions = request.positions;
    for (std::int64_t batch = 0; batch < request.batch; ++batch) {
      for (std::int64_t token = 0; token < request.tokens; ++token) {
        const VectorInCall vector{.call = call,
                                  .first_call = call,
                                  .axes = axes,
                                  .batches = request.batch,
                                  .tokens = request.tokens,
                                  .heads = 1,
                                  .query_heads = 1,
                                  .side = VectorSide::only,
                                  .batch = batch,
                                  .token = token,
                                  .head = 0};
        const auto other_vector = taken(vector);
        if (!other_vector) continue;
        for (std::int64_t axis = 0; axis < axes; ++axis)
          request.positions[index((axis * request.batch + batch) * request.tokens + token)] =
              other_vector->place[index(axis)];
      }
    }
  };
  return other;
}

}  // namespace

std::optional<Fault> attention_grids(Session& session, const Spec& claim) {
  const auto* axial = carried<RopeNd>(*held<Attention>(claim));
  if (axial == nullptr) return std::nullopt;
  Spec rotation = claim;
  rotation.encoding = *axial;
  const std::int64_t axes = axes_of(claim.encoding);
  constexpr std::int64_t most_tokens = 24;
  std::deque<AskedCase> asked;
  double off_of_claim = 0;
  bool is_wrong = false;
  for (const CallPlaces& places : calls_about_grids(rotation)) {
    const std::int64_t tokens = std::ssize(places.positions) / axes / places.batches;
    const bool are_claimed = std::ranges::all_of(places.positions, [&](std::int64_t position) {
      return position >= claim.min_position && position < claim.max_position;
    });
    if (tokens > most_tokens || !are_claimed) continue;
    AttentionCase request = ordinary_case(claim, tokens, places.batches);
    request.positions = places.positions;
    AskedCase one(session, claim, std::move(request), std::numeric_limits<std::int64_t>::max());
    off_of_claim += one.off_of_claim(one.places());
    // Those that refute most readings first.
    if (one.wrong().empty()) {
      asked.push_back(std::move(one));
    } else {
      is_wrong = true;
      asked.push_front(std::move(one));
    }
  }
  if (!is_wrong) return std::nullopt;
  constexpr double nearer_than_claim = 8;
  for (const VectorReading& reading : other_grids(rotation)) {
    const OtherAttention other = as_read(reading, axes);
    double off = 0;
    const bool explains = std::ranges::all_of(asked, [&](const AskedCase& one) {
      const auto of_case = one.off_of(other, one.places());
      off += of_case.value_or(0);
      return of_case.has_value();
    });
    if (explains && nearer_than_claim * off < off_of_claim) return Fault(reading.words, reading.stage);
  }
  return std::nullopt;
}

}  // namespace sextant::identify
