// Which formula codes of a window's offsets have, each tried on the same answers.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/identify/biases/identify_lookups.hpp"
#include "properties/identify/tried_claims.hpp"

namespace sextant::identify {
namespace {

// The code of an offset that is not 0, by a formula that no claim has.
struct OtherFormula {
  const char* words;
  std::function<double(std::int64_t axis, double offset)> code;
};

std::vector<OtherFormula> other_formulas(const LogCoordinates& claimed) {
  const auto of_size = [claimed](double (*of)(double size)) {
    return [claimed, of](std::int64_t axis, double offset) {
      return std::copysign(of(8 * std::fabs(offset) / static_cast<double>(divisor(claimed, axis))), offset);
    };
  };
  const auto last_axis_first = [claimed](std::int64_t axis) { return axes(claimed) - 1 - axis; };
  const auto own = of_size([](double size) { return std::log2(size + 1) / 3; });
  return {
      {"logarithms are natural, and divided by log2 8", of_size([](double size) { return std::log1p(size) / 3; })},
      {"the logarithm is of 8 |d| / (e - 1), without 1 added",
       of_size([](double size) { return std::log2(size) / 3; })},
      {"the logarithm is not divided by log2 8", of_size([](double size) { return std::log2(size + 1); })},
      {"8 multiplies the logarithm, not what it is of",
       of_size([](double size) { return 8 * std::log2(size / 8 + 1) / 3; })},
      {"offsets are divided by e - 1, and no logarithm is taken", of_size([](double size) { return size / 8; })},
      {"the sign of offsets is lost", [own](std::int64_t axis, double offset) { return own(axis, std::fabs(offset)); }},
      {"the sign of offsets is reversed", [own](std::int64_t axis, double offset) { return own(axis, -offset); }},
      {"offsets are divided by the extent, not by one less",
       [claimed](std::int64_t axis, double offset) {
         const double size = 8 * std::fabs(offset) / static_cast<double>(divisor(claimed, axis) + 1);
         return std::copysign(std::log2(size + 1) / 3, offset);
       }},
      {"axes are divided by the extents in reverse order",
       [own, last_axis_first](std::int64_t axis, double offset) { return own(last_axis_first(axis), offset); }},
      {"codes are rounded to float16",
       of_size([](double size) { return round_to(Dtype::float16, std::log2(size + 1) / 3); })},
      {"codes are rounded to bfloat16",
       of_size([](double size) { return round_to(Dtype::bfloat16, std::log2(size + 1) / 3); })},
      {"quotients are rounded to float16",
       of_size([](double size) { return std::log2(round_to(Dtype::float16, size) + 1) / 3; })},
      {"quotients are rounded to bfloat16",
       of_size([](double size) { return std::log2(round_to(Dtype::bfloat16, size) + 1) / 3; })},
  };
}

class LogCoordinatesIdentifier {
 public:
  LogCoordinatesIdentifier(CountedSession& session, const Spec& claim, const LogCoordinates& encoding)
      : claim_(claim), encoding_(encoding), asked_(session, claim) {}

  Identification run() {
    if (!name_window()) {
      for (const OtherFormula& formula : other_formulas(encoding_))
        take(formula.words, formula.code, Channels::in_order);
      const auto own = [&](std::int64_t axis, double offset) {
        return std::copysign(std::log2(8 * std::fabs(offset) / static_cast<double>(divisor(encoding_, axis)) + 1) / 3,
                             offset);
      };
      take("channels are those of the axes in reverse order", own, Channels::reversed);
    }
    if (!found_.spec) found_.table.emplace_back("no formula was found that the codes have");
    return std::move(found_);
  }

 private:
  enum class Channels { in_order, reversed };

