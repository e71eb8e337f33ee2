#include "reference/attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/numeric/ulp.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/attention_oracle.hpp"
#include "properties/model/family.hpp"
#include "properties/model/models.hpp"
#include "properties/model/variants.hpp"
#include "reference/rounding.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;

constexpr std::int64_t judged_rows = 4;  // of a call: the exact tier costs about a millisecond a key

class AttentionJudge final : public Judge {
 public:
  AttentionJudge(const Spec& spec, const Attention& encoding) : spec_(spec), encoding_(encoding), oracle_(spec) {}

  Judgement values(const Call& call, const Tensor& answer) override {
    Judgement judgement;
    const AttentionCase request = attention_case(call);
    const std::int64_t rows = answer.elements() / encoding_.head_dim;
    const std::int64_t step = std::max<std::int64_t>(1, rows / judged_rows);
    for (std::int64_t row = call.fill % step; row < rows; row += step) judge_row(judgement, request, answer, row);
    return judgement;
  }

  Judgement agreement(const Parts& calls, const Tensor& whole, const Tensor& part) override {
    const AttentionCase in_whole = attention_case(calls.whole);
    const AttentionCase in_part = attention_case(calls.part);
    const auto place_in_whole = [&](const AttentionPlace& place) {
      const std::int64_t row = place.batch * encoding_.num_heads * in_part.tokens + place.token;  // of the first head
      const std::int64_t there = calls.in_whole(row * encoding_.head_dim) / encoding_.head_dim;
      return AttentionPlace{there / in_whole.tokens / encoding_.num_heads, there % in_whole.tokens};
    };
    return judge_same(spec_, oracle_, in_part, part, in_whole, whole, calls.part.fill, place_in_whole);
  }

 private:
  void judge_row(Judgement& judgement, const AttentionCase& request, const Tensor& answer, std::int64_t row) {
    const std::int64_t token = row % request.tokens;
    const std::int64_t head = row / request.tokens % encoding_.num_heads;
    const std::int64_t batch = row / request.tokens / encoding_.num_heads;
    const AttentionOracle::Row expected = oracle_.row(request, batch, head, token, reference::first_precision);
    for (std::int64_t c = 0; c < encoding_.head_dim; ++c) {
      const double value = answer.at(row * encoding_.head_dim + c);
      const auto place = [&] {
        return fmt::format("batch row {}, head {}, token {}, channel {}", batch, head, token, c);
      };
      if (!std::isfinite(value)) {
        judgement.add(Certainty::no, not_finite(), [&] { return place() + ": NaN or infinite"; });
        continue;
      }
      const Enclosure& truth = expected.value[static_cast<std::size_t>(c)];
      const Enclosure error = abs(Enclosure(value, reference::first_precision) - truth);
      const Enclosure bound(expected.bound, reference::first_precision);
      const Deviation deviation = deviation_of(error, bound, ulp(spec_.dtype, truth.upper()));
      judgement.add(reference::at_most(error, bound), deviation, [&] {
        return fmt::format("{}: {}", place(), comparison_text(spec_.dtype, value, truth.upper(), deviation));
      });
    }
  }

  Spec spec_;
  Attention encoding_;
  AttentionOracle oracle_;
};

class AttentionModel final : public EncodingModel {
 public:
  AttentionModel(const Spec& spec, const Attention& encoding) : EncodingModel(spec), encoding_(encoding) {}

  std::int64_t judged_values() const override { return 9 * encoding_.head_dim; }

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
    return call;
  }

  Call accuracy_call(const Question& question) const override {
    return sextant::call_of(attention_case(spec(), question), question.fill);
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

  Tensor ask(Session& session, const Call& call) const override {
    return attend(session, spec(), attention_case(call));
  }

  std::unique_ptr<Judge> judge() const override { return std::make_unique<AttentionJudge>(spec(), encoding_); }

 private:
  Attention encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Attention& encoding) {
  return std::make_unique<AttentionModel>(spec, encoding);
}

}  // namespace sextant
