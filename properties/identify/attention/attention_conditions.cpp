#include "properties/identify/attention/attention_conditions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// Other vectors than those by which a difference is found.
constexpr std::uint64_t other_drawing = 8;

std::string_view tokens_text(std::int64_t tokens) { return tokens == 1 ? "token" : "tokens"; }

}  // namespace

bool Conditions::is_usual(const AskedCase* usual) const {
  return usual == nullptr || usual->off_of(other_, usual->places()).has_value();
}

// Some are of the numbers of tokens, queries or rows that a call has.
OtherAttention Conditions::made_for(const AttentionCase& request) const {
  if (other_.words.empty()) return other_;
  const std::vector<OtherAttention> list = other_attention(claim_, request);
  const auto same = std::ranges::find_if(
      list, [&](const OtherAttention& one) { return one.words == other_.words && one.weights == other_.weights; });
  return same == list.end() ? other_ : *same;
}

Conditions::Shows Conditions::shown(std::optional<AttentionCase> request, std::int64_t heads) const {
  if (!request) return Shows::either;
  try {
    const AskedCase asked(session_, claim_, std::move(*request), heads);
    const bool is_it = asked.off_of(made_for(asked.request()), asked.places()).has_value();
    const bool is_claim = asked.wrong().empty();
    return is_it && is_claim ? Shows::either : is_it ? Shows::it : is_claim ? Shows::claim : Shows::neither;
  } catch (const SubjectFailure&) {
    return Shows::either;
  }
}

Conditions::Shows Conditions::shown_by(std::int64_t tokens, std::int64_t rows) const {
  const auto model = model_of(claim_);
  if (tokens > model->most_tokens_from(model->range().first)) return Shows::either;
  return shown(ordinary_case(claim_, tokens, rows, other_drawing));
}

Conditions::Shows Conditions::shown_by_step(std::int64_t keys, std::int64_t queries, std::int64_t heads) const {
  const auto model = model_of(claim_);
  if (keys > model->most_tokens_from(model->range().first)) return Shows::either;
  return shown(last_of(ordinary_case(claim_, keys, heads == all_heads ? 2 : 1, other_drawing), queries), heads);
}

bool Conditions::is_refuted(AskedAs call) const {
  if (!names("row")) return false;
  constexpr std::int64_t several[] = {3, 4};
  switch (call) {
    case AskedAs::usual:
      return std::ranges::any_of(several,
                                 [&](std::int64_t rows) { return shown_by(short_call, rows) == Shows::neither; });
    case AskedAs::padded: return shown(case_of(claim_, AskedAs::padded_rows)) == Shows::neither;
    case AskedAs::padded_step: return shown(case_of(claim_, AskedAs::padded_rows_step)) == Shows::neither;
    case AskedAs::step:
    case AskedAs::short_step:
      return std::ranges::any_of(several, [&](std::int64_t rows) {
        return shown(last_of(ordinary_case(claim_, short_call, rows, other_drawing), call == AskedAs::step ? 3 : 1)) ==
               Shows::neither;
      });
    default: return false;
  }
}

bool Conditions::is_refuted_by_other_calls() const {
  if (other_.words.starts_with("of ")) return false;
  if (shown(case_of(claim_, AskedAs::lengthy), most_heads_of_long) == Shows::neither) return true;
  // Usual scores may be below what a cap cuts off.
  return other_.says == OtherAttention::Says::claim && shown(case_of(claim_, AskedAs::sharp)) == Shows::neither;
}

std::string Conditions::of(AskedAs call, const AttentionCase& request, const AskedCase* usual) const {
  switch (call) {
    case AskedAs::usual: return of_whole(request);
    case AskedAs::lengthy:
      return is_usual(usual)
                 ? ""
                 : fmt::format(", in calls of {} tokens and not in those of {}", request.tokens, short_call);
    case AskedAs::single:
    case AskedAs::pair: return is_usual(usual) ? "" : of_few_tokens(request.tokens);
    case AskedAs::sharp:
    case AskedAs::low:
    case AskedAs::large: return is_usual(usual) ? "" : ", where scores are large";
    case AskedAs::rows: return is_usual(usual) ? "" : of_more_rows();
    case AskedAs::great: return is_usual(usual) ? "" : ", where values of keys are large";
    case AskedAs::padded: return of_padding(request) + (names("padd") ? "" : ", in calls with padding alone");
    case AskedAs::padded_rows: return names("padd") ? "" : ", in calls with padding alone";
    case AskedAs::step:
    case AskedAs::long_step:
    case AskedAs::scaled_step:
    case AskedAs::far_step: return of_steps(call);
    case AskedAs::lengthy_step: return of_long_steps();
    case AskedAs::short_step: return ", in steps of one query alone";
    case AskedAs::padded_step:
    // Whole calls with padding were right.
    case AskedAs::padded_rows_step: return names("step") || names("cache") ? "" : ", in steps alone";
    case AskedAs::padded_short_step: return of_padded_short_steps(request);
    default: return "";
  }
}

