#include "properties/mutants/mutant.hpp"

namespace sextant::mutants {

std::vector<Mutant> rope_mutants() { return {}; }

}  // namespace sextant::mutants
