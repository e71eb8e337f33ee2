#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "lib/numeric/ulp.hpp"
#include "properties/catalogue.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/attention_budget.hpp"
#include "properties/model/attention_oracle.hpp"
#include "properties/model/family.hpp"
#include "properties/model/question.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/row_agreement.hpp"
#include "properties/verdict/bound_text.hpp"
#include "reference/rounding.hpp"

// What attention does to its tokens as a set: permuted, shifted, masked, averaged.

namespace sextant {
namespace {

using reference::Certainty;

// Positions of a sequence must not wrap round at the claim's end: so many are taken by the tokens, which go fastest on
// the last axis, and by the batch rows.
constexpr std::int64_t most_batch_rows = 3;
std::int64_t room_of(const Spec& spec, std::int64_t tokens) {
  return axes_of(spec.encoding) * tokens + gen::batch_row_distance * (most_batch_rows - 1);
}
constexpr std::int64_t fewest_tokens = 3;  // fewer have no permutation to speak of

std::int64_t longest_of(const Spec& spec, double work) {
  // Beyond an eighth of 1/a, sums of as many terms have no bound to speak of.
  const auto bounded = static_cast<std::int64_t>(std::min(1 / (8 * AttentionArithmetic(spec).a), 0x1p30));
  const auto longest =
      of<Attention>([work](const Spec&, const Attention& encoding) { return longest_tokens(encoding, work); });
  return std::max(fewest_tokens, std::min(bounded, longest(spec)));
}

// Powers of two from 64 on, where tiles of a call end, and its last token.
std::vector<std::int64_t> tile_ends(std::int64_t tokens) {
  std::vector<std::int64_t> ends{tokens - 1};
  for (std::int64_t power = 64; power < tokens; power *= 2) ends.push_back(power);
  return ends;
}

// Of at most `tokens`, that the claim has room for and a law can ask again and again.
std::int64_t longest_sequence(const Spec& spec, std::int64_t tokens) {
  const std::int64_t positions = last_position_of(spec) - spec.min_position;
  const std::int64_t longest =
      std::min({tokens, longest_of(spec, work_of_drawn), (positions - room_of(spec, 0)) / axes_of(spec.encoding)});
  return std::max(longest, fewest_tokens);
}

std::optional<std::string> not_stated(const Spec& spec) {
  if (auto reason = accuracy_not_stated(spec)) return reason;
  const std::int64_t positions = last_position_of(spec) - spec.min_position;
  if (positions < room_of(spec, fewest_tokens))
    return fmt::format("the claim has {} positions, a sequence takes {} or more", positions,
                       room_of(spec, fewest_tokens));
  return std::nullopt;
}

std::optional<std::string> causal_or_not_stated(const Spec& spec, const Attention& encoding) {
  if (auto reason = not_stated(spec)) return reason;
  if (encoding.causal) return "a causal mask makes the order of tokens visible";
  if (encoding.window) return "a window makes the order of tokens visible";
  return std::nullopt;
}

// A rotation of the tokens with the ends exchanged: no token stays where it was, for three or more.
std::vector<std::int64_t> order_of(std::int64_t tokens) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(tokens));
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + 1, order.end());
  if (tokens > 3) std::swap(order[0], order[2]);
  return order;
}

CasesOf<Question> attention_sequences() {
  CasesOf<Question> cases = questions();
  cases.fields = [fields = cases.fields](const Spec& spec) {
    std::vector<FieldOf<Question>> list = fields(spec);
    for (FieldOf<Question>& field : list) {
      if (field.member == &Question::tokens) field.range = {fewest_tokens, longest_of(spec, work_of_longest)};
      if (field.member == &Question::batch) field.range.most = most_batch_rows;
      if (field.member == &Question::position) field.range.simplest = spec.min_position;
    }
    return list;
  };
  cases.related = [](const Spec& spec, const Question& question) {
    return question.position <= last_position_of(spec) - room_of(spec, question.tokens);
  };
  cases.first = [](const Spec& spec) -> std::vector<Question> {
    return {{.position = spec.min_position, .tokens = 5, .batch = 1, .heads = 1, .fill = 1},
            {.position = spec.min_position, .tokens = 3, .batch = 2, .heads = 1, .fill = 2},
            {.position = spec.min_position, .tokens = longest_sequence(spec, 257), .batch = 1, .heads = 1, .fill = 1}};
  };
  cases.drawn = [drawn = cases.drawn](const Spec& spec) {
    // Mostly short; one in 32 is of two tiles or more.
    const auto parts = gen::pair(drawn(spec), gen::count(0, 63));
    const std::int64_t lengths[] = {longest_sequence(spec, 257), longest_sequence(spec, 1025)};
    return gen::map(parts, [=, longest = longest_sequence(spec, longest_attention)](
                               const std::pair<Question, std::int64_t>& drawn_pair) {
      auto [question, which] = drawn_pair;
      if (which < std::ssize(lengths)) {
        question.tokens = lengths[which];
        question.batch = 1;
      }
      question.tokens = std::clamp<std::int64_t>(question.tokens, fewest_tokens, longest);
      question.position = std::min(question.position, last_position_of(spec) - room_of(spec, question.tokens));
      return question;
    });
  };
  return cases;
}

