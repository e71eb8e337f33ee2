#include <fmt/format.h>

#include <algorithm>

#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "properties/gen/vectors.hpp"
#include "properties/model/accuracy_of.hpp"
#include "properties/model/attention_oracle.hpp"
#include "properties/model/bias_agreement.hpp"
#include "properties/model/question.hpp"
#include "properties/model/row_agreement.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// A case asks for `length` consecutive positions at once, then for `count` of them from `skip` on by themselves: a
// shorter table (skip 0), a chunk, or a single token decoded at the end (count 1).
enum Field : std::size_t { position_field, length_field, skip_field, count_field, fill_field };

// A bias grows with the square of its length.
constexpr std::int64_t longest_square = 24;

// Rows [first, first + count) of the second-slowest extent of a tensor whose slower extents are 1.
Tensor slice(const Tensor& tensor, std::size_t axis, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> shape = tensor.shape;
  const auto row_bytes = static_cast<std::ptrdiff_t>(tensor.data.size()) / shape[axis];
  shape[axis] = count;
  const auto begin = tensor.data.begin() + first * row_bytes;
  return {tensor.dtype, std::move(shape), {begin, begin + count * row_bytes}};
}

// Consecutive along the first axis, faster along the others, wrapping round at the range's end: [axes, count].
std::vector<std::int64_t> positions_from(const Spec& spec, std::int64_t first, std::int64_t skip, std::int64_t count) {
  const std::int64_t width = last_position_of(spec) - spec.min_position;
  std::vector<std::int64_t> positions;
  for (std::int64_t axis = 0; axis < axes_of(spec.encoding); ++axis) {
    for (std::int64_t i = skip; i < skip + count; ++i)
      positions.push_back(spec.min_position + (first - spec.min_position + (axis + 1) * i + 5 * axis) % width);
  }
  return positions;
}

Check code_check(const Spec& spec) {
  return [spec, width = row_width(spec), agreement = RowAgreement(spec)](Session& session, const Case& values) mutable {
    const std::int64_t fill = values.size() > fill_field ? values[fill_field] : 0;
    const std::vector<std::int64_t> positions =
        positions_from(spec, values[position_field], values[skip_field], values[count_field]);
    const Tensor table =
        ask_codes(session, spec, positions_from(spec, values[position_field], 0, values[length_field]), fill);
    const Tensor part = ask_codes(session, spec, positions, fill);
    Judgement judgement;
    for (std::int64_t row = 0; row < values[count_field]; ++row) {
      agreement.compare(judgement, {table, (values[skip_field] + row) * width}, {part, row * width},
                        place_at(positions, values[count_field], row));
    }
    return judgement;
  };
}

Check rotation_check(const Spec& spec) {
  return [spec, width = row_width(spec), agreement = RowAgreement(spec)](Session& session, const Case& values) mutable {
    const auto* rope = std::get_if<Rope>(&spec.encoding);
    const gen::Extents extents{.batch = 1, .tokens = values[length_field], .heads = 1};
    const Tensor x = rope != nullptr
                         ? gen::vectors(*rope, spec.dtype, extents, values[fill_field])
                         : gen::values(spec.dtype, {1, values[length_field], 1, width}, values[fill_field] + 1);
    const Tensor chunk = slice(x, 1, values[skip_field], values[count_field]);
    const std::vector<std::int64_t> positions =
        positions_from(spec, values[position_field], values[skip_field], values[count_field]);
    const Tensor whole =
        rotate(session, spec, x, positions_from(spec, values[position_field], 0, values[length_field]));
    const Tensor part = rotate(session, spec, chunk, positions);
    Judgement judgement;
    for (std::int64_t row = 0; row < values[count_field]; ++row) {
      const RowOf given{chunk, row * width};
      agreement.compare(judgement, {whole, (values[skip_field] + row) * width}, {part, row * width},
                        place_at(positions, values[count_field], row), &given);
    }
    return judgement;
  };
}

// A whole square of queries and keys against its last `count` queries before key skip + count: a step of decoding with
// the keys so far.
Check bias_check(const Spec& spec) {
  return [spec, agreement = BiasAgreement(spec)](Session& session, const Case& values) mutable {
    const auto* relative = std::get_if<RelativeBias>(&spec.encoding);
    constexpr std::int64_t heads = 3;
    const auto asked = [&](const std::vector<std::int64_t>& queries, const std::vector<std::int64_t>& keys) {
      if (relative == nullptr) return bias(session, spec, queries, keys);
      return bias(session, spec, queries, keys,
                  gen::values(spec.dtype, {relative->num_buckets, heads}, values[fill_field] + 1));
    };
    const std::int64_t length = std::min(values[length_field], longest_square);
    const std::int64_t count = std::min(values[count_field], length - 1);
    const std::int64_t skip = std::min(values[skip_field], length - count);
    const std::vector<std::int64_t> all = gen::consecutive(values[position_field], length);
    const std::vector<std::int64_t> keys = gen::consecutive(values[position_field], skip + count);
    const std::vector<std::int64_t> queries = gen::consecutive(values[position_field] + skip, count);
    const Tensor square = asked(all, all);
    const Tensor part = asked(queries, keys);
    Judgement judgement;
    judgement.add_exact(std::nullopt, [] { return "the same in both calls"; });
    for (std::int64_t i = 0; i < part.elements(); ++i) {
      const std::int64_t key = i % std::ssize(keys);
      const std::int64_t query = i / std::ssize(keys) % count;
      const std::int64_t head = i / std::ssize(keys) / count;
      agreement.compare(judgement, square.at((head * length + skip + query) * length + key), part.at(i),
                        queries[static_cast<std::size_t>(query)], keys[static_cast<std::size_t>(key)], head);
    }
    return judgement;
  };
}

