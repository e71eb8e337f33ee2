#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reports/report.hpp"

namespace sextant {

/// The report as one HTML page that needs no network: verdict, what is wrong, class, horizon and properties first, then
/// the pictures of the survey, each with its data to download. Readable in print, in the dark, and on a narrow screen.
/// Everything that came from the subject is escaped.
std::string write_html(const Report& report);

/// Several reports as one page: a row for each, a column for each property judged in any; sortable. `links` are
/// addresses of the reports' own pages, in their order, of which each may be empty.
std::string write_html_matrix(std::span<const Report> reports, std::span<const std::string> links = {});

/// The class of the style sheet that a report's headline has: "holds", "undecided" or "violated".
std::string_view html_class_of(const Report& report);

}  // namespace sextant
