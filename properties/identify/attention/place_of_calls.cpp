#include "properties/identify/attention/place_of_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/identify/attention/asked_attention.hpp"
#include "properties/identify/attention/kinds_of_calls.hpp"
#include "properties/identify/attention/score_spreads.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// Other vectors than those by which a call is found to be wrong.
constexpr std::uint64_t drawing_of_places = 8;

// Of whole calls of a token or two that are wrong, up to how many are.
PlaceOfCalls place_of_few_tokens(Session& session, const Spec& claim, std::int64_t tokens) {
  const auto model = model_of(claim);
  const std::int64_t room = std::min(short_call, model->most_tokens_from(model->range().first));
  const auto is_wrong = [&](std::int64_t count) {
    return !AskedCase(session, claim, ordinary_case(claim, count, 2, drawing_of_places), most_heads_of_long)
                .wrong()
                .empty();
  };
  std::int64_t most = tokens;
  while (most + 1 < room && is_wrong(most + 1)) ++most;
  const std::string numbers = most == tokens ? fmt::format("{} {}", tokens, tokens == 1 ? "token" : "tokens")
                                             : fmt::format("{} to {} tokens", tokens, most);
  return {fmt::format("values are wrong in calls of {}, and right in longer ones", numbers),
          [most](const AttentionCase& one) { return !one.is_step() && one.tokens > most; }};
}

bool is_whole(const AttentionCase& call) { return !call.is_step(); }

bool is_whole_or_of_several(const AttentionCase& call) { return is_whole(call) || call.queries() > 1; }

bool is_padded(const AttentionCase& call) { return !call.starts.empty() || !call.ends.empty(); }

bool has_no_padding_on_the_right(const AttentionCase& call) {
  return std::ranges::all_of(call.ends, [&](std::int64_t end) { return end == call.tokens; });
}

bool has_no_padding_on_the_left(const AttentionCase& call) {
  return std::ranges::all_of(call.starts, [](std::int64_t start) { return start == 0; });
}

bool is_wrong_in(Session& session, const Spec& claim, AttentionCase request) {
  return !AskedCase(session, claim, std::move(request), most_heads_of_long).wrong().empty();
}

