// Over 400 lines: each kind of call is drawn, judged and put into words by one list of kinds.
#include "properties/identify/attention/attention_answers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/identify/attention/asked_attention.hpp"
#include "properties/identify/attention/attention_calls.hpp"
#include "properties/identify/attention/attention_conditions.hpp"
#include "properties/identify/attention/attention_positions.hpp"
#include "properties/identify/attention/attention_probe.hpp"
#include "properties/identify/attention/finite_masks.hpp"
#include "properties/identify/attention/fitted_scores.hpp"
#include "properties/identify/attention/limited_scores.hpp"
#include "properties/identify/attention/measured_padding.hpp"
#include "properties/identify/attention/other_attention.hpp"
#include "properties/identify/attention/other_query_scales.hpp"
#include "properties/identify/attention/overflowing_scores.hpp"
#include "properties/identify/attention/parted_attention.hpp"
#include "properties/identify/attention/taken_rows.hpp"
#include "properties/identify/differences.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// "head 3", where answers are wrong in some heads and in no others; likewise of batch rows.
struct PartedPlaces {
  std::string words;  // empty where they do not part so
  std::size_t count = 0;
};

PartedPlaces parted_places(const std::vector<AttentionPlaceOfHead>& all,
                           const std::vector<AttentionPlaceOfHead>& wrong) {
  const auto parted = [&](auto number, std::string_view one, std::string_view several) -> PartedPlaces {
    std::set<std::int64_t> seen;
    std::set<std::int64_t> bad;
    for (const AttentionPlaceOfHead& place : all) seen.insert(number(place));
    for (const AttentionPlaceOfHead& place : wrong) bad.insert(number(place));
    if (bad.size() == seen.size()) return {};
    // A query of few keys may be right by chance: of most others none is.
    std::size_t of_bad = 0;
    for (const AttentionPlaceOfHead& place : all) of_bad += bad.contains(number(place)) ? 1 : 0;
    if (2 * wrong.size() <= of_bad) return {};
    // The first of several is the one that is treated apart.
    if (seen.size() > 3 && bad.size() + 1 == seen.size() && !bad.contains(0))
      return {fmt::format("every {} but the first", one), 1};
    return {fmt::format("{} {} alone", bad.size() == 1 ? one : several, fmt::join(bad, ", ")), bad.size()};
  };
  PartedPlaces heads = parted([](const AttentionPlaceOfHead& at) { return at.head; }, "head", "heads");
  if (!heads.words.empty()) return heads;
  return parted([](const AttentionPlaceOfHead& at) { return at.batch; }, "batch row", "batch rows");
}

// From which token on queries are wrong, all of those before being right and most of the others wrong.
std::optional<std::int64_t> first_wrong_token(const std::vector<AttentionPlaceOfHead>& all,
                                              const std::vector<AttentionPlaceOfHead>& wrong) {
  const std::int64_t first = std::ranges::min_element(wrong, {}, &AttentionPlaceOfHead::token)->token;
  const auto later = std::ranges::count_if(all, [&](const auto& place) { return place.token >= first; });
  if (first < 2 || 4 * std::ssize(wrong) <= 3 * later) return std::nullopt;
  return first;
}

bool is_blank(const AskedCase& asked, const AttentionPlaceOfHead& at) {
  const Tensor& q = asked.request().q;
  const std::int64_t width = q.shape[3];
  const std::int64_t first = ((at.batch * q.shape[1] + at.head) * q.shape[2] + at.token) * width;
  for (std::int64_t c = 0; c < width; ++c) {
    if (q.at(first + c) != 0) return false;
  }
  return true;
}

// Of a call of which every other query is zeros.
PlaceOfCalls place_of_blank(Session& session, const Spec& claim, const AskedCase& asked,
                            const std::vector<AttentionPlaceOfHead>& wrong) {
  const auto is_zeros = [&](const AttentionPlaceOfHead& at) {
    return std::ranges::all_of(asked.answer(at), [](double value) { return value == 0; });
  };
  const bool are_all_blank = std::ranges::all_of(wrong, [&](const auto& at) { return is_blank(asked, at); });
  const auto blanks = std::ranges::count_if(asked.places(), [&](const auto& at) { return is_blank(asked, at); });
  if (!are_all_blank || blanks != std::ssize(wrong)) return {};
  return std::ranges::all_of(wrong, is_zeros)
             ? PlaceOfCalls{"queries of zeros come back as zeros, and the rest is right"}
             : place_of_calls(session, claim, AskedAs::blank);
}

