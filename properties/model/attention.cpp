#include "reference/attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

#include "lib/numeric/ulp.hpp"
#include "properties/gen/placement.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/attention_budget.hpp"
#include "properties/model/attention_calls.hpp"
#include "properties/model/attention_oracle.hpp"
#include "properties/model/attention_scores.hpp"
#include "properties/model/family.hpp"
#include "properties/model/models.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/reshaped.hpp"
#include "properties/model/variants.hpp"
#include "reference/rounding.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;

// Products of queries and keys that the fast tier forms for one call, and the rows that it judges at least.
constexpr std::int64_t judged_products = std::int64_t{1} << 23;
constexpr std::int64_t fewest_rows = 24;

// The rows of a call that are judged: all, or of a long call the first and last tokens (the last two in the first and
// last heads and rows of the batch), those on both sides of a power of two from 64 on, where tiles end, and as many
// that `fill` draws, one from each stretch of the call.
std::vector<AttentionPlaceOfHead> judged_rows(const Attention& encoding, const AttentionCase& request,
                                              std::int64_t fill) {
  const std::int64_t queries = request.queries();
  const std::int64_t all = request.batch * encoding.num_heads * queries;
  const std::int64_t most = std::max(fewest_rows, judged_products / (request.tokens * encoding.head_dim));
  std::vector<AttentionPlaceOfHead> rows;
  if (all <= most) {
    for (std::int64_t row = 0; row < all; ++row)
      rows.push_back({row / queries / encoding.num_heads, row / queries % encoding.num_heads, row % queries});
    return rows;
  }
  for (const std::int64_t batch : {std::int64_t{0}, request.batch - 1}) {
    for (const std::int64_t head : {std::int64_t{0}, encoding.num_heads - 1}) {
      for (const std::int64_t token : {std::max<std::int64_t>(queries - 2, 0), queries - 1})
        rows.push_back({batch, head, token});
    }
  }
  std::vector<std::int64_t> tokens{0, queries - 1};
  for (std::int64_t power = 64; power < queries; power *= 2) {
    for (const std::int64_t token : {power - 1, power, power + 1}) tokens.push_back(std::min(token, tokens[1]));
  }
  const std::int64_t drawn = std::max(most - std::ssize(tokens), most / 2);
  for (std::int64_t i = 0; i < drawn; ++i) {
    const std::int64_t first = i * queries / drawn;
    const std::int64_t width = std::max<std::int64_t>((i + 1) * queries / drawn - first, 1);
    tokens.push_back(first + static_cast<std::int64_t>(gen::word(fill, i) >> 1) % width);
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto word = static_cast<std::int64_t>(gen::word(fill + 1, static_cast<std::int64_t>(i)) >> 1);
    rows.push_back({word % request.batch, word / request.batch % encoding.num_heads, tokens[i]});
  }
  // Heads of one group follow each other, so that its keys are turned once; each row is judged once.
  const auto order = [](const AttentionPlaceOfHead& place) { return std::tuple(place.batch, place.head, place.token); };
  std::ranges::sort(rows, {}, order);
  rows.erase(std::ranges::unique(rows, {}, order).begin(), rows.end());
  return rows;
}

class AttentionJudge final : public Judge {
 public:
  AttentionJudge(const Spec& spec, const Attention& encoding)
      : spec_(spec), encoding_(encoding), arithmetic_(spec), oracle_(spec) {}

  Judgement values(const Call& call, const Tensor& answer) override {
    Judgement judgement;
    const AttentionCase request = attention_case(call);
    const auto quick = oracle_.quick(request);
    for (const AttentionPlaceOfHead& place : judged_rows(encoding_, request, call.fill)) {
      if (request.seen_by(encoding_, place.batch, place.token).count() > 0)
        judge_row(judgement, request, answer, place, quick->row(place));
    }
    return judgement;
  }