// Of causal_leak: long calls too, in two rows, as often as it takes to cut them at every power of two.
CasesOf<Question> causal_sequences() {
  CasesOf<Question> cases = attention_sequences();
  cases.first = [first = cases.first, related = cases.related](const Spec& spec) {
    std::vector<Question> list = first(spec);
    const std::int64_t longest = longest_of(spec, work_of_longest / 2);
    const std::int64_t groups = of<Attention>([](const Spec&, const Attention& e) { return e.num_kv_heads; })(spec);
    for (const std::int64_t tokens : {64, 65, 128, 129, 256, 513, 1025, 2049}) {
      Question question{.position = spec.min_position, .tokens = std::min(tokens, longest), .batch = 2};
      const auto calls = std::ssize(tile_ends(question.tokens)) / (2 * groups) + 1;
      for (question.fill = 0; question.fill < calls; ++question.fill) list.push_back(question);
      if (tokens >= longest) break;
    }
    std::erase_if(list, [&](const Question& question) { return !related(spec, question); });
    return list;
  };
  return cases;
}

constexpr const char* tolerance =
    "both answers are within the bound of docs/proofs/attention-oracle.md of one true value: rounding of scores, "
    "exponentials and sums, in the arithmetic of the claim's `evaluation`";

// The same tokens in another order; their positions stay.
AttentionCase with_tokens_permuted(const AttentionCase& original, const std::vector<std::int64_t>& order) {
  AttentionCase moved = in_order(original, order);
  moved.positions = original.positions;
  return moved;
}

// Where causal_leak cuts a call, in each batch row and group of heads: tokens from there on change. It is the ends of
// tiles by turns, calls of one fill going on where those of the fill before end, and now and then any token.
std::vector<std::int64_t> cuts_of(const AttentionCase& request, std::int64_t fill) {
  const std::vector<std::int64_t> ends = tile_ends(request.tokens);
  const std::int64_t groups = request.batch * request.k.shape[1];
  std::vector<std::int64_t> cuts;
  for (std::int64_t number = fill * groups; number < (fill + 1) * groups; ++number) {
    const std::int64_t turn = number % (std::ssize(ends) + 1);
    const bool at_end = turn < std::ssize(ends);
    cuts.push_back(at_end ? ends[static_cast<std::size_t>(turn)] : 1 + number % (request.tokens - 1));
  }
  return cuts;
}

// The batch row and group of heads, counted through, of a row of vectors of `heads` heads; and its token.
struct RowOfGroup {
  std::size_t group;
  std::int64_t token;
};
RowOfGroup group_of(const AttentionCase& request, std::int64_t heads, std::int64_t row) {
  return {static_cast<std::size_t>(row / request.tokens / (heads / request.k.shape[1])), row % request.tokens};
}

// Other vectors for every token behind its group's cut, `larger` times as large as drawn ones.
void change_later(Tensor& tensor, const AttentionCase& request, const std::vector<std::int64_t>& cuts,
                  std::int64_t fill, double larger) {
  const std::int64_t width = tensor.shape[3];
  for (std::int64_t row = 0; row < tensor.elements() / width; ++row) {
    const auto [group, token] = group_of(request, tensor.shape[1], row);
    if (token < cuts[group]) continue;
    for (std::int64_t i = row * width; i < (row + 1) * width; ++i)
      tensor.set(i, larger * (3 * gen::value(fill + 11, i) + 1));
  }
}

Judgement unchanged_before(const std::vector<std::int64_t>& cuts, const AttentionCase& request, const Tensor& before,
                           const Tensor& after) {
  Judgement judgement;
  const std::int64_t heads = before.shape[1];
  const std::int64_t width = before.shape[3];
  for (std::int64_t row = 0; row < before.elements() / width; ++row) {
    const auto [group, token] = group_of(request, heads, row);
    const std::int64_t cut = cuts[group];
    if (token >= cut) continue;
    // Which group's keys a head reads is asked as well: those of another may have changed before.
    const std::int64_t least = *std::ranges::min_element(cuts);
    const std::string elsewhere =
        least < cut ? fmt::format(", and from {} on in another batch row or group of heads", least) : "";
    for (std::int64_t channel = 0; channel < width; ++channel) {
      const double was = before.at(row * width + channel);
      const double is = after.at(row * width + channel);
      const bool same = same_or_nan(was, is);
      judgement.add_exact(
          same ? std::nullopt
               : std::optional(fmt::format(
                     "batch row {}, head {}, token {}, channel {}: {} became {} when tokens from {} on changed{}",
                     row / request.tokens / heads, row / request.tokens % heads, token, channel,
                     value_text(before.dtype, was), value_text(before.dtype, is), cut, elsewhere)),
          [] { return "earlier tokens unchanged"; });
    }
  }
  return judgement;
}

