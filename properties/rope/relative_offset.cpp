#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/family.hpp"
#include "properties/rope/turned.hpp"
#include "properties/verdict/bound_text.hpp"
#include "reference/rope.hpp"
#include "reference/rounding.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

// A query and a key, and both moved by `shift`.
struct Shift {
  std::int64_t query_position;
  std::int64_t key_position;
  std::int64_t shift;
  std::int64_t fill;
};

CasesOf<Shift> shifts() {
  CasesOf<Shift> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<Shift>> {
    return {{"query_position", FieldRole::position, &Shift::query_position, claimed(spec)},
            {"key_position", FieldRole::position, &Shift::key_position, claimed(spec)},
            {"shift", FieldRole::step, &Shift::shift, {1, spec.max_position - 1 - spec.min_position}},
            {"fill", FieldRole::fill, &Shift::fill, any_fill}};
  };
  cases.related = [](const Spec& spec, const Shift& asked) {
    return asked.shift < spec.max_position - std::max(asked.query_position, asked.key_position);
  };
  cases.first = [](const Spec& spec) -> std::vector<Shift> {
    const std::int64_t near = std::min(gen::simplest_position(gen::range_of(spec)), spec.max_position - 2);
    return {{.query_position = near, .key_position = near, .shift = 1, .fill = 1},
            {.query_position = spec.min_position,
             .key_position = spec.min_position,
             .shift = spec.max_position - 1 - spec.min_position,
             .fill = 1}};
  };
  cases.drawn = [](const Spec& spec) {
    const gen::PositionRange starts{spec.min_position, spec.max_position - 1};
    const gen::PositionRange distances{1, spec.max_position - spec.min_position};
    const auto parts =
        gen::tuple(gen::position(starts), gen::position(starts), gen::position(distances), gen::count(0, 1000));
    return gen::map(parts, [last = spec.max_position](
                               const std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>& drawn) {
      const auto [m, n, shift, fill] = drawn;
      return Shift{m, n, 1 + (shift - 1) % (last - 1 - std::max(m, n)), fill};
    });
  };
  return cases;
}

// The four vectors of a case, as tokens of one request: the query at its position and shifted, the key likewise.
enum Token : std::int64_t { query, shifted_query, key, shifted_key, token_count };

// Norm of a pair in `tensor`, at the head that starts at `start`.
Enclosure pair_norm(const Tensor& tensor, std::int64_t start, const Channels& channels, Precision precision) {
  return hypot(Enclosure(tensor.at(start + channels.first), precision),
               Enclosure(tensor.at(start + channels.second), precision));
}

Enclosure dot(const Tensor& tensor, std::int64_t width, Token a, Token b, Precision precision) {
  Enclosure sum(std::int64_t{0}, precision);
  for (std::int64_t i = 0; i < width; ++i) {
    sum = sum + Enclosure(tensor.at(a * width + i), precision) * Enclosure(tensor.at(b * width + i), precision);
  }
  return sum;
}