  Judgement agreement(const Parts& calls, const Tensor& whole, const Tensor& part) override {
    const AttentionCase in_whole = attention_case(calls.whole);
    const AttentionCase in_part = attention_case(calls.part);
    const auto place_in_whole = [&](const AttentionPlace& place) {
      const std::int64_t row =
          place.batch * encoding_.num_heads * in_part.queries() + place.token;  // of the first head
      const std::int64_t there = calls.in_whole(row * encoding_.head_dim) / encoding_.head_dim;
      return AttentionPlace{there / in_whole.queries() / encoding_.num_heads, there % in_whole.queries()};
    };
    return judge_same(spec_, oracle_, in_part, part, in_whole, whole, calls.part.fill, place_in_whole);
  }

 private:
  void judge_row(Judgement& judgement, const AttentionCase& request, const Tensor& answer,
                 const AttentionPlaceOfHead& at, const QuickAttentionRow& quick) {
    const std::int64_t row = (at.batch * encoding_.num_heads + at.head) * request.queries() + at.token;
    // Of one key alone every score makes the same.
    if (request.seen_by(encoding_, at.batch, at.token).count() + (encoding_.sinks ? 1 : 0) > 1)
      ++(quick.is_anything ? judgement.uninformative : judgement.informative);
    std::optional<reference::RealVector> exact;  // asked only for what the fast tier leaves open
    for (std::int64_t c = 0; c < encoding_.head_dim; ++c) {
      const auto at_channel = static_cast<std::size_t>(c);
      const double value = answer.at(row * encoding_.head_dim + c);
      const auto place = [&] {
        return fmt::format("batch row {}, head {}, token {}, channel {}", at.batch, at.head, at.token, c);
      };
      if (!std::isfinite(value)) {
        judgement.add(Certainty::no, not_finite(), [&] { return place() + ": NaN or infinite"; });
        continue;
      }
      const long double expected = quick.value[at_channel];
      auto truth = static_cast<double>(expected);
      auto error = static_cast<double>(std::fabs(static_cast<long double>(value) - expected));
      double bound = value_bound(arithmetic_, quick.bounds[at_channel], std::fabs(truth));
      Certainty within = error + quick.errors[at_channel] <= bound  ? Certainty::yes
                         : error - quick.errors[at_channel] > bound ? Certainty::no
                                                                    : Certainty::unknown;
      if (within == Certainty::unknown) {
        if (!exact) exact = oracle_.row(request, at.batch, at.head, at.token, reference::first_precision);
        const Enclosure& enclosed = (*exact)[at_channel];
        const Enclosure distance = abs(Enclosure(value, reference::first_precision) - enclosed);
        truth = enclosed.upper();
        error = distance.upper();
        bound = value_bound(arithmetic_, quick.bounds[at_channel], std::fabs(truth));
        within = reference::at_most(distance, Enclosure(bound, reference::first_precision));
      }
      const Deviation deviation{bound > 0 ? error / bound : not_finite().of_bound, error,
                                error / ulp(spec_.dtype, truth)};
      judgement.add(within, deviation, [&] {
        return fmt::format("{}: {}", place(), comparison_text(spec_.dtype, value, truth, deviation));
      });
    }
  }

  Spec spec_;
  Attention encoding_;
  AttentionArithmetic arithmetic_;
  AttentionOracle oracle_;
};

class AttentionModel final : public EncodingModel {
 public:
  AttentionModel(const Spec& spec, const Attention& encoding) : EncodingModel(spec), encoding_(encoding) {}

  std::int64_t judged_values() const override { return 9 * encoding_.head_dim; }
  FieldRole tokens_role() const override { return FieldRole::sequence; }

  // What its position encoding says of positions and lengths holds for attention with it.
  gen::PositionRange range() const override {
    const auto position = position_model(spec(), encoding_);
    return position ? position->range() : EncodingModel::range();
  }
  std::optional<std::string> depends_on_length() const override {
    const auto position = position_model(spec(), encoding_);
    return position ? position->depends_on_length() : std::nullopt;
  }
  std::optional<std::string> not_shift_invariant() const override {
    const auto position = position_model(spec(), encoding_);
    return position ? position->not_shift_invariant() : std::nullopt;
  }

  Theory beyond_training() const override {
    const auto position = position_model(spec(), encoding_);
    return position ? position->beyond_training() : Theory::holds;
  }
  std::string phases_beyond() const override {
    const auto position = position_model(spec(), encoding_);
    return position ? position->phases_beyond() : "";
  }