  // Calls `judge(axis, offset, value)` for each value of an offset other than 0 until one is false.
  template <class Judged>
  bool all_of(Channels channels, const Judged& judge) const {
    const std::int64_t width = axes(encoding_);
    for (std::size_t call = 0; call < asked_.calls().size(); ++call) {
      const Tensor& answer = asked_.answers()[call];
      const std::int64_t rows = answer.shape[0];
      for (std::int64_t i = 0; i < answer.elements(); ++i) {
        const std::int64_t channel = i % width;
        const std::int64_t axis = channels == Channels::in_order ? channel : width - 1 - channel;
        const std::int64_t offset = asked_.calls()[call].positions[static_cast<std::size_t>(axis * rows + i / width)];
        if (offset != 0 && !judge(axis, static_cast<double>(offset), answer.at(i))) return false;
      }
    }
    return true;
  }

  // The extents less one that offsets are divided by, where the formula is the claim's.
  std::optional<std::vector<std::int64_t>> divisors() const {
    std::vector<std::int64_t> seen(encoding_.window.size(), 0);
    const bool is_one = all_of(Channels::in_order, [&](std::int64_t axis, double offset, double value) {
      const double of_value = 8 * std::fabs(offset) / (std::exp2(3 * std::fabs(value)) - 1);
      if (!(of_value < 0x1p20)) return false;
      std::int64_t& known = seen[static_cast<std::size_t>(axis)];
      if (known == 0) known = std::llround(of_value);
      return known > 0 && std::signbit(value) == std::signbit(offset);
    });
    if (!is_one || std::ranges::find(seen, 0) != seen.end()) return std::nullopt;
    return seen;
  }

  // Whether the claim's formula is met, by the claim's divisors or by those seen.
  bool name_window() {
    std::vector<TriedClaim> list;
    if (!encoding_.pretrained_window.empty()) {
      LogCoordinates at_hand = encoding_;
      at_hand.pretrained_window.clear();
      list.push_back({claim_, {}});
      list.back().spec.encoding = at_hand;
    }
    if (auto seen = divisors()) {
      for (std::int64_t& extent : *seen) ++extent;
      LogCoordinates pretrained = encoding_;
      pretrained.pretrained_window = *seen;
      if (!is_of_reversed_extents(*seen) && !is_one_more(*seen)) {
        list.push_back({claim_, {}});
        list.back().spec.encoding = pretrained;
      }
    }
    const auto met = first_met(asked_, claim_, std::move(list));
    if (!met) return false;
    found_.spec = met->claim.spec;
    found_.of_bound = met->of_bound;
    found_.confidence = Confidence::high;
    return true;
  }

  std::vector<std::int64_t> claimed_extents() const {
    return encoding_.pretrained_window.empty() ? encoding_.window : encoding_.pretrained_window;
  }

  // Extents that have a sentence of their own.
  bool is_of_reversed_extents(std::vector<std::int64_t> seen) const {
    std::ranges::reverse(seen);
    return seen == claimed_extents();
  }
  bool is_one_more(std::vector<std::int64_t> seen) const {
    for (std::int64_t& extent : seen) --extent;
    return seen == claimed_extents();
  }

  // Five operations, each rounded once at most: 8 units in the last place of the sum, which is 1 or more, and of the
  // code.
  template <class Code>
  void take(const char* words, const Code& code, Channels channels) {
    if (found_.spec) return;
    const double unit = std::ldexp(8, -std::min(format_of(claim_.dtype).precision, 24));
    const bool is_it = all_of(channels, [&](std::int64_t axis, double offset, double value) {
      const double expected = code(axis, offset);
      return std::fabs(value - expected) <= unit * (1 + std::fabs(expected));
    });
    if (!is_it) return;
    found_.spec = claim_;
    found_.confidence = Confidence::low;
    found_.faults.emplace_back(words);
  }

  Spec claim_;
  LogCoordinates encoding_;
  AskedAnswers asked_;
  Identification found_;
};

}  // namespace

Identification identify_log_coordinates(CountedSession& session, const Spec& claim, const LogCoordinates& encoding) {
  Identification found = LogCoordinatesIdentifier(session, claim, encoding).run();
  found.calls = session.calls();
  return found;
}

}  // namespace sextant::identify
