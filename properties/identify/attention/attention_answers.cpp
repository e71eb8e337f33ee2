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
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/identify/attention/asked_attention.hpp"
#include "properties/identify/attention/attention_positions.hpp"
#include "properties/identify/attention/attention_probe.hpp"
#include "properties/identify/attention/fitted_scores.hpp"
#include "properties/identify/attention/other_attention.hpp"
#include "properties/identify/attention/other_query_scales.hpp"
#include "properties/identify/attention/taken_rows.hpp"
#include "properties/identify/differences.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

constexpr std::int64_t short_call = 12;
// No multiple of a tile's width, and odd.
constexpr std::int64_t long_call = 165;
constexpr std::int64_t most_heads_of_long = 2;
// Times as far apart as usual scores: e^s of some is beyond float32, whose range ends at e^89.
constexpr double large_scores = 256;
// Each query's greatest score leaves little weight for others.
constexpr double sharp_scores = 8;
// Values are beyond float16's range, which ends at 65504.
constexpr double great_values = 0x1p20;

// Numbers that every dtype holds, of no order: multiples of 1/64 in [-1, 1), by a linear congruence (Knuth's MMIX).
class Numbers {
 public:
  explicit Numbers(std::uint64_t drawing) : state_(drawing) {}

  double next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 57) / 64 - 1;
  }

 private:
  std::uint64_t state_;
};

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

enum class AskedAs {
  usual,
  lengthy,
  pair,  // of two tokens
  fine,  // of vectors whose digits 16 bits do not hold
  channels,
  sharp,
  low,
  large,
  great,
  blank,
  padded,
  step,
  short_step,  // of one query
  long_step,   // of more keys than a window has
  padded_step,
  far,
  near_and_far,
  scaled,
  scaled_step
};

// Positions of three rows about the length from which on a claim's frequencies change. The first reaches half as far
// again, or half as far, so that it is told from a length below.
void reach_lengths(AttentionCase& request, const Spec& claim, AskedAs call) {
  const auto original = static_cast<double>(*original_length(carried<Rope>(*held<Attention>(claim))->rope_scaling));
  const double times[] = {call == AskedAs::far ? 1.5 : 0.5, 3, 2};
  const std::int64_t last = model_of(claim)->range().last;
  for (std::int64_t i = 0; i < std::ssize(request.positions); ++i) {
    const std::int64_t row = i / request.tokens % 3;
    const std::int64_t length = std::min(static_cast<std::int64_t>(times[row] * original), last);
    // Rows differ by more than a shift, which turns queries and keys alike.
    const std::int64_t back = (3 + row) * (request.tokens - 1 - i % request.tokens) + 1;
    request.positions[static_cast<std::size_t>(i)] = std::max<std::int64_t>(length - back, 0);
  }
}

// With a first row that is padded before and behind; the row that with_padding leaves as it is is the second, of two.
AttentionCase padded_on_both_sides(const AttentionCase& request) {
  constexpr std::int64_t kept = 4;
  for (std::int64_t fill = 3;; fill += 2) {
    AttentionCase padded = with_padding(request, PaddedSide::both, std::min(kept, request.tokens), fill, 0);
    const bool is_on_both = padded.starts.front() > 0 && padded.ends.front() < padded.tokens;
    if (is_on_both || request.tokens < kept + 2) return padded;
  }
}

// Positions of two rows at which queries' scales are told apart; the second row's lie one place further on.
void reach_scales(AttentionCase& request, const QueryScale& scale, std::int64_t end) {
  const std::vector<std::int64_t> list = positions_about_scale(scale, end);
  for (std::int64_t i = 0; i < std::ssize(request.positions); ++i) {
    const std::int64_t token = i % request.tokens + i / request.tokens % request.batch;
    request.positions[static_cast<std::size_t>(i)] =
        list[static_cast<std::size_t>(std::min(token, std::ssize(list) - 1))];
  }
}

