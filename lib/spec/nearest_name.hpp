#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

/// "; did you mean rope_theta?": the one of `known` that `name` was likely meant to be, for the end of a message; empty
/// where none is near. Near is what begins with `name` (of three letters or more), what papers and
/// libraries call so, "theta" for "rope_theta", and what at most a third of its
/// letters, one at least, being added, left out, changed or swapped with the next makes it; case, "-" and "_" aside.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

/// The same of the names that `name_of` finds in a list.
template <class List, class Name>
std::string did_you_mean(std::string_view name, const List& list, const Name& name_of) {
  std::vector<std::string_view> known;
  for (const auto& one : list) known.push_back(std::string_view(one.*name_of));
  return did_you_mean(name, known);
}

}  // namespace sextant
