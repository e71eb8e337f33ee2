#include "properties/diagnose/places/refused_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/spec/operation.hpp"
#include "lib/spec/position_grid.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// Whether a session of its own refuses what one that answered other calls does.
enum class Refused { by_itself, after_other_calls };

// A number of a question that what is refused may go by.
struct CallExtent {
  std::string_view what;
  std::int64_t Question::*number;
  std::int64_t most;
};

class Refusals {
 public:
  Refusals(const Subject& subject, const Spec& claim)
      : subject_(subject),
        claim_(claim),
        model_(model_of(claim)),
        session_(subject.open(claim)),
        smallest_{.position = gen::simplest_position(model_->range()), .fill = 1} {}

  std::optional<DiagnosedDifference> told() {
    if (!model_->admits(smallest_) || is_refused(smallest_)) return std::nullopt;
    const gen::PositionRange range = model_->range();
    std::vector<CallExtent> extents{{"positions", &Question::position, range.last - 1},
                                    {"calls of {} and more tokens", &Question::tokens, 2048}};
    if (operation_of(claim_.encoding) == Operation::rotate) {
      extents.push_back({"calls of {} and more batch rows", &Question::batch, most_rows});
      extents.push_back({"calls of {} and more heads", &Question::heads, most_heads});
    }
    for (const CallExtent& extent : extents) {
      const auto border = border_of(extent);
      if (!border) continue;
      Question least = smallest_;
      least.*extent.number = *border;
      // A cache that an earlier call left too short.
      const Refused when = is_refused(*subject_.open(claim_), least) ? Refused::by_itself : Refused::after_other_calls;
      if (extent.number != &Question::position)
        return told_of(fmt::format(fmt::runtime(extent.what), *border), when, DiagnosedStage::other);
      if (const std::string words = words_of_table(least); when == Refused::by_itself && !words.empty())
        return DiagnosedDifference{fmt::format("{} {}: {}", words, verb(), said_), "P4", DiagnosedStage::position};
      const std::string first = position_grid_of(claim_.encoding).text(*border);
      const bool is_trained_end = *border == model_->trained_end();
      return told_of(fmt::format("positions from {}{} on", first, is_trained_end ? ", the first untrained one," : ""),
                     when, DiagnosedStage::position);
    }
    return std::nullopt;
  }

 private:
  DiagnosedDifference told_of(const std::string& what, Refused when, DiagnosedStage stage) const {
    if (when == Refused::by_itself) return {fmt::format("{} {}: {}", what, verb(), said_), "", stage};
    return {fmt::format("after other calls {} {}, and before them are answered: {}", what, verb(), said_), "P4",
            DiagnosedStage::other};
  }

  // An error may be meant or not; what is unsupported is.
  std::string_view verb() const { return kind_ == FailureKind::unsupported ? "are refused" : "end in an error"; }

  // Of a table that is as long as a call, this or a session's first one: a longer call with the position that a token
  // alone is refused at is answered. Empty of others.
  std::string words_of_table(const Question& refused) {
    const std::string said = said_;
    const FailureKind kind = kind_;
    Question longer = smallest_;
    longer.tokens = refused.position - smallest_.position + 8;
    if (!model_->fits(longer)) return {};
    const auto session = subject_.open(claim_);
    std::string words;
    if (!is_refused(*session, longer))
      words = fmt::format("positions beyond the number of tokens of {}",
                          is_refused(*session, refused) ? "their call" : "a session's first call");
    said_ = said;
    kind_ = kind;
    return words;
  }

  bool is_refused(const Question& question) { return is_refused(*session_, question); }

  bool is_refused(Session& session, const Question& question) {
    try {
      model_->ask(session, model_->call_of(question));
      return false;
    } catch (const SubjectFailure& failure) {
      if (failure.kind() != FailureKind::error && failure.kind() != FailureKind::unsupported) throw;
      said_ = failure.what();
      kind_ = failure.kind();
      return true;
    }
  }

  // The least number that is refused, of those between which all below are answered and all above are not.
  std::optional<std::int64_t> border_of(const CallExtent& extent) {
    const auto with = [&](std::int64_t number) {
      Question question = smallest_;
      question.*extent.number = number;
      return question;
    };
    std::int64_t answered = smallest_.*extent.number;
    std::int64_t refused = extent.most;
    while (refused > answered && !model_->fits(with(refused))) refused = answered + (refused - answered) / 2;
    const std::int64_t most = refused;
    if (refused <= answered || !is_refused(with(refused))) return std::nullopt;
    while (refused - answered > 1) {
      const std::int64_t middle = answered + (refused - answered) / 2;
      (is_refused(with(middle)) ? refused : answered) = middle;
    }
    constexpr std::int64_t parts = 7;
    for (std::int64_t part = 1; part < parts; ++part) {
      const std::int64_t below = smallest_.*extent.number + (answered - smallest_.*extent.number) * part / parts;
      const std::int64_t above = refused + (most - refused) * part / parts;
      if (is_refused(with(below)) || !is_refused(with(above))) return std::nullopt;
    }
    return refused;
  }

  const Subject& subject_;
  Spec claim_;
  std::unique_ptr<EncodingModel> model_;
  std::unique_ptr<Session> session_;
  Question smallest_;
  std::string said_;
  FailureKind kind_ = FailureKind::error;
};

}  // namespace

std::optional<DiagnosedDifference> refused_calls(const Subject& subject, const Spec& claim) {
  try {
    return Refusals(subject, claim).told();
  } catch (const SubjectFailure&) {
    return std::nullopt;
  }
}

}  // namespace sextant::identify
