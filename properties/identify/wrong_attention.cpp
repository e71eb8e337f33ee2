#include "properties/identify/wrong_attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/asked_attention.hpp"
#include "properties/identify/other_attention.hpp"
#include "properties/identify/taken_rows.hpp"
#include "properties/model/attention_case.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// So many products of queries and keys take a second or two.
constexpr double most_work = 0x1p29;

double work_of(const Attention& claimed, const Question& question) {
  return static_cast<double>(question.batch * claimed.num_heads * claimed.head_dim) *
         static_cast<double>(question.tokens) * static_cast<double>(question.tokens);
}

class FailedCall {
 public:
  FailedCall(Session& session, const Spec& claim, const Question& question)
      : session_(session),
        claim_(claim),
        claimed_(*held<Attention>(claim)),
        question_(question),
        asked_(session, claim, attention_case(model_of(claim)->accuracy_call(question)), claimed_.num_heads),
        wrong_(asked_.wrong()) {}

  std::string words() const {
    if (wrong_.empty()) return {};
    if (std::string window = window_words(); !window.empty()) return window;
    const TakenRows rows = taken_rows(asked_, wrong_);
    if (rows.words.empty()) return {};
    if (rows.has_values) return rows.words + beside();
    const std::string keys = keys_words();
    if (keys.empty()) return rows.words + beside();
    constexpr std::string_view vague = " wrong, and the rest is right";
    const std::string places = rows.words.substr(0, rows.words.size() - vague.size());
    const auto verb = places.rfind(' ');
    return fmt::format("{} {}, and the rest is right{}", places.substr(0, verb), keys, beside());
  }

 private:
  static OtherAttention by_scores(std::function<void(const ScoresOfQuery&)> scores) {
    OtherAttention other{.words = "", .weights = ScoresToWeights::of_scores};
    other.scores = std::move(scores);
    return other;
  }

  // So far below the greatest that it has no weight.
  static double hidden(const ScoresOfQuery& of) { return std::ranges::max(of.scores) - 1000; }

  // The claim with a window that ends where the first wrong query is.
  std::string window_words() const {
    const std::int64_t first = std::ranges::min_element(wrong_, {}, &AttentionPlaceOfHead::token)->token;
    if (first < 2 || !claimed_.causal || (claimed_.window && *claimed_.window <= first)) return {};
    OtherAttention other;
    other.change = [first](Spec& spec, AttentionCase&) { held<Attention>(spec)->window = first; };
    if (explaining(asked_, {other}, asked_.places()) == nullptr) return {};
    return fmt::format("keys {} and more before a query are not seen, where the claim has {}", first,
                       claimed_.window ? fmt::format("a window of {}", *claimed_.window) : "no window");
  }

  // A key that every wrong query does not see, or one that it sees too.
  std::string keys_words() const {
    if (claimed_.sinks || claimed_.query_scale || claimed_.logit_softcap) return {};
    constexpr std::size_t most_rows = 4;
    const std::vector<AttentionPlaceOfHead> some(
        wrong_.begin(), wrong_.begin() + static_cast<std::ptrdiff_t>(std::min(most_rows, wrong_.size())));
    const KeyRange seen = asked_.request().seen_by(claimed_, some.front().batch, some.front().token);
    for (std::int64_t key = seen.first; key < seen.end; ++key) {
      const OtherAttention other = by_scores([key](const ScoresOfQuery& of) {
        if (of.keys.contains(key)) of.scores[index(key - of.keys.first)] = hidden(of);
      });
      if (explaining(asked_, {other}, some) != nullptr)
        return fmt::format("{} not see key {}", some.size() == 1 ? "does" : "do", key);
    }
    constexpr std::int64_t most_later = 8;
    for (std::int64_t key = seen.end; key < std::min(seen.end + most_later, asked_.request().tokens); ++key) {
      OtherAttention other = by_scores([key, claimed = claimed_](const ScoresOfQuery& of) {
        const KeyRange own = of.request.seen_by(claimed, of.place.batch, of.place.token);
        const double none = hidden(of);
        for (std::int64_t one = of.keys.first; one < of.keys.end; ++one) {
          if (one != key && !own.contains(one)) of.scores[index(one - of.keys.first)] = none;
        }
      });
      other.change = [](Spec& spec, AttentionCase&) { held<Attention>(spec)->causal = false; };
      if (explaining(asked_, {other}, some) != nullptr)
        return fmt::format("{} key {} too", some.size() == 1 ? "sees" : "see", key);
    }
    return {};
  }

  bool is_right(Question question) const {
    const auto model = model_of(claim_);
    if (!model->fits(question) || work_of(claimed_, question) > most_work) return false;
    return AskedCase(session_, claim_, attention_case(model_of(claim_)->accuracy_call(question)), claimed_.num_heads)
        .wrong()
        .empty();
  }

  // Calls of one batch row or token more and less, where those are right.
  std::string beside() const {
    const auto both = [&](std::int64_t Question::*number, std::string_view what) -> std::string {
      Question less = question_;
      Question more = question_;
      less.*number -= 1;
      more.*number += 1;
      if (less.*number < 1 || !is_right(less) || !is_right(more)) return {};
      return fmt::format("; calls of {} and {} {} are right", less.*number, more.*number, what);
    };
    if (std::string rows = both(&Question::batch, "batch rows"); !rows.empty()) return rows;
    return both(&Question::tokens, "tokens");
  }

  Session& session_;
  const Spec& claim_;
  const Attention& claimed_;
  Question question_;
  AskedCase asked_;
  std::vector<AttentionPlaceOfHead> wrong_;
};

}  // namespace

std::optional<DiagnosedDifference> wrong_attention(const Subject& subject, const Spec& claim,
                                                   std::span<const Question> failing) {
  const auto* claimed = held<Attention>(claim);
  if (claimed == nullptr || model_of(claim)->not_judged()) return std::nullopt;
  const auto session = subject.open(claim);
  for (const Question& question : failing) {
    if (work_of(*claimed, question) > most_work) continue;
    if (std::string words = FailedCall(*session, claim, question).words(); !words.empty())
      return DiagnosedDifference{std::move(words), "", DiagnosedStage::other};
  }
  return std::nullopt;
}

}  // namespace sextant::identify
