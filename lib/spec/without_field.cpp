#include "lib/spec/without_field.hpp"

#include "lib/numeric/standard_arithmetic.hpp"
#include "lib/spec/encoding_entry.hpp"

namespace sextant {

std::vector<ChangedClaim> without_each_field(const Spec& spec) {
  const StandardArithmetic arithmetic;  // in which a decimal is the nearest double
  const auto object = nlohmann::ordered_json::parse(to_json(spec));
  std::vector<ChangedClaim> claims;
  for (const auto& [field, value] : object.items()) {
    auto without = object;
    without.erase(field);
    try {
      Spec other = parse_spec(without.dump());
      if (to_json(other) != object.dump()) claims.push_back({field, std::move(other)});
    } catch (const SpecError&) {  // a field that a claim must have
    }
  }
  return claims;
}

}  // namespace sextant