// A claim whose queries are not scaled: short calls show as much of scales by index or by number, which are 1 there.
OtherAttention unscaled() {
  OtherAttention made{.words = ""};
  made.change = [](Spec& spec, AttentionCase&) { held<Attention>(spec)->query_scale.reset(); };
  return made;
}

// By which number queries are scaled, of those that are tried: of a call whose last ones are beyond the first that is.
enum class ScaledBy { unknown, nothing, index, number_of_keys, index_or_keys };

ScaledBy scaled_by(Session& session, const Spec& claim, std::optional<AttentionCase> far) {
  if (!far) return ScaledBy::unknown;
  const QueryScale& scale = *held<Attention>(claim)->query_scale;
  const std::vector<OtherAttention> others{unscaled(), scaled_by_index(scale), scaled_by_keys(scale)};
  try {
    const AskedCase asked(session, claim, std::move(*far), 1);
    // Of a long call the last ones, and one in the middle, whose index is no such number.
    constexpr std::ptrdiff_t most_places = 3;
    const std::vector<AttentionPlaceOfHead>& all = asked.places();
    std::vector<AttentionPlaceOfHead> places(all.end() - std::min(most_places, std::ssize(all)), all.end());
    if (std::ssize(all) > most_places) places.push_back(all[all.size() / 2]);
    const bool is_right = std::ranges::none_of(
        asked.right_rows(places), [&](const RightRow& row) { return !row.is_met_by(asked.answer(row.place)); });
    const OtherAttention* other = is_right ? nullptr : explaining(asked, others, places);
    // Logarithms of numbers that are so near to each other may be within the bounds of one.
    const bool is_by_logarithm = scale.rule != QueryScaleRule::log_of_periods;
    if (is_by_logarithm && other == &others[1] && asked.off_of(others[2], places)) return ScaledBy::index_or_keys;
    return other == nullptr ? ScaledBy::unknown : static_cast<ScaledBy>(1 + (other - others.data()));
  } catch (const SubjectFailure&) {
    // It has no steps, or none so long.
    return ScaledBy::unknown;
  }
}

// Of answers that are wrong where queries are scaled: by what they are, which calls of that length show alone.
void take_far_scales(Session& session, const Spec& claim, AskedAs call, AttentionAnswers& told) {
  const QueryScale& scale = *held<Attention>(claim)->query_scale;
  const bool is_unscaled = told.spec && !held<Attention>(*told.spec)->query_scale;
  const bool is_single = call == AskedAs::scaled_short_step;
  const bool is_of_steps = is_single || call == AskedAs::scaled_step;
  const ScaledBy in_step = scaled_by(session, claim, far_step(claim, scale, is_single ? 1 : 3));
  const auto tell = [&](std::string words) {
    told.fault.emplace(std::move(words) + (is_of_steps ? told.condition : ""), DiagnosedStage::position);
    told.spec.reset();
  };
  if (in_step == ScaledBy::index_or_keys)
    return tell("a query's index in its sequence, or the number of keys, is taken for its position in queries' scales");
  if (in_step == ScaledBy::index) return tell(scaled_by_index(scale).words);
  // Indices of short calls are not told from other small numbers, nor from none, by scales that are 1.
  const std::int64_t first = unit_of(scale);
  const bool is_of_index = told.fault && told.fault->words.starts_with(scaled_by_index(scale).words);
  if (is_of_index && in_step != ScaledBy::number_of_keys && long_call + scale.offset <= first) {
    if (!is_of_steps && scaled_by(session, claim, far_call(claim, scale)) == ScaledBy::index) return;
    told.fault.emplace(fmt::format("queries are not scaled by their positions{}, in calls of fewer than {} tokens",
                                   told.condition, first),
                       DiagnosedStage::position);
    told.spec.reset();
    return;
  }
  if (in_step != ScaledBy::number_of_keys && !is_unscaled) return;
  const ScaledBy in_call = is_of_steps ? ScaledBy::unknown : scaled_by(session, claim, far_call(claim, scale));
  constexpr std::string_view taken = "taken for the position of each query in queries' scales";
  if (in_step == ScaledBy::number_of_keys)
    return tell(in_call == ScaledBy::number_of_keys ? fmt::format("the number of a call's keys is {}", taken)
                                                    : scaled_by_keys(scale).words);
  if (in_call == ScaledBy::nothing || is_of_steps) return;
  const bool is_by_number = in_step == ScaledBy::nothing;
  if (in_call == ScaledBy::number_of_keys)
    return tell(fmt::format("the number of a call's {} is {}{}", is_by_number ? "queries" : "tokens", taken,
                            is_by_number ? "" : ", in whole calls"));
  if (in_call == ScaledBy::index)
    return tell(fmt::format("a query's number in its call is taken for its position in queries' scales{}",
                            is_by_number ? "" : ", in whole calls"));
  // Numbers in calls that are too long to be asked are not told from none.
  told.confidence = Confidence::medium;
  if (!is_by_number) told.spec.reset();
  told.fault->words += fmt::format(", in {}calls of fewer than {} tokens", is_by_number ? "steps and in " : "", first);
}

