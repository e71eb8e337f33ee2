#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "lib/numeric/ulp.hpp"
#include "properties/catalogue.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/family.hpp"
#include "properties/model/questions.hpp"
#include "reference/relative_bias.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

using reference::Certainty;

// A gradient by a table, and which elements of `grad` each of its elements is the sum of.
struct Scatter {
  std::string_view of;  // the operation
  Tensors inputs;
  Tensor grad;
  std::vector<std::vector<std::int64_t>> terms;  // of each element of the table
  std::int64_t columns;
};

// Few rows used again and again, some hundred, or all that the claim has.
Scatter scatter_of(const Spec& spec, const Learned& learned, const Question& question) {
  const std::int64_t claimed = std::min(spec.max_position, learned.max_positions) - spec.min_position;
  const std::int64_t choices[] = {claimed, 3, 257};
  const std::int64_t rows = std::min(choices[question.fill % 3], claimed);
  const std::int64_t first = std::min(question.position - spec.min_position, claimed - rows);
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < question.tokens + 2; ++i)
    positions.push_back(spec.min_position + first + (i * i + i / 7) % rows);
  Scatter scatter{"encode",
                  {{"weight", gen::values(spec.dtype, {learned.max_positions, learned.dim}, question.fill + 1)},
                   {"positions", Tensor::of_integers({std::ssize(positions)}, positions)}},
                  gen::values(spec.dtype, {std::ssize(positions), learned.dim}, question.fill + 2),
                  std::vector<std::vector<std::int64_t>>(static_cast<std::size_t>(learned.max_positions * learned.dim)),
                  learned.dim};
  for (std::int64_t i = 0; i < scatter.grad.elements(); ++i) {
    const std::int64_t row = positions[static_cast<std::size_t>(i / learned.dim)];
    scatter.terms[static_cast<std::size_t>(row * learned.dim + i % learned.dim)].push_back(i);
  }
  return scatter;
}

// The question's batch is its queries, its tokens are the keys: distances beyond the last bucket share one.
Scatter scatter_of(const Spec& spec, const RelativeBias& encoding, const Question& question) {
  const std::int64_t width = spec.max_position - spec.min_position;
  const auto from = [&](std::int64_t start, std::int64_t count) {
    std::vector<std::int64_t> positions;
    for (std::int64_t i = 0; i < count; ++i)
      positions.push_back(spec.min_position + (question.position - spec.min_position + start + i) % width);
    return positions;
  };
  const std::vector<std::int64_t> keys = from(0, question.tokens);
  const std::vector<std::int64_t> queries = from(question.fill % (question.tokens + 1), question.batch);
  const std::int64_t heads = question.heads;
  Scatter scatter{"bias",
                  {{"weight", gen::values(spec.dtype, {encoding.num_buckets, heads}, question.fill + 1)},
                   {"query_positions", Tensor::of_integers({std::ssize(queries)}, queries)},
                   {"key_positions", Tensor::of_integers({std::ssize(keys)}, keys)}},
                  gen::values(spec.dtype, {heads, std::ssize(queries), std::ssize(keys)}, question.fill + 2),
                  std::vector<std::vector<std::int64_t>>(static_cast<std::size_t>(encoding.num_buckets * heads)),
                  heads};
  std::unordered_map<std::int64_t, std::int64_t> buckets;  // of each distance
  for (std::int64_t i = 0; i < scatter.grad.elements(); ++i) {
    const std::int64_t key = keys[static_cast<std::size_t>(i % std::ssize(keys))];
    const std::int64_t query = queries[static_cast<std::size_t>(i / std::ssize(keys) % std::ssize(queries))];
    const auto [known, is_new] = buckets.try_emplace(key - query, 0);
    if (is_new) known->second = reference::bucket(encoding, key - query);
    const std::int64_t head = i / std::ssize(keys) / std::ssize(queries);
    scatter.terms[static_cast<std::size_t>(known->second * heads + head)].push_back(i);
  }
  return scatter;
}

