#pragma once

#include <string>
#include <vector>

#include "reports/report.hpp"

namespace sextant {

/// A picture of the page, with its numbers.
struct Picture {
  std::string title;
  std::string caption;  ///< in sentences
  std::string svg;
  std::string file;  ///< what its numbers are downloaded as
  std::string csv;
};

/// The pictures that a report's survey has, in the page's order; none without a survey.
std::vector<Picture> pictures_of(const Report& report);

}  // namespace sextant