// Of a claim with one field changed, which its fields say where it has no words.
std::string words_of_change(const Spec& claim, const AttentionCase& request, const OtherAttention& other) {
  if (!other.words.empty()) return other.words;
  Spec changed = claim;
  AttentionCase as_asked = request;
  other.change(changed, as_asked);
  std::vector<std::string> words;
  for (const DiagnosedDifference& one : differences(claim, changed)) words.push_back(one.words);
  return fmt::format("{}", fmt::join(words, "; "));
}

// Scales that scores show where the claim's own are wrong: another amount, period or length.
void add_seen_scale(Session& session, const Spec& claim, std::vector<OtherAttention>& others) {
  const auto& encoding = *held<Attention>(claim);
  AttentionProbe probe(session, claim, encoding);
  const auto seen = seen_query_scale(probe, claim, encoding);
  if (!seen) return;
  OtherAttention other{.words = "", .says = OtherAttention::Says::claim};
  other.change = [seen](Spec& spec, AttentionCase&) { held<Attention>(spec)->query_scale = *seen; };
  others.push_back(std::move(other));
}

// What the answers, or those of calls made for it, show of limits and of padding.
void add_measured(Session& session, const AskedCase& asked, const Spec& claim, AskedAs call,
                  std::vector<OtherAttention>& others) {
  const auto add = [&](std::vector<OtherAttention> list) {
    for (OtherAttention& one : list) others.push_back(std::move(one));
  };
  // Of long rows one number says little: from which on they are wrong is asked.
  if (kind_of(call).padding == HasPadding::yes && asked.request().tokens <= short_call) add(measured_padding(asked));
  const bool may_be_limited = call == AskedAs::usual || call == AskedAs::lengthy || call == AskedAs::sharp ||
                              call == AskedAs::large || call == AskedAs::low || call == AskedAs::lower;
  if (may_be_limited) add(limited_scores(session, claim));
  // Of whole calls of usual scores rows that come back as zeros are told by themselves.
  if (call != AskedAs::usual && call != AskedAs::lengthy && call != AskedAs::rows)
    others.push_back({.words = "results come back as zeros", .result = [](double) { return 0.0; }});
}

// Of other vectors too: a row or two may be wrong alone by chance, or seem to have another one's values.
TakenRows confirmed_rows(Session& session, const AskedCase& asked, const std::vector<AttentionPlaceOfHead>& wrong,
                         const Spec& claim) {
  TakenRows rows = taken_rows(asked, wrong);
  for (const std::uint64_t drawing : {8, 9}) {
    if (rows.words.empty()) return {};
    const AskedCase again(session, claim, ordinary_case(claim, asked.request().tokens, asked.request().batch, drawing),
                          asked.places().back().head + 1);
    if (taken_rows(again, again.wrong()).words != rows.words) return {};
  }
  return rows;
}