// A long call, one at the claim's last positions, and short ones of several numbers of rows.
std::string Conditions::of_whole(const AttentionCase& request) const {
  // Words of so many tokens.
  if (other_.words.starts_with("of ")) return "";
  const Shows long_one = shown(case_of(claim_, AskedAs::lengthy), most_heads_of_long);
  if (long_one == Shows::claim)
    return fmt::format(", in calls of {} tokens and not in those of {}", request.tokens, long_call);
  AttentionCase far = request;
  const std::int64_t beyond = model_of(claim_)->range().last - 1 - std::ranges::max(far.positions);
  for (std::int64_t& position : far.positions) position += std::max<std::int64_t>(beyond, 0);
  if (shown(std::move(far), most_heads_of_long) == Shows::claim)
    return fmt::format(", at positions up to {} and not at the last ones", std::ranges::max(request.positions));
  if (long_one == Shows::neither) return fmt::format(", in calls of {} tokens", request.tokens);
  return of_more_tokens() + of_batches();
}

// Where calls of fewer tokens are as claimed.
std::string Conditions::of_more_tokens() const {
  constexpr std::int64_t asked[] = {1, 2, 3, 4, 5, 8, 9};
  std::vector<std::int64_t> right;
  std::vector<std::int64_t> wrong;
  for (const std::int64_t tokens : asked) {
    const Shows one = shown_by(tokens, 2);
    if (one == Shows::claim) right.push_back(tokens);
    if (one == Shows::it || one == Shows::neither) wrong.push_back(tokens);
  }
  if (right.empty()) return "";
  if (!wrong.empty() && wrong.front() < right.back())
    return fmt::format(", and not in calls of {} tokens", fmt::join(right, ", "));
  std::int64_t most = right.back();
  while (most + 1 < short_call && shown_by(most + 1, 2) == Shows::claim) ++most;
  return fmt::format(", in calls of more than {} {}", most, tokens_text(most));
}

// From which number of rows on, of a call of more than usual ones have.
std::string Conditions::of_more_rows() const {
  std::int64_t fewest = more_rows;
  while (fewest - 1 > usual_rows && shown_by(short_call, fewest - 1) == Shows::it) --fewest;
  const bool are_others_right = fewest == usual_rows + 1 || shown_by(short_call, fewest - 1) == Shows::claim;
  return are_others_right && shown_by(short_call, more_rows + 1) == Shows::it
             ? fmt::format(", in batches of {} and more rows", fewest)
             : fmt::format(", in batches of {} rows and not in those of {}", more_rows, usual_rows);
}

std::string Conditions::of_batches() const {
  const Shows one = shown_by(short_call, 1);
  const Shows three = shown_by(short_call, 3);
  const Shows four = shown_by(short_call, 4);
  if (three == Shows::claim && four == Shows::claim) return ", in batches of 2 rows";
  if (three == Shows::claim && four == Shows::it) return ", in batches of an even number of rows";
  if (three == Shows::it && four == Shows::claim) return ", in batches of up to 3 rows";
  return one == Shows::claim ? ", in batches of several rows" : "";
}

// Up to which number of tokens, of a call of 1 or 2 that shows it, and whether steps of as many queries do.
std::string Conditions::of_few_tokens(std::int64_t tokens) const {
  std::int64_t most = tokens;
  while (most + 1 < short_call && shown_by(most + 1, 2) == Shows::it) ++most;
  // Whole calls of one token may show nothing.
  const bool is_single_right = tokens > 1 && shown_by(1, 2) == Shows::claim;
  const bool are_steps_so = shown_by_step(short_call, most, all_heads) == Shows::it;
  if (most == 1)
    return are_steps_so ? ", in calls of one query alone, whole ones and steps" : ", in calls of one token alone";
  if (are_steps_so) return fmt::format(", in calls of up to {} queries, whole ones and steps", most);
  if (most == 2) return fmt::format(", in calls of 2 tokens and not in those of {}", short_call);
  return is_single_right ? fmt::format(", in calls of 2 to {} tokens", most)
                         : fmt::format(", in calls of up to {} tokens and not in longer ones", most);
}

