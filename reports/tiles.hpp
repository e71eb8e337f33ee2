#pragma once

#include <string>
#include <vector>

#include "reports/report.hpp"

namespace sextant {

/// A fact that the page shows below its headline.
struct Tile {
  std::string name;
  std::string value;
  std::string meaning;  ///< a sentence or two, shown on hover
};

/// The facts of a report that mean something: of a subject without errors nothing is said of where they come from.
std::vector<Tile> tiles_of(const Report& report);

}  // namespace sextant