// Of two batch rows one says little of which others are like it, and of heads one may be right by chance: all that are
// wrong for some vectors are.
PartedPlaces confirmed_parts(Session& session, const AskedCase& asked, const std::vector<AttentionPlaceOfHead>& wrong,
                             const Spec& claim) {
  const AttentionCase& request = asked.request();
  const std::int64_t heads = asked.places().back().head + 1;
  std::vector<AttentionPlaceOfHead> all_wrong = wrong;
  for (const std::uint64_t drawing : {8, 9}) {
    const AskedCase again(session, claim, ordinary_case(claim, request.tokens, request.batch, drawing), heads);
    const std::vector<AttentionPlaceOfHead> more = again.wrong();
    all_wrong.insert(all_wrong.end(), more.begin(), more.end());
  }
  const auto key = [](const AttentionPlaceOfHead& at) { return std::tuple(at.batch, at.head, at.token); };
  std::ranges::sort(all_wrong, {}, key);
  const auto same = std::ranges::unique(all_wrong, {}, key);
  all_wrong.erase(same.begin(), same.end());
  PartedPlaces parts = parted_places(asked.places(), all_wrong);
  if (!parts.words.starts_with("batch row")) return parts;
  const std::int64_t rows = request.batch == more_rows ? more_rows + 1 : more_rows - 1;
  const AskedCase more(session, claim, ordinary_case(claim, request.tokens, rows, 8), heads);
  return parted_places(more.places(), more.wrong());
}

// What explains an answer in some heads, or batch rows, as other vectors confirm.
std::optional<OtherAttention> confirmed_in_part(Session& session, const AskedCase& asked,
                                                const std::vector<AttentionPlaceOfHead>& wrong, const Spec& claim,
                                                AskedAs call, const std::vector<OtherAttention>& others) {
  const auto parts = parts_of(asked, wrong, *held<Attention>(claim));
  for (OtherAttention& one : explaining_in_part(asked, others, parts)) {
    if (Conditions(session, claim, one).is_confirmed(call)) return std::move(one);
  }
  return std::nullopt;
}

// `usual` is the usual call, of another one; null where there is none.
AttentionAnswers held_against(Session& session, const AskedCase& asked, const Spec& claim, AskedAs call,
                              const AskedCase* usual) {
  const std::vector<AttentionPlaceOfHead> wrong = asked.wrong();
  if (wrong.empty()) return {};
  AttentionAnswers told;
  told.are = AttentionAnswers::Are::wrong;
  if ((call == AskedAs::large || call == AskedAs::wide) && asked.has_infinities()) {
    const auto overflow = overflow_of_scores(session, claim);
    // Products that are beyond a format by themselves are told below.
    const bool is_of_products = call == AskedAs::wide && !(overflow && overflow->of == Overflow::Of::exponential);
    if (!is_of_products) {
      told.fault.emplace(overflow ? overflow->words
                                  : "values are NaN or infinite where scores are large, as where the greatest is not "
                                    "subtracted before the exponential",
                         DiagnosedStage::rounding);
      return told;
    }
  }
  for (const Dtype format : {Dtype::bfloat16, Dtype::float16}) {
    if (!asked.is_rounded_to(format)) continue;
    told.fault.emplace(fmt::format("results are rounded to {}", name_of(format)), DiagnosedStage::rounding);
    return told;
  }
  std::vector<OtherAttention> others;
  // Where all scores of a query are limited alike, any limit would do: the one that is measured is tried.
  if (call != AskedAs::lower) others = other_attention(claim, asked.request());
  if (const auto limit = asked.often_greatest())
    others.push_back({.words = fmt::format("results are limited to {:.9g}", *limit),
                      .result = [limit = *limit](double value) { return std::clamp(value, -limit, limit); }});
  if (call == AskedAs::usual || call == AskedAs::lengthy) {
    for (OtherAttention& fitted : fitted_scores(session, claim, asked.request(), heads_of(call)))
      others.push_back(std::move(fitted));
  }
  if (call == AskedAs::scaled || call == AskedAs::scaled_step) add_seen_scale(session, claim, others);
  add_measured(session, asked, claim, call, others);
  const OtherAttention* other = explaining(asked, others, asked.places());
  // What another call refutes is told of short ones where nothing else explains both.
  std::optional<OtherAttention> of_short_calls;
  while (other != nullptr) {
    const Conditions conditions(session, claim, *other);
    const bool is_of_short_calls = call == AskedAs::usual && conditions.is_refuted_by_other_calls();
    if (!is_of_short_calls && !conditions.is_refuted(call)) break;
    if (is_of_short_calls && !of_short_calls) of_short_calls = *other;
    others.erase(others.begin() + (other - others.data()));
    other = explaining(asked, others, asked.places());
  }
  if (other == nullptr && of_short_calls) {
    const AskedCase longer(session, claim, *case_of(claim, AskedAs::lengthy), most_heads_of_long);
    if (AttentionAnswers of_longer = held_against(session, longer, claim, AskedAs::lengthy, &asked); of_longer.fault)
      return of_longer;
    other = &*of_short_calls;
  }
  // Of numbers that hide a key, of biases and of exponentials more is told by calls made for them.
  if (other == nullptr && call == AskedAs::lower) {
    if (const auto overflow = overflow_of_scores(session, claim)) {
      told.fault.emplace(overflow->words, DiagnosedStage::rounding);
      return told;
    }
    for (auto* words_of : {&finite_mask_words, &far_bias_words}) {
      std::string words = words_of(session, claim);
      if (words.empty()) continue;
      told.fault.emplace(std::move(words));
      return told;
    }
  }
  std::optional<OtherAttention> in_part;
  if (other == nullptr) in_part = confirmed_in_part(session, asked, wrong, claim, call, others);
  if (in_part) other = &*in_part;
  if (other != nullptr) {
    const std::string condition = other->where + Conditions(session, claim, *other).of(call, asked.request(), usual);
    told.condition = condition;
    told.fault.emplace(condition.empty() ? other->words : words_of_change(claim, asked.request(), *other) + condition,
                       other->stage);
    if (other->says == OtherAttention::Says::claim && condition.empty()) {
      told.spec = claim;
      AttentionCase request = asked.request();
      other->change(*told.spec, request);
    }
    return told;
  }
  told.of_calls =
      call == AskedAs::blank ? place_of_blank(session, claim, asked, wrong) : place_of_calls(session, claim, call);
  if (call != AskedAs::usual && call != AskedAs::lengthy && call != AskedAs::rows) return told;
  const TakenRows taken = confirmed_rows(session, asked, wrong, claim);
  if (taken.has_values) {
    told.fault.emplace(taken.words);
    return told;
  }
  if (const PartedPlaces place = confirmed_parts(session, asked, wrong, claim); !place.words.empty()) {
    told.of_heads = fmt::format("{} {} wrong", place.words, place.count == 1 ? "is" : "are");
  } else if (call == AskedAs::lengthy) {
    if (const auto token = first_wrong_token(asked.places(), wrong))
      told.of_tokens = fmt::format("queries from token {} of a call on are wrong, those before are right", *token);
  }
  const bool has_place = !told.of_heads.empty() || !told.of_tokens.empty() || told.fault;
  if (!has_place && (call != AskedAs::rows || !taken.words.empty())) told.of_calls = {taken.words};
  return told;
}

}  // namespace

