#include "lib/spec/of.hpp"

#include <stdexcept>
#include <string>

namespace sextant {

void throw_nothing_stated(const Spec& spec) {
  throw std::invalid_argument("nothing is stated for " + std::string(encoding_name(spec)));
}

}  // namespace sextant