std::string Conditions::of_padding(const AttentionCase& request) const {
  std::string words;
  for (const PaddedSide side : {PaddedSide::left, PaddedSide::right}) {
    const std::int64_t count =
        side == PaddedSide::left ? request.starts.front() : request.tokens - request.ends.front();
    const std::int64_t another = count == 1 ? 3 : 1;
    const Shows one = shown(padded_by(claim_, side, another));
    if (one == Shows::it || one == Shows::either) continue;
    if (!words.empty()) return ", in some calls with padding";
    words = fmt::format(", where a row has {} tokens of padding on the {}, and not where it has {}", count,
                        side == PaddedSide::left ? "left" : "right", another);
  }
  return words;
}

std::string Conditions::of_steps(AskedAs call) const {
  const std::string usual = names("step") || names("cache") ? "" : ", in steps alone";
  if (call == AskedAs::long_step) return usual.empty() ? "" : ", in steps over more keys than the window has";
  if (call == AskedAs::far_step) return usual;
  auto request = case_of(claim_, call == AskedAs::step ? AskedAs::usual : AskedAs::scaled, other_drawing);
  if (!request) return usual;
  const Shows of_one = shown(last_of(*request, 1));
  const Shows of_two = shown(last_of(*request, 2));
  if (of_two == Shows::claim && of_one != Shows::it) {
    const bool are_more_so = shown(last_of(*request, 4)) == Shows::it && shown(last_of(*request, 5)) == Shows::it;
    return are_more_so ? ", in steps of 3 and more queries" : ", in steps of 3 queries";
  }
  return of_one == Shows::it || of_one == Shows::either ? usual : ", in steps of several queries alone";
}

// Steps of three queries over rows with padding were right.
std::string Conditions::of_padded_short_steps(const AttentionCase& request) const {
  const auto whole = case_of(claim_, request.batch == usual_rows ? AskedAs::padded : AskedAs::padded_rows);
  const std::string_view queries = whole && shown(last_of(*whole, 2)) == Shows::it ? "one query or two" : "one query";
  const bool is_of_padding = names("padd") || names("row");
  return fmt::format(", in steps of {}{} alone", queries, is_of_padding ? "" : " over rows with padding");
}

// Over how many keys, between a short step that is as claimed and a long one that is not.
std::string Conditions::of_long_steps() const {
  constexpr std::int64_t queries = 3;
  std::int64_t right = short_call;
  std::int64_t wrong = long_call;
  while (wrong - right > 1) {
    const std::int64_t middle = right + (wrong - right) / 2;
    (shown_by_step(middle, queries, most_heads_of_long) == Shows::it ? wrong : right) = middle;
  }
  return fmt::format(", in steps over more than {} keys", right);
}

namespace {

// Of whole calls of a token or two that are wrong, up to how many are.
PlaceOfCalls place_of_few_tokens(Session& session, const Spec& claim, std::int64_t tokens) {
  const auto model = model_of(claim);
  const std::int64_t room = std::min(short_call, model->most_tokens_from(model->range().first));
  const auto is_wrong = [&](std::int64_t count) {
    return !AskedCase(session, claim, ordinary_case(claim, count, 2, other_drawing), most_heads_of_long)
                .wrong()
                .empty();
  };
  std::int64_t most = tokens;
  while (most + 1 < room && is_wrong(most + 1)) ++most;
  const std::string numbers =
      most == tokens ? fmt::format("{} {}", tokens, tokens_text(tokens)) : fmt::format("{} to {} tokens", tokens, most);
  return {fmt::format("values are wrong in calls of {}, and right in longer ones", numbers),
          [most](const AttentionCase& one) { return !one.is_step() && one.tokens > most; }};
}

bool is_whole(const AttentionCase& call) { return !call.is_step(); }

bool is_padded(const AttentionCase& call) { return !call.starts.empty() || !call.ends.empty(); }

bool is_wrong_in(Session& session, const Spec& claim, AttentionCase request) {
  return !AskedCase(session, claim, std::move(request), most_heads_of_long).wrong().empty();
}

// Steps of one query are wrong, and those of three are right.
std::int64_t most_queries_of_short_steps(Session& session, const Spec& claim, AskedAs whole) {
  const auto request = case_of(claim, whole, other_drawing);
  return request && request->tokens > 2 && is_wrong_in(session, claim, last_of(*request, 2)) ? 2 : 1;
}

// Long steps are wrong, and short ones with the same scores are right. Short ones of a token that outweighs others, or
// of few keys, may be wrong too.
PlaceOfCalls place_of_long_steps(Session& session, const Spec& claim) {
  const auto sharp = case_of(claim, AskedAs::sharp);
  const auto pair = case_of(claim, AskedAs::pair);
  for (const auto& whole : {sharp, pair}) {
    if (whole && is_wrong_in(session, claim, last_of(*whole, 1))) return {std::string(wrong_in_some_steps), is_whole};
  }
  return {fmt::format("values are wrong in steps over {} keys, and right in those over {} and in whole calls",
                      long_call, short_call),
          [](const AttentionCase& one) { return is_whole(one) || one.tokens <= short_call; }};
}

}  // namespace

