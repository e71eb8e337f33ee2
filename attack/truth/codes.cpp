#include "attack/truth/truths.hpp"

// The codes that take no sine: Gehring et al. 2017 (positions as they are, and learned tables), binary digits.

namespace sextant::attack {

void judge_encoding(const Integer& encoding, const Case& example, Checker& checker) {
  std::int64_t element = 0;
  for (const std::int64_t position : example.positions) {
    for (std::int64_t channel = 0; channel < encoding.dim; ++channel, ++element) {
      if (position == 0) {
        checker.same(element, 0, "position 0 has the code 0");
        continue;
      }
      checker.nearest(element, std::nullopt, [&](long bits) {
        const Interval number = exactly(bits, position);
        return encoding.normalize ? number / exactly(bits, example.spec.max_position - 1) : number;
      });
    }
  }
}

void judge_encoding(const Binary& encoding, const Case& example, Checker& checker) {
  std::int64_t element = 0;
  for (const std::int64_t position : example.positions) {
    for (std::int64_t channel = 0; channel < encoding.dim; ++channel) {
      const auto digit = static_cast<int>((position >> channel) & 1);
      checker.same(element++, bits_of(checker.format(), encoding.normalize ? 2 * digit - 1 : digit), "the digit");
    }
  }
}

void judge_encoding(const Learned& encoding, const Case& example, Checker& checker) {
  const auto dim = static_cast<std::size_t>(encoding.dim);
  std::int64_t element = 0;
  if (example.operation != Operation::grad_weight) {
    for (const std::int64_t position : example.positions) {
      for (std::size_t channel = 0; channel < dim; ++channel) {
        checker.same(element++, example.elements[static_cast<std::size_t>(position) * dim + channel],
                     "the weight's bits");
      }
    }
    return;
  }
  std::vector<ExactTotal> totals(static_cast<std::size_t>(encoding.max_positions) * dim, ExactTotal(checker.format()));
  for (const std::int64_t position : example.positions) {
    for (std::size_t channel = 0; channel < dim; ++channel) {
      totals[static_cast<std::size_t>(position) * dim + channel].add(
          example.elements[static_cast<std::size_t>(element++)]);
    }
  }
  for (std::size_t i = 0; i < totals.size(); ++i) totals[i].judge(static_cast<std::int64_t>(i), checker);
}

}  // namespace sextant::attack
