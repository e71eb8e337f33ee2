#include "properties/diagnose/rearranged_answers.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lib/spec/operation.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// Of a code one batch row and one head.
struct CallExtents {
  std::int64_t batches;
  std::int64_t tokens;
  std::int64_t heads;
};

struct AnsweredPlace {
  std::int64_t batch;
  std::int64_t token;
  std::int64_t head;
};

// Where the vector stands that belongs to a place.
struct OtherOrder {
  std::string words;
  std::function<AnsweredPlace(const AnsweredPlace& place, const CallExtents& extents)> taken_from;
};

std::vector<OtherOrder> orders_tried(bool turns) {
  std::vector<OtherOrder> list{{"the tokens of a call come back in reverse order",
                                [](const AnsweredPlace& at, const CallExtents& all) {
                                  return AnsweredPlace{at.batch, all.tokens - 1 - at.token, at.head};
                                }},
                               {"each token has the answer of the one before it, the first that of the last",
                                [](const AnsweredPlace& at, const CallExtents& all) {
                                  return AnsweredPlace{at.batch, (at.token + 1) % all.tokens, at.head};
                                }},
                               {"each token has the answer of the one after it, the last that of the first",
                                [](const AnsweredPlace& at, const CallExtents& all) {
                                  return AnsweredPlace{at.batch, (at.token + all.tokens - 1) % all.tokens, at.head};
                                }}};
  if (!turns) return list;
  list.push_back(
      {"the heads of a token come back in reverse order", [](const AnsweredPlace& at, const CallExtents& all) {
         return AnsweredPlace{at.batch, at.token, all.heads - 1 - at.head};
       }});
  list.push_back({"each head has the answer of the one before it, the first that of the last",
                  [](const AnsweredPlace& at, const CallExtents& all) {
                    return AnsweredPlace{at.batch, at.token, (at.head + 1) % all.heads};
                  }});
  list.push_back(
      {"the rows of a batch come back in reverse order", [](const AnsweredPlace& at, const CallExtents& all) {
         return AnsweredPlace{all.batches - 1 - at.batch, at.token, at.head};
       }});
  list.push_back({"answers are laid out as [batch, heads, tokens, head_dim], not as [batch, tokens, heads, head_dim]",
                  [](const AnsweredPlace& at, const CallExtents& all) {
                    const std::int64_t vector = at.head * all.tokens + at.token;
                    return AnsweredPlace{at.batch, vector / all.heads, vector % all.heads};
                  }});
  return list;
}

Tensor in_order(const OtherOrder& order, const CallExtents& extents, const Tensor& answer) {
  Tensor made = answer;
  const std::int64_t vectors = extents.batches * extents.tokens * extents.heads;
  const std::size_t bytes = answer.data.size() / static_cast<std::size_t>(vectors);
  for (std::int64_t vector = 0; vector < vectors; ++vector) {
    const std::int64_t token = vector / extents.heads;
    const AnsweredPlace from =
        order.taken_from({token / extents.tokens, token % extents.tokens, vector % extents.heads}, extents);
    const std::int64_t taken = (from.batch * extents.tokens + from.token) * extents.heads + from.head;
    std::memcpy(made.data.data() + static_cast<std::size_t>(vector) * bytes,
                answer.data.data() + static_cast<std::size_t>(taken) * bytes, bytes);
  }
  return made;
}

}  // namespace

std::optional<DiagnosedDifference> rearranged_answers(const Subject& subject, const Spec& claim) {
  const Operation operation = operation_of(claim.encoding);
  if (operation != Operation::encode && operation != Operation::rotate) return std::nullopt;
  const auto model = model_of(claim);
  const gen::PositionRange range = model->range();
  if (model->not_judged() || range.last - range.first < 8) return std::nullopt;
  const bool turns = operation == Operation::rotate;
  constexpr std::size_t tokens_asked = 5;
  const CallExtents extents = turns ? CallExtents{2, tokens_asked, 3} : CallExtents{1, tokens_asked, 1};
  const auto session = subject.open(claim);
  const auto judge = model->judge();
  std::vector<Call> calls;
  std::vector<Tensor> answers;
  bool are_right = true;
  for (const std::int64_t position : {range.first + 1, std::max(range.first + 1, range.last - 6)}) {
    Call call = model->call_of(
        {.position = position, .tokens = extents.tokens, .batch = extents.batches, .heads = extents.heads, .fill = 7});
    // In no order, so that no other positions have the same answers in reverse.
    constexpr std::array places{2, 0, 3, 1, 4};
    const std::vector<std::int64_t> given = call.positions;
    for (std::size_t i = 0; i < given.size(); ++i)
      call.positions[i] =
          given[i / places.size() * places.size() + static_cast<std::size_t>(places[i % places.size()])];
    answers.push_back(model->ask(*session, call));
    are_right = are_right && judge->values(call, answers.back()).within == reference::Certainty::yes;
    calls.push_back(std::move(call));
  }
  if (are_right) return std::nullopt;
  for (const OtherOrder& order : orders_tried(turns)) {
    bool holds = true;
    for (std::size_t i = 0; i < calls.size() && holds; ++i)
      holds = judge->values(calls[i], in_order(order, extents, answers[i])).within == reference::Certainty::yes;
    if (holds) return DiagnosedDifference{order.words, "", DiagnosedStage::other};
  }
  // Fractions of one whole position may have one code, which is another defect.
  if (position_grid_of(claim.encoding).step != 1) return std::nullopt;
  struct AlikePosition {
    const char* words;
    std::int64_t (*taken)(std::span<const std::int64_t> row, std::size_t place);
  };
  constexpr AlikePosition alike_positions[] = {
      {"every token of a call has the position of the last",
       [](std::span<const std::int64_t> row, std::size_t) { return row.back(); }},
      {"every token of a call has the position of the first",
       [](std::span<const std::int64_t> row, std::size_t) { return row.front(); }},
      {"every token of a call has the position of the last, counted on from its own",
       [](std::span<const std::int64_t> row, std::size_t place) {
         return row[place] + std::ssize(row) - 1 - static_cast<std::int64_t>(place);
       }},
  };
  for (const AlikePosition& alike : alike_positions) {
    bool holds = true;
    for (std::size_t i = 0; i < calls.size() && holds; ++i) {
      Call other = calls[i];
      for (std::size_t at = 0; at < other.positions.size(); ++at) {
        const std::size_t place = at % tokens_asked;
        other.positions[at] = alike.taken(std::span(calls[i].positions).subspan(at - place, tokens_asked), place);
        holds = holds && other.positions[at] <= range.last;
      }
      holds = holds && judge->values(other, answers[i]).within == reference::Certainty::yes;
    }
    if (holds) return DiagnosedDifference{alike.words, "", DiagnosedStage::position};
  }
  return std::nullopt;
}

}  // namespace sextant::identify