// Row `to` of the moved result belongs to token order[to] of the original one.
Judgement judge_permuted(Session& session, const Spec& spec, AttentionOracle& oracle, const AttentionCase& original,
                         const AttentionCase& moved, const std::vector<std::int64_t>& order, std::int64_t fill) {
  return judge_same(spec, oracle, moved, attend(session, spec, moved), original, attend(session, spec, original), fill,
                    [&](const AttentionPlace& to) {
                      return AttentionPlace{to.batch, order[static_cast<std::size_t>(to.token)]};
                    });
}

}  // namespace

Property permutation_property() {
  Property property;
  property.id = "permutation_equivariance";
  property.explanation = {
      "attention without position does not see the order of its tokens; with position it does",
      "attend(P q, P k, P v) = P attend(q, k, v) for every permutation P of the tokens, their positions staying",
      "Vaswani et al. 2017, section 3.5: without positional encodings the model has no notion of order; softmax and "
      "the sum over keys are symmetric",
      "attention that is not causal and has no window; with a position that turns queries and keys or adds to scores "
      "the encoding lacks the property, and the audit must find a case that shows it",
      tolerance,
      "a position encoding where none was asked for, or none where one was; masks and indices by the token's place"};
  property.not_applicable =
      stated_for<Attention>([](const Spec& spec, const Attention& encoding) -> std::optional<std::string> {
        if (encoding.query_scale && !acts_within(encoding)) return "queries are scaled by their positions";
        return causal_or_not_stated(spec, encoding);
      });
  property.theory = of<Attention>(
      [](const Spec&, const Attention& encoding) { return acts_within(encoding) ? Theory::fails : Theory::holds; });
  use_cases(property, attention_sequences(), [](const Spec& spec) {
    return [spec, oracle = AttentionOracle(spec)](Session& session, const Question& question) mutable {
      const AttentionCase original = attention_case(spec, question);
      const std::vector<std::int64_t> order = order_of(original.tokens);
      const AttentionCase moved = with_tokens_permuted(original, order);
      return judge_permuted(session, spec, oracle, original, moved, order, question.fill);
    };
  });
  return property;
}

Property joint_permutation_property() {
  Property property;
  property.id = "joint_permutation";
  property.explanation = {
      "permuting tokens together with their positions permutes the result",
      "attend(P q, P k, P v; P positions) = P attend(q, k, v; positions) for every permutation P",
      "Su et al. 2021, section 3.2.1, equation 11: a score depends on two vectors and their positions, not on their "
      "places in memory",
      "attention that is not causal and has no window",
      tolerance,
      "places in the sequence taken for positions, positions of the first row used for all, caches filled in order"};
  property.not_applicable = stated_for<Attention>(causal_or_not_stated);
  use_cases(property, attention_sequences(), [](const Spec& spec) {
    return [spec, oracle = AttentionOracle(spec)](Session& session, const Question& question) mutable {
      const AttentionCase original = attention_case(spec, question);
      const std::vector<std::int64_t> order = order_of(original.tokens);
      const AttentionCase moved = in_order(original, order);
      return judge_permuted(session, spec, oracle, original, moved, order, question.fill);
    };
  });
  return property;
}

Property position_shift_property() {
  Property property;
  property.id = "position_shift";
  property.explanation = {"moving all positions by the same distance changes nothing",
                          "attend(q, k, v; positions + s) = attend(q, k, v; positions) for every s",
                          "Su et al. 2021, section 3.2.1, equation 11; Press et al. 2021, section 3; Raffel et al. "
                          "2019, section 2.1: all are relative; ALiBi by key index differs "
                          "by a constant in each row, which softmax does not see",
                          "attention, if no frequency depends on the length of a call within the claim; with rope_nd "
                          "all axes move alike",
                          tolerance,
                          "absolute positions in a relative encoding, queries and keys rotated by different positions, "
                          "low-precision positions"};
  property.not_applicable = stated_for<Attention>([](const Spec& spec) -> std::optional<std::string> {
    if (auto reason = not_stated(spec)) return reason;
    return model_of(spec)->not_shift_invariant();
  });
  use_cases(property, attention_sequences(), [](const Spec& spec) {
    return [spec, oracle = AttentionOracle(spec)](Session& session, const Question& question) mutable {
      const AttentionCase original = attention_case(spec, question);
      AttentionCase moved = original;
      const std::int64_t furthest = *std::ranges::max_element(original.positions);
      const std::int64_t room = last_position_of(spec) - 1 - furthest;
      const std::int64_t shift = room > 0 ? 1 + (question.fill * 7919) % room : 0;
      for (std::int64_t& position : moved.positions) position += shift;
      return judge_same(spec, oracle, moved, attend(session, spec, moved), original, attend(session, spec, original),
                        question.fill, [](const AttentionPlace& place) { return place; });
    };
  });
  return property;
}

