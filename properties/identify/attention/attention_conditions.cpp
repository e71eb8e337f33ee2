#include "properties/identify/attention/attention_conditions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/identify/attention/score_spreads.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// Other vectors than those by which a difference is found.
constexpr std::uint64_t other_drawing = 8;

std::string_view tokens_text(std::int64_t tokens) { return tokens == 1 ? "token" : "tokens"; }

std::string condition_of(const Batches& batches) {
  return batches.words.empty() ? "" : fmt::format(", in {}", batches.words);
}

}  // namespace

bool Conditions::is_usual(const AskedCase* usual) const {
  return usual == nullptr || usual->off_of(other_, usual->places()).has_value();
}

// Some are of the numbers of tokens, queries or rows that a call has. Nothing where such a call has no use for it.
std::optional<OtherAttention> Conditions::made_for(const AttentionCase& request) const {
  if (other_.words.empty() || other_.from == OtherAttention::From::answers) return other_;
  for (OtherAttention& one : other_attention(claim_, request)) {
    if (one.words != other_.words || one.weights != other_.weights) continue;
    one.applies = other_.applies;
    return std::move(one);
  }
  return std::nullopt;
}

Shows Conditions::shown(std::optional<AttentionCase> request, std::int64_t heads) const {
  if (!request) return Shows::either;
  const auto other = made_for(*request);
  if (!other) return Shows::either;
  try {
    const AskedCase asked(session_, claim_, std::move(*request), heads);
    const bool is_it = asked.off_of(*other, asked.places()).has_value();
    const bool is_claim = asked.wrong().empty();
    return is_it && is_claim ? Shows::either : is_it ? Shows::it : is_claim ? Shows::claim : Shows::neither;
  } catch (const SubjectFailure&) {
    return Shows::either;
  }
}

Shows Conditions::shown_by(std::int64_t tokens, std::int64_t rows) const {
  const auto model = model_of(claim_);
  if (tokens > model->most_tokens_from(model->range().first)) return Shows::either;
  return shown(ordinary_case(claim_, tokens, rows, other_drawing));
}

Shows Conditions::shown_by_step(std::int64_t keys, std::int64_t queries, std::int64_t heads) const {
  const auto model = model_of(claim_);
  if (keys > model->most_tokens_from(model->range().first)) return Shows::either;
  return shown(last_of(ordinary_case(claim_, keys, heads == all_heads ? 2 : 1, other_drawing), queries), heads);
}

bool Conditions::is_refuted(AskedAs call) const {
  if (kind_of(call).padding == HasPadding::yes) {
    auto request = case_of(claim_, call);
    if (request) fill_padding(*request);
    if (shown(std::move(request)) == Shows::neither) return true;
  }
  constexpr std::int64_t several[] = {3, 4};
  switch (call) {
    case AskedAs::usual:
      return names("row") && std::ranges::any_of(several, [&](std::int64_t rows) {
               return shown_by(short_call, rows) == Shows::neither;
             });
    case AskedAs::padded:
      if (is_of_one_side_alone(*case_of(claim_, call))) return true;
      return names("row") && shown(case_of(claim_, AskedAs::padded_rows)) == Shows::neither;
    case AskedAs::padded_step:
      return names("row") && shown(case_of(claim_, AskedAs::padded_rows_step)) == Shows::neither;
    case AskedAs::step:
    case AskedAs::short_step:
    case AskedAs::pair_step:
      if (shown_by_step(long_call, kind_of(call).queries, most_heads_of_long) == Shows::neither) return true;
      return names("row") && std::ranges::any_of(several, [&](std::int64_t rows) {
               return shown(last_of(ordinary_case(claim_, short_call, rows, other_drawing), kind_of(call).queries)) ==
                      Shows::neither;
             });
    default: return false;
  }
}

bool Conditions::is_confirmed(AskedAs call) const {
  if (shown(case_of(claim_, call, other_drawing), heads_of(call)) != Shows::it) return false;
  const bool is_of_rows = other_.where.find(" row") != std::string::npos;
  if (!is_of_rows) return true;
  const bool is_padded = kind_of(call).padding == HasPadding::yes;
  for (const std::int64_t rows : {3, 4, 5}) {
    const auto request = is_padded ? padded_call_of(claim_, rows, other_drawing)
                                   : std::optional(ordinary_case(claim_, short_call, rows, other_drawing));
    const std::int64_t queries = std::min<std::int64_t>(kind_of(call).queries, 3);
    const Shows one = request && queries > 0 ? shown(last_of(*request, queries)) : shown(request);
    if (one == Shows::neither || one == Shows::claim) return false;
  }
  return true;
}

bool Conditions::is_refuted_by_other_calls() const {
  if (other_.words.starts_with("of ")) return false;
  if (shown(case_of(claim_, AskedAs::lengthy), most_heads_of_long) == Shows::neither) return true;
  // Usual scores may be below what a cap cuts off.
  return other_.says == OtherAttention::Says::claim && shown(case_of(claim_, AskedAs::sharp)) == Shows::neither;
}

