#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "lib/numeric/ulp.hpp"
#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/family.hpp"
#include "properties/model/questions.hpp"
#include "properties/rope/turned.hpp"
#include "properties/verdict/bound_text.hpp"
#include "reference/rope_nd.hpp"
#include "reference/rounding.hpp"
#include "subjects/operations.hpp"

// Positions of several coordinates: each axis turns its own pairs, and only differences along it matter.

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

// A question, and the move of one axis: by `by` + 1 at the first token, by one more at each later one.
struct AxisMove : Question {
  std::int64_t axis;
  std::int64_t by;
};

CasesOf<AxisMove> axis_moves() {
  CasesOf<AxisMove> cases =
      questions<AxisMove>({{"axis", FieldRole::choice, &AxisMove::axis,
                            of<RopeNd>([](const Spec&, const RopeNd& encoding) { return axes(encoding); })},
                           {"by", FieldRole::step, &AxisMove::by, [](const Spec& spec) {
                              return std::max<std::int64_t>(1, last_position_of(spec) - spec.min_position - 1);
                            }}});
  cases.first = of<RopeNd>([first = cases.first](const Spec& spec, const RopeNd& encoding) {
    std::vector<AxisMove> list;
    for (std::int64_t axis = 0; axis < axes(encoding); ++axis) {
      list.push_back(first(spec)[0]);
      list.back().axis = axis;
    }
    return list;
  });
  return cases;
}

// [axes, batch, tokens], other coordinates on every axis.
std::vector<std::int64_t> scattered(const Spec& spec, const Question& question, std::int64_t axis_count) {
  const std::int64_t width = last_position_of(spec) - spec.min_position;
  std::vector<std::int64_t> positions;
  for (std::int64_t axis = 0; axis < axis_count; ++axis) {
    for (std::int64_t token = 0; token < question.batch * question.tokens; ++token) {
      positions.push_back(spec.min_position +
                          (question.position - spec.min_position + (axis + 1) * (token + 2 * axis) + 11 * axis) %
                              width);
    }
  }
  return positions;
}

CheckOf<AxisMove> independence_check(const Spec& spec, const RopeNd& encoding) {
  return [spec, encoding](Session& session, const AxisMove& question) {
    const std::int64_t moved_axis = question.axis;
    const std::int64_t by = 1 + question.by;
    const Tensor x = gen::values(spec.dtype, {question.batch, question.tokens, question.heads, encoding.rope.head_dim},
                                 question.fill + 1);
    const std::vector<std::int64_t> positions = scattered(spec, question, axes(encoding));
    std::vector<std::int64_t> moved = positions;
    const std::int64_t count = question.batch * question.tokens;
    const std::int64_t width = last_position_of(spec) - spec.min_position;
    for (std::int64_t token = 0; token < count; ++token) {
      std::int64_t& coordinate = moved[static_cast<std::size_t>(moved_axis * count + token)];
      coordinate = spec.min_position + (coordinate - spec.min_position + by + token) % width;
    }
    const Tensor before = rotate(session, spec, x, positions);
    const Tensor after = rotate(session, spec, x, moved);
    const std::vector<std::int64_t> axis_of = axis_of_pairs(encoding);
    const Rope& head = encoding.rope;
    Judgement judgement;
    for (std::int64_t vector = 0; vector < count * question.heads; ++vector) {
      for (std::int64_t pair = 0; pair < pairs(encoding.rope); ++pair) {
        const std::int64_t axis = axis_of[static_cast<std::size_t>(pair)];
        if (axis == moved_axis) continue;
        const Channels channels = channels_of_pair(head, head.output_pairing, pair);
        for (const std::int64_t channel : {channels.first, channels.second}) {
          const double a = before.at(vector * head.head_dim + channel);
          const double b = after.at(vector * head.head_dim + channel);
          // 0 and -0 are the same, since a sum with an exact zero may change the one into the other.
          const bool same = a == b || (std::isnan(a) && std::isnan(b));
          judgement.add_exact(
              same ? std::nullopt
                   : std::optional(fmt::format(
                         "vector {}, channel {}, which axis {} turns: {} became {} when axis {} moved", vector, channel,
                         axis, value_text(spec.dtype, a), value_text(spec.dtype, b), moved_axis)),
              [] { return "other axes untouched"; });
        }
      }
    }
    if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return "no pair of another axis"; });
    return judgement;
  };
}

// A query and a key, and both moved along one axis.
struct AxisShift {
  std::int64_t query_position;
  std::int64_t key_position;
  std::int64_t shift;
  std::int64_t axis;
  std::int64_t fill;
};