CheckOf<Shift> relative_offset_check(const Spec& spec, const Rope& encoding) {
  reference::RopeReference oracle(encoding);
  const ErrorBudget budget =
      ErrorBudget(arithmetic_of(spec), oracle.frequencies(), spec.max_position).of_own_frequencies();
  return [spec, encoding, oracle, budget](Session& session, const Shift& asked) mutable {
    const std::int64_t width = encoding.head_dim;
    const std::int64_t m = asked.query_position;
    const std::int64_t n = asked.key_position;
    const std::int64_t shift = asked.shift;
    // The two vectors are drawn as two tokens, then each is given twice.
    const Tensor drawn = gen::vectors(encoding, spec.dtype, {.batch = 1, .tokens = 2, .heads = 1}, asked.fill);
    Tensor x = Tensor::zeros(spec.dtype, {1, token_count, 1, width});
    for (std::int64_t token = 0; token < token_count; ++token) {
      for (std::int64_t i = 0; i < width; ++i) x.set(token * width + i, drawn.at((token / 2) * width + i));
    }
    const std::vector<std::int64_t> positions{m, m + shift, n, n + shift};
    const std::int64_t length = reference::sequence_length(positions);
    const Tensor y = rotate(session, spec, x, positions);

    Judgement judgement;
    const auto place = [&] { return fmt::format("query at {}, key at {}, shift {}", m, n, shift); };
    for (std::int64_t i = 0; i < y.elements(); ++i) {
      if (!std::isfinite(y.at(i))) {
        judgement.add(Certainty::no, not_finite(), [&] { return place() + ": a value is NaN or infinite"; });
        return judgement;
      }
    }
    Deviation deviation;
    double before = 0;
    double after = 0;
    const Certainty within = reference::decide([&](Precision precision) {
      const Enclosure score = dot(y, width, query, key, precision);
      const Enclosure shifted = dot(y, width, shifted_query, shifted_key, precision);
      // |<q + e, k + f> - <q, k>| <= |e| |k| + |f| |q| + |e| |f|, pair by pair, for the two scores, q and k being
      // as long as they come out: times the attention factor.
      const Enclosure& factor = oracle.attention_factor(length, precision);
      Enclosure bound(std::int64_t{0}, precision);
      for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
        const Channels channels = channels_of_pair(encoding, encoding.pairing, pair);
        const Enclosure q = factor * pair_norm(x, query * width, channels, precision);
        const Enclosure k = factor * pair_norm(x, key * width, channels, precision);
        for (const std::int64_t moved : {std::int64_t{0}, shift}) {
          const Enclosure query_angle = oracle.angle(m + moved, pair, length, precision);
          const Enclosure key_angle = oracle.angle(n + moved, pair, length, precision);
          const Enclosure e = budget.pair_bound(q, query_angle, pair);
          const Enclosure f = budget.pair_bound(k, key_angle, pair);
          bound = bound + e * k + f * q + e * f;
        }
      }
      before = score.upper();
      after = shifted.upper();
      const Enclosure error = abs(shifted - score);
      deviation = deviation_of(error, bound, reference::ulp(spec.dtype, score).upper());
      return reference::at_most(error, bound);
    });
    judgement.add(within, deviation, [&] {
      return fmt::format("{}: score {:.9g} became {:.9g}: {}", place(), before, after, bound_text(deviation.of_bound));
    });
    return judgement;
  };
}

std::optional<std::string> needs_positions_and_pairs(const Spec& spec, const Rope& encoding) {
  if (auto reason = no_pair_turns(spec, encoding)) return reason;
  return one_position_only(spec);
}

}  // namespace

Property relative_offset_property() {
  Property property;
  property.id = "relative_offset";
  property.explanation = {
      "an attention score depends on the distance of query and key only",
      "<R(m + s) q, R(n + s) k> = <R(m) q, R(n) k> for all m, n, s",
      "Su et al. 2021, section 3.2.1, equation 11, and 3.2.2, equation 16",
      "rope",
      "each rotated pair is within e = sqrt(2) k ulp(norm) + min(d, 2) norm of its rotation by "
      "frequencies that need not be the claim's "
      "(properties/model/budget.hpp), so each score is within the sum over pairs of e_q |k_i| + e_k "
      "|q_i| + e_q e_k, norms times the attention factor, and the two scores, "
      "asked for in one call, differ by at most their sum",
      "positions of low precision, a pairing mixed up between table and rotation, a rotation that "
      "is none, a path that uses a "
      "local index or another offset"};
  property.not_applicable = stated_for<Rope>(needs_positions_and_pairs,
                                             elsewhere_for<Sinusoidal>("a property of rotations: see linear_shift"));
  use_cases(property, shifts(), of<Rope>(relative_offset_check));
  return property;
}

}  // namespace sextant