std::string Conditions::of(AskedAs call, const AttentionCase& request, const AskedCase* usual) const {
  const std::string kinds = of_kinds(call);
  const auto with_kinds = [&](const std::string& words) { return words + kinds; };
  switch (call) {
    case AskedAs::usual: return with_kinds(of_whole(request));
    case AskedAs::lengthy:
      return with_kinds(
          is_usual(usual) ? ""
                          : fmt::format(", in calls of {} tokens and not in those of {}", request.tokens, short_call));
    case AskedAs::single:
    case AskedAs::pair: return is_usual(usual) ? "" : of_few_tokens(request.tokens);
    case AskedAs::sharp:
    case AskedAs::low:
    case AskedAs::lower:
    case AskedAs::large: return with_kinds(is_usual(usual) ? "" : ", where scores are large");
    case AskedAs::rows: return with_kinds(is_usual(usual) ? "" : of_more_rows());
    case AskedAs::wide: return with_kinds("");
    case AskedAs::great: return with_kinds(is_usual(usual) ? "" : ", where values of keys are large");
    case AskedAs::padded: return with_kinds(of_padding(request));
    case AskedAs::padded_rows: return with_kinds(of_padded_rows());
    case AskedAs::step:
    case AskedAs::short_step:
    case AskedAs::pair_step: {
      const std::int64_t queries = kind_of(call).queries;
      const bool is_of_few_keys = shown_by_step(long_call, queries, most_heads_of_long) == Shows::claim &&
                                  shown_by_step(short_call, queries, most_heads_of_long) == Shows::it;
      return of_batches_of_steps(queries) + kinds +
             (is_of_few_keys ? fmt::format(", over {} keys and not over {}", short_call, long_call) : "");
    }
    case AskedAs::padded_rows_step:
    case AskedAs::padded_short_step:
    case AskedAs::padded_pair_step: return of_more_rows_of_steps(request) + kinds;
    case AskedAs::long_step:
      return names("step") || names("cache") ? "" : ", in steps over more keys than the window has";
    case AskedAs::long_short_step: return ", in steps of one query over more keys than the window has";
    case AskedAs::lengthy_step:
    case AskedAs::lengthy_short_step: return of_long_steps(kind_of(call).queries, kinds);
    default: return kinds;
  }
}

// Whole calls and steps, with padding and without. Of those that a difference has no use for, being of the others of
// its kind alone, those are as claimed which are right.
std::string Conditions::of_kinds(AskedAs call) const {
  const KindOfCall own = kind_of(call);
  const bool is_of_whole = own.queries == 0 && !is_usable_in_steps(call);
  std::vector<ShownKind> all;
  bool is_shown = false;
  for (const KindOfCall& kind : kinds_of_calls()) {
    auto request = case_of_kind(claim_, call, kind, other_drawing);
    if (!request) continue;
    Shows shows = Shows::either;
    const bool is_of_others = (is_of_whole || kind.queries == own.queries) &&
                              (own.padding == HasPadding::no || kind.padding == HasPadding::yes);
    if (made_for(*request)) {
      shows = shown(std::move(request), heads_of(call));
    } else {
      // Those that are wrong may be so for the same reason.
      if (!is_as_claimed(std::move(*request), heads_of(call))) continue;
      if (is_of_others) shows = Shows::claim;
    }
    // What was read from answers to calls of one kind is of their extents.
    if (shows == Shows::neither && other_.from == OtherAttention::From::answers) shows = Shows::either;
    all.push_back({kind, shows});
    is_shown = is_shown || (shows == Shows::it && std::min(own.queries, asked_queries.back()) == kind.queries &&
                            own.padding == kind.padding);
  }
  if (!is_shown) return "";
  ToldKinds told(all);
  // Steps of nearly all tokens may be as whole calls are.
  if (told.are_whole_calls()) {
    auto whole = case_of(claim_, call, other_drawing);
    const std::int64_t queries = whole ? whole->tokens - 1 : 0;
    if (own.padding == HasPadding::no && queries > asked_queries.back() && made_for(last_of(*whole, queries))) {
      const Shows many = shown(last_of(std::move(*whole), queries), heads_of(call));
      if (many == Shows::it || many == Shows::neither)
        return fmt::format(", in whole calls and steps of {} queries, and not in those of up to {}", queries,
                           asked_queries.back());
    }
  }
  if (told.is_of_padding() && told.holds(own.queries, HasPadding::yes)) told.set_side(side_of_padding(own));
  return told.condition();
}

bool Conditions::is_usable_in_steps(AskedAs call) const {
  return std::ranges::any_of(asked_queries, [&](std::int64_t queries) {
    const auto request = queries == 0 ? std::nullopt : case_of_kind(claim_, call, {queries, kind_of(call).padding});
    return request && made_for(*request);
  });
}

bool Conditions::is_as_claimed(AttentionCase request, std::int64_t heads) const {
  try {
    return AskedCase(session_, claim_, std::move(request), heads).wrong().empty();
  } catch (const SubjectFailure&) {
    return false;
  }
}