void multiply(Tensor& tensor, double by) {
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, by * tensor.at(i));
}

// Digits down to 2^-20 of a number.
void make_fine(AttentionCase& request) {
  Numbers numbers(11);
  for (Tensor* tensor : {&request.q, &request.k, &request.v}) {
    for (std::int64_t i = 0; i < tensor->elements(); ++i)
      tensor->set(i, tensor->at(i) * (1 + numbers.next() * 0x1p-8) + numbers.next() * 0x1p-14);
  }
}

// Zeros in the place of every other vector of [batch, heads, tokens, width].
void blank_every_other(Tensor& q) {
  for (std::int64_t i = 0; i < q.elements(); ++i) {
    if (i / q.shape[3] % q.shape[2] % 2 == 1) q.set(i, 0);
  }
}

// Scores of up to about 4, of few channels of each vector: their sums are off by less, which in 16 bits hides much.
void keep_few_channels(AttentionCase& request) {
  constexpr std::int64_t kept = 2;
  const std::int64_t width = request.q.shape[3];
  for (Tensor* tensor : {&request.q, &request.k}) {
    for (std::int64_t i = 0; i < tensor->elements(); ++i) {
      if (i % width % (width / 2) >= kept) tensor->set(i, 0);
    }
  }
  multiply(request.q, std::exp2(std::ceil(std::log2(static_cast<double>(width) / (2 * kept)) / 2) + 1));
}

// All scores of a query are about one number, where nothing turns: from a little below 0 to -120, falling from query to
// query, so that a limit is told from others.
void set_low_scores(AttentionCase& request, double scale) {
  const auto width = static_cast<double>(request.q.shape[3]);
  const auto near_1 = [](Tensor& tensor, double times) {
    for (std::int64_t i = 0; i < tensor.elements(); ++i)
      tensor.set(i, times * (1 + std::clamp(tensor.at(i), -1.0, 1.0) / 8));
  };
  near_1(request.k, 1);
  near_1(request.q, -1);
  const std::int64_t queries = request.q.shape[2];
  const double step = std::exp2(std::floor(std::log2(120 / (width * scale) / static_cast<double>(queries))));
  for (std::int64_t i = 0; i < request.q.elements(); ++i) {
    const std::int64_t query = i / request.q.shape[3] % queries;
    request.q.set(i, step * static_cast<double>(query + 1) * request.q.at(i));
  }
}

std::int64_t heads_of(AskedAs call) {
  const bool is_long = call == AskedAs::lengthy || call == AskedAs::long_step;
  return is_long ? most_heads_of_long : std::numeric_limits<std::int64_t>::max();
}

