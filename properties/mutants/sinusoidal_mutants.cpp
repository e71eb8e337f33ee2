#include "properties/mutants/mutant.hpp"

namespace sextant::mutants {

std::vector<Mutant> sinusoidal_mutants() { return {}; }

}  // namespace sextant::mutants
