#include "reference/integer.hpp"

namespace sextant::reference {

Enclosure code(const Integer& encoding, std::int64_t max_position, std::int64_t position, Precision precision) {
  const Enclosure number(position, precision);
  return encoding.normalize ? number / Enclosure(max_position - 1, precision) : number;
}

}  // namespace sextant::reference
