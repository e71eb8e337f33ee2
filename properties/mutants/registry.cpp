#include <fmt/format.h>

#include <iterator>

#include "lib/spec/nearest_name.hpp"
#include "properties/mutants/mutant.hpp"

namespace sextant::mutants {

const std::vector<Mutant>& registry() {
  static const std::vector<Mutant> all = [] {
    std::vector<Mutant> list;
    for (const auto make : {
#define MUTANTS(family) family##_mutants,
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

std::unique_ptr<Subject> open(std::string_view name) {
  for (const Mutant& mutant : registry()) {
    if (mutant.name != name) continue;
    std::string subject = fmt::format("mutant:{}", name);
    return mutant.begin ? std::make_unique<FunctionSubject>(std::move(subject), mutant.begin, mutant.threads)
                        : std::make_unique<FunctionSubject>(std::move(subject), mutant.make);
  }
  throw SubjectNameError(fmt::format("subject \"mutant:{}\": no such mutant (see sextant list mutants){}", name,
                                     did_you_mean(name, registry(), &Mutant::name)));
}

}  // namespace sextant::mutants
