#include "properties/diagnose/places/wrong_attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"
#include "properties/gen/position.hpp"
#include "properties/identify/attention/asked_attention.hpp"
#include "properties/identify/attention/other_attention.hpp"
#include "properties/identify/attention/taken_rows.hpp"
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

  // Words that every wrong row explains, or those that other vectors are yet to confirm.
  struct Words {
    std::string text;
    bool is_certain = false;
  };

  const std::vector<AttentionPlaceOfHead>& wrong() const { return wrong_; }

  // @param places  that are wrong in this call or in one of other vectors
  Words words(const std::vector<AttentionPlaceOfHead>& places) const {
    if (wrong_.empty()) return {};
    if (std::string window = window_words(); !window.empty()) return {window, true};
    const TakenRows rows = taken_rows(asked_, places);
    if (rows.words.empty() || rows.has_values) return {rows.words, false};
    constexpr std::string_view vague = " wrong, and the rest is right";
    const std::string where = rows.words.substr(0, rows.words.size() - vague.size());
    const std::string keys = keys_words(where.ends_with(" are") ? Count::many : Count::one);
    if (keys.empty()) return {rows.words, false};
    return {fmt::format("{} {}, and the rest is right", where.substr(0, where.rfind(' ')), keys), false};
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

  enum class Count { one, many };

  // A key that every wrong query does not see, or one that it sees too.
  std::string keys_words(Count subject) const {
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
        return fmt::format("{} not see key {}", subject == Count::one ? "does" : "do", key);
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
        return fmt::format("{} key {} too", subject == Count::one ? "sees" : "see", key);
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

 public:
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
    if (std::string tokens = both(&Question::tokens, "tokens"); !tokens.empty()) return tokens;
    Question shorter = question_;
    shorter.tokens = question_.tokens / 2;
    if (shorter.tokens < 1 || !is_right(shorter)) return {};
    return fmt::format("; calls of {} tokens are right", shorter.tokens);
  }

 private:
  Session& session_;
  const Spec& claim_;
  const Attention& claimed_;
  Question question_;
  AskedCase asked_;
  std::vector<AttentionPlaceOfHead> wrong_;
};

// The question of other vectors: fills of one hundred draw likewise.
Question drawn_again(Question question, std::int64_t step) {
  question.fill = question.fill / 100 * 100 + (question.fill + step) % 100;
  return question;
}

// What is told of calls of three drawings: a row may be wrong alone by chance, or right by chance, or seem to have the
// values of another place. Places are those that are wrong in any of them, of which each has half at least.
std::string words_of(Session& session, const Spec& claim, const Question& question) {
  const FailedCall failed(session, claim, question);
  if (failed.wrong().empty()) return {};
  if (const FailedCall::Words words = failed.words(failed.wrong()); words.is_certain) return words.text;
  std::deque<FailedCall> others;
  std::vector<AttentionPlaceOfHead> places = failed.wrong();
  std::size_t least = places.size();
  const auto key = [](const AttentionPlaceOfHead& at) { return std::tuple(at.batch, at.head, at.token); };
  for (const std::int64_t step : {1, 2}) {
    const Question other = drawn_again(question, step);
    if (!model_of(claim)->fits(other)) return {};
    const std::vector<AttentionPlaceOfHead>& wrong = others.emplace_back(session, claim, other).wrong();
    least = std::min(least, wrong.size());
    places.insert(places.end(), wrong.begin(), wrong.end());
  }
  std::ranges::sort(places, {}, key);
  const auto same = std::ranges::unique(places, {}, key);
  places.erase(same.begin(), same.end());
  if (2 * least < places.size()) return {};
  const std::string words = failed.words(places).text;
  if (words.empty()) return {};
  for (const FailedCall& other : others) {
    if (other.words(places).text != words) return {};
  }
  return words + failed.beside();
}

}  // namespace

std::optional<DiagnosedDifference> wrong_attention(const Subject& subject, const Spec& claim,
                                                   std::span<const Question> failing) {
  const auto* claimed = held<Attention>(claim);
  if (claimed == nullptr || model_of(claim)->not_judged()) return std::nullopt;
  const auto session = subject.open(claim);
  std::vector<Question> questions(failing.begin(), failing.end());
  const auto model = model_of(claim);
  const std::int64_t position = gen::simplest_position(model->range());
  for (const std::int64_t tokens : {260, 1030, 3100})
    questions.push_back({.position = position, .tokens = tokens, .fill = every_key_counts});
  for (const Question& question : questions) {
    if (!model->fits(question)) continue;
    if (work_of(*claimed, question) > most_work) continue;
    if (std::string words = words_of(*session, claim, question); !words.empty())
      return DiagnosedDifference{std::move(words), "", DiagnosedStage::other};
  }
  return std::nullopt;
}

}  // namespace sextant::identify
