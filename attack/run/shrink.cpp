#include "attack/run/shrink.hpp"

#include <algorithm>
#include <chrono>
#include <variant>
#include <vector>

#include "attack/truth/truths.hpp"
#include "lib/spec/of.hpp"

namespace sextant::attack {
namespace {

using Clock = std::chrono::steady_clock;
using Step = std::function<std::optional<Case>(const Counterexample&)>;

template <class Member>
Step plainer(Member Case::*member, Member value) {
  return [=](const Counterexample& found) -> std::optional<Case> {
    if (found.example.*member == value) return std::nullopt;
    Case smaller = found.example;
    smaller.*member = value;
    return smaller;
  };
}

template <class Encoding, class Member>
Step plainer_field(Member Encoding::*member, Member value) {
  return [=](const Counterexample& found) -> std::optional<Case> {
    Case smaller = found.example;
    auto* encoding = held<Encoding>(smaller.spec);
    if (encoding == nullptr || encoding->*member == value) return std::nullopt;
    encoding->*member = value;
    return smaller;
  };
}

std::int64_t head_dim_of(const Case& example) { return signature_of(example.spec.encoding).head_dim.value_or(0); }

bool is_rotation(const Case& example) {
  return example.operation == Operation::rotate || example.operation == Operation::backward;
}

// Tokens [first, last) and heads [first_head, last_head) of a rotation.
Case part_of(const Case& example, std::int64_t first, std::int64_t last, std::int64_t first_head,
             std::int64_t last_head) {
  Case smaller = example;
  const std::int64_t tokens = example.batch * example.tokens;
  const std::int64_t axes = std::ssize(example.positions) / tokens;
  const std::int64_t width = head_dim_of(example);
  smaller.batch = 1;
  smaller.tokens = last - first;
  smaller.heads = last_head - first_head;
  smaller.positions.clear();
  smaller.elements.clear();
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    const auto start = example.positions.begin() + axis * tokens;
    smaller.positions.insert(smaller.positions.end(), start + first, start + last);
  }
  for (std::int64_t token = first; token < last; ++token) {
    const auto start = example.elements.begin() + token * example.heads * width;
    smaller.elements.insert(smaller.elements.end(), start + first_head * width, start + last_head * width);
  }
  return smaller;
}

struct Place3 {
  std::int64_t token;
  std::int64_t head;
};
Place3 place_of(const Counterexample& found) {
  const std::int64_t vector = found.mismatch.element / head_dim_of(found.example);
  return {vector / found.example.heads, vector % found.example.heads};
}

std::optional<Case> one_head(const Counterexample& found) {
  const Case& example = found.example;
  if (!is_rotation(example) || example.heads == 1) return std::nullopt;
  const auto [token, head] = place_of(found);
  return part_of(example, 0, example.batch * example.tokens, head, head + 1);
}
std::optional<Case> one_token(const Counterexample& found) {
  const Case& example = found.example;
  if (!is_rotation(example) || example.batch * example.tokens == 1) return std::nullopt;
  const auto [token, head] = place_of(found);
  return part_of(example, token, token + 1, 0, example.heads);
}
std::optional<Case> tokens_up_to(const Counterexample& found) {
  const Case& example = found.example;
  if (!is_rotation(example)) return std::nullopt;
  const auto [token, head] = place_of(found);
  if (token + 1 == example.batch * example.tokens) return std::nullopt;
  return part_of(example, 0, token + 1, 0, example.heads);
}
std::optional<Case> tokens_from_half(const Counterexample& found) {
  const Case& example = found.example;
  if (!is_rotation(example)) return std::nullopt;
  const std::int64_t half = place_of(found).token / 2;
  if (half == 0) return std::nullopt;
  return part_of(example, half, example.batch * example.tokens, 0, example.heads);
}

// All elements but those of the failing pair are zeros.
std::optional<Case> one_pair(const Counterexample& found) {
  const auto* rope = held<Rope>(found.example.spec);
  if (rope == nullptr || !is_rotation(found.example)) return std::nullopt;
  const bool backward = found.example.operation == Operation::backward;
  const std::int64_t channel = found.mismatch.element % rope->head_dim;
  const std::int64_t start = found.mismatch.element - channel;
  Case smaller = found.example;
  std::ranges::fill(smaller.elements, Bits{0});
  for (std::int64_t pair = 0; pair < rope->rotary_dim / 2; ++pair) {
    const auto out = rotary_channels(*rope, backward ? rope->pairing : rope->output_pairing, pair);
    if (out.first != channel && out.second != channel) continue;
    const auto in = rotary_channels(*rope, backward ? rope->output_pairing : rope->pairing, pair);
    for (const std::int64_t i : {start + in.first, start + in.second})
      smaller.elements[static_cast<std::size_t>(i)] = found.example.elements[static_cast<std::size_t>(i)];
  }
  return smaller.elements == found.example.elements ? std::nullopt : std::optional(smaller);
}

// Tables: the failing row alone, those up to it, the later half of those before it.
std::int64_t row_of(const Counterexample& found) {
  const auto* encoding = held<Sinusoidal>(found.example.spec);
  return encoding == nullptr ? -1 : found.mismatch.element / encoding->dim;
}
template <class Choose>
Step rows(Choose choose) {
  return [=](const Counterexample& found) -> std::optional<Case> {
    const std::int64_t row = row_of(found);
    if (row < 0) return std::nullopt;
    Case smaller = found.example;
    const std::int64_t count = found.example.operation == Operation::encode_range ? found.example.range.count
                                                                                  : std::ssize(found.example.positions);
    const auto [first, last] = choose(row, count);
    if (first == 0 && last == count) return std::nullopt;
    if (found.example.operation == Operation::encode_range) {
      smaller.range = {smaller.range.first + first * smaller.range.step, last - first, smaller.range.step};
    } else {
      smaller.positions.assign(found.example.positions.begin() + first, found.example.positions.begin() + last);
    }
    return smaller;
  };
}
struct Rows {
  std::int64_t first;
  std::int64_t last;
};

std::optional<Case> as_list(const Counterexample& found) {
  if (found.example.operation != Operation::encode_range || found.example.range.count > 4096) return std::nullopt;
  Case smaller = found.example;
  smaller.positions = positions_of(found.example);
  smaller.operation = Operation::encode_list;
  return smaller;
}

std::optional<Case> offset_in_positions(const Counterexample& found) {
  Case smaller = found.example;
  auto* encoding = held<Sinusoidal>(smaller.spec);
  if (encoding == nullptr || encoding->position_offset == 0) return std::nullopt;
  for (std::int64_t& position : smaller.positions) position += encoding->position_offset;
  smaller.range.first += encoding->position_offset;
  encoding->position_offset = 0;
  return smaller;
}

std::optional<Case> without_scaling(const Counterexample& found) {
  Case smaller = found.example;
  auto* rope = held<Rope>(smaller.spec);
  if (rope == nullptr || std::holds_alternative<DefaultScaling>(rope->rope_scaling)) return std::nullopt;
  rope->rope_scaling = DefaultScaling{};
  return smaller;
}

std::vector<Step> steps() {
  return {plainer(&Case::threads, 1),
          plainer(&Case::environment, Environment::nearest),
          as_list,
          rows([](std::int64_t row, std::int64_t) {
            return Rows{row, row + 1};
          }),
          rows([](std::int64_t row, std::int64_t) {
            return Rows{0, row + 1};
          }),
          rows([](std::int64_t row, std::int64_t count) {
            return Rows{row / 2, count};
          }),
          rows([](std::int64_t row, std::int64_t count) {
            return Rows{std::min<std::int64_t>(row, 1), count};
          }),
          one_token,
          one_head,
          tokens_up_to,
          tokens_from_half,
          one_pair,
          plainer(&Case::gap, std::int64_t{0}),
          plainer(&Case::offset, std::int64_t{0}),
          plainer(&Case::stride_order, 0),
          plainer(&Case::place, Place::apart),
          plainer(&Case::operation, Operation::rotate),
          offset_in_positions,
          plainer_field(&Sinusoidal::layout, Layout::interleaved),
          plainer_field(&Sinusoidal::first, First::sin),
          plainer_field(&Sinusoidal::scale, 1.0),
          plainer_field(&Sinusoidal::base, 10000.0),
          plainer_field(&Sinusoidal::angle_scale, 1.0),
          plainer_field(&Rope::direction, Direction::counterclockwise),
          plainer_field(&Rope::rope_theta, 10000.0),
          without_scaling};
}

}  // namespace

Counterexample shrunk(Counterexample found, const Judge& judge, double seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  const std::vector<Step> all = steps();
  bool smaller = true;
  while (smaller && Clock::now() < end) {
    smaller = false;
    for (const Step& step : all) {
      const auto candidate = step(found);
      if (!candidate || Clock::now() > end) continue;
      if (candidate->operation == Operation::rotate && !is_rotation(found.example)) continue;
      if (const auto mismatch = judge(*candidate)) {
        found = {*candidate, *mismatch};
        smaller = true;
      }
    }
  }
  return found;
}

}  // namespace sextant::attack