  std::optional<std::string> sees_later_tokens() const override {
    if (!encoding_.causal) return "attention is not causal: every token sees later ones";
    return std::nullopt;
  }

  std::optional<std::string> not_judged() const override {
    const auto position = position_model(spec(), encoding_);
    return position ? position->not_judged_in_attention() : std::nullopt;
  }

  std::vector<Variant> variants() const override {
    Variants<Attention> list(spec());
    list.with("causal", [](Attention& e) { e.causal = !e.causal; });
    list.with("num_kv_heads", [](Attention& e) { e.num_kv_heads = e.num_kv_heads == 1 ? e.num_heads : 1; });
    list.with("window", [](Attention& e) {
      constexpr std::int64_t narrow = 3;
      e.window = e.window ? std::nullopt : std::optional(narrow);
    });
    list.with("softmax_scale", [](Attention& e) {
      e.softmax_scale = e.softmax_scale ? 2 * *e.softmax_scale : 1 / std::sqrt(static_cast<double>(e.head_dim + 3));
    });
    list.with("logit_softcap", [](Attention& e) { e.logit_softcap = e.logit_softcap ? *e.logit_softcap / 2 : 1.5; });
    list.with("sinks", [](Attention& e) { e.sinks = !e.sinks; });
    list.with("position", [](Attention& e) {
      if (e.position) {
        e.position.reset();
      } else {
        Alibi alibi;
        alibi.num_heads = e.num_heads;
        alibi.mask = Mask::symmetric;
        e.position = alibi;
      }
    });
    return list.made();
  }

  // Those of its position too.
  std::vector<Variant> siblings() const override {
    Variants<Attention> list(spec(), variants());
    list.with("num_heads", [](Attention& e) {
      e.num_heads *= 2;
      e.num_kv_heads *= 2;
    });
    const auto position = position_model(spec(), encoding_);
    for (const Variant& variant : position ? position->siblings() : std::vector<Variant>()) {
      list.with(fmt::format("position.{}", variant.field), [&](Attention& e) {
        std::visit(
            [&](const auto& changed) {
              if constexpr (!std::is_same_v<std::decay_t<decltype(changed)>, Attention>) e.position = changed;
            },
            variant.spec.encoding);
      });
    }
    return list.made();
  }

  Call call_of(const Question& question) const override {
    const auto drawn = [&](std::int64_t heads, std::int64_t which) {
      return gen::values(spec().dtype, {question.batch, heads, question.tokens, encoding_.head_dim},
                         question.fill + 1 + which);
    };
    Call call{
        .positions = positions_of(spec(), question, question.batch),
        .vectors = {drawn(encoding_.num_heads, 0), drawn(encoding_.num_kv_heads, 1), drawn(encoding_.num_kv_heads, 2)},
        .fill = question.fill};
    if (const auto weight = signature_of(encoding_).weight)
      call.weight = gen::values(spec().dtype, {weight->rows, encoding_.num_heads}, question.fill + 1 + 3);
    if (encoding_.sinks) call.sinks = gen::values(spec().dtype, {encoding_.num_heads}, question.fill + 1 + 4);
    return call;
  }

