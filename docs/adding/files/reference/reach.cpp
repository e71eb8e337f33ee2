#include "reference/reach.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace sextant::reference {

Enclosure bias(const Reach& encoding, std::int64_t query, std::int64_t key, std::int64_t head, Precision precision) {
  if (head < 0 || head >= encoding.num_heads) throw std::out_of_range(fmt::format("reach: no head {}", head));
  std::int64_t reach = 1;
  for (std::int64_t before = 0; before < head; ++before) reach += reach;
  const bool within = key >= query - reach && key <= query + reach;
  const std::int64_t sign = query < key ? 1 : -1;
  return Enclosure(within ? sign * (query - key) : -reach, precision);
}

}  // namespace sextant::reference
