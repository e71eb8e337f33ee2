#include "properties/engine/groups.hpp"

namespace sextant {

std::optional<std::string> why_not_applicable(const Property& property, const Subject& subject, const Spec& spec) {
  if (auto reason = property.not_applicable(spec)) return reason;
  if (property.needs == Needs::live_subject && !subject.is_live())
    return "needs a live subject, and this one is a recording";
  return std::nullopt;
}

std::vector<std::vector<std::size_t>> judged_together(const std::vector<Property>& properties, const Subject& subject,
                                                      const Spec& spec) {
  std::vector<std::vector<std::size_t>> groups;
  std::optional<std::size_t> of_answers;
  for (std::size_t i = 0; i < properties.size(); ++i) {
    if (why_not_applicable(properties[i], subject, spec)) continue;
    if (properties[i].judges_answers() && of_answers) {
      groups[*of_answers].push_back(i);
      continue;
    }
    if (properties[i].judges_answers()) of_answers = groups.size();
    groups.push_back({i});
  }
  return groups;
}

}  // namespace sextant
