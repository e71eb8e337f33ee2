// Over 400 lines: one comparison, and what it needs of a claim with one thing changed: its biases, turns and answers.
#include "properties/identify/attention_answers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "lib/numeric/ulp.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/other_attention.hpp"
#include "properties/identify/other_query_scales.hpp"
#include "properties/identify/plain_scores.hpp"
#include "properties/model/attention_budget.hpp"
#include "properties/model/attention_oracle.hpp"
#include "properties/model/attention_quick.hpp"
#include "properties/model/family.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

constexpr std::int64_t short_call = 12;
// No multiple of a tile's width, and odd.
constexpr std::int64_t long_call = 165;
constexpr std::int64_t most_heads_of_long = 2;
// Times as far apart as usual scores: e^s of some is beyond float32, whose range ends at e^89.
constexpr double large_scores = 256;

// Numbers that every dtype holds, of no order: multiples of 1/64 in [-1, 1), by a linear congruence (Knuth's MMIX).
class Numbers {
 public:
  double next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 57) / 64 - 1;
  }

 private:
  std::uint64_t state_ = 7;
};

// An ordinary call, whose scores are about 1 apart so that every key counts, and whose positions are no places.
AttentionCase ordinary_case(const Spec& claim, std::int64_t tokens, std::int64_t batch) {
  const auto& encoding = *held<Attention>(claim);
  const gen::PositionRange range = model_of(claim)->range();
  AttentionCase request =
      attention_case(claim, {.position = range.first, .tokens = tokens, .batch = batch, .heads = 1, .fill = 3});
  Numbers numbers;
  // Products of D numbers of variance 1/3 have variance D/9.
  const double apart = score_scale(encoding) * std::sqrt(static_cast<double>(encoding.head_dim)) / 3;
  // A softcap is seen in scores about as large.
  const double wanted = std::clamp(encoding.logit_softcap.value_or(1), 1.0, 4.0);
  const double size = std::exp2(std::floor(std::log2(wanted / apart) / 2));
  for (Tensor* tensor : {&request.q, &request.k, &request.v}) {
    const double times = tensor == &request.v ? 1 : size;
    for (std::int64_t i = 0; i < tensor->elements(); ++i) tensor->set(i, times * numbers.next());
  }
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

// A bias that is another one's by a rule.
class OtherBias final : public ScoreBiasOracle {
 public:
  OtherBias(ScoreBiasOracle& own, const OtherAttention& other) : own_(own), other_(other) {}

  ScoreTerm at(const BiasPlace& place, const Tensor* weight, reference::Precision precision) override {
    const QuickScoreTerm term = quickly(place, weight);
    return {reference::Enclosure(static_cast<double>(term.value), precision), term.roundings};
  }
  QuickScoreTerm quickly(const BiasPlace& place, const Tensor* weight) override {
    return other_.bias(own_, place, weight);
  }

 private:
  ScoreBiasOracle& own_;
  const OtherAttention& other_;
};

// Vectors are turned by other places, and keys by another rule.
class OtherTurning final : public TurningOracle {
 public:
  OtherTurning(TurningOracle& own, TurningOracle* of_keys, const OtherAttention& other)
      : TurningOracle(own.head()), own_(own), of_keys_(of_keys), other_(other) {}

  Role role() const override { return own_.role(); }
  std::int64_t coordinate(const VectorPlace& place, std::int64_t pair) const override {
    return of(place).coordinate(at(place), pair);
  }
  TurnedPair turned(const VectorPlace& place, std::int64_t pair, const reference::RealPair& x,
                    reference::Precision precision) override {
    return of(place).turned(at(place), pair, x, precision);
  }
  PairBounds bounds(const VectorPlace& place, std::int64_t pair, const reference::RealPair& x,
                    reference::Precision precision) override {
    return of(place).bounds(at(place), pair, x, precision);
  }
  bool is_representable(const VectorPlace& place, std::int64_t pair, double length) override {
    return of(place).is_representable(at(place), pair, length);
  }
  long double stretch(const VectorPlace& place, std::int64_t pair) override {
    return of(place).stretch(at(place), pair);
  }
  double least_bound(const VectorPlace& place, std::int64_t pair, double length) override {
    return of(place).least_bound(at(place), pair, length);
  }
  double least_evaluation(const VectorPlace& place, std::int64_t pair, double length) override {
    return of(place).least_evaluation(at(place), pair, length);
  }
  void turn_quickly(const VectorPlace& place, std::span<QuickTurn> turns) override {
    of(place).turn_quickly(at(place), turns);
  }

 private:
  TurningOracle& of(const VectorPlace& place) const {
    return of_keys_ != nullptr && place.role == Role::key ? *of_keys_ : own_;
  }
  VectorPlace at(const VectorPlace& place) const { return other_.place ? other_.place(place) : place; }

  TurningOracle& own_;
  TurningOracle* of_keys_;
  const OtherAttention& other_;
};

// The rows of one answer, each held against right values.
class AskedCase {
 public:
  AskedCase(Session& session, const Spec& claim, AttentionCase request)
      : claim_(claim), request_(std::move(request)), answer_(attend(session, claim, request_)) {
    const auto& encoding = *held<Attention>(claim);
    const std::int64_t heads =
        request_.tokens > short_call ? std::min(most_heads_of_long, encoding.num_heads) : encoding.num_heads;
    for (std::int64_t batch = 0; batch < request_.batch; ++batch) {
      for (std::int64_t head = 0; head < heads; ++head) {
        for (std::int64_t token = 0; token < request_.queries(); ++token) {
          if (request_.seen_by(encoding, batch, token).count() > 0) places_.push_back({batch, head, token});
        }
      }
    }
  }

  const AttentionCase& request() const { return request_; }
  const std::vector<AttentionPlaceOfHead>& places() const { return places_; }

  std::vector<AttentionPlaceOfHead> wrong() const {
    std::vector<AttentionPlaceOfHead> list;
    each({}, places_, [&](const AttentionPlaceOfHead& place, bool is_right) {
      if (!is_right) list.push_back(place);
      return true;
    });
    return list;
  }

  // How far the places' answers are off together, where each is within its bounds.
  std::optional<double> off_of(const OtherAttention& other, const std::vector<AttentionPlaceOfHead>& places) const {
    bool all = true;
    double off = 0;
    each(
        other, places, [&](const AttentionPlaceOfHead&, bool is_right) { return all = is_right; }, std::nullopt, off);
    return all ? std::optional(off) : std::nullopt;
  }

  double off_of_claim(const std::vector<AttentionPlaceOfHead>& places) const {
    double off = 0;
    each(
        {}, places, [](const AttentionPlaceOfHead&, bool) { return true; }, std::nullopt, off);
    return off;
  }

  bool has_infinities() const {
    for (std::int64_t i = 0; i < answer_.elements(); ++i) {
      if (!std::isfinite(answer_.at(i))) return true;
    }
    return false;
  }

  // Whether values are of a narrower format, and as near to the right ones as its rounding leaves them.
  bool is_rounded_to(Dtype format) const {
    if (format_of(format).precision >= format_of(claim_.dtype).precision) return false;
    for (std::int64_t i = 0; i < answer_.elements(); ++i) {
      if (round_to(format, answer_.at(i)) != answer_.at(i)) return false;
    }
    bool all = true;
    each(
        {}, places_, [&](const AttentionPlaceOfHead&, bool is_right) { return all = is_right; }, format);
    return all;
  }

 private:
  template <class Take>
  void each(const OtherAttention& other, const std::vector<AttentionPlaceOfHead>& places, const Take& take,
            std::optional<Dtype> rounded = std::nullopt) const {
    double ignored = 0;
    each(other, places, take, rounded, ignored);
  }

  // `sum_of_off` gains how far the rows that are taken are off.
  template <class Take>
  void each(const OtherAttention& other, const std::vector<AttentionPlaceOfHead>& places, const Take& take,
            std::optional<Dtype> rounded, double& sum_of_off) const {
    Spec spec = claim_;
    AttentionCase request = request_;
    if (other.change) other.change(spec, request);
    const AttentionOracle oracle(spec);
    const auto position = position_model(spec, *held<Attention>(spec));
    const auto own_turning = position ? position->turning() : nullptr;
    std::unique_ptr<TurningOracle> turning_of_keys;
    if (other.of_keys) {
      Spec of_keys = spec;
      other.of_keys(of_keys);
      turning_of_keys = position_model(of_keys, *held<Attention>(of_keys))->turning();
    }
    std::unique_ptr<TurningOracle> changed_turning;
    if (own_turning && (other.place || turning_of_keys))
      changed_turning = std::make_unique<OtherTurning>(*own_turning, turning_of_keys.get(), other);
    TurningOracle* turning = changed_turning ? changed_turning.get() : own_turning.get();
    const auto own = position ? position->score_bias() : nullptr;
    std::unique_ptr<ScoreBiasOracle> changed;
    if (other.bias) {
      if (!own) return;
      changed = std::make_unique<OtherBias>(*own, other);
    }
    ScoreBiasOracle* bias = changed ? changed.get() : own.get();
    const auto compare = [&](const AttentionPlaceOfHead& place, const QuickAttentionRow& row) {
      bool is_right = true;
      const AttentionArithmetic arithmetic(spec);
      const std::int64_t width = request.q.shape[3];
      const std::int64_t first =
          ((place.batch * request.q.shape[1] + place.head) * request.queries() + place.token) * width;
      for (std::int64_t c = 0; c < width; ++c) {
        const auto at = static_cast<std::size_t>(c);
        const auto value = static_cast<double>(row.value[at]);
        double bound = value_bound(arithmetic, row.bounds[at], std::fabs(value)) + row.errors[at];
        if (rounded) bound += ulp(*rounded, std::fabs(value) + bound) / 2;
        const double off = std::fabs(answer_.at(first + c) - value);
        sum_of_off += off;
        is_right = is_right && off <= bound;
      }
      return is_right;
    };
    // What a query has that sees no key under another mask is its implementation's own affair.
    const auto sees_keys = [&](const AttentionPlaceOfHead& place) {
      return request.seen_by(*held<Attention>(spec), place.batch, place.token).count() > 0;
    };
    if (other.weights != ScoresToWeights::softmax) {
      PlainScores plain(spec, request, turning, bias);
      for (const AttentionPlaceOfHead& place : places) {
        if (!take(place, !sees_keys(place) || compare(place, plain.row(place, other)))) return;
      }
      return;
    }
    const auto quick = quick_attention(spec, request, turning, bias);
    for (const AttentionPlaceOfHead& place : places) {
      if (!take(place, !sees_keys(place) || compare(place, quick->row(place)))) return;
    }
  }

  const Spec& claim_;
  AttentionCase request_;
  Tensor answer_;
  std::vector<AttentionPlaceOfHead> places_;  // that see a key
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
    return {fmt::format("{} {}", bad.size() == 1 ? one : several, fmt::join(bad, ", ")), bad.size()};
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

// That which every place meets. Bounds of 16 bits admit much that is no answer: it is also several times nearer than
// the claim's, and of those that are, the nearest, or an earlier one that is about as near.
const OtherAttention* explaining(const AskedCase& asked, const std::vector<OtherAttention>& others,
                                 const std::vector<AttentionPlaceOfHead>& places) {
  constexpr double nearer_than_claim = 8;
  constexpr double nearer = 1.25;
  double least = asked.off_of_claim(places) / nearer_than_claim * nearer;
  const OtherAttention* found = nullptr;
  for (const OtherAttention& other : others) {
    const auto off = asked.off_of(other, places);
    if (!off || *off * nearer > least) continue;
    least = *off;
    found = &other;
  }
  return found;
}

enum class AskedAs { usual, lengthy, large, padded, step, padded_step, far, near_and_far, scaled };

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

// Of calls of one kind whose answers alone are wrong, for the end of words that do not name them.
std::string condition_of(AskedAs call, const std::string& words) {
  const auto names = [&](std::string_view kind) { return words.find(kind) != std::string::npos; };
  switch (call) {
    case AskedAs::padded: return names("padd") ? "" : ", in calls with padding alone";
    case AskedAs::step:
    case AskedAs::padded_step: return names("step") || names("cache") || names("padd") ? "" : ", in steps alone";
    default: return "";
  }
}

// Of calls that are the first whose answers are wrong.
std::string words_of_calls(AskedAs call) {
  switch (call) {
    case AskedAs::usual:
    case AskedAs::lengthy: return "";
    case AskedAs::large: return "values are wrong where scores are large, and right where they are about 1";
    case AskedAs::padded: return "values are wrong in calls with padding, and right in those without";
    case AskedAs::step:
      return "values are wrong in steps, whose queries are a sequence's last, and right in whole calls";
    case AskedAs::padded_step: return "values are wrong in steps over rows with padding, and right in those without";
    case AskedAs::far:
    case AskedAs::near_and_far: return "values are wrong in calls about the length from which frequencies change";
    case AskedAs::scaled: return "values are wrong at positions at which queries are scaled";
  }
  return "";
}

AttentionAnswers held_against(const AskedCase& asked, const Spec& claim, AskedAs call) {
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
  const std::vector<OtherAttention> others = other_attention(claim, asked.request());
  if (const OtherAttention* other = explaining(asked, others, asked.places())) {
    const std::string condition = condition_of(call, other->words);
    told.fault.emplace(other->words + condition, other->stage);
    if (other->says == OtherAttention::Says::claim && condition.empty()) {
      told.spec = claim;
      AttentionCase request = asked.request();
      other->change(*told.spec, request);
    }
    return told;
  }
  told.of_calls = words_of_calls(call);
  if (call != AskedAs::usual && call != AskedAs::lengthy) return told;
  if (const PartedPlaces place = parted_places(asked.places(), wrong); !place.words.empty()) {
    if (const OtherAttention* other = explaining(asked, others, wrong))
      told.fault.emplace(fmt::format("{}, in {} alone", other->words, place.words), other->stage);
    else
      told.of_heads = fmt::format("{} alone {} wrong", place.words, place.count == 1 ? "is" : "are");
  } else if (call == AskedAs::lengthy) {
    if (const auto token = first_wrong_token(asked.places(), wrong))
      told.of_tokens = fmt::format("queries from token {} of a call on are wrong, those before are right", *token);
  }
  return told;
}

}  // namespace

AttentionAnswers attention_answers(Session& session, const Spec& claim) {
  const auto model = model_of(claim);
  if (model->not_judged()) return {};
  const std::int64_t room = model->most_tokens_from(model->range().first);
  for (const AskedAs call : {AskedAs::usual, AskedAs::lengthy, AskedAs::large, AskedAs::padded, AskedAs::step,
                             AskedAs::padded_step, AskedAs::far, AskedAs::near_and_far, AskedAs::scaled}) {
    const bool is_long = call == AskedAs::lengthy;
    const std::int64_t tokens = std::min(is_long ? long_call : short_call, room);
    if (is_long && tokens <= short_call) continue;
    const auto* rope = carried<Rope>(*held<Attention>(claim));
    const bool has_lengths = rope != nullptr && depends_on_length(claim) && original_length(rope->rope_scaling);
    const bool is_far = call == AskedAs::far || call == AskedAs::near_and_far;
    if (is_far && !has_lengths) continue;
    const auto& scale = held<Attention>(claim)->query_scale;
    if (call == AskedAs::scaled && !scale) continue;
    AttentionCase request = ordinary_case(claim, tokens, is_long ? 1 : is_far ? 3 : 2);
    if (is_far) reach_lengths(request, claim, call);
    if (call == AskedAs::scaled) reach_scales(request, *scale, model->range().last);
    if (call == AskedAs::large) {
      for (std::int64_t i = 0; i < request.q.elements(); ++i) request.q.set(i, large_scores * request.q.at(i));
    }
    if (call == AskedAs::padded || call == AskedAs::padded_step) request = padded_on_both_sides(std::move(request));
    if (call == AskedAs::step || call == AskedAs::padded_step) request = last_of(request, 3);
    try {
      AttentionAnswers told = held_against(AskedCase(session, claim, std::move(request)), claim, call);
      if (told.are == AttentionAnswers::Are::wrong) return told;
    } catch (const SubjectFailure& failure) {
      // Many have neither steps nor padding.
      if (call == AskedAs::usual || call == AskedAs::lengthy) throw;
    }
  }
  return {};
}

}  // namespace sextant::identify
