#include "properties/model/models.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "properties/model/attention_part.hpp"
#include "properties/model/questions.hpp"

namespace sextant {

std::unique_ptr<EncodingModel> model_of(const Spec& spec) {
  return std::visit([&](const auto& encoding) { return make_model(spec, encoding); }, spec.encoding);
}

std::vector<FieldOf<Question>> EncodingModel::question_fields() const { return sextant::question_fields(spec_); }

bool EncodingModel::admits(const Question& question) const {
  return std::ranges::all_of(
             question_fields(),
             [&](const FieldOf<Question>& field) { return field.range.holds(question.*field.member); }) &&
         related(question) && fits(question);
}

// Extents that the operation lacks count as 1. What every law draws fits however wide a head is: 17 tokens, 3 rows, 8
// heads at most.
bool EncodingModel::fits(const Question& question) const {
  const gen::LargestCall largest = largest_asked();
  return std::min(question.batch, largest.extents.batch) * std::min(question.heads, largest.extents.heads) *
             question.tokens <=
         std::max<std::int64_t>(largest.vectors, 17 * 3 * 8);
}

std::int64_t EncodingModel::longest_drawn_row() const {
  const gen::LargestCall largest = largest_drawn();
  return std::min(largest.vectors, largest.extents.tokens);
}

std::vector<Question> EncodingModel::first_questions() const { return sextant::first_questions(spec_); }

std::unique_ptr<TurningOracle> EncodingModel::turning() const { return nullptr; }
std::unique_ptr<ScoreBiasOracle> EncodingModel::score_bias() const { return nullptr; }

std::int64_t EncodingModel::most_tokens_from(std::int64_t position) const {
  return axes_of(spec_.encoding) > 1 ? longest_call : range().last - position;
}

// As every other law draws them, so that a seed's questions are the same.
rc::Gen<Question> EncodingModel::drawn_questions() const { return questions().drawn(spec_); }

namespace {

bool agree_bit_for_bit(const Parts& calls, const Tensor& whole, const Tensor& part) {
  // A table's rows may have each value twice, which the calls do not know.
  const bool is_wider = part.shape.size() == 2 && part.shape[1] > calls.together;
  const std::int64_t copies = is_wider ? part.shape[1] / calls.together : 1;
  const std::size_t width = size_of(part.dtype) * static_cast<std::size_t>(copies);
  const std::size_t bytes = static_cast<std::size_t>(calls.together) * width;
  const std::int64_t elements = part.elements() / copies;
  for (std::int64_t i = 0; i < elements; i += calls.together) {
    const std::int64_t there = calls.in_whole(i);
    if (there >= 0 && std::memcmp(part.data.data() + static_cast<std::size_t>(i) * width,
                                  whole.data.data() + static_cast<std::size_t>(there) * width, bytes) != 0)
      return false;
  }
  return true;
}

}  // namespace

Judgement judge_question(Session& session, const EncodingModel& model, Judge& judge, const Question& question) {
  const Call call = model.accuracy_call(question);
  return judge.values(call, model.ask(session, call));
}

namespace {

// "a call of [1, 65537, 3, 128]".
std::string extents_of(const Call& call) {
  if (!call.vectors.empty()) return fmt::format("a call of [{}]", fmt::join(call.vectors[0].shape, ", "));
  if (call.query_positions.empty()) return fmt::format("a call of {} positions", call.positions.size());
  const std::size_t queries = call.query_positions.size();
  const std::size_t keys = call.positions.size();
  return fmt::format("a call of {} {} and {} {}", queries, queries == 1 ? "query" : "queries", keys,
                     keys == 1 ? "key" : "keys");
}

}  // namespace

std::int64_t EncodingModel::trained_end() const {
  const std::optional<std::int64_t> end = spec_.trained_positions ? spec_.trained_positions : trained_by_fields();
  const gen::PositionRange claimed = range();
  return std::clamp(end.value_or(claimed.last), claimed.first + 1, claimed.last);
}

Judgement judge_parts(Session& session, const EncodingModel& model, Judge& judge, const Parts& calls) {
  const Tensor whole = model.ask(session, calls.whole);
  const Tensor part = model.ask(session, calls.part);
  if (!agree_bit_for_bit(calls, whole, part)) {
    Judgement judgement = judge.agreement(calls, whole, part);
    if (judgement.within == reference::Certainty::no)
      judgement.finding += fmt::format("; {}, then {}", extents_of(calls.whole), extents_of(calls.part));
    return judgement;
  }
  Judgement judgement;
  judgement.add_exact(std::nullopt, [] { return "the same in both calls"; });
  judgement.informative = 1;
  return judgement;
}

}  // namespace sextant