// Which kinds of a call are wrong, in whatever way. Some of them are wrong and others right.
PlaceOfCalls place_of_kinds(Session& session, const Spec& claim, AskedAs call) {
  std::vector<ShownKind> all;
  for (const KindOfCall& kind : kinds_of_calls()) {
    auto request = case_of_kind(claim, call, kind, drawing_of_places);
    if (!request) continue;
    Shows shows = Shows::either;
    try {
      const AskedCase asked(session, claim, std::move(*request), heads_of(call));
      shows = asked.wrong().empty() ? Shows::claim : Shows::it;
    } catch (const SubjectFailure&) {
      // It takes no such calls.
    }
    all.push_back({kind, shows});
  }
  ToldKinds told(all);
  if (!told.is_found() || told.are_all()) return {};
  const auto shows = [&](std::optional<AttentionCase> request) {
    if (!request) return Shows::either;
    try {
      return AskedCase(session, claim, std::move(*request), heads_of(call)).wrong().empty() ? Shows::claim : Shows::it;
    } catch (const SubjectFailure&) {
      return Shows::either;
    }
  };
  const KindOfCall own = kind_of(call);
  std::string side;
  if (told.is_of_padding())
    side = side_text(shows(padded_by(claim, PaddedSide::left, own)), shows(padded_by(claim, PaddedSide::right, own)));
  // With as much padding on either side alone as the call has on both.
  const auto padded = case_of(claim, call);
  if (side.empty() && told.is_of_padding() && padded && padded->batch == usual_rows && !padded->starts.empty()) {
    const auto is_right = [&](PaddedSide one, std::int64_t count) {
      auto request = padded_by(claim, one, count);
      if (request && own.queries > 0) request = last_of(*request, own.queries);
      return shows(std::move(request)) == Shows::claim;
    };
    if (is_right(PaddedSide::left, padded->starts.front()) &&
        is_right(PaddedSide::right, padded->tokens - padded->ends.front()))
      side = " on both sides";
  }
  told.set_side(side);
  Batches batches = batches_of(Shows::either, Shows::either, Shows::either);
  const auto model = model_of(claim);
  if (own.padding == HasPadding::no && own.queries > 0 && short_call <= model->most_tokens_from(model->range().first)) {
    const auto of_rows = [&](std::int64_t rows) {
      return shows(last_of(ordinary_case(claim, short_call, rows, drawing_of_places), own.queries));
    };
    batches = batches_of(of_rows(1), of_rows(3), of_rows(4));
  }
  // Found by more rows than usual steps have, whose rows were right with other queries at least.
  ManyBatches many;
  if (own.queries > 0 && padded && padded->batch > usual_rows && padded->tokens == short_call) {
    std::vector<Shows> of_rows;
    for (std::int64_t rows = 1; rows <= more_rows + 1; ++rows) {
      auto request = told.is_of_padding() ? padded_call_of(claim, rows, drawing_of_places)
                                          : std::optional(ordinary_case(claim, short_call, rows, drawing_of_places));
      of_rows.push_back(request ? shows(last_of(*request, own.queries)) : Shows::either);
    }
    many = batches_of(of_rows);
  }
  const std::string of_batches = many.words.empty() ? std::string(batches.words) : many.words;
  return {fmt::format("values are wrong {}{}", told.wrong_and_right(),
                      of_batches.empty()   ? ""
                      : many.words.empty() ? fmt::format("; of {} alone", of_batches)
                                           : fmt::format("; of {}", of_batches)),
          [told, side, batches, many](const AttentionCase& one) {
            const bool is_of_other_side =
                (side == " on the right" && has_no_padding_on_the_right(one)) ||
                (side == " on the left" && has_no_padding_on_the_left(one)) ||
                (side == " on both sides" && (has_no_padding_on_the_right(one) || has_no_padding_on_the_left(one)));
            return !told.holds(one.is_step() ? one.queries() : 0, is_padded(one) ? HasPadding::yes : HasPadding::no) ||
                   is_of_other_side || !batches.hold(one.batch) || !many.hold(one.batch);
          }};
}

// From which number of tokens of padding on, where short calls with padding are right.
PlaceOfCalls place_of_more_padding(Session& session, const Spec& claim, AskedAs call) {
  const std::int64_t queries = kind_of(call).queries;
  const auto own = case_of(claim, call);
  const std::string_view kind = queries == 0 ? "" : "steps over ";
  PlaceOfCalls vague{fmt::format("values are wrong in some {} with padding, and right in those of {} tokens",
                                 queries == 0 ? "calls" : "steps over rows", short_call)};
  if (!own) return vague;
  const auto is_wrong = [&](PaddedSide side, std::int64_t count) {
    auto request = lengthy_padded_by(claim, side, count, queries);
    return request && is_wrong_in(session, claim, std::move(*request));
  };
  const bool is_left = is_wrong(PaddedSide::left, own->starts.front());
  const bool is_right = is_wrong(PaddedSide::right, own->tokens - own->ends.front());
  if (is_left == is_right) return vague;
  const PaddedSide side = is_left ? PaddedSide::left : PaddedSide::right;
  std::int64_t right = 0;
  std::int64_t wrong = is_left ? own->starts.front() : own->tokens - own->ends.front();
  while (wrong - right > 1) {
    const std::int64_t middle = right + (wrong - right) / 2;
    (is_wrong(side, middle) ? wrong : right) = middle;
  }
  if (right == 0) return vague;
  return {
      fmt::format("values are wrong in {}rows with {} and more tokens of padding on the {}, and right in those with "
                  "up to {}",
                  kind, wrong, is_left ? "left" : "right", right),
      [is_left, right](const AttentionCase& one) {
        const auto& edges = is_left ? one.starts : one.ends;
        return std::ranges::all_of(edges,
                                   [&](std::int64_t edge) { return (is_left ? edge : one.tokens - edge) <= right; });
      }};
}

