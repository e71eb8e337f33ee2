#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"

#include "properties/identify/biases/identify_lookups.hpp"
#include "properties/identify/codes/axis_formulas.hpp"
#include "properties/identify/codes/binary_digits.hpp"
#include "properties/identify/codes/call_extents.hpp"
#include "properties/identify/tried_claims.hpp"

namespace sextant::identify {
namespace {

// A formula for the code of a position; `last` is the claim's.
struct NumberFormula {
  std::string words;
  std::function<double(double position, double last)> of;
};

// Whether every code of some calls is the formula's, within a few roundings of its format.
bool have_formula(const AskedAnswers& asked, const Spec& claim, const NumberFormula& formula) {
  const double off = 8 * std::ldexp(1, -format_of(claim.dtype).precision);
  const auto last = static_cast<double>(claim.max_position - 1);
  std::int64_t told = 0;
  for (std::size_t call = 0; call < asked.calls().size(); ++call) {
    const std::vector<std::int64_t>& positions = asked.calls()[call].positions;
    const Tensor& answer = asked.answers()[call];
    const std::int64_t channels = answer.elements() / std::ssize(positions);
    for (std::int64_t i = 0; i < answer.elements(); ++i) {
      const double expected = formula.of(static_cast<double>(positions[static_cast<std::size_t>(i / channels)]), last);
      if (!(std::fabs(answer.at(i) - expected) <= off * std::max(1.0, std::fabs(expected)))) return false;
      ++told;
    }
  }
  return told > 8;
}

std::string words_of_numbers(const AskedAnswers& asked, const Spec& claim) {
  const char* claimed = held<Integer>(claim)->normalize ? "p / last" : "p";
  const std::vector<NumberFormula> list{
      {fmt::format("codes are sines of positions, sin(p), where the claim has {}", claimed),
       [](double p, double) { return std::sin(p); }},
      {fmt::format("codes are cosines of positions, cos(p), where the claim has {}", claimed),
       [](double p, double) { return std::cos(p); }},
      {fmt::format("codes are logarithms of positions, log(1 + p), where the claim has {}", claimed),
       [](double p, double) { return std::log1p(p); }},
      {fmt::format("codes run from -1 to 1, 2 p / last - 1, where the claim has {}", claimed),
       [](double p, double last) { return 2 * p / last - 1; }},
      {fmt::format("codes run from -1/2 to 1/2, p / last - 1/2, where the claim has {}", claimed),
       [](double p, double last) { return p / last - 0.5; }},
      {fmt::format("codes run down, 1 - p / last, where the claim has {}", claimed),
       [](double p, double last) { return 1 - p / last; }},
      {"positions are counted down from the claim's last one", [](double p, double last) { return last - p; }},
      {"quotients are rounded to float16", [](double p, double last) { return round_to(Dtype::float16, p / last); }},
      {"quotients are rounded to bfloat16", [](double p, double last) { return round_to(Dtype::bfloat16, p / last); }},
  };
  for (const NumberFormula& formula : list) {
    if (have_formula(asked, claim, formula)) return formula.words;
  }
  return {};
}

// Of many more positions, which tell digits apart.
std::string words_of_asked_digits(AskedAnswers& asked, CountedSession& session, const Spec& claim) {
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < 512; ++i) positions.push_back((i * 40503 + i * i * 7 + 5) % claim.max_position);
  asked.ask(session, std::move(positions));
  return words_of_digits(claim, rows_of(asked, claim));
}

Identification named_code(CountedSession& session, const Spec& claim, const Spec& other, const auto& formulas) {
  Identification found;
  AskedAnswers asked(session, claim);
  if (const auto met = first_met(asked, claim, {{other, {}}})) {
    found.spec = met->claim.spec;
    found.of_bound = met->of_bound;
    found.confidence = Confidence::high;
  } else if (const std::vector<OtherReading> list = formulas(); const OtherReading* one = first_reading(asked, list)) {
    found.faults.emplace_back(one->words, one->stage);
  } else if (std::string words = held<Integer>(claim) == nullptr ? std::string() : words_of_numbers(asked, claim);
             !words.empty()) {
    found.faults.emplace_back(std::move(words), DiagnosedStage::other);
  } else if (std::string of_digits =
                 held<Binary>(claim) == nullptr ? std::string() : words_of_asked_digits(asked, session, claim);
             !of_digits.empty()) {
    found.faults.emplace_back(std::move(of_digits), DiagnosedStage::table);
  } else if (std::string by_call = words_of_call_extents(session, claim); !by_call.empty()) {
    found.faults.emplace_back(std::move(by_call), DiagnosedStage::position);
  } else {
    found.table.emplace_back("codes are neither the numbers nor the normalized ones");
  }
  found.calls = session.calls();
  return found;
}

}  // namespace

Identification identify_integer(CountedSession& session, const Spec& claim, const Integer& code) {
  Integer other = code;
  other.normalize = !code.normalize;
  Spec tried = claim;
  tried.encoding = other;
  return named_code(session, claim, tried, [&] {
    std::vector<OtherReading> list;
    for (const std::int64_t by : {1, 2, -1}) {
      list.push_back({fmt::format("positions are counted from {}: position 0 is encoded as {}", by, by),
                      DiagnosedStage::position,
                      claim,
                      {.positions = [by](std::int64_t axis, std::span<const std::int64_t> place) {
                        return place[static_cast<std::size_t>(axis)] + by;
                      }}});
    }
    const std::int64_t end = claim.max_position;
    for (const std::int64_t by : {end + 1, end - 1}) {
      if (!code.normalize || by < 2) break;
      list.push_back({fmt::format("positions are divided by {}, not by the claim's last one, {}", by - 1, end - 1),
                      DiagnosedStage::position, claim});
      list.back().spec.max_position = by;
    }
    for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
      list.push_back({fmt::format("positions are rounded to {}", name_of(dtype)),
                      DiagnosedStage::position,
                      claim,
                      {.positions = [dtype](std::int64_t axis, std::span<const std::int64_t> place) {
                        const auto position = static_cast<double>(place[static_cast<std::size_t>(axis)]);
                        return static_cast<std::int64_t>(std::min(round_to(dtype, position), 0x1p53));
                      }}});
    }
    return list;
  });
}

Identification identify_binary(CountedSession& session, const Spec& claim, const Binary& code) {
  Binary other = code;
  other.normalize = !code.normalize;
  Spec tried = claim;
  tried.encoding = other;
  return named_code(session, claim, tried, [&] {
    std::vector<OtherReading> list;
    const auto reversed = [dim = code.dim](const Tensor& answer) {
      Tensor made = answer;
      for (std::int64_t i = 0; i < answer.elements(); ++i) made.set(i, answer.at(i / dim * dim + dim - 1 - i % dim));
      return std::optional(std::move(made));
    };
    const auto reflected = [](std::int64_t, std::span<const std::int64_t> place) {
      return place.front() ^ (place.front() >> 1);
    };
    for (const Spec& digits : {claim, tried}) {
      const auto* as_claimed = to_json(digits) == to_json(claim) ? "" : ", and normalize is not as claimed";
      list.push_back({fmt::format("the most significant digit stands first, not the least{}", as_claimed),
                      DiagnosedStage::table,
                      digits,
                      {.answer = reversed}});
      list.push_back({fmt::format("digits are those of the reflected code, p xor p / 2, not of p{}", as_claimed),
                      DiagnosedStage::table,
                      digits,
                      {.positions = reflected}});
    }
    return list;
  });
}

}  // namespace sextant::identify