CasesOf<AxisShift> axis_shifts() {
  CasesOf<AxisShift> cases;
  cases.fields = of<RopeNd>([](const Spec& spec, const RopeNd& encoding) -> std::vector<FieldOf<AxisShift>> {
    return {{"query_position",
             FieldRole::position,
             &AxisShift::query_position,
             {spec.min_position, last_position_of(spec) - 1}},
            {"key_position",
             FieldRole::position,
             &AxisShift::key_position,
             {spec.min_position, last_position_of(spec) - 1}},
            {"shift", FieldRole::step, &AxisShift::shift, {1, last_position_of(spec) - 1 - spec.min_position}},
            {"axis", FieldRole::choice, &AxisShift::axis, {0, axes(encoding) - 1}},
            {"fill", FieldRole::fill, &AxisShift::fill, any_fill}};
  });
  cases.related = [](const Spec& spec, const AxisShift& asked) {
    return asked.shift < last_position_of(spec) - std::max(asked.query_position, asked.key_position);
  };
  cases.first = of<RopeNd>([](const Spec& spec, const RopeNd& encoding) {
    std::vector<AxisShift> list;
    for (std::int64_t axis = 0; axis < axes(encoding); ++axis) {
      list.push_back({.query_position = spec.min_position,
                      .key_position = spec.min_position,
                      .shift = last_position_of(spec) - 1 - spec.min_position,
                      .axis = axis,
                      .fill = 1});
    }
    return list;
  });
  cases.drawn = of<RopeNd>([](const Spec& spec, const RopeNd& encoding) {
    const gen::PositionRange starts{spec.min_position, last_position_of(spec) - 1};
    const gen::PositionRange shifts{1, last_position_of(spec) - spec.min_position};
    const auto parts = gen::tuple(gen::position(starts), gen::position(starts), gen::position(shifts),
                                  gen::count(0, axes(encoding) - 1), gen::count(0, 1000));
    return gen::map(parts,
                    [last = last_position_of(spec)](
                        const std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>& drawn) {
                      const auto [m, n, shift, axis, fill] = drawn;
                      return AxisShift{m, n, 1 + (shift - 1) % (last - 1 - std::max(m, n)), axis, fill};
                    });
  });
  return cases;
}

// The vectors of such a case, as tokens of one request: the query at its position and moved, the key
// likewise.
enum Token : std::int64_t { query, moved_query, key, moved_key, token_count };

CheckOf<AxisShift> offset_check(const Spec& spec, const RopeNd& encoding) {
  reference::RopeNdReference oracle(encoding);
  const ErrorBudget budget = ErrorBudget(arithmetic_of(spec), oracle, last_position_of(spec)).of_own_frequencies();
  return [spec, encoding, oracle, budget](Session& session, const AxisShift& asked) mutable {
    const Rope& head = encoding.rope;
    const std::int64_t width = head.head_dim;
    const std::int64_t axis_count = axes(encoding);
    const std::int64_t axis = asked.axis;
    const Tensor drawn = gen::values(spec.dtype, {1, 2, 1, width}, asked.fill + 1);
    Tensor x = Tensor::zeros(spec.dtype, {1, token_count, 1, width});
    for (std::int64_t token = 0; token < token_count; ++token) {
      for (std::int64_t i = 0; i < width; ++i) x.set(token * width + i, drawn.at((token / 2) * width + i));
    }
    // On the axis itself the case's positions, on the others some of their own, the query's and the key's different.
    std::vector<std::int64_t> positions;
    const std::int64_t extent = last_position_of(spec) - spec.min_position;
    for (std::int64_t a = 0; a < axis_count; ++a) {
      for (std::int64_t token = 0; token < token_count; ++token) {
        const std::int64_t own = token < key ? asked.query_position : asked.key_position;
        const bool moved = token == moved_query || token == moved_key;
        positions.push_back(a == axis ? own + (moved ? asked.shift : 0)
                                      : spec.min_position + (own - spec.min_position + 13 * (a + 1)) % extent);
      }
    }
    const Tensor y = rotate(session, spec, x, positions);
    const std::int64_t length = reference::sequence_length(positions);
    Judgement judgement;
    const auto place = [&] {
      return fmt::format("axis {}, query at {}, key at {}, moved by {}", axis, asked.query_position, asked.key_position,
                         asked.shift);
    };
    for (std::int64_t i = 0; i < y.elements(); ++i) {
      if (std::isfinite(y.at(i))) continue;
      judgement.add(Certainty::no, not_finite(), [&] { return place() + ": a value is NaN or infinite"; });
      return judgement;
    }
    const std::vector<std::int64_t> axis_of = axis_of_pairs(encoding);
    const auto coordinates = [&](std::int64_t token) {
      std::vector<std::int64_t> list;
      for (std::int64_t a = 0; a < axis_count; ++a)
        list.push_back(positions[static_cast<std::size_t>(a * token_count + token)]);
      return list;
    };
    double before = 0;
    double after = 0;
    Deviation deviation;
    const Certainty within = reference::decide([&](Precision precision) {
      const auto at = [&](const Tensor& tensor, std::int64_t token, std::int64_t channel) {
        return Enclosure(tensor.at(token * width + channel), precision);
      };
      Enclosure score(std::int64_t{0}, precision);
      Enclosure moved_score(std::int64_t{0}, precision);
      Enclosure bound(std::int64_t{0}, precision);
      for (std::int64_t pair = 0; pair < pairs(encoding.rope); ++pair) {
        if (axis_of[static_cast<std::size_t>(pair)] != axis) continue;
        const Channels from = channels_of_pair(head, head.pairing, pair);
        const Channels to = channels_of_pair(head, head.output_pairing, pair);
        for (const std::int64_t channel : {to.first, to.second}) {
          score = score + at(y, query, channel) * at(y, key, channel);
          moved_score = moved_score + at(y, moved_query, channel) * at(y, moved_key, channel);
        }
        // |<q + e, k + f> - <q, k>| <= |e| |k| + |f| |q| + |e| |f|, pair by pair, for the two scores.
        const auto norm = [&](std::int64_t token) {
          return oracle.attention_factor(length, precision) *
                 hypot(at(x, token, from.first), at(x, token, from.second));
        };
        const Enclosure q = norm(query);
        const Enclosure k = norm(key);
        for (const auto& [one, other] : {std::pair{query, key}, std::pair{moved_query, moved_key}}) {
          const Enclosure e =
              budget.pair_bound(q, oracle.rotation(coordinates(one), pair, length, precision).angle, pair);
          const Enclosure f =
              budget.pair_bound(k, oracle.rotation(coordinates(other), pair, length, precision).angle, pair);
          bound = bound + e * k + f * q + e * f;
        }
      }
      before = score.upper();
      after = moved_score.upper();
      const Enclosure error = abs(moved_score - score);
      deviation = deviation_of(error, bound, reference::ulp(spec.dtype, score).upper());
      return reference::at_most(error, bound);
    });
    judgement.add(within, deviation, [&] {
      return fmt::format("{}: score {:.9g} became {:.9g}: {}", place(), before, after, bound_text(deviation.of_bound));
    });
    return judgement;
  };
}

}  // namespace