AttentionAnswers attention_answers(Session& session, const Spec& claim) {
  const auto model = model_of(claim);
  if (model->not_judged()) return {};
  std::optional<AskedCase> usual;
  for (const AskedAs call : all_calls) {
    auto request = case_of(claim, call);
    if (!request) continue;
    try {
      const AskedCase asked(session, claim, std::move(*request), heads_of(call));
      const bool is_whole = call == AskedAs::lengthy || call == AskedAs::single || call == AskedAs::pair ||
                            call == AskedAs::rows || call == AskedAs::sharp || call == AskedAs::low ||
                            call == AskedAs::lower || call == AskedAs::large || call == AskedAs::great;
      AttentionAnswers told = held_against(session, asked, claim, call, is_whole && usual ? &*usual : nullptr);
      if (call == AskedAs::usual) usual.emplace(asked);
      // Whole calls show no index apart from a query's number, whose scale may be none.
      const bool is_scaled = call == AskedAs::usual || call == AskedAs::lengthy || call == AskedAs::scaled ||
                             call == AskedAs::scaled_step || call == AskedAs::scaled_short_step;
      if (is_scaled && told.are == AttentionAnswers::Are::wrong && held<Attention>(claim)->query_scale)
        take_far_scales(session, claim, call, told);
      if (told.are == AttentionAnswers::Are::wrong) return told;
    } catch (const SubjectFailure& failure) {
      // Many have neither steps nor padding.
      if (call == AskedAs::usual || call == AskedAs::lengthy) throw;
    }
  }
  return {};
}

bool meet_ordinary_calls(Session& session, const Spec& claim) {
  if (model_of(claim)->not_judged()) return true;
  for (const AskedAs call : all_calls) {
    auto request = case_of(claim, call);
    if (!request) continue;
    try {
      if (!AskedCase(session, claim, std::move(*request), heads_of(call)).wrong().empty()) return false;
    } catch (const SubjectFailure& failure) {
      if (call == AskedAs::usual || call == AskedAs::lengthy) throw;
    }
  }
  return true;
}

}  // namespace sextant::identify
