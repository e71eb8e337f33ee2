#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/budget.hpp"
#include "reference/rope.hpp"
#include "reference/rounding.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

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

Check make_check(const Spec& spec) {
  const auto& encoding = std::get<Rope>(spec.encoding);
  reference::RopeReference oracle(encoding);
  const ErrorBudget budget =
      ErrorBudget(spec.accuracy, spec.dtype, oracle.frequencies(), spec.max_position).of_own_frequencies();
  return [spec, encoding, oracle, budget](Session& session, const Case& values) mutable {
    const std::int64_t width = encoding.head_dim;
    const std::int64_t shift = values[2];
    // The two vectors are drawn as two tokens, then each is given twice.
    const Tensor drawn = gen::vectors(encoding, spec.dtype, {.batch = 1, .tokens = 2, .heads = 1}, values[3]);
    Tensor x = Tensor::zeros(spec.dtype, {1, token_count, 1, width});
    for (std::int64_t token = 0; token < token_count; ++token) {
      for (std::int64_t i = 0; i < width; ++i) x.set(token * width + i, drawn.at((token / 2) * width + i));
    }
    const std::vector<std::int64_t> positions{values[0], values[0] + shift, values[1], values[1] + shift};
    const std::int64_t length = reference::sequence_length(positions);
    const Tensor y = rotate(session, spec, x, positions);

    Judgement judgement;
    const auto place = [&] { return fmt::format("query at {}, key at {}, shift {}", values[0], values[1], shift); };
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
      const Enclosure& factor = oracle.attention_factor(precision);
      Enclosure bound(std::int64_t{0}, precision);
      for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
        const Channels channels = channels_of_pair(encoding, encoding.pairing, pair);
        const Enclosure q = factor * pair_norm(x, query * width, channels, precision);
        const Enclosure k = factor * pair_norm(x, key * width, channels, precision);
        for (const std::int64_t moved : {std::int64_t{0}, shift}) {
          const Enclosure query_angle = oracle.angle(values[0] + moved, pair, length, precision);
          const Enclosure key_angle = oracle.angle(values[1] + moved, pair, length, precision);
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
      return fmt::format("{}: score {:.9g} became {:.9g}: {:.3g} times the bound", place(), before, after,
                         deviation.of_bound);
    });
    return judgement;
  };
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
  property.fields = [](const Spec&) {
    return std::vector<std::string>{"query_position", "key_position", "shift", "fill"};
  };
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (std::holds_alternative<Sinusoidal>(spec.encoding)) return "a property of rotations: see linear_shift";
    if (!std::holds_alternative<Rope>(spec.encoding)) return not_stated_for(spec);
    if (spec.max_position - spec.min_position < 2) return "the claim has one position only";
    return std::nullopt;
  };
  property.admits = [](const Spec& spec, const Case& values) {
    const auto inside = [&](std::int64_t p) { return p >= spec.min_position && p < spec.max_position; };
    return inside(values[0]) && inside(values[1]) && values[2] >= 1 &&
           values[2] < spec.max_position - std::max(values[0], values[1]) && values[3] >= 0;
  };
  property.simplest = [](const Spec& spec) {
    const std::int64_t p = gen::simplest_position(gen::range_of(spec));
    return Case{p, p, 1, 0};
  };
  property.first_cases = [](const Spec& spec) {
    const std::int64_t p = std::min(gen::simplest_position(gen::range_of(spec)), spec.max_position - 2);
    return std::vector<Case>{{p, p, 1, 1},
                             {spec.min_position, spec.min_position, spec.max_position - 1 - spec.min_position, 1}};
  };
  property.cases = [](const Spec& spec) {
    const gen::PositionRange starts{spec.min_position, spec.max_position - 1};
    const gen::PositionRange shifts{1, spec.max_position - spec.min_position};
    const auto parts =
        rc::gen::tuple(gen::position(starts), gen::position(starts), gen::position(shifts), gen::count(0, 1000));
    return rc::gen::map(parts, [last = spec.max_position](
                                   const std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>& drawn) {
      const auto [m, n, shift, fill] = drawn;
      return Case{m, n, 1 + (shift - 1) % (last - 1 - std::max(m, n)), fill};
    });
  };
  property.make_check = make_check;
  return property;
}

}  // namespace sextant
