#include "properties/identify/tried_claims.hpp"

#include <utility>

namespace sextant::identify {
namespace {

bool is_valid(const Spec& spec) {
  try {
    validate(spec);
    return true;
  } catch (const SpecError&) {
    return false;
  }
}

}  // namespace

std::optional<MetClaim> first_met(const AskedAnswers& asked, const Spec& claim, std::vector<TriedClaim> list) {
  if (const auto of_bound = asked.meet(claim)) return MetClaim{{claim, {}}, *of_bound};
  for (TriedClaim& tried : list) {
    if (!is_valid(tried.spec)) continue;
    if (const auto of_bound = asked.meet(tried.spec)) return MetClaim{std::move(tried), *of_bound};
  }
  return std::nullopt;
}

}  // namespace sextant::identify
