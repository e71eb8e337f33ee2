#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "lib/spec/nearest_name.hpp"
#include "properties/mutants/mutant.hpp"

namespace sextant::mutants {

const std::vector<Mutant>& registry() {
  static const std::vector<Mutant> all = [] {
    std::vector<Mutant> list;
    for (const auto make : {
#define MUTANTS(family) family##_mutants::all,
#include "properties/mutants/mutants.def"
#undef MUTANTS
         }) {
      std::vector<Mutant> part = make();
      list.insert(list.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
    }
    return list;
  }();
  return all;
}

const Mutant& named(std::string_view name) {
  const auto found = std::ranges::find(registry(), name, &Mutant::name);
  if (found == registry().end())
    throw SubjectNameError(fmt::format("subject \"mutant:{}\": no such mutant (see sextant list mutants){}", name,
                                       did_you_mean(name, registry(), &Mutant::name)));
  return *found;
}

std::unique_ptr<Subject> open(std::string_view name) {
  const Mutant& mutant = named(name);
  std::string subject = fmt::format("mutant:{}", name);
  return mutant.begin ? std::make_unique<FunctionSubject>(std::move(subject), mutant.begin, mutant.threads)
                      : std::make_unique<FunctionSubject>(std::move(subject), mutant.make);
}

}  // namespace sextant::mutants
