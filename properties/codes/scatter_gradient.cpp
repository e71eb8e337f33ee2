#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/family.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/table_gradient.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// Drawn values. Of every eighth fill they are positive, so that a part that is left out of a long sum shows; of another
// far from 1, as far as 16 bits reach.
Tensor drawn_gradient(Dtype dtype, std::vector<std::int64_t> shape, std::int64_t fill) {
  Tensor grad = gen::values(dtype, std::move(shape), fill + 2);
  const int exponent = fill % 8 != 5 ? 0 : dtype == Dtype::float16 ? 5 : fill % 16 == 5 ? 40 : -40;
  if (exponent == 0 && fill % 8 != 6) return grad;
  for (std::int64_t i = 0; i < grad.elements(); ++i) {
    const double value = std::ldexp(grad.at(i), exponent);
    grad.set(i, fill % 8 == 6 ? std::fabs(value) : value);
  }
  return grad;
}

// Fills whose uses of a lookup are one by one from the first row on.
constexpr std::int64_t one_by_one_in = 8;
constexpr std::int64_t one_by_one = 4;

// Few rows used again and again, some hundred, or all that the claim has; the last of them at the end. Of some fills
// all of them in their order.
TableGradient scatter_of(const Spec& spec, const Learned& learned, const Question& question) {
  const std::int64_t claimed = std::min(spec.max_position, learned.max_positions) - spec.min_position;
  const std::int64_t choices[] = {claimed, 3, 257};
  const std::int64_t rows = std::min(choices[question.fill % 3], claimed);
  const std::int64_t first = spec.min_position + std::min(question.position - spec.min_position, claimed - rows);
  std::vector<std::int64_t> positions;
  if (question.fill % one_by_one_in == one_by_one) {
    positions = gen::consecutive(spec.min_position, std::min(question.tokens, claimed));
  } else {
    // Of every fourth fill in runs of one row.
    constexpr std::int64_t run = 70;
    for (std::int64_t i = 0; i < question.tokens + 1; ++i)
      positions.push_back(first + (question.fill % 4 == 3 ? i / run : i * i + i / 7) % rows);
    positions.push_back(first + rows - 1);
  }
  Tensor grad = drawn_gradient(spec.dtype, {std::ssize(positions), learned.dim}, question.fill);
  return table_gradient(spec, learned, gen::values(spec.dtype, {learned.max_positions, learned.dim}, question.fill + 1),
                        positions, std::move(grad));
}

// Fills of a bias whose queries are each there three times.
constexpr std::int64_t repeats_in = 16;
constexpr std::int64_t repeats = 11;

// Of a bias: the question's batch is its queries, its tokens are the keys.
template <class Bias>
TableGradient scatter_of(const Spec& spec, const Bias& encoding, const Question& question) {
  const std::int64_t width = spec.max_position - spec.min_position;
  const auto from = [&](std::int64_t start, std::int64_t count, std::int64_t each) {
    std::vector<std::int64_t> positions;
    for (std::int64_t i = 0; i < count; ++i)
      positions.push_back(spec.min_position + (question.position - spec.min_position + start + i / each) % width);
    return positions;
  };
  const std::vector<std::int64_t> keys = from(0, question.tokens, 1);
  const std::vector<std::int64_t> queries =
      from(question.fill % (question.tokens + 1), question.batch, question.fill % repeats_in == repeats ? 3 : 1);
  const std::int64_t heads = question.heads;
  Tensor grad = drawn_gradient(spec.dtype, {heads, std::ssize(queries), std::ssize(keys)}, question.fill);
  return table_gradient(spec, encoding, gen::values(spec.dtype, {table_rows(encoding), heads}, question.fill + 1),
                        queries, keys, std::move(grad));
}

// Calls that use a row some thousand times; fewer where terms are added in 16 bits, so that sums have a bound.
bool is_added_in_16_bits(const Spec& spec) { return size_of(spec.dtype) == 2 && !is_rounded_once(spec); }
gen::LargestCall largest_of(const Spec& spec) {
  const std::int64_t most = is_added_in_16_bits(spec) ? 64 : longest_drawn;
  return {{most_rows, most, 16}, values_of_call / 4};
}

// Queries of a bias.
constexpr std::int64_t most_bias_queries = 2049;