// Under a causal mask the first tokens come out as if there were no others.
Check attention_check(const Spec& spec) {
  return [spec, oracle = AttentionOracle(spec)](Session& session, const Case& values) mutable {
    const AttentionCase whole =
        attention_case(spec, {values[position_field], values[length_field], 2, 1, values[fill_field]});
    const AttentionCase part = first_tokens(whole, std::min(values[count_field], whole.tokens - 1));
    return judge_same(spec, oracle, part, attend(session, spec, part), whole, attend(session, spec, whole),
                      values[fill_field], [](const AttentionPlace& place) { return place; });
  };
}

Check check_of(const Spec& spec) {
  if (is_code(spec)) return code_check(spec);
  if (is_rotation(spec)) return rotation_check(spec);
  if (std::holds_alternative<Attention>(spec.encoding)) return attention_check(spec);
  return bias_check(spec);
}

bool has_fill(const Spec& spec) { return !std::holds_alternative<Sinusoidal>(spec.encoding); }

Case make_case(const Spec& spec, std::int64_t position, std::int64_t length, std::int64_t skip, std::int64_t count,
               std::int64_t fill) {
  return has_fill(spec) ? Case{position, length, skip, count, fill} : Case{position, length, skip, count};
}

}  // namespace

Property prefix_consistency_property() {
  Property property;
  property.id = "prefix_consistency";
  property.needs = Needs::live_subject;
  property.explanation = {
      "a position's code does not depend on how many others are asked for with it",
      "f(p .. p+n)[a .. b] = f(p+a .. p+b): a longer table starts with the shorter one, and decode "
      "equals prefill; a bias' last queries over the keys so far "
      "are the square's; causal attention's first tokens are those of the shorter sequence",
      "each value is a function of its own position, a bias of two: Vaswani et al. 2017, sections "
      "3.2.3 and 3.5; Su et al. 2021, section 3.2.2; Press et al. 2021, "
      "section 3; Raffel et al. 2019, section 2.1",
      "every encoding, attention where it is causal, with frequencies that do not depend on the "
      "length of the call; live subjects",
      "both answers are within the class's bound E of the same true value (properties/model/budget.hpp; "
      "row_agreement.hpp, bias_agreement.hpp and attention_oracle.cpp for the "
      "encodings that have others), so they differ by at most 2 E; an implementation that computes "
      "each row alone differs by nothing",
      "a table that depends on the longest length seen, a decode path with another offset or "
      "scaling, a single-token path that "
      "skips rows"};
  property.fields = [](const Spec& spec) {
    std::vector<std::string> names{"position", "length", "skip", "count"};
    if (has_fill(spec)) names.emplace_back("fill");
    return names;
  };
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (const auto* attention = std::get_if<Attention>(&spec.encoding)) {
      if (!attention->causal) return "every token sees the later ones";
      if (auto reason = accuracy_not_stated(spec)) return reason;
    }
    if (last_position_of(spec) - spec.min_position < 2) return "the claim has one position only";
    return depends_on_length(spec);
  };
  property.admits = [](const Spec& spec, const Case& values) {
    const std::int64_t length = values[length_field];
    const std::int64_t skip = values[skip_field];
    const std::int64_t count = values[count_field];
    return values[position_field] >= spec.min_position && values[position_field] < last_position_of(spec) &&
           length >= 2 && length <= 4096 && length <= last_position_of(spec) - values[position_field] && skip >= 0 &&
           count >= 1 && skip <= length - count && count < length && (!has_fill(spec) || values[fill_field] >= 0);
  };
  property.simplest = [](const Spec& spec) {
    return make_case(spec, gen::simplest_position({spec.min_position, last_position_of(spec)}), 2, 0, 1, 0);
  };
  property.first_cases = [](const Spec& spec) {
    const gen::PositionRange range{spec.min_position, last_position_of(spec)};
    const std::int64_t width = std::min<std::int64_t>(range.last - range.first, 64);
    const std::int64_t p = std::min(gen::simplest_position(range), range.last - width);
    return std::vector<Case>{make_case(spec, p, width, 0, 1, 1), make_case(spec, p, width, width - 1, 1, 1),
                             make_case(spec, range.last - width, width, 0, width - 1, 1)};
  };
  property.cases = [](const Spec& spec) {
    const gen::PositionRange starts{spec.min_position, last_position_of(spec) - 1};
    const auto parts = rc::gen::tuple(gen::position(starts), gen::one_of({2, 3, 5, 8, 17, 33, 64}), gen::count(0, 63),
                                      gen::one_of({1, 1, 2, 4, 16}), gen::count(0, 1000));
    return rc::gen::map(
        parts, [spec](const std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>& drawn) {
          auto [position, length, skip, count, fill] = drawn;
          length = std::min(length, last_position_of(spec) - position);
          count = std::min(count, length - 1);
          return make_case(spec, position, length, skip % (length - count + 1), count, fill);
        });
  };
  property.make_check = check_of;
  return property;
}

}  // namespace sextant
