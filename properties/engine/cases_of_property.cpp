#include "properties/engine/cases_of_property.hpp"

#include <string_view>

#include "lib/numeric/content_hash.hpp"

namespace sextant {
namespace {

// Each of these cases opens sessions of its own: too slow for a quick look at all of them.
constexpr std::size_t quick_own_cases = 8;

// So that each property draws its own cases whatever else is selected, on any platform.
std::uint64_t hash_of(std::string_view text) {
  ContentHash hash;
  hash.add(text);
  return hash.value();
}

// Properties that judge answers to accuracy's questions draw the same ones.
constexpr std::string_view accuracy = "accuracy";

std::vector<Case> first_cases(const Property& property, const Spec& spec, const AuditOptions& options) {
  std::vector<Case> cases = property.first_cases(spec);
  if (options.profile == Profile::quick && property.sessions == Sessions::own && cases.size() > quick_own_cases)
    cases.resize(quick_own_cases);
  return cases;
}

}  // namespace

CasesOfProperty::CasesOfProperty(const Property& property, const Spec& spec, const AuditOptions& options)
    : first_(first_cases(property, spec, options)),
      random_(options.seed ^ hash_of(property.judges_answers() ? accuracy : property.id)),
      generator_(property.cases(spec)),
      sweep_(property.sweep(spec, values_of(options))) {
  for (std::int64_t i = 0; i < cases_of(options, property.sessions); ++i) splits_.push_back(random_.split());
}

const BlockOf<Case>* CasesOfProperty::block(std::int64_t number) const {
  return number < first_block() ? nullptr : &sweep_.blocks[static_cast<std::size_t>(number - first_block())];
}

Case CasesOfProperty::at(std::int64_t number) const {
  if (const auto* swept = block(number)) return swept->values;
  if (number < std::ssize(first_)) return first_[static_cast<std::size_t>(number)];
  return generator_(splits_[static_cast<std::size_t>(number - std::ssize(first_))]).value();
}

}  // namespace sextant
