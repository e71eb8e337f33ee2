// Over 400 lines: the page's parts in their order, each a few lines that fill a template.
#include "reports/html.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <kainjow/mustache.hpp>
#include <numbers>

#include "reports/base64.hpp"
#include "reports/charts/chart.hpp"
#include "reports/html_templates.hpp"
#include "reports/survey_csv.hpp"
#include "reports/text.hpp"

namespace sextant {
namespace {

using kainjow::mustache::data;
using kainjow::mustache::mustache;
using List = kainjow::mustache::list;

std::string rendered(std::string_view text, data& values) {
  mustache page{std::string(text)};
  return page.render(values);
}

data fact(const std::string& name, const std::string& value) {
  data one;
  one.set("name", name);
  one.set("value", printable(value));
  return one;
}

bool is_bad(Verdict verdict) {
  return verdict == Verdict::violated || verdict == Verdict::crashed || verdict == Verdict::timed_out;
}

const char* status_of(const Report& report) {
  return report.exit_status == 0 ? "holds" : report.exit_status == 4 ? "undecided" : "violated";
}

std::string verdict_word(const Report& report, const PropertyResult& result) {
  if (is_aside(report, result)) return "advice not followed";
  if (result.theory == Theory::fails && result.verdict == Verdict::holds) return "absent, as theory says";
  std::string word(name_of(result.verdict));
  std::ranges::replace(word, '_', ' ');
  return word;
}

// The law or contract that says most plainly what is wrong: the first that is violated and shown by one case alone,
// else the first that is violated, else the first that the subject failed in.
const PropertyResult* first_wrong(const Report& report) {
  const auto first = [&](auto is_wanted) -> const PropertyResult* {
    for (const PropertyResult& result : report.results) {
      if (is_wanted(result) && !is_aside(report, result)) return &result;
    }
    return nullptr;
  };
  const auto of = [](Verdict verdict) {
    return [verdict](const PropertyResult& result) { return result.verdict == verdict; };
  };
  const PropertyResult* alone = first(
      [](const PropertyResult& result) { return result.verdict == Verdict::violated && !needs_other_calls(result); });
  for (const PropertyResult* result :
       {alone, first(of(Verdict::violated)), first(of(Verdict::crashed)), first(of(Verdict::timed_out))}) {
    if (result != nullptr) return result;
  }
  return nullptr;
}

constexpr const char* only_after_other_calls =
    "This case alone, with --replay, will hold. Run the audit of the property again:";

data example_data(const Report& report, const PropertyResult& result, const char* label, const Example& example,
                  bool open) {
  data one;
  one.set("label", label);
  one.set("finding", printable(example.finding));
  if (needs_other_calls(result)) one.set("not_alone", only_after_other_calls);
  one.set("replay", printable(replay_command(report, result, example)));
  one.set("open", open);
  return one;
}

data result_data(const Report& report, const PropertyResult& result) {
  data one;
  one.set("id", result.id);
  one.set("title", printable(result.title));
  one.set("class", is_aside(report, result) ? "advice" : std::string(name_of(result.verdict)));
  one.set("verdict", verdict_word(report, result));
  const bool judged = is_judged(result);
  one.set("worst", judged && result.worst ? of_bound_text(result.worst->deviation) : "");
  one.set("horizon", result.verdict == Verdict::violated && result.horizon && *result.horizon >= report.first_position
                         ? fmt::format("position {}", report.grid.text(*result.horizon))
                         : "");
  // Where the page is narrow the table has no head.
  if (judged && result.worst) one.set("worst_label", "Worst");
  if (result.verdict == Verdict::violated && result.horizon && *result.horizon >= report.first_position)
    one.set("horizon_label", "Holds up to");
  if (!result.reason.empty()) one.set("reason", printable(result.reason));
  one.set("cases", cases_text(result.cases));
  if (const auto coverage = coverage_text(result)) one.set("coverage", *coverage);
  one.set("statement", printable(result.statement));
  List examples;
  if (result.simplest)
    examples.push_back(example_data(report, result, result.verdict == Verdict::violated ? "simplest" : "case",
                                    *result.simplest, false));
  if (result.verdict == Verdict::violated && result.worst &&
      (!result.simplest || result.worst->token != result.simplest->token)) {
    examples.push_back(example_data(report, result, "worst", *result.worst, false));
  }
  one.set("examples", data(examples));
  return one;
}

bool names_vector(const PropertyResult& result) {
  const auto names = [](const std::optional<Example>& example) {
    return example && example->finding.find("vector ") != std::string::npos;
  };
  return names(result.simplest) || (result.verdict == Verdict::violated && names(result.worst));
}

struct Picture {
  std::string title;
  std::string caption;
  std::string svg;
  std::string file;
  std::string csv;
};

std::string periods_text(const FrequencyCurve& curve, double step) {
  if (curve.claimed.empty()) return "";
  const auto [slowest, fastest] = std::ranges::minmax(curve.claimed);
  if (slowest == fastest)
    return fmt::format(" Its pairs repeat every {:.6g} positions.", 2 * std::numbers::pi / fastest * step);
  return fmt::format(" Pairs repeat every {:.6g} positions, the fastest, to {:.6g}, the slowest.",
                     2 * std::numbers::pi / fastest * step, 2 * std::numbers::pi / slowest * step);
}

std::string distances_text(const SimilarityCurve& curve, const PositionGrid& grid) {
  if (curve.searched == 0) return "";
  std::string text =
      fmt::format(" Of all codes {} to {} positions apart, those at offset {} are nearest to each other: {:.3g}.",
                  grid.text(1), grid.text(curve.searched), grid.text(curve.nearest), curve.nearest_distance);
  for (std::size_t i = 0; i < curve.aliases.size(); ++i) {
    text += fmt::format("{} {} ({:.3g})", i == 0 ? " Nearer than the offsets beside them:" : ",",
                        grid.text(curve.aliases[i]), curve.alias_distances[i]);
  }
  if (curve.aliases.empty()) return text;
  return text + (curve.searched_for_aliases < curve.searched
                     ? fmt::format(", of those up to {}.", grid.text(curve.searched_for_aliases))
                     : ".");
}

std::vector<Picture> pictures_of(const Survey& survey, const PositionGrid& grid) {
  std::vector<Picture> pictures;
  if (survey.errors) {
    pictures.push_back({"Error against position",
                        "The worst pair at each position, with the bound of the class claimed and what known recipes "
                        "come to. Both axes are logarithmic.",
                        error_chart(*survey.errors), "error_against_position.csv", error_curves_csv(*survey.errors)});
    pictures.push_back(
        {"Errors in ULP",
         "How many of the values on that grid are off by how many ULP. More than 4 is not a matter of rounding.",
         ulp_histogram(*survey.errors), "errors_in_ulp.csv", ulp_bins_csv(*survey.errors)});
    pictures.push_back(
        {"Error over bound",
         "Position by pair: blue errors are below their bound, light grey ones reach it, orange ones exceed it; red is "
         "NaN.",
         error_map(*survey.errors), "errors.csv", errors_csv(*survey.errors)});
  }
  if (survey.frequencies) {
    pictures.push_back(
        {"Frequencies",
         "As the spec states them, and as the values show." + periods_text(*survey.frequencies, grid.step),
         frequency_chart(*survey.frequencies), "frequencies.csv", frequencies_csv(*survey.frequencies)});
  }
  if (survey.codes) {
    pictures.push_back(
        {"The codes", "Position by channel.", code_map(*survey.codes), "codes.csv", codes_csv(*survey.codes)});
  }
  if (survey.similarity) {
    pictures.push_back({"Similarity of codes",
                        "Mean over pairs of the cosine between a code and the code at an offset from it." +
                            distances_text(*survey.similarity, grid),
                        similarity_chart(*survey.similarity), "similarity.csv", similarity_csv(*survey.similarity)});
  }
  if (survey.codes) {
    pictures.push_back({"Positions as a path", "The codes in the plane of their two largest principal components.",
                        component_chart(*survey.codes), "components.csv", components_csv(*survey.codes)});
  }
  if (survey.bias) {
    pictures.push_back({"Bias against distance",
                        "What the last query adds to the score of each key, for some of the heads.",
                        bias_chart(*survey.bias), "bias_against_distance.csv", bias_curves_csv(*survey.bias)});
    pictures.push_back({"Bias of scores", "Query by key, the first heads; grey is masked, red is no number.",
                        bias_map(*survey.bias), "bias.csv", bias_csv(*survey.bias)});
  }
  std::erase_if(pictures, [](const Picture& picture) { return picture.svg.empty(); });
  return pictures;
}

bool is_accuracy_violated(const Report& report) {
  return std::ranges::any_of(report.results, [](const PropertyResult& result) {
    return result.id == "accuracy" && result.verdict == Verdict::violated;
  });
}

// The last position up to which values are as claimed: what accuracy found where it is violated, else what the survey's
// grid shows.
std::optional<std::int64_t> horizon_of(const Report& report) {
  const auto accuracy = std::ranges::find(report.results, "accuracy", &PropertyResult::id);
  if (is_accuracy_violated(report)) {
    return accuracy->horizon && *accuracy->horizon >= report.first_position ? accuracy->horizon : std::nullopt;
  }
  return report.survey ? report.survey->horizon : std::nullopt;
}

std::string horizon_text(const Report& report) {
  if (!report.survey || !report.survey->errors) return "";
  const std::optional<std::int64_t> horizon = horizon_of(report);
  return horizon ? fmt::format("position {}", report.grid.text(*horizon)) : "no position";
}

// The survey asks a grid of positions, in calls of its own. What accuracy found elsewhere does not show there.
std::string measured_class_text(const Report& report) {
  const Survey& survey = *report.survey;
  if (survey.measured_class.empty()) return "none";
  const bool differs = is_accuracy_violated(report) && survey.horizon == report.last_position;
  return survey.measured_class + (differs ? ", on a grid of positions alone" : "");
}

List facts_of(const Report& report) {
  List facts;
  facts.push_back(fact("Class claimed", report.claim));
  if (report.survey && report.survey->errors) facts.push_back(fact("Class measured", measured_class_text(report)));
  if (const std::string horizon = horizon_text(report); !horizon.empty())
    facts.push_back(fact("Claim holds up to", horizon));
  if (report.survey) {
    const Survey& survey = *report.survey;
    if (!survey.recipe.empty()) facts.push_back(fact("Same bits as recipe", survey.recipe));
    if (!survey.stage.empty()) facts.push_back(fact("Error comes from", survey.stage));
    if (survey.angle_bits)
      facts.push_back(fact("Effective bits of the angle", fmt::format("{:.1f}", *survey.angle_bits)));
    if (survey.output_bits)
      facts.push_back(fact("Effective bits of the values", fmt::format("{:.1f}", *survey.output_bits)));
    if (survey.half_spacing)
      facts.push_back(fact("Error below half the spacing of neighbours up to",
                           fmt::format("position {}", report.grid.text(*survey.half_spacing))));
  }
  facts.push_back(fact("Positions claimed", fmt::format("{} to {}", report.grid.text(report.first_position),
                                                        report.grid.text(report.last_position))));
  if (report.grid.dtype != Dtype::int64) {
    facts.push_back(
        fact("Positions in tokens, pictures and files", fmt::format("counted in steps of {}", report.grid.text(1))));
  }
  return facts;
}

// 0.062, 1.5e6: two digits, for a narrow column.
std::string short_number(double value) {
  if (!std::isfinite(value)) return "∞";
  std::string text = fmt::format("{:.2g}", value);
  const std::size_t e = text.find('e');
  return e == std::string::npos ? text : fmt::format("{}e{}", text.substr(0, e), std::stoi(text.substr(e + 1)));
}

}  // namespace

std::string write_html(const Report& report) {
  data page;
  page.set("style", std::string(html_style));
  page.set("version", report.sextant_version);
  page.set("headline", headline(report));
  page.set("status", status_of(report));
  page.set("subject", printable(report.subject));
  std::string called = printable(report.subject_name);
  if (!report.subject_version.empty()) called += (called.empty() ? "" : " ") + printable(report.subject_version);
  if (!called.empty()) page.set("called", called);
  page.set("claim", printable(claim_text(report)));
  List claim_notes;
  for (const std::string& note : report.claim_notes) claim_notes.push_back(data("note", printable(note)));
  page.set("claim_notes", data(claim_notes));
  if (!report.missing.empty()) page.set("missing", printable(fmt::format("{}", fmt::join(report.missing, ", "))));
  if (const PropertyResult* result = first_wrong(report)) {
    data wrong;
    wrong.set("title", fmt::format("“{}”", printable(result->title)));
    if (result->horizon && *result->horizon >= report.first_position)
      wrong.set("horizon", report.grid.text(*result->horizon));
    wrong.set("finding", printable(result->simplest ? result->simplest->finding : result->reason));
    if (needs_other_calls(*result)) wrong.set("not_alone", only_after_other_calls);
    wrong.set("replay",
              printable(result->simplest ? replay_command(report, *result, *result->simplest) : report.command));
    page.set("wrong", wrong);
  }
  page.set("facts", data(facts_of(report)));
  // What is wrong first, then what holds; the order of the catalogue within.
  std::vector<const PropertyResult*> order;
  std::vector<std::string> silent;
  for (const PropertyResult& result : report.results) {
    if (result.verdict == Verdict::not_applicable) {
      silent.push_back(result.id);
    } else {
      order.push_back(&result);
    }
  }
  std::ranges::stable_sort(order, {}, [&](const PropertyResult* result) {
    return is_aside(report, *result) ? 1 : is_bad(result->verdict) ? 0 : result->verdict == Verdict::holds ? 3 : 2;
  });
  List results;
  for (const PropertyResult* result : order) results.push_back(result_data(report, *result));
  page.set("results", data(results));
  if (std::ranges::any_of(order, [](const PropertyResult* result) { return names_vector(*result); }))
    page.set("vectors",
             "A vector’s number counts all vectors of its call from 0: by batch row, then token, then head.");
  if (!silent.empty()) page.set("silent", fmt::format("{}", fmt::join(silent, ", ")));
  List pictures;
  if (report.survey) {
    for (const Picture& picture : pictures_of(*report.survey, report.grid)) {
      data one;
      one.set("title", picture.title);
      one.set("caption", picture.caption);
      one.set("svg", picture.svg);
      one.set("file", picture.file);
      one.set("data", base64(picture.csv));
      pictures.push_back(one);
    }
  }
  page.set("has_pictures", !pictures.empty());
  page.set("pictures", data(pictures));
  List environment;
  environment.push_back(fact("Profile", report.profile));
  environment.push_back(fact("Seed", std::to_string(report.seed)));
  for (const std::string& note : report.notes) environment.push_back(fact("Note", note));
  if (const std::string amount = amount_text(report.amount); !amount.empty())
    environment.push_back(fact("Asked", amount));
  for (const auto& [name, value] : report.environment) environment.push_back(fact(name, value));
  page.set("environment", data(environment));
  page.set("spec_json", printable(report.spec_json));
  page.set("command", printable(report.command));
  return rendered(html_page, page);
}

std::string write_html_matrix(std::span<const Report> reports) {
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
  for (const std::string& id : ids) columns.push_back(fact(id, ""));
  page.set("columns", data(columns));
  List rows;
  for (const Report& report : reports) {
    data row;
    row.set("subject", printable(report.subject));
    row.set("spec", printable(claim_text(report)));
    row.set("status", status_of(report));
    row.set("status_rank", std::to_string(report.exit_status));
    row.set("headline", headline(report));
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
  return rendered(html_matrix, page);
}

}  // namespace sextant