// Long steps are wrong, and short ones with the same scores are right. Short ones of a token that outweighs others, or
// of few keys, may be wrong too.
PlaceOfCalls place_of_long_steps(Session& session, const Spec& claim, AskedAs call) {
  const auto sharp = case_of(claim, AskedAs::sharp);
  const auto pair = case_of(claim, AskedAs::pair);
  for (const auto& whole : {sharp, pair}) {
    if (whole && is_wrong_in(session, claim, last_of(*whole, 1))) return {std::string(wrong_in_some_steps), is_whole};
  }
  // Those of several queries were right before.
  const bool is_single = call == AskedAs::lengthy_short_step;
  return {
      fmt::format("values are wrong in steps {}over {} keys, and right in those {}over {} and in whole calls",
                  is_single ? "of one query " : "", long_call, is_single ? "of several and in those " : "", short_call),
      [is_single](const AttentionCase& one) {
        return is_whole(one) || one.tokens <= short_call || (is_single && one.queries() > 1);
      }};
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
    case AskedAs::wide:
      return {"values are wrong where products of queries and keys are beyond float16's range before they are scaled"};
    case AskedAs::blank: return {"values are wrong where a query is zeros, and right elsewhere"};
    case AskedAs::padded_lengthy:
    case AskedAs::padded_lengthy_step: return place_of_more_padding(session, claim, call);
    case AskedAs::low: return {"values are wrong where all scores are far below 0, and right where they are about 0"};
    case AskedAs::lower:
      return {"values are wrong where all scores are hundreds below 0, and right where they are about 0"};
    case AskedAs::sharp:
    case AskedAs::large: return place_of_spreads(session, claim);
    case AskedAs::rows:
      return {fmt::format("values are wrong in batches of {} rows, and right in those of {}", more_rows, usual_rows),
              [](const AttentionCase& one) { return one.batch == usual_rows; }};
    case AskedAs::padded:
    case AskedAs::padded_rows:
    case AskedAs::step:
    case AskedAs::short_step:
    case AskedAs::pair_step:
    case AskedAs::padded_step:
    case AskedAs::padded_rows_step:
    case AskedAs::padded_short_step:
    case AskedAs::padded_pair_step: return place_of_kinds(session, claim, call);
    case AskedAs::long_step:
      return {
          "values are wrong in steps over more keys than the window has, and right in shorter ones and in whole "
          "calls",
          [window = held<Attention>(claim)->window.value_or(0)](const AttentionCase& one) {
            return is_whole(one) || one.tokens <= window;
          }};
    case AskedAs::long_short_step:
      return {
          "values are wrong in steps of one query over more keys than the window has, and right in shorter ones, in "
          "those of several and in whole calls",
          [window = held<Attention>(claim)->window.value_or(0)](const AttentionCase& one) {
            return is_whole_or_of_several(one) || one.tokens <= window;
          }};
    case AskedAs::scaled_short_step:
      return {
          "values are wrong in steps of one query at positions at which queries are scaled, and right in those of "
          "several and in whole calls there",
          is_whole_or_of_several};
    case AskedAs::scaled_step:
      return {"values are wrong in steps at positions at which queries are scaled, and right in whole calls there",
              is_whole};
    case AskedAs::lengthy_step:
    case AskedAs::lengthy_short_step: return place_of_long_steps(session, claim, call);
    case AskedAs::far:
    case AskedAs::near_and_far:
    case AskedAs::far_and_near: return {"values are wrong in calls about the length from which frequencies change"};
    case AskedAs::far_short_step:
      return {
          "values are wrong in steps of one query about the length from which frequencies change, and right in those "
          "of several and in whole calls there",
          is_whole_or_of_several};
    case AskedAs::far_step:
      return {
          "values are wrong in steps about the length from which frequencies change, and right in whole calls there",
          is_whole};
    case AskedAs::scaled: return {"values are wrong in calls that reach positions at which queries are scaled"};
  }
  return {};
}

}  // namespace sextant::identify
