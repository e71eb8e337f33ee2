#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <kainjow/mustache.hpp>

#include "reports/html.hpp"
#include "reports/html_templates.hpp"
#include "reports/summary.hpp"
#include "reports/text.hpp"

namespace sextant {
namespace {

using kainjow::mustache::data;
using List = kainjow::mustache::list;

// 0.062, 1.5e5: two digits, for a narrow column.
std::string short_number(double value) {
  constexpr double million = 1e6;
  if (!std::isfinite(value)) return "∞";
  if (value >= million) return ">1e6";
  std::string text = fmt::format("{:.2g}", value);
  const std::size_t e = text.find('e');
  return e == std::string::npos ? text : fmt::format("{}e{}", text.substr(0, e), std::stoi(text.substr(e + 1)));
}

}  // namespace

std::string write_html_matrix(std::span<const Report> reports, std::span<const std::string> links) {
  std::vector<std::string> ids;
  for (const Report& report : reports) {
    for (const PropertyResult& result : report.results) {
      if (result.verdict != Verdict::not_applicable && std::ranges::find(ids, result.id) == ids.end())
        ids.push_back(result.id);
    }
  }
  data page;
  page.set("style", std::string(html_style));
  page.set("count", std::to_string(reports.size()));
  List columns;
  for (const std::string& id : ids) columns.push_back(data("name", id));
  page.set("columns", data(columns));
  List rows;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const Report& report = reports[i];
    data row;
    if (i < links.size() && !links[i].empty()) row.set("link", links[i]);
    row.set("subject", printable(report.subject));
    row.set("spec", printable(claim_text(report)));
    row.set("status", std::string(html_class_of(report)));
    row.set("status_rank", std::to_string(report.exit_status));
    row.set("headline", headline(report));
    if (report.diagnosis) row.set("cause", printable(words_of(*report.diagnosis)));
    row.set("measured", !report.survey || !report.survey->errors ? ""
                        : report.survey->measured_class.empty()  ? "none"
                                                                 : report.survey->measured_class);
    const std::optional<std::int64_t> horizon = horizon_of(report);
    row.set("horizon", horizon ? std::to_string(*horizon) : "");
    row.set("horizon_rank", std::to_string(horizon.value_or(-1)));
    List cells;
    for (const std::string& id : ids) {
      const auto found = std::ranges::find(report.results, id, &PropertyResult::id);
      data cell;
      cell.set("id", id);
      if (found == report.results.end() || found->verdict == Verdict::not_applicable) {
        cell.set("class", "not_applicable");
        const bool is_missing = std::ranges::find(report.missing, id) != report.missing.end();
        cell.set("rank", "-1");
        cell.set("title", is_missing ? "not judged: the run was cut short" : "not applicable");
        cell.set("text", is_missing ? "?" : "–");
      } else {
        const double of_bound = found->worst ? found->worst->deviation.of_bound : 0;
        cell.set("class", is_aside(report, *found) ? "advice" : std::string(name_of(found->verdict)));
        cell.set("title", printable(found->simplest ? found->simplest->finding : found->title));
        // A mark, and below it in small letters how badly, or what happened instead.
        const bool judged = is_judged(*found);
        cell.set("rank", fmt::format("{}", judged && std::isfinite(of_bound) ? of_bound : 1e308));
        cell.set("text", found->verdict == Verdict::holds         ? "✓"
                         : is_aside(report, *found)               ? "!"
                         : found->verdict == Verdict::unsupported ? "–"
                         : found->verdict == Verdict::undecided   ? "?"
                                                                  : "✗");
        const bool must_fail = found->verdict == Verdict::holds && found->theory == Theory::fails;
        if (found->verdict != Verdict::unsupported)
          cell.set("detail", must_fail                              ? "absent"
                             : judged                               ? short_number(of_bound)
                             : found->verdict == Verdict::timed_out ? "timed out"
                                                                    : std::string(name_of(found->verdict)));
      }
      cells.push_back(cell);
    }
    row.set("cells", data(cells));
    rows.push_back(row);
  }
  page.set("rows", data(rows));
  kainjow::mustache::mustache rendered{std::string(html_matrix)};
  return rendered.render(page);
}

}  // namespace sextant