  // Long calls take the square of their length, so they are few: one that is as long as any, those on each side of a
  // tile as far as they are not dear, and one of many rows.
  std::vector<Question> first_questions() const override {
    std::vector<Question> questions = EncodingModel::first_questions();
    const std::int64_t near = gen::simplest_position(range());
    const std::int64_t longest = longest_tokens(encoding_, work_of_once);
    const std::int64_t usual = longest_tokens(encoding_, work_of_drawn);
    std::set<std::int64_t> lengths(gen::usual_extents().begin(), gen::usual_extents().end());
    for (std::int64_t power = 32; power <= 2048; power *= 2) lengths.insert({power - 1, power, power + 1});
    // Every key counts, so that each that is left out shows; but in sums whose terms are rounded to 16 bits few do.
    const bool is_fine = !is_16_bit(AttentionArithmetic(spec()).operations);
    const auto add = [&](std::int64_t tokens) {
      if (tokens > usual) return;
      if (is_fine) {
        questions.push_back({.position = near, .tokens = tokens, .fill = every_key_counts + tokens % 100});
      } else {
        for (const std::int64_t kind : {few_keys, half_for_one})
          questions.push_back({.position = near, .tokens = tokens, .fill = one_channel_fill(tokens, kind)});
      }
    };
    for (const std::int64_t tokens : lengths) add(tokens);
    for (const std::int64_t tokens : {65, 129, 257, 513, 1025, 2049, 4096}) {
      if (tokens <= usual) continue;
      for (const std::int64_t fill : {latest_key_wins, every_key_counts, one_key_wins,
                                      one_channel_fill(tokens, few_keys), one_channel_fill(tokens, half_for_one)})
        questions.push_back({.position = near, .tokens = std::min(tokens, longest), .fill = fill});
      if (tokens > longest) break;
    }
    constexpr std::int64_t spread = one_key_wins + spread_in - one_key_wins % spread_in;
    questions.push_back({.position = near, .tokens = 9, .fill = scaled_fill});
    questions.push_back({.position = near, .tokens = 200, .fill = scaled_fill + scaled_in});
    for (const std::int64_t fill : {runs_fill, repeats_fill})
      questions.push_back({.position = near, .tokens = 100, .fill = fill});
    for (const std::int64_t tokens : {2, 7, 17, 33, 64, 129, 300}) {
      for (std::int64_t kind = 0; kind < one_channel_kinds; ++kind)
        questions.push_back(
            {.position = near, .tokens = std::min(tokens, longest), .fill = one_channel_fill(tokens, kind)});
    }
    for (const std::int64_t tokens : gen::usual_extents()) {
      constexpr std::int64_t most = 1500;
      if (tokens > usual && tokens <= std::min(longest, most))
        questions.push_back({.position = near, .tokens = tokens, .fill = one_channel_fill(tokens, few_keys)});
    }
    for (std::int64_t placement = 0; axes_of(spec().encoding) > 1 && placement < gen::placements; ++placement) {
      for (const std::int64_t tokens : {4, 6, 12, 64, 81, 196})
        questions.push_back({.position = near, .tokens = tokens, .fill = placed_fill + spread_in * placement});
    }
    for (const std::int64_t tokens : {17, 100, 300, 600, 1030, 2050}) {
      if (tokens > usual) break;
      for (const std::int64_t fill :
           {latest_key_wins, far_from_zero, one_key_wins, one_key_wins + 1, spread, spread + spread_in})
        questions.push_back({.position = near, .tokens = tokens, .fill = fill});
    }
    for (const auto& [batch, tokens] : {std::pair{2, 17}, {17, 65}, {5, 520}}) {
      questions.push_back(
          clipped({.position = near, .tokens = tokens, .batch = batch, .fill = every_key_counts}, largest_reshaped()));
    }
    std::set<std::int64_t> rows(gen::usual_extents().begin(), gen::usual_extents().end());
    for (std::int64_t power = 4; power <= most_rows; power *= 2) rows.insert({power - 1, power, power + 1});
    rows.erase(rows.upper_bound(most_rows), rows.end());
    for (const std::int64_t batch : rows)
      questions.push_back(clipped({.position = near, .tokens = 5, .batch = batch, .fill = 1}, largest_reshaped()));
    for (const Question& question : questions_of_every_length(near)) {
      if (!lengths.contains(question.tokens)) add(question.tokens);
    }
    return questions;
  }

  // A row depends on every key that it sees, so no call has all there is at a position.
  SweepOf<Question> sweep(std::int64_t) const override {
    return {.blocks = {}, .claimed = range().last - range().first};
  }

  rc::Gen<Question> drawn_questions() const override {
    constexpr std::int64_t one_large_in = 16;
    return of_many_shapes(EncodingModel::drawn_questions(), range(), largest_drawn(), one_large_in);
  }

  Call accuracy_call(const Question& question) const override {
    AttentionCase asked = attention_case(spec(), question);
    vary(asked, range(), question.fill);
    return sextant::call_of(std::move(asked), question.fill);
  }