PlaceOfCalls place_of_calls(Session& session, const Spec& claim, AskedAs call) {
  switch (call) {
    case AskedAs::usual:
    case AskedAs::lengthy:
    case AskedAs::channels: return {};
    case AskedAs::single: return place_of_few_tokens(session, claim, 1);
    case AskedAs::pair: return place_of_few_tokens(session, claim, 2);
    case AskedAs::fine:
      return {"values are wrong where vectors have digits that 16 bits do not hold, and right where they have none"};
    case AskedAs::great: return {"values are wrong where values of keys are large, and right where they are about 1"};
    case AskedAs::blank: return {"values are wrong where a query is zeros, and right elsewhere"};
    case AskedAs::low: return {"values are wrong where all scores are far below 0, and right where they are about 0"};
    case AskedAs::sharp:
    case AskedAs::large: return {"values are wrong where scores are large, and right where they are about 1"};
    case AskedAs::rows:
      return {fmt::format("values are wrong in batches of {} rows, and right in those of {}", more_rows, usual_rows),
              [](const AttentionCase& one) { return one.batch == usual_rows; }};
    case AskedAs::padded:
    case AskedAs::padded_rows:
      return {"values are wrong in calls with padding, and right in those without",
              [](const AttentionCase& one) { return !is_padded(one); }};
    case AskedAs::step:
      return {"values are wrong in steps, whose queries are a sequence's last, and right in whole calls", is_whole};
    case AskedAs::short_step: {
      const std::int64_t most = most_queries_of_short_steps(session, claim, AskedAs::usual);
      return {most == 1 ? "values are wrong in steps of one query, and right in those of several and in whole calls"
                        : "values are wrong in steps of one query or two, and right in longer ones and in whole calls",
              [most](const AttentionCase& one) { return is_whole(one) || one.queries() > most; }};
    }
    case AskedAs::long_step:
      return {
          "values are wrong in steps over more keys than the window has, and right in shorter ones and in whole "
          "calls",
          [window = held<Attention>(claim)->window.value_or(0)](const AttentionCase& one) {
            return is_whole(one) || one.tokens <= window;
          }};
    case AskedAs::scaled_step:
      return {"values are wrong in steps at positions at which queries are scaled, and right in whole calls there",
              is_whole};
    case AskedAs::lengthy_step: return place_of_long_steps(session, claim);
    case AskedAs::padded_short_step: {
      const std::int64_t most = most_queries_of_short_steps(session, claim, AskedAs::padded_rows);
      return {fmt::format("values are wrong in steps of {} over rows with padding, and right in longer steps and whole "
                          "calls",
                          most == 1 ? "one query" : "one query or two"),
              [most](const AttentionCase& one) { return is_whole(one) || !is_padded(one) || one.queries() > most; }};
    }
    case AskedAs::padded_step:
    case AskedAs::padded_rows_step:
      return {"values are wrong in steps over rows with padding, and right in those without",
              [](const AttentionCase& one) { return !is_padded(one); }};
    case AskedAs::far:
    case AskedAs::near_and_far:
    case AskedAs::far_and_near: return {"values are wrong in calls about the length from which frequencies change"};
    case AskedAs::far_step:
      return {
          "values are wrong in steps about the length from which frequencies change, and right in whole calls there",
          is_whole};
    case AskedAs::scaled: return {"values are wrong in calls that reach positions at which queries are scaled"};
  }
  return {};
}

}  // namespace sextant::identify
