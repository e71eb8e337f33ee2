#include "properties/engine/cases_of_property.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "lib/numeric/content_hash.hpp"

namespace sextant {
namespace {

// How many of a property's first cases are asked, at most. Where each opens sessions of its own they are too slow for a
// quick look at all of them.
std::int64_t most_first_cases(const AuditOptions& options, Sessions sessions) {
  constexpr std::int64_t quick_own_cases = 8;
  constexpr std::int64_t shared_for_each_own = 5;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (options.profile == Profile::quick && sessions == Sessions::own) most = quick_own_cases;
  if (options.amount.cases)
    most = std::min(most, *options.amount.cases / (sessions == Sessions::own ? shared_for_each_own : 1));
  return std::max<std::int64_t>(most, 1);
}

// So that each property draws its own cases whatever else is selected, on any platform.
std::uint64_t hash_of(std::string_view text) {
  ContentHash hash;
  hash.add(text);
  return hash.value();
}

// Properties that judge answers to accuracy's questions draw the same ones.
constexpr std::string_view accuracy = "accuracy";

std::vector<std::int64_t> sizes_of(const CaseFields& fields, const std::vector<Case>& cases) {
  std::vector<std::int64_t> sizes;
  for (const Case& values : cases) sizes.push_back(size_of(fields, values));
  return sizes;
}

}  // namespace

std::vector<std::size_t> first_cases_asked(std::span<const std::int64_t> sizes, const AuditOptions& options,
                                           Sessions sessions) {
  // In a quick look not the largest calls that there are.
  constexpr std::int64_t quick_largest = std::int64_t{1} << 14;
  std::int64_t largest = options.amount.largest_call.value_or(
      options.profile == Profile::quick ? quick_largest : std::numeric_limits<std::int64_t>::max());
  if (!sizes.empty()) largest = std::max(largest, *std::ranges::min_element(sizes));
  const std::int64_t most = most_first_cases(options, sessions);
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < sizes.size() && std::ssize(asked) < most; ++i) {
    if (sizes[i] <= largest) asked.push_back(i);
  }
  return asked;
}

std::vector<std::size_t> drawn_cases_asked(std::span<const std::int64_t> sizes, const AuditOptions& options,
                                           Sessions sessions) {
  const auto drawn = static_cast<std::size_t>(cases_of(options, sessions));
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < std::min(sizes.size(), drawn); ++i) {
    if (!options.amount.largest_call || sizes[i] <= *options.amount.largest_call) asked.push_back(i);
  }
  return asked;
}

CasesOfProperty::CasesOfProperty(const Property& property, const Spec& spec, const AuditOptions& options)
    : random_(options.seed ^ hash_of(property.judges_answers() ? accuracy : property.id)),
      generator_(property.cases(spec)),
      sweep_(property.sweep(spec, values_of(options))) {
  const CaseFields fields = property.fields(spec);
  const std::vector<Case> first = property.first_cases(spec);
  for (const std::size_t i : first_cases_asked(sizes_of(fields, first), options, property.sessions))
    first_.push_back(first[i]);
  std::vector<rc::Random> splits;
  std::vector<std::int64_t> sizes;
  for (std::int64_t i = 0; i < cases_of(options, property.sessions); ++i) {
    splits.push_back(random_.split());
    // Drawing takes longer than splitting, and where calls may be of any size there is no need.
    sizes.push_back(options.amount.largest_call ? size_of(fields, generator_(splits.back()).value()) : 1);
  }
  for (const std::size_t i : drawn_cases_asked(sizes, options, property.sessions)) splits_.push_back(splits[i]);
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