// Of calls that are the first whose answers are wrong.
std::string words_of_calls(AskedAs call) {
  switch (call) {
    case AskedAs::usual:
    case AskedAs::lengthy:
    case AskedAs::channels: return "";
    case AskedAs::pair: return "values are wrong in calls of 2 tokens, and right in longer ones";
    case AskedAs::fine:
      return "values are wrong where vectors have digits that 16 bits do not hold, and right where they have none";
    case AskedAs::great: return "values are wrong where values of keys are large, and right where they are about 1";
    case AskedAs::blank: return "values are wrong where a query is zeros, and right elsewhere";
    case AskedAs::low: return "values are wrong where all scores are far below 0, and right where they are about 0";
    case AskedAs::sharp:
    case AskedAs::large: return "values are wrong where scores are large, and right where they are about 1";
    case AskedAs::padded: return "values are wrong in calls with padding, and right in those without";
    case AskedAs::step:
      return "values are wrong in steps, whose queries are a sequence's last, and right in whole calls";
    case AskedAs::short_step:
      return "values are wrong in steps of one query, and right in those of several and in whole calls";
    case AskedAs::long_step:
      return "values are wrong in steps over more keys than the window has, and right in shorter ones and in whole "
             "calls";
    case AskedAs::scaled_step:
      return "values are wrong in steps at positions at which queries are scaled, and right in whole calls there";
    case AskedAs::padded_step: return "values are wrong in steps over rows with padding, and right in those without";
    case AskedAs::far:
    case AskedAs::near_and_far: return "values are wrong in calls about the length from which frequencies change";
    case AskedAs::scaled: return "values are wrong in calls that reach positions at which queries are scaled";
  }
  return "";
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
std::string words_of_blank(const AskedCase& asked, const std::vector<AttentionPlaceOfHead>& wrong) {
  const auto is_zeros = [&](const AttentionPlaceOfHead& at) {
    return std::ranges::all_of(asked.answer(at), [](double value) { return value == 0; });
  };
  const bool are_all_blank = std::ranges::all_of(wrong, [&](const auto& at) { return is_blank(asked, at); });
  const auto blanks = std::ranges::count_if(asked.places(), [&](const auto& at) { return is_blank(asked, at); });
  if (!are_all_blank || blanks != std::ssize(wrong)) return {};
  return std::ranges::all_of(wrong, is_zeros) ? "queries of zeros come back as zeros, and the rest is right"
                                              : words_of_calls(AskedAs::blank);
}

// A step so far in its sequence that indices are beyond the length from which queries are scaled, at three times their
// positions where the claim reaches so far.
std::optional<AttentionCase> far_step(const Spec& claim, const QueryScale& scale) {
  const std::int64_t unit = scale.rule == QueryScaleRule::log_of_periods ? scale.period : scale.length;
  constexpr std::int64_t queries = 3;
  const std::int64_t tokens = unit + queries + 2;
  const std::int64_t last = model_of(claim)->range().last;
  const bool has_room = 3 * tokens < last;
  // Or a whole period further on.
  if (tokens > longest_cache || (!has_room && tokens + unit >= last)) return std::nullopt;
  AttentionCase request = ordinary_case(claim, tokens, 1);
  for (std::int64_t i = 0; i < std::ssize(request.positions); ++i)
    request.positions[static_cast<std::size_t>(i)] = has_room ? 3 * i : i + unit;
  // Few keys count then.
  multiply(request.q, sharp_scores);
  return last_of(request, queries);
}

// Where that explains a step far in its sequence.
std::optional<Fault> scales_by_index(Session& session, const Spec& claim) {
  const auto& scale = held<Attention>(claim)->query_scale;
  if (!scale) return std::nullopt;
  auto request = far_step(claim, *scale);
  if (!request) return std::nullopt;
  try {
    const AskedCase asked(session, claim, std::move(*request), most_heads_of_long);
    const std::vector<OtherAttention> others{scaled_by_index(*scale)};
    if (asked.wrong().empty() || explaining(asked, others, asked.places()) == nullptr) return std::nullopt;
    return Fault(others.front().words, DiagnosedStage::position);
  } catch (const SubjectFailure&) {
    // It has no steps.
    return std::nullopt;
  }
}

// What is asked of each kind; nothing where the claim has none.
std::optional<AttentionCase> case_of(const Spec& claim, AskedAs call, std::uint64_t drawing = 7) {
  const auto& encoding = *held<Attention>(claim);
  const auto model = model_of(claim);
  const std::int64_t room = model->most_tokens_from(model->range().first);
  const bool is_long = call == AskedAs::lengthy;
  const bool is_far = call == AskedAs::far || call == AskedAs::near_and_far;
  const bool is_scaled = call == AskedAs::scaled || call == AskedAs::scaled_step;
  std::int64_t tokens = std::min(is_long ? long_call : short_call, room);
  if (is_long && tokens <= short_call) return std::nullopt;
  const auto* rope = carried<Rope>(encoding);
  if (is_far && !(rope != nullptr && depends_on_length(claim) && original_length(rope->rope_scaling)))
    return std::nullopt;
  const auto& scale = encoding.query_scale;
  if (is_scaled && !scale) return std::nullopt;
  if (call == AskedAs::great && claim.dtype == Dtype::float16) return std::nullopt;
  if (call == AskedAs::channels && (!is_16_bit(claim.dtype) || encoding.head_dim < 8)) return std::nullopt;
  if (call == AskedAs::long_step) {
    constexpr std::int64_t beyond = 5;
    constexpr std::int64_t longest_window = 4096;
    if (!encoding.window || *encoding.window > longest_window) return std::nullopt;
    tokens = *encoding.window + beyond;
    if (tokens <= short_call || tokens > room) return std::nullopt;
  }
  if (call == AskedAs::pair) {
    if (room <= 2) return std::nullopt;
    tokens = 2;
  }
  if (call == AskedAs::fine && is_16_bit(claim.dtype)) return std::nullopt;
  const bool is_one_row = is_long || call == AskedAs::long_step;
  AttentionCase request = ordinary_case(claim, tokens, is_one_row ? 1 : is_far ? 3 : 2, drawing);
  if (is_far) reach_lengths(request, claim, call);
  if (is_scaled) reach_scales(request, *scale, model->range().last);
  switch (call) {
    case AskedAs::channels: keep_few_channels(request); break;
    case AskedAs::low: set_low_scores(request, score_scale(encoding)); break;
    case AskedAs::large: multiply(request.q, large_scores); break;
    case AskedAs::sharp: multiply(request.q, sharp_scores); break;
    case AskedAs::great: multiply(request.v, great_values); break;
    case AskedAs::blank: blank_every_other(request.q); break;
    case AskedAs::fine: make_fine(request); break;
    case AskedAs::padded: return padded_on_both_sides(request);
    case AskedAs::padded_step: return last_of(padded_on_both_sides(request), 3);
    case AskedAs::step:
    case AskedAs::long_step: return last_of(request, 3);
    case AskedAs::short_step: return last_of(request, 1);
    case AskedAs::scaled_step: return last_of(request, 6);
    case AskedAs::usual:
    case AskedAs::lengthy:
    case AskedAs::pair:
    case AskedAs::far:
    case AskedAs::near_and_far:
    case AskedAs::scaled: break;
  }
  return request;
}

constexpr AskedAs all_calls[] = {AskedAs::usual,        AskedAs::lengthy,   AskedAs::pair,        AskedAs::fine,
                                 AskedAs::channels,     AskedAs::sharp,     AskedAs::large,       AskedAs::low,
                                 AskedAs::great,        AskedAs::blank,     AskedAs::padded,      AskedAs::step,
                                 AskedAs::short_step,   AskedAs::long_step, AskedAs::padded_step, AskedAs::far,
                                 AskedAs::near_and_far, AskedAs::scaled,    AskedAs::scaled_step};

// One token of padding on one side of the first of two rows, or three of them.
std::optional<AttentionCase> padded_by(const Spec& claim, PaddedSide side, std::int64_t count) {
  const auto model = model_of(claim);
  const std::int64_t tokens = std::min(short_call, model->most_tokens_from(model->range().first));
  if (tokens < count + 2) return std::nullopt;
  const AttentionCase request = ordinary_case(claim, tokens, 2, 8);
  constexpr std::int64_t most_tries = 400;
  for (std::int64_t fill = 3; fill < most_tries; fill += 2) {
    AttentionCase padded = with_padding(request, side, tokens - count, fill, 0);
    const std::int64_t seen = side == PaddedSide::left ? padded.starts.front() : tokens - padded.ends.front();
    if (seen == count) return padded;
  }
  return std::nullopt;
}

// What calls that differ in what a sentence generalizes over show of it.
enum class Shows { it, claim, neither };

class Conditions {
 public:
  Conditions(Session& session, const Spec& claim, const OtherAttention& other)
      : session_(session), claim_(claim), other_(other) {}

  // The end of the sentence on a call, empty where other calls show the same.
  std::string of(AskedAs call, const AttentionCase& request, const AskedCase* usual) const {
    switch (call) {
      case AskedAs::usual: return of_whole(request);
      case AskedAs::lengthy:
        return is_usual(usual)
                   ? ""
                   : fmt::format(", in calls of {} tokens and not in those of {}", request.tokens, short_call);
      case AskedAs::pair:
        return is_usual(usual) ? "" : fmt::format(", in calls of 2 tokens and not in those of {}", short_call);
      case AskedAs::sharp:
      case AskedAs::low:
      case AskedAs::large: return is_usual(usual) ? "" : ", where scores are large";
      case AskedAs::great: return is_usual(usual) ? "" : ", where values of keys are large";
      case AskedAs::padded: return of_padding(request) + (names("padd") ? "" : ", in calls with padding alone");
      case AskedAs::step:
      case AskedAs::long_step:
      case AskedAs::scaled_step: return of_steps(call);
      case AskedAs::short_step: return ", in steps of one query alone";
      case AskedAs::padded_step: return names("step") || names("cache") || names("padd") ? "" : ", in steps alone";
      default: return "";
    }
  }

 private:
  bool names(std::string_view kind) const { return other_.words.find(kind) != std::string::npos; }
  bool is_usual(const AskedCase* usual) const {
    return usual == nullptr || usual->off_of(other_, usual->places()).has_value();
  }

  Shows shown(std::optional<AttentionCase> request, std::int64_t heads) const {
    if (!request) return Shows::it;
    try {
      const AskedCase asked(session_, claim_, std::move(*request), heads);
      if (asked.off_of(other_, asked.places())) return Shows::it;
      return asked.wrong().empty() ? Shows::claim : Shows::neither;
    } catch (const SubjectFailure&) {
      return Shows::it;
    }
  }

  // A long call, and one at the claim's last positions.
  std::string of_whole(const AttentionCase& request) const {
    // Words of so many tokens.
    if (other_.words.starts_with("of ")) return "";
    const auto long_one = shown(case_of(claim_, AskedAs::lengthy), most_heads_of_long);
    if (long_one == Shows::claim)
      return fmt::format(", in calls of {} tokens and not in those of {}", request.tokens, long_call);
    AttentionCase far = request;
    const std::int64_t beyond = model_of(claim_)->range().last - 1 - std::ranges::max(far.positions);
    for (std::int64_t& position : far.positions) position += std::max<std::int64_t>(beyond, 0);
    if (shown(std::move(far), most_heads_of_long) == Shows::claim)
      return fmt::format(", at positions up to {} and not at the last ones", std::ranges::max(request.positions));
    return long_one == Shows::neither ? fmt::format(", in calls of {} tokens", request.tokens) : "";
  }

  std::string of_padding(const AttentionCase& request) const {
    std::string words;
    for (const PaddedSide side : {PaddedSide::left, PaddedSide::right}) {
      const std::int64_t count =
          side == PaddedSide::left ? request.starts.front() : request.tokens - request.ends.front();
      const std::int64_t another = count == 1 ? 3 : 1;
      if (shown(padded_by(claim_, side, another), std::numeric_limits<std::int64_t>::max()) == Shows::it) continue;
      if (!words.empty()) return ", in some calls with padding";
      words = fmt::format(", where a row has {} tokens of padding on the {}, and not where it has {}", count,
                          side == PaddedSide::left ? "left" : "right", another);
    }
    return words;
  }

  std::string of_steps(AskedAs call) const {
    const std::string usual = names("step") || names("cache") ? "" : ", in steps alone";
    if (call == AskedAs::long_step) return usual.empty() ? "" : ", in steps over more keys than the window has";
    const auto whole = call == AskedAs::step ? AskedAs::usual : AskedAs::scaled;
    auto request = case_of(claim_, whole, 8);
    if (!request) return usual;
    if (shown(last_of(*request, 1), std::numeric_limits<std::int64_t>::max()) == Shows::it) return usual;
    return ", in steps of several queries alone";
  }

  Session& session_;
  const Spec& claim_;
  const OtherAttention& other_;
};

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

// Where no step reaches the first index that would be scaled, scales by index show as none.
void keep_to_asked_lengths(const Spec& claim, AttentionAnswers& told) {
  const QueryScale& scale = *held<Attention>(claim)->query_scale;
  if (far_step(claim, scale)) return;
  told.spec.reset();
  told.fault->words += fmt::format(", in calls of fewer than {} tokens",
                                   scale.rule == QueryScaleRule::log_of_periods ? scale.period : scale.length);
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

// Of two batch rows one says little of which others are like it.
PartedPlaces confirmed_parts(Session& session, const AskedCase& asked, const std::vector<AttentionPlaceOfHead>& wrong,
                             const Spec& claim) {
  PartedPlaces parts = parted_places(asked.places(), wrong);
  if (!parts.words.starts_with("batch row")) return parts;
  constexpr std::int64_t rows = 4;
  const AskedCase more(session, claim, ordinary_case(claim, asked.request().tokens, rows, 8),
                       asked.places().back().head + 1);
  return parted_places(more.places(), more.wrong());
}

// `usual` is the usual call, of another one; null where there is none.
AttentionAnswers held_against(Session& session, const AskedCase& asked, const Spec& claim, AskedAs call,
                              const AskedCase* usual) {
  const std::vector<AttentionPlaceOfHead> wrong = asked.wrong();
  if (wrong.empty()) return {};
  AttentionAnswers told{
      .are = AttentionAnswers::Are::wrong, .fault = {}, .spec = {}, .of_heads = {}, .of_tokens = {}, .of_calls = {}};
  if (call == AskedAs::large && asked.has_infinities()) {
    told.fault.emplace(
        "values are NaN or infinite where scores are large, as where the greatest is not subtracted before the "
        "exponential",
        DiagnosedStage::rounding);
    return told;
  }
  for (const Dtype format : {Dtype::bfloat16, Dtype::float16}) {
    if (!asked.is_rounded_to(format)) continue;
    told.fault.emplace(fmt::format("results are rounded to {}", name_of(format)), DiagnosedStage::rounding);
    return told;
  }
  std::vector<OtherAttention> others = other_attention(claim, asked.request());
  if (const auto limit = asked.often_greatest())
    others.push_back({.words = fmt::format("results are limited to {:.9g}", *limit),
                      .result = [limit = *limit](double value) { return std::clamp(value, -limit, limit); }});
  if (call == AskedAs::usual || call == AskedAs::lengthy) {
    for (OtherAttention& fitted : fitted_scores(session, claim, asked.request(), heads_of(call)))
      others.push_back(std::move(fitted));
  }
  if (call == AskedAs::scaled || call == AskedAs::scaled_step) add_seen_scale(session, claim, others);
  if (const OtherAttention* other = explaining(asked, others, asked.places())) {
    const std::string condition = Conditions(session, claim, *other).of(call, asked.request(), usual);
    told.fault.emplace(condition.empty() ? other->words : words_of_change(claim, asked.request(), *other) + condition,
                       other->stage);
    if (other->says == OtherAttention::Says::claim && condition.empty()) {
      told.spec = claim;
      AttentionCase request = asked.request();
      other->change(*told.spec, request);
    }
    return told;
  }
  told.of_calls = call == AskedAs::blank ? words_of_blank(asked, wrong) : words_of_calls(call);
  if (call != AskedAs::usual && call != AskedAs::lengthy) return told;
  const TakenRows taken = confirmed_rows(session, asked, wrong, claim);
  if (taken.has_values) {
    told.fault.emplace(taken.words);
    return told;
  }
  if (const PartedPlaces place = confirmed_parts(session, asked, wrong, claim); !place.words.empty()) {
    if (const OtherAttention* other = explaining(asked, others, wrong))
      told.fault.emplace(fmt::format("{}, in {}", words_of_change(claim, asked.request(), *other), place.words),
                         other->stage);
    else
      told.of_heads = fmt::format("{} {} wrong", place.words, place.count == 1 ? "is" : "are");
  } else if (call == AskedAs::lengthy) {
    if (const auto token = first_wrong_token(asked.places(), wrong))
      told.of_tokens = fmt::format("queries from token {} of a call on are wrong, those before are right", *token);
  }
  if (told.of_heads.empty() && told.of_tokens.empty() && !told.fault) told.of_calls = taken.words;
  return told;
}

}  // namespace

AttentionCase ordinary_case(const Spec& claim, std::int64_t tokens, std::int64_t batch, std::uint64_t drawing) {
  const auto& encoding = *held<Attention>(claim);
  const gen::PositionRange range = model_of(claim)->range();
  AttentionCase request =
      attention_case(claim, {.position = range.first, .tokens = tokens, .batch = batch, .heads = 1, .fill = 3});
  Numbers numbers(drawing);
  // Products of D numbers of variance 1/3 have variance D/9.
  const double apart = score_scale(encoding) * std::sqrt(static_cast<double>(encoding.head_dim)) / 3;
  // A softcap is seen in scores about as large.
  const double wanted = std::clamp(encoding.logit_softcap.value_or(1), 1.0, 4.0);
  const double size = std::exp2(std::floor(std::log2(wanted / apart) / 2));
  for (Tensor* tensor : {&request.q, &request.k, &request.v}) {
    const double times = tensor == &request.v ? 1 : size;
    for (std::int64_t i = 0; i < tensor->elements(); ++i) tensor->set(i, times * numbers.next());
  }
  // Above and below 0, and some beyond a query's scores.
  for (std::int64_t i = 0; request.sinks && i < request.sinks->elements(); ++i)
    request.sinks->set(i, 3 * (i % 2 == 0 ? 1 : -1) * std::fabs(numbers.next()));
  const std::int64_t width = range.last - range.first;
  for (std::int64_t i = 0; i < std::ssize(request.positions); ++i) {
    const std::int64_t token = i % tokens;
    const std::int64_t line = i / tokens;  // axis and row
    const std::int64_t step = 1 + line / batch;
    const std::int64_t at = 5 + 37 * line + step * (token + token / 2 + token / 4);
    request.positions[static_cast<std::size_t>(i)] = range.first + at % width;
  }
  for (auto row = request.positions.begin(); row != request.positions.end(); row += tokens)
    std::sort(row, row + tokens);
  return request;
}

AttentionAnswers attention_answers(Session& session, const Spec& claim) {
  const auto model = model_of(claim);
  if (model->not_judged()) return {};
  std::optional<AskedCase> usual;
  for (const AskedAs call : all_calls) {
    auto request = case_of(claim, call);
    if (!request) continue;
    try {
      const AskedCase asked(session, claim, std::move(*request), heads_of(call));
      const bool is_whole = call == AskedAs::lengthy || call == AskedAs::pair || call == AskedAs::sharp ||
                            call == AskedAs::low || call == AskedAs::large || call == AskedAs::great;
      AttentionAnswers told = held_against(session, asked, claim, call, is_whole && usual ? &*usual : nullptr);
      if (call == AskedAs::usual) usual.emplace(asked);
      // Whole calls show no index apart from a query's number, whose scale may be none.
      const bool is_scaled =
          call == AskedAs::usual || call == AskedAs::lengthy || call == AskedAs::scaled || call == AskedAs::scaled_step;
      if (is_scaled && told.are == AttentionAnswers::Are::wrong) {
        if (auto by_index = scales_by_index(session, claim)) {
          told.fault = std::move(by_index);
          told.spec.reset();
        } else if (told.spec && !held<Attention>(*told.spec)->query_scale && held<Attention>(claim)->query_scale) {
          keep_to_asked_lengths(claim, told);
        }
      }
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
