#include <fmt/format.h>

#include <algorithm>

#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/row_agreement.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// A case asks for `length` consecutive positions at once, then for `count` of them from `skip` on by themselves: a shorter
// table (skip 0), a chunk, or a single token decoded at the end (count 1).
enum Field : std::size_t { position_field, length_field, skip_field, count_field, fill_field };

// Rows [first, first + count) of the second-slowest extent of a tensor whose slower extents are 1.
Tensor slice(const Tensor& tensor, std::size_t axis, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> shape = tensor.shape;
  const auto row_bytes = static_cast<std::ptrdiff_t>(tensor.data.size()) / shape[axis];
  shape[axis] = count;
  const auto begin = tensor.data.begin() + first * row_bytes;
  return {tensor.dtype, std::move(shape), {begin, begin + count * row_bytes}};
}

Check sinusoidal_check(const Spec& spec) {
  const std::int64_t dim = std::get<Sinusoidal>(spec.encoding).dim;
  return [spec, dim, agreement = RowAgreement(spec)](Session& session, const Case& values) mutable {
    const std::int64_t first = values[position_field] + values[skip_field];
    const Tensor table = encode(session, spec, gen::consecutive(values[position_field], values[length_field]));
    const Tensor part = encode(session, spec, gen::consecutive(first, values[count_field]));
    Judgement judgement;
    for (std::int64_t row = 0; row < values[count_field]; ++row) {
      agreement.compare(judgement, {table, (values[skip_field] + row) * dim}, {part, row * dim}, first + row);
    }
    return judgement;
  };
}

Check rope_check(const Spec& spec) {
  const auto& encoding = std::get<Rope>(spec.encoding);
  return [spec, encoding, agreement = RowAgreement(spec)](Session& session, const Case& values) mutable {
    const std::int64_t first = values[position_field] + values[skip_field];
    const Tensor x = gen::vectors(encoding, spec.dtype, {.batch = 1, .tokens = values[length_field], .heads = 1}, values[fill_field]);
    const Tensor chunk = slice(x, 1, values[skip_field], values[count_field]);
    const Tensor whole = rotate(session, spec, x, gen::consecutive(values[position_field], values[length_field]));
    const Tensor part = rotate(session, spec, chunk, gen::consecutive(first, values[count_field]));
    Judgement judgement;
    for (std::int64_t row = 0; row < values[count_field]; ++row) {
      const RowOf given{chunk, row * encoding.head_dim};
      agreement.compare(judgement, {whole, (values[skip_field] + row) * encoding.head_dim}, {part, row * encoding.head_dim}, first + row, &given);
    }
    return judgement;
  };
}

bool is_rope(const Spec& spec) { return std::holds_alternative<Rope>(spec.encoding); }

Case make_case(const Spec& spec, std::int64_t position, std::int64_t length, std::int64_t skip, std::int64_t count, std::int64_t fill) {
  return is_rope(spec) ? Case{position, length, skip, count, fill} : Case{position, length, skip, count};
}

}  // namespace

Property prefix_consistency_property() {
  Property property;
  property.id = "prefix_consistency";
  property.needs = Needs::live_subject;
  property.explanation = {
      "a position's code does not depend on how many others are asked for with it",
      "f(p .. p+n)[a .. b] = f(p+a .. p+b): a longer table starts with the shorter one, and decode equals prefill",
      "each value is a function of its own position: Vaswani et al. 2017, section 3.5; Su et al. 2021, section 3.2.2",
      "sinusoidal, rope; live subjects",
      "both answers are within the class's bound E of the same true pair (properties/budget.hpp), so they differ by at most 2 E; "
      "an implementation that computes each row alone differs by nothing",
      "a table that depends on the longest length seen, a decode path with another offset or scaling, a single-token path that "
      "skips rows"};
  property.fields = [](const Spec& spec) {
    std::vector<std::string> names{"position", "length", "skip", "count"};
    if (is_rope(spec)) names.emplace_back("fill");
    return names;
  };
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (!is_rope(spec) && !std::holds_alternative<Sinusoidal>(spec.encoding)) return not_stated_for(spec);
    if (spec.max_position - spec.min_position < 2) return "the claim has one position only";
    return depends_on_length(spec);
  };
  property.admits = [](const Spec& spec, const Case& values) {
    const std::int64_t length = values[length_field];
    const std::int64_t skip = values[skip_field];
    const std::int64_t count = values[count_field];
    return values[position_field] >= spec.min_position && values[position_field] < spec.max_position && length >= 2 && length <= 4096 &&
           length <= spec.max_position - values[position_field] && skip >= 0 && count >= 1 && skip <= length - count && count < length &&
           (!is_rope(spec) || values[fill_field] >= 0);
  };
  property.simplest = [](const Spec& spec) {
    return make_case(spec, gen::simplest_position(gen::range_of(spec)), 2, 0, 1, 0);
  };
  property.first_cases = [](const Spec& spec) {
    const gen::PositionRange range = gen::range_of(spec);
    const std::int64_t width = std::min<std::int64_t>(range.last - range.first, 64);
    const std::int64_t p = std::min(gen::simplest_position(range), range.last - width);
    return std::vector<Case>{make_case(spec, p, width, 0, 1, 1), make_case(spec, p, width, width - 1, 1, 1),
                             make_case(spec, range.last - width, width, 0, width - 1, 1)};
  };
  property.cases = [](const Spec& spec) {
    const gen::PositionRange starts{spec.min_position, spec.max_position - 1};
    const auto parts = rc::gen::tuple(gen::position(starts), gen::one_of({2, 3, 5, 8, 17, 33, 64}), gen::count(0, 63), gen::one_of({1, 1, 2, 4, 16}),
                                      gen::count(0, 1000));
    return rc::gen::map(parts, [spec](const std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>& drawn) {
      auto [position, length, skip, count, fill] = drawn;
      length = std::min(length, spec.max_position - position);
      count = std::min(count, length - 1);
      return make_case(spec, position, length, skip % (length - count + 1), count, fill);
    });
  };
  property.make_check = [](const Spec& spec) { return is_rope(spec) ? rope_check(spec) : sinusoidal_check(spec); };
  return property;
}

}  // namespace sextant