Property axis_independence_property() {
  Property property;
  property.id = "axis_independence";
  property.needs = Needs::live_subject;
  property.explanation = {
      "moving along one axis leaves the pairs of the others alone",
      "(R(p) x)_i = (R(p + s e_a) x)_i for every pair i of another axis than a",
      "Wang et al. 2024 (Qwen2-VL), section 2.1: each section of the pairs turns by its own coordinate",
      "rope_nd",
      "none: the pair's coordinate, the vector and the call's shape are the same, so the values are equal (0 and -0 "
      "are the same)",
      "sections split at another place, axes that alternate where blocks were claimed, one axis read for a whole "
      "register, coordinates "
      "flattened to one index"};
  property.not_applicable =
      stated_for<RopeNd>([](const Spec& spec, const RopeNd& encoding) -> std::optional<std::string> {
        if (auto reason = no_pair_turns(spec, encoding)) return reason;
        if (auto reason = one_position_only(spec)) return reason;
        if (axes(encoding) < 2) return "one axis only";
        return depends_on_length(spec);
      });
  use_cases(property, axis_moves(), of<RopeNd>(independence_check));
  return property;
}

Property axis_offset_property() {
  Property property;
  property.id = "axis_offset";
  property.explanation = {
      "along each axis a score depends on the distance of query and key only",
      "sum over the pairs of axis a of <(R(m + s e_a) q)_i, (R(n + s e_a) k)_i> = the same with s = 0",
      "Su et al. 2021, section 3.2.1, equation 11, for the pairs of one axis; Wang et al. 2024 (Qwen2-VL), section 2.1",
      "rope_nd",
      "each rotated pair is within e = sqrt(2) k ulp(norm) + min(d, 2) norm of its rotation by frequencies that need "
      "not be the claim's "
      "(docs/proofs/accuracy-classes.md), so each score is within the sum over the axis' pairs of e_q |k_i| + e_k "
      "|q_i| + "
      "e_q "
      "e_k, and the two differ by at most "
      "their sum",
      "an axis whose positions are rounded, wrapped or clamped, pairs that two axes share, a rotation that is none"};
  property.not_applicable =
      stated_for<RopeNd>([](const Spec& spec, const RopeNd& encoding) -> std::optional<std::string> {
        if (auto reason = no_pair_turns(spec, encoding)) return reason;
        return one_position_only(spec);
      });
  use_cases(property, axis_shifts(), of<RopeNd>(offset_check));
  return property;
}

}  // namespace sextant
