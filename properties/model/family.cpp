#include "properties/model/family.hpp"

#include <fmt/format.h>

namespace sextant {

std::string not_stated_for(const Spec& spec) { return fmt::format("not stated for {}", encoding_name(spec)); }

std::optional<std::string> one_position_only(const Spec& spec) {
  if (spec.max_position - spec.min_position < 2) return "the claim has one position only";
  return std::nullopt;
}

}  // namespace sextant