Property weights_sum_property() {
  Property property;
  property.id = "weights_sum_to_one";
  property.explanation = {
      "the weights of each query sum to 1",
      "attend(q, k, 1) = 1, all values being one",
      "Vaswani et al. 2017, section 3.2.1, equation 1: softmax is normalised",
      "attention without sinks",
      "docs/proofs/attention-oracle.md, steps 6 and 7, whatever the scores are: n weights, each a "
      "quotient by their computed sum, are off by gamma of 2n roundings of sums and 4 of operations, "
      "and the result is rounded",
      "weights that are not normalised, or over another axis; masked keys counted in the sum; "
      "accumulation in low precision"};
  property.not_applicable =
      stated_for<Attention>([](const Spec& spec, const Attention& encoding) -> std::optional<std::string> {
        if (encoding.sinks) return "a sink takes a part of every sum of weights";
        return not_stated(spec);
      });
  use_cases(property, attention_sequences(), [](const Spec& spec) {
    return [spec, arithmetic = AttentionArithmetic(spec)](Session& session, const Question& question) {
      AttentionCase request = attention_case(spec, question);
      for (std::int64_t i = 0; i < request.v.elements(); ++i) request.v.set(i, 1);
      const Tensor out = attend(session, spec, request);
      const double bound = value_bound(arithmetic, sum_bound(arithmetic, 0, {1, request.tokens}), 1);
      Judgement judgement;
      ++(bound < 1 ? judgement.informative : judgement.uninformative);
      for (std::int64_t i = 0; i < out.elements(); ++i) {
        const double error = std::fabs(out.at(i) - 1);
        if (!std::isfinite(error)) {
          judgement.add(Certainty::no, not_finite(),
                        [&] { return fmt::format("element {}: {}", i, not_finite_text(out.at(i))); });
          continue;
        }
        judgement.add(error <= bound ? Certainty::yes : Certainty::no,
                      {error / bound, error, error / ulp(spec.dtype, 1)}, [&] {
                        return fmt::format("element {}: {} for a sum of weights, {}", i,
                                           value_text(spec.dtype, out.at(i)), bound_text(error / bound));
                      });
      }
      return judgement;
    };
  });
  return property;
}

Property causal_leak_property() {
  Property property;
  property.id = "causal_leak";
  property.explanation = {
      "under a causal mask no token sees a later one",
      "attend(q, k, v)[t] = attend(q', k', v')[t] bit for bit, where q', k', v' differ from q, k, v only after t in "
      "the "
      "batch row and group of heads of t, and elsewhere anywhere",
      "Vaswani et al. 2017, section 3.2.3: connections to later positions are masked",
      "causal attention",
      "none: the calls have one shape, and rows up to t the same inputs, so all bits are equal",
      "masks off by one or by head, keys of another batch row, blocks that forget the mask, maxima taken over masked "
      "scores"};
  property.not_applicable =
      stated_for<Attention>([](const Spec& spec, const Attention& encoding) -> std::optional<std::string> {
        if (auto reason = not_stated(spec)) return reason;
        if (!encoding.causal) return "attention is not causal: every token sees later ones";
        return std::nullopt;
      });
  use_cases(property, causal_sequences(), [](const Spec& spec) {
    return [spec](Session& session, const Question& question) {
      // Scores of some 10^5, of which a mask of -10^4 does not hide large ones, nor hides behind small ones; one of
      // -10^9 does. 16 bits hold none so large.
      const double larger = question.fill % 3 == 2 && size_of(spec.dtype) > 2 ? 4096 : 1;
      AttentionCase original = attention_case(spec, question);
      for (std::int64_t i = 0; i < original.k.elements(); ++i) original.k.set(i, larger * original.k.at(i));
      AttentionCase changed = original;
      const std::vector<std::int64_t> cuts = cuts_of(original, question.fill);
      change_later(changed.q, original, cuts, question.fill, 1);
      change_later(changed.k, original, cuts, question.fill, larger);
      change_later(changed.v, original, cuts, question.fill, 1);
      const Tensor before = attend(session, spec, original);
      return unchanged_before(cuts, original, before, attend(session, spec, changed));
    };
  });
  return property;
}

}  // namespace sextant