// A long call, one at the claim's last positions, and short ones of several numbers of rows.
std::string Conditions::of_whole(const AttentionCase& request) const {
  // Words of so many tokens.
  if (other_.words.starts_with("of ")) return "";
  const Shows long_one = shown(case_of(claim_, AskedAs::lengthy), most_heads_of_long);
  // A long call has one row.
  const bool is_of_several_rows = long_one == Shows::claim && shown_by(request.tokens, 1) == Shows::claim;
  if (is_of_several_rows) return of_batches();
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

// Of steps over more rows than usual ones, which were right.
std::string Conditions::of_more_rows_of_steps(const AttentionCase& request) const {
  if (request.batch <= usual_rows || request.tokens != short_call) return "";
  std::vector<Shows> of_rows;
  for (std::int64_t rows = 1; rows <= more_rows + 1; ++rows) {
    const auto padded = padded_call_of(claim_, rows, other_drawing);
    of_rows.push_back(padded ? shown(last_of(*padded, request.queries())) : Shows::either);
  }
  const ManyBatches many = batches_of(of_rows);
  return many.words.empty() ? "" : fmt::format(", in {}", many.words);
}

std::string Conditions::of_batches() const {
  return condition_of(batches_of(shown_by(short_call, 1), shown_by(short_call, 3), shown_by(short_call, 4)));
}

// What is said of one row or of several needs no more words.
std::string Conditions::of_batches_of_steps(std::int64_t queries) const {
  const auto shows = [&](std::int64_t rows) {
    return shown(last_of(ordinary_case(claim_, short_call, rows, other_drawing), queries));
  };
  if (short_call > model_of(claim_)->most_tokens_from(model_of(claim_)->range().first)) return "";
  return condition_of(batches_of(names("row") ? Shows::either : shows(1), shows(3), shows(4)));
}

std::string Conditions::side_of_padding(const KindOfCall& own) const {
  if (names("on the left") || names("on the right")) return "";
  return side_text(shown(padded_by(claim_, PaddedSide::left, own)), shown(padded_by(claim_, PaddedSide::right, own)));
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

namespace {

struct OfSide {
  PaddedSide side;
  std::int64_t count;
};

// Of the first row.
std::vector<OfSide> sides_of(const AttentionCase& request) {
  return {{PaddedSide::left, request.starts.front()}, {PaddedSide::right, request.tokens - request.ends.front()}};
}

}  // namespace

// Whether calls with the side that it names alone are right, and those with the other side alone are not.
bool Conditions::is_of_one_side_alone(const AttentionCase& request) const {
  if (names("on the left") == names("on the right")) return false;
  bool is_named_right = false;
  bool is_other_wrong = false;
  for (const auto& [side, count] : sides_of(request)) {
    auto one = padded_by(claim_, side, count);
    if (!one) return false;
    const bool is_right = is_as_claimed(std::move(*one), all_heads);
    if (names(side == PaddedSide::left ? "on the left" : "on the right"))
      is_named_right = is_right;
    else
      is_other_wrong = !is_right;
  }
  return is_named_right && is_other_wrong;
}

// Whether calls with as much padding on either side alone are as claimed.
bool Conditions::is_of_both_sides(const AttentionCase& request) const {
  bool is_any_claimed = false;
  for (const auto& [side, count] : sides_of(request)) {
    const Shows one = shown(padded_by(claim_, side, count));
    if (one == Shows::it || one == Shows::neither) return false;
    is_any_claimed = is_any_claimed || one == Shows::claim;
  }
  return is_any_claimed;
}

std::string Conditions::of_padding(const AttentionCase& request) const {
  if (is_of_both_sides(request)) return ", where a row has padding on both sides";
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

// Two rows with padding were right.
std::string Conditions::of_padded_rows() const {
  const auto shows = [&](std::int64_t rows) { return shown(padded_call_of(claim_, rows, other_drawing)); };
  std::int64_t claimed = more_rows - 1;
  while (claimed > 1 && shows(claimed) != Shows::claim) --claimed;
  const bool are_fewer_so = claimed > usual_rows && shows(usual_rows) == Shows::it;
  if (claimed == 1 || are_fewer_so || shows(more_rows) != Shows::it) return "";
  return fmt::format(", in batches of {} and more rows", claimed + 1);
}

// Over how many keys, between a short step that is as claimed and a long one that is not.
std::string Conditions::of_long_steps(std::int64_t queries, const std::string& kinds) const {
  if (shown_by_step(short_call, queries, most_heads_of_long) != Shows::claim) return kinds;
  std::int64_t right = short_call;
  std::int64_t wrong = long_call;
  while (wrong - right > 1) {
    const std::int64_t middle = right + (wrong - right) / 2;
    (shown_by_step(middle, queries, most_heads_of_long) == Shows::it ? wrong : right) = middle;
  }
  return fmt::format(", in steps over more than {} keys{}", right, kinds == ", in steps alone" ? "" : kinds);
}

}  // namespace sextant::identify
