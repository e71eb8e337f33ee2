#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "properties/identify/identify_lookups.hpp"
#include "properties/identify/tried_claims.hpp"

namespace sextant::identify {
namespace {

Identification named_code(CountedSession& session, const Spec& claim, const Spec& other, const auto& formulas) {
  Identification found;
  const AskedAnswers asked(session, claim);
  if (const auto met = first_met(asked, claim, {{other, {}}})) {
    found.spec = met->claim.spec;
    found.of_bound = met->of_bound;
    found.confidence = Confidence::high;
  } else if (const std::vector<OtherReading> list = formulas(); const OtherReading* one = first_reading(asked, list)) {
    found.faults.emplace_back(one->words, one->stage);
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