Judgement judge_scatter(const Spec& spec, const Scatter& scatter, const Tensor& got) {
  const double u = unit_roundoff(spec.dtype);
  Judgement judgement;
  std::vector<double> grad(static_cast<std::size_t>(scatter.grad.elements()));
  scatter.grad.read(0, grad);
  for (std::size_t i = 0; i < scatter.terms.size(); ++i) {
    long double sum = 0;
    double size = 0;
    for (const std::int64_t term : scatter.terms[i]) {
      sum += grad[static_cast<std::size_t>(term)];
      size += std::fabs(grad[static_cast<std::size_t>(term)]);
    }
    const auto m = static_cast<double>(scatter.terms[i].size());
    if (m * u > 0.5) continue;  // so many terms of 16 bits may add up to anything
    const auto expected = static_cast<double>(sum);
    // The sum in long double has an error of its own, and the factor covers the roundings of the bound.
    const double bound =
        m <= 1 ? 0 : (m * u / (1 - m * u) * size + ulp(spec.dtype, expected)) * (1 + 1e-9) + m * 0x1p-63 * size;
    const double value = got.at(static_cast<std::int64_t>(i));
    const auto error = static_cast<double>(std::fabs(static_cast<long double>(value) - sum));
    const Deviation deviation{error == 0   ? 0
                              : bound == 0 ? not_finite().of_bound
                                           : error / bound,
                              error, error / ulp(spec.dtype, expected)};
    judgement.add(error <= bound ? Certainty::yes : Certainty::no, std::isfinite(error) ? deviation : not_finite(),
                  [&] {
                    return fmt::format("row {}, column {}, used {} times: {} for {:.9g}",
                                       static_cast<std::int64_t>(i) / scatter.columns,
                                       static_cast<std::int64_t>(i) % scatter.columns, scatter.terms[i].size(),
                                       value_text(spec.dtype, value), expected);
                  });
  }
  if (judgement.finding.empty()) judgement.add_exact(std::nullopt, [] { return "no row that has a bound"; });
  return judgement;
}

// Calls that use a row some thousand times; in 16 bits fewer, so that sums have a bound.
gen::LargestCall largest_of(const Spec& spec) {
  const std::int64_t most = size_of(spec.dtype) == 2 ? 64 : longest_call;
  return {{most_rows, most, 16}, values_of_call / 4};
}

CasesOf<Question> uses() {
  CasesOf<Question> cases = questions();
  cases.first = [](const Spec& spec) {
    std::vector<Question> list = first_questions(spec);
    const std::int64_t near = list[0].position;
    for (const std::int64_t tokens : {257, 4095}) {
      for (std::int64_t fill = 0; fill < 3; ++fill) {
        list.push_back({.position = near,
                        .tokens = std::min(tokens, largest_of(spec).extents.tokens),
                        .batch = 1 + 12 * fill,
                        .heads = 1 + fill,
                        .fill = fill});
      }
    }
    return list;
  };
  cases.drawn = [](const Spec& spec) {
    return of_many_shapes(drawn_questions(spec), {spec.min_position, last_position_of(spec)}, largest_of(spec), 16);
  };
  return cases;
}

}  // namespace

Property scatter_gradient_property() {
  Property property;
  property.id = "scatter_gradient";
  property.needs = Needs::live_subject;
  property.explanation = {
      "the gradient of a lookup sums the gradients of every use of a row",
      "grad_weight[r] = sum of grad[i] over all i with positions[i] = r; grad_weight[b, h] = sum of "
      "grad[h, q, k] over all q and k with bucket(k - q) = b",
      "the adjoint of a selection matrix: <W[positions], g> = <W, scatter(g)>",
      "learned and relative_bias whose subject answers backward",
      "m terms are added with m - 1 roundings in any order: gamma_m(u) sum |g|, u of the dtype "
      "(Higham 2002, section 4.2), and 1 ULP for the last rounding; sums of more terms than 1/(2 u) "
      "are not judged",
      "rows overwritten instead of added to, lost updates of racing threads, a gradient that is "
      "zero, order by position instead of by use, uses beyond a block left out"};
  property.not_applicable = stated_for<Learned, RelativeBias>();
  use_cases(property, uses(),
            of<Learned, RelativeBias>([](const Spec& spec, const auto& encoding) -> CheckOf<Question> {
              return [spec, encoding](Session& session, const Question& question) {
                const Scatter scatter = scatter_of(spec, encoding, question);
                return judge_scatter(spec, scatter, backward(session, spec, scatter.of, scatter.inputs, scatter.grad));
              };
            }));
  return property;
}

}  // namespace sextant
