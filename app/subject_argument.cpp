#include "app/subject_argument.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "app/command.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/mutants/recipe_subject.hpp"

namespace sextant {
namespace {

std::vector<SubjectKind> all_kinds() {
  const std::span<const SubjectKind> offered = subject_kinds();
  std::vector<SubjectKind> kinds(offered.begin(), offered.end());
  kinds.push_back(
      {"mutant", "mutant:NAME", [](const std::string&, const std::string& mutant, const Spec&, const OpenOptions&) {
         return mutants::open(mutant);
       }});
  kinds.push_back(
      {"recipe", "recipe:NAME", [](const std::string&, const std::string& recipe, const Spec&, const OpenOptions&) {
         return mutants::open_recipe(recipe);
       }});
  return kinds;
}

}  // namespace

std::unique_ptr<Subject> subject_from_argument(const std::string& name, const Spec& spec, const OpenOptions& options) {
  try {
    return open_subject(all_kinds(), name, spec, options);
  } catch (const SubjectNameError& error) {
    // Which argument it is that begins so, as the messages about options say.
    const std::string_view what = error.what();
    const bool begins_with_it =
        name.find(':') != std::string::npos && what.starts_with(name.substr(0, name.find(':') + 1));
    if (!begins_with_it) throw;
    throw SubjectNameError(fmt::format("subject {}", what));
  }
}

void refuse_unused_options(const std::string& subject, const std::string& python, const std::string& table_order) {
  const std::string prefix = subject.substr(0, subject.find(':'));
  const std::vector<SubjectKind> kinds = all_kinds();
  // Of another word the message is that it names no subject.
  if (std::ranges::find(kinds, prefix, &SubjectKind::prefix) == kinds.end()) return;
  const bool has_interpreter = prefix == "python" || prefix == "onnx" || prefix == "tvmffi";
  if (!python.empty() && !has_interpreter)
    throw UsageError(
        fmt::format("--python {}: says nothing of {}, which has no interpreter: leave it out", python, prefix));
  if (!table_order.empty() && prefix != "file")
    throw UsageError(fmt::format("--table-order {}: says nothing of {}, which is no recorded table: leave it out",
                                 table_order, prefix));
}

std::string subject_usage() { return usage_of(all_kinds()); }

std::vector<std::string> subject_beginnings() {
  std::vector<std::string> beginnings;
  for (const SubjectKind& kind : all_kinds())
    beginnings.push_back(std::string(kind.prefix) + (kind.usage.find(':') == std::string_view::npos ? "" : ":"));
  return beginnings;
}

}  // namespace sextant
