#include "reports/tsv.hpp"

#include <fmt/format.h>

namespace sextant {

std::string write_tsv(const Report& report) {
  std::string text = "property\tverdict\tcases\n";
  for (const PropertyResult& result : report.results)
    text += fmt::format("{}\t{}\t{}\n", result.id, name_of(result.verdict), result.cases);
  return text;
}

}  // namespace sextant
