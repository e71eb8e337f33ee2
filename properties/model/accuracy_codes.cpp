#include <fmt/format.h>

#include <cmath>

#include "lib/numeric/ulp.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/accuracy_of.hpp"
#include "properties/model/question_cases.hpp"
#include "properties/model/value_judge.hpp"
#include "reference/binary.hpp"
#include "reference/integer.hpp"
#include "reference/rounding.hpp"
#include "reference/sinusoidal_2d.hpp"
#include "subjects/operations.hpp"

// Codes that are one conversion, digit, division or lookup, and the sinusoidal code of a grid.

namespace sextant {
namespace {

using reference::Certainty;
using reference::DoubleDoubleWithin;
using reference::Enclosure;
using reference::Precision;

// Consecutive positions from the question's, those of a code of many channels fewer.
std::vector<std::int64_t> positions_of(const Spec& spec, const Question& question) {
  return gen::consecutive(question.position, std::min(question.tokens, spec.max_position - question.position));
}

// A position in one channel: the nearest value, or one of its two neighbours, since a conversion through a wider type
// rounds twice. Normalised, two conversions and a division: 3 roundings, within 2 ULP. Beyond the dtype's range the
// nearest value is infinite.
Check integer_check(const Spec& spec, const Integer& encoding) {
  return [spec, encoding](Session& session, const Case& values) {
    const std::vector<std::int64_t> positions = positions_of(spec, question_of(values));
    const Tensor table = encode(session, spec, positions);
    const double allowed = encoding.normalize ? 2 : 1;
    Judgement judgement;
    for (std::int64_t i = 0; i < table.elements(); ++i) {
      const double value = table.at(i);
      const std::int64_t position = positions[static_cast<std::size_t>(i / encoding.dim)];
      const auto place = [&] { return fmt::format("position {}, channel {}", position, i % encoding.dim); };
      if (!std::isfinite(value)) {
        const bool nearest = !encoding.normalize && value == round_to(spec.dtype, static_cast<double>(position));
        judgement.add(nearest ? Certainty::yes : Certainty::no, nearest ? Deviation{} : not_finite(),
                      [&] { return place() + ": NaN or infinite"; });
        continue;
      }
      Deviation deviation;
      double truth = 0;
      const Certainty within = reference::decide([&](Precision precision) {
        const Enclosure exact = reference::code(encoding, spec.max_position, position, precision);
        const Enclosure error = reference::absolute_error(value, exact);
        // A position that the dtype holds is held exactly.
        const bool held =
            !encoding.normalize && round_to(spec.dtype, static_cast<double>(position)) == static_cast<double>(position);
        const Enclosure bound = Enclosure(held ? 0 : allowed, precision) * reference::ulp(spec.dtype, exact);
        truth = exact.upper();
        deviation = deviation_of(error, bound, reference::ulp(spec.dtype, exact).upper());
        return reference::at_most(error, bound);
      });
      judgement.add(within, deviation, [&] {
        return fmt::format("{}: {}", place(), comparison_text(spec.dtype, value, truth, deviation));
      });
    }
    return judgement;
  };
}

// Values that are exactly so.
template <class Truth>
Judgement judge_exact(const Spec& spec, const Tensor& table, const std::vector<std::int64_t>& positions,
                      std::int64_t dim, Truth truth) {
  Judgement judgement;
  for (std::int64_t i = 0; i < table.elements(); ++i) {
    const std::int64_t position = positions[static_cast<std::size_t>(i / dim)];
    const double expected = truth(position, i % dim);
    judgement.add_exact(
        table.at(i) == expected
            ? std::nullopt
            : std::optional(fmt::format("position {}, channel {}: got {}, expected {}", position, i % dim,
                                        value_text(spec.dtype, table.at(i)), value_text(spec.dtype, expected))),
        [] { return "every value exact"; });
  }
  return judgement;
}

Check binary_check(const Spec& spec, const Binary& encoding) {
  return [spec, encoding](Session& session, const Case& values) {
    const std::vector<std::int64_t> positions = positions_of(spec, question_of(values));
    return judge_exact(spec, encode(session, spec, positions), positions, encoding.dim,
                       [&](std::int64_t position, std::int64_t channel) {
                         return reference::code(encoding, position, channel, reference::first_precision).upper();
                       });
  };
}

Check learned_check(const Spec& spec, const Learned& encoding) {
  return [spec, encoding](Session& session, const Case& values) {
    const Question question = question_of(values);
    // In no order and with repeats: a lookup is not a slice.
    std::vector<std::int64_t> positions = positions_of(spec, question);
    for (std::size_t i = 0; i < positions.size(); i += 3)
      positions[i] = spec.min_position + (positions[i] * 7) % (spec.max_position - spec.min_position);
    const Tensor weight = gen::values(spec.dtype, {encoding.max_positions, encoding.dim}, question.fill + 1);
    return judge_exact(
        spec, encode(session, spec, positions, weight), positions, encoding.dim,
        [&](std::int64_t position, std::int64_t channel) { return weight.at(position * encoding.dim + channel); });
  };
}

Check grid_check(const Spec& spec, const Sinusoidal2d& encoding) {
  reference::Sinusoidal2dReference oracle(encoding);
  reference::GeometricFrequencies frequencies = oracle.frequencies();
  const reference::FastRotations fast = frequencies.fast();
  const ErrorBudget budget(spec.accuracy, spec.dtype, frequencies, pairs(encoding));
  return [=, judge = ValueJudge(budget), row = fast.make_row()](Session& session, const Case& values) mutable {
    const Question question = question_of(values);
    // Rows and columns of their own: a square grid walked along its diagonal hides swapped axes.
    std::vector<std::int64_t> positions;
    // Inside the claim, and in the axis' own extent of the grid; wrapped round there.
    const auto coordinate_at = [&](std::int64_t steps, std::int64_t extent) {
      return spec.min_position + steps % (std::min(spec.max_position, extent) - spec.min_position);
    };
    const std::int64_t start = question.position - spec.min_position;
    for (std::int64_t i = 0; i < question.tokens; ++i) positions.push_back(coordinate_at(start + i, encoding.height));
    for (std::int64_t i = 0; i < question.tokens; ++i)
      positions.push_back(coordinate_at(start * 3 + 1 + 2 * i + question.fill, encoding.width));
    const Tensor table = encode(session, spec, positions);
    Judgement judgement;
    for (std::int64_t token = 0; token < question.tokens; ++token) {
      const reference::GridPosition at{positions[static_cast<std::size_t>(token)],
                                       positions[static_cast<std::size_t>(question.tokens + token)]};
      for (const GridAxis axis : {GridAxis::height, GridAxis::width}) {
        const std::int64_t coordinate = axis == GridAxis::height ? at.row : at.column;
        fast.at(coordinate, row);
        for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
          const auto i = static_cast<std::size_t>(pair);
          const Channels channels = channels_of_pair(encoding, axis, pair);
          const double angle =
              frequencies.radians(pair, reference::first_precision).upper() * static_cast<double>(coordinate);
          for (const bool is_sine : {true, false}) {
            const DoubleDoubleWithin truth = is_sine ? row.sin(i) : row.cos(i);
            const DoubleDoubleWithin derivative = is_sine ? row.cos(i) : row.sin(i);
            const auto exact = [&](Precision precision) -> Target {
              const reference::Rotation& rotation = oracle.rotation(at, axis, pair, precision);
              const Enclosure one(1.0, precision);
              const Enclosure& value = is_sine ? rotation.sin : rotation.cos;
              return {value,
                      budget.element_bound(value, is_sine ? rotation.cos : rotation.sin, one, rotation.angle, pair)};
            };
            const std::int64_t channel = is_sine ? channels.first : channels.second;
            judge.judge(judgement, table.at(token * encoding.dim + channel),
                        {truth, budget.element_bound(magnitude(truth), derivative.high, 1, angle, pair)}, exact,
                        [&] { return fmt::format("row {}, column {}, channel {}", at.row, at.column, channel); });
          }
        }
      }
    }
    return judgement;
  };
}

}  // namespace

Check code_accuracy(const Spec& spec) {
  if (const auto* integer = std::get_if<Integer>(&spec.encoding)) return integer_check(spec, *integer);
  if (const auto* binary = std::get_if<Binary>(&spec.encoding)) return binary_check(spec, *binary);
  if (const auto* learned = std::get_if<Learned>(&spec.encoding)) return learned_check(spec, *learned);
  return grid_check(spec, std::get<Sinusoidal2d>(spec.encoding));
}

}  // namespace sextant