CasesOf<Question> uses() {
  CasesOf<Question> cases = questions();
  cases.fields = [fields = cases.fields](const Spec& spec) {
    std::vector<FieldOf<Question>> list = fields(spec);
    for (FieldOf<Question>& field : list) {
      if (field.member == &Question::batch) field.range.most = most_bias_queries;
    }
    return list;
  };
  cases.first = [](const Spec& spec) {
    std::vector<Question> list = first_questions(spec);
    const std::int64_t near = list[0].position;
    const auto add = [&](const Question& question) {
      list.push_back(question);
      list.back().position = near;
      if (is_added_in_16_bits(spec)) list.back().tokens = std::min<std::int64_t>(question.tokens, 64);
      if (is_added_in_16_bits(spec)) list.back().batch = std::min<std::int64_t>(question.batch, 64);
    };
    for (const std::int64_t tokens : {257, 4095}) {
      for (std::int64_t fill = 0; fill < 3; ++fill)
        add({.position = near, .tokens = tokens, .batch = 1 + 12 * fill, .heads = 1 + fill, .fill = fill});
    }
    // Gradients of other magnitudes; a bucket of more uses than a 16-bit counter has.
    for (const std::int64_t fill : {5, 13}) add({.position = near, .tokens = 40, .batch = 7, .heads = 2, .fill = fill});
    add({.position = near, .tokens = 2049, .batch = 70, .heads = 1, .fill = 6});
    // One query behind all keys; runs of one row.
    add({.position = near, .tokens = 257, .batch = 1, .heads = 2, .fill = 257});
    add({.position = near, .tokens = 1000, .batch = 1, .heads = 1, .fill = 3});
    // A whole table, and its first rows, in their order.
    for (const std::int64_t tokens : {longest_call, std::int64_t{33}})
      add({.position = near, .tokens = tokens, .batch = 3, .heads = 2, .fill = one_by_one});
    // 12 heads; more uses than a launch has blocks, and more than 2^20 of a bias.
    add({.position = near, .tokens = 33, .batch = 40, .heads = 12, .fill = 1});
    add({.position = near, .tokens = longest_call, .batch = 2, .heads = 1, .fill = 0});
    add({.position = near, .tokens = 1030, .batch = 1030, .heads = 1, .fill = 1});
    // Squares, of the same tokens and of later queries; a window, whole.
    std::vector<std::int64_t> sides{4, 5, 7, 8, 16, 31, 32, 33, 49, 64, 100, 128};
    if (const std::int64_t all = last_position_of(spec) - spec.min_position; all <= 600) sides.push_back(all);
    for (const std::int64_t side : sides) {
      add({.position = near, .tokens = side, .batch = side, .heads = 2, .fill = 0});
      add({.position = near, .tokens = side, .batch = side, .heads = 3, .fill = 1});
    }
    // Queries that repeat; more heads than a block has.
    for (const std::int64_t queries : {3, 12, 39, 64})
      add({.position = near, .tokens = 10, .batch = queries, .heads = 2, .fill = repeats});
    for (const std::int64_t heads : {17, 32, 33, 64, 71})
      add({.position = near, .tokens = 9, .batch = 9, .heads = heads, .fill = 1});
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
      "grad[h, q, k] over all q and k with bucket(k - q) = b, or index(q, k) = b",
      "the adjoint of a selection matrix: <W[positions], g> = <W, scatter(g)>",
      "learned, relative_bias and window_bias whose subject answers backward",
      "m terms are added with m - 1 roundings in any order: gamma_m(u) sum |g| (Higham 2002, section 4.2), u of the "
      "dtype, and 1 ULP for the last rounding; in 16 bits evaluated in float32 u of float32, and half an ULP; sums of "
      "more terms than 1/(2 u), or beyond the dtype's range, are not judged",
      "rows overwritten instead of added to, lost updates of racing threads, a gradient that is "
      "zero, order by position instead of by use, uses beyond a block left out"};
  property.not_applicable = stated_for<Learned, RelativeBias, WindowBias>();
  use_cases(property, uses(),
            of<Learned, RelativeBias, WindowBias>([](const Spec& spec, const auto& encoding) -> CheckOf<Question> {
              return [spec, encoding](Session& session, const Question& question) {
                const TableGradient scatter = scatter_of(spec, encoding, question);
                return judge_table_gradient(spec, scatter,
                                            backward(session, spec, scatter.of, scatter.inputs, scatter.grad));
              };
            }));
  return property;
}

}  // namespace sextant