  // Under a causal mask the first tokens come out as if there were no others.
  Parts chunk_of(const Chunk& chunk) const override {
    const AttentionCase whole = attention_case(spec(), {chunk.position, chunk.length, 2, 1, chunk.fill});
    const std::int64_t tokens = std::min(chunk.count, whole.tokens - 1);
    return {.whole = sextant::call_of(whole, chunk.fill),
            .part = sextant::call_of(first_tokens(whole, tokens), chunk.fill),
            .in_whole = [width = encoding_.head_dim, tokens, all = whole.tokens](std::int64_t element) {
              const std::int64_t row = element / width;
              return (row / tokens * all + row % tokens) * width + element % width;
            }};
  }

  // A batch row: tokens of one row see each other.
  Parts one_of(const Question& question, std::int64_t which) const override {
    Question of_two = question;
    of_two.batch = 2;
    const AttentionCase whole = attention_case(spec(), of_two);
    const std::int64_t row = which % whole.batch;
    const std::int64_t elements = whole.q.elements() / whole.batch;
    return {.whole = sextant::call_of(whole, question.fill),
            .part = sextant::call_of(batch_row(whole, row), question.fill),
            .in_whole = [offset = row * elements](std::int64_t element) { return offset + element; }};
  }

  // The last batch rows by themselves; then under a causal mask the first tokens, and else all of them in another
  // order.
  std::int64_t shapes() const override { return 3; }

  // Beside each other, rows are as many as fit into the work of the longest.
  gen::LargestCall largest_reshaped() const override { return of_length(longest_tokens(encoding_, work_of_longest)); }
  gen::LargestCall largest_asked() const override { return of_length(longest_tokens(encoding_, work_of_once)); }
  gen::LargestCall largest_drawn() const override {
    const std::int64_t longest = longest_tokens(encoding_, work_of_drawn);
    return {{most_rows, longest, 1}, longest};
  }

  Parts reshaped(const Question& question, std::int64_t shape, std::int64_t cut) const override {
    const AttentionCase whole = attention_case(spec(), question);
    const std::int64_t width = encoding_.head_dim;
    if (shape == 0) {
      const std::int64_t first = cut_of(whole.batch, cut);
      const std::int64_t elements = whole.q.elements() / whole.batch;
      return {.whole = sextant::call_of(whole, question.fill),
              .part = sextant::call_of(batch_rows(whole, first, whole.batch - first), question.fill),
              .in_whole = [offset = first * elements](std::int64_t element) { return offset + element; },
              .together = width};
    }
    std::vector<std::int64_t> order;
    if (encoding_.causal) {
      order = tokens_again(TokenShape::first_alone, whole.tokens, shape == 1 ? whole.tokens - 2 : cut);
    } else if (shape == 1 || encoding_.window) {
      // In a window tokens keep their distances.
      order = tokens_again(TokenShape::reversed, whole.tokens, cut);
    } else {
      order = gen::consecutive(0, whole.tokens);
      std::ranges::rotate(order, order.begin() + cut_of(whole.tokens, cut));
    }
    AttentionCase part = in_order(whole, order);
    return {.whole = sextant::call_of(whole, question.fill),
            .part = sextant::call_of(std::move(part), question.fill),
            .in_whole =
                [=, tokens = whole.tokens](std::int64_t element) {
                  const std::int64_t count = std::ssize(order);
                  const std::int64_t row = element / width;
                  return (row / count * tokens + order[static_cast<std::size_t>(row % count)]) * width +
                         element % width;
                },
            .together = width};
  }

  Tensor ask(Session& session, const Call& call) const override {
    return attend(session, spec(), attention_case(call));
  }

  std::unique_ptr<Judge> judge() const override { return std::make_unique<AttentionJudge>(spec(), encoding_); }

 protected:
  std::optional<std::int64_t> trained_by_fields() const override {
    const auto position = position_model(spec(), encoding_);
    return position ? std::optional(position->trained_end()) : std::nullopt;
  }

 private:
  static gen::LargestCall of_length(std::int64_t longest) {
    return {{most_rows, longest, 1}, std::max(longest, most_rows)};
  }

  Attention encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Attention& encoding) {
  return std::make_unique<AttentionModel>(spec, encoding);
}

}  // namespace sextant
