#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "properties/gen/placement.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/attention_budget.hpp"
#include "properties/model/attention_calls.hpp"
#include "properties/model/attention_judge.hpp"
#include "properties/model/attention_oracle.hpp"
#include "properties/model/attention_scores.hpp"
#include "properties/model/family.hpp"
#include "properties/model/models.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/reshaped.hpp"
#include "properties/model/variants.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

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
  std::optional<std::int64_t> switching_length() const override {
    const auto position = position_model(spec(), encoding_);
    return position ? position->switching_length() : std::nullopt;
  }
  std::optional<std::string> not_shift_invariant() const override {
    if (encoding_.query_scale) return "queries are scaled by their positions";
    const auto position = position_model(spec(), encoding_);
    return position ? position->not_shift_invariant() : std::nullopt;
  }

  Theory beyond_training() const override {
    const auto position = position_model(spec(), encoding_);
    return position ? position->beyond_training() : Theory::holds;
  }
  std::string met_beyond() const override {
    const auto position = position_model(spec(), encoding_);
    return position ? position->met_beyond() : "";
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
    list.with("query_scale", [](Attention& e) {
      e.query_scale = e.query_scale ? std::nullopt : std::optional(QueryScale{.amount = 0.5, .period = 4, .offset = 1});
    });
    list.with("query_scale.amount", [](Attention& e) {
      if (e.query_scale && e.query_scale->amount > 0) e.query_scale->amount *= e.query_scale->amount > 1 ? 0.5 : 2;
    });
    list.with("query_scale.period", [](Attention& e) {
      if (e.query_scale && e.query_scale->period > 0) e.query_scale->period += 1 + e.query_scale->period / 2;
    });
    list.with("query_scale.length", [](Attention& e) {
      if (e.query_scale && e.query_scale->length > 0) e.query_scale->length -= e.query_scale->length / 3;
    });
    list.with("query_scale.offset", [](Attention& e) {
      if (e.query_scale) e.query_scale->offset += 1;
    });
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
    // By a period: by less, most queries are scaled as they were.
    list.with("query_scale.offset", [](Attention& e) {
      if (e.query_scale) e.query_scale->offset += e.query_scale->period;
    });
    const auto position = position_model(spec(), encoding_);
    for (const Variant& variant : position ? position->siblings() : std::vector<Variant>()) {
      list.with(fmt::format("position.{}", variant.field), [&](Attention& e) {
        std::visit(
            [&](const auto& changed) {
              if constexpr (requires { e.position = changed; }) e.position = changed;
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
    // A window, whole.
    if (const std::int64_t all = range().last - near; all <= usual) lengths.insert(all);
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
    for (const std::int64_t tokens : {2, 5, 17}) {
      for (const std::int64_t fill : {below_masks + tokens % below_masks_count, beyond_float16})
        questions.push_back({.position = near, .tokens = tokens, .batch = 2, .fill = fill});
    }
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
      for (const std::int64_t tokens : {4, 6, 12, 36, 40, 64, 81, 196})
        questions.push_back({.position = near,
                             .tokens = tokens,
                             .batch = gen::rows_of(static_cast<gen::Placement>(placement)),
                             .fill = placed_fill + spread_in * placement});
    }
    for (std::int64_t number = 0; axes_of(spec().encoding) > 1 && number < attended_cells; ++number) {
      questions.push_back({.position = near,
                           .tokens = attended_side * attended_side,
                           .batch = 1 + number % 2,
                           .fill = placed_fill + spread_in * (gen::placements + number)});
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
    // Calls across the positions from which queries are scaled by more, and beside them.
    for (const std::int64_t border : query_scale_borders(encoding_, range())) {
      for (const auto& [tokens, batch] : {std::pair{9, 1}, {6, 2}}) {
        const std::int64_t first = std::max(border - tokens / 2, range().first);
        for (const std::int64_t fill : {every_key_counts + border % 5, one_channel_fill(border, half_for_one)})
          questions.push_back({.position = first, .tokens = tokens, .batch = batch, .fill = fill});
      }
    }
    // Calls that end just before other frequencies begin and behind that, and rows of both in one.
    if (const auto limit = switching_length()) {
      for (const auto& [tokens, batch] : {std::pair{9, 1}, {9, 2}, {17, 3}}) {
        for (const std::int64_t beyond : {0, 1, 5}) {
          const std::int64_t first = std::max(*limit - tokens + beyond, range().first);
          questions.push_back({.position = first, .tokens = tokens, .batch = batch, .fill = every_key_counts + beyond});
        }
      }
    }
    for (const std::int64_t batch : {2, 3}) {
      constexpr std::int64_t apart = every_key_counts + spread_in + apart_fill - every_key_counts % spread_in;
      questions.push_back({.position = near, .tokens = 9, .batch = batch, .fill = apart});
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
      std::rotate(order.begin(), order.begin() + cut_of(whole.tokens, cut), order.end());
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

  std::unique_ptr<Judge> judge() const override { return attention_judge(spec(), encoding_); }

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
