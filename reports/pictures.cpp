#include "reports/pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>

#include "reports/charts/chart.hpp"
#include "reports/summary.hpp"
#include "reports/survey_csv.hpp"

namespace sextant {
namespace {

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
  std::string text = fmt::format(
      " Of all codes {} to {} positions apart, those {} apart are nearest to each other, at distance {:.3g}.",
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

std::string beyond_text(const Report& report) {
  const bool any = std::ranges::any_of(report.survey->errors->of_bound, [](double ratio) { return !(ratio <= 1); });
  if (any) return fmt::format(" Red ones exceed the bound of the class claimed, {}.", report.claim);
  return fmt::format(" None exceeds the bound of the class claimed, {}{}.", report.claim,
                     is_wrong_elsewhere(report) ? ": the survey's calls do not show the failure" : "");
}

// A stretch of codes, and what the titles and files of its pictures have behind their names.
struct Stretch {
  const CodeMap& map;
  std::string where;
  std::string file;
};

// The codes of each stretch beside each other, then their paths.
void add_codes(std::vector<Picture>& pictures, const std::vector<Stretch>& stretches, const PositionGrid& grid) {
  const auto positions = [&](const CodeMap& map) {
    return fmt::format("positions {} to {}", grid.text(map.first_position),
                       grid.text(map.first_position + map.rows - 1));
  };
  for (const auto& [map, where, file] : stretches) {
    pictures.push_back({"The codes" + where, fmt::format("Position by channel, {}.", positions(map)), code_map(map),
                        fmt::format("codes{}.csv", file), codes_csv(map)});
  }
  for (const auto& [map, where, file] : stretches) {
    pictures.push_back({"Positions as a path" + where,
                        fmt::format("The same codes, {}, in the plane of their two largest principal components. Codes "
                                    "that repeat or jump leave a path that is smooth elsewhere.",
                                    positions(map)),
                        component_chart(map), fmt::format("components{}.csv", file), components_csv(map)});
  }
}

}  // namespace

std::vector<Picture> pictures_of(const Report& report) {
  std::vector<Picture> pictures;
  if (!report.survey) return pictures;
  const Survey& survey = *report.survey;
  const PositionGrid& grid = report.grid;
  if (survey.errors) {
    pictures.push_back({"Error against position",
                        "The worst pair at each position, with the bound of the class claimed and what known recipes "
                        "come to. Both axes are logarithmic.",
                        error_chart(*survey.errors), "error_against_position.csv", error_curves_csv(*survey.errors)});
    pictures.push_back({"Errors in ULP",
                        "How many of the survey's values are off by how many ULP." + beyond_text(report),
                        ulp_histogram(*survey.errors), "errors_in_ulp.csv", ulp_bins_csv(*survey.errors)});
    pictures.push_back(
        {"Error over bound",
         "Position by pair: blue errors are below their bound, light grey ones reach it, orange ones exceed it; red is "
         "NaN. A line is the horizon.",
         error_map(*survey.errors, horizon_of(report)), "errors.csv", errors_csv(*survey.errors)});
  }
  if (survey.frequencies) {
    pictures.push_back({"Frequencies",
                        "By how much the frequency of each pair, as the values show it, differs from the spec's." +
                            periods_text(*survey.frequencies, grid.step),
                        frequency_chart(*survey.frequencies), "frequencies.csv", frequencies_csv(*survey.frequencies)});
  }
  std::vector<Stretch> stretches;
  if (survey.codes) stretches.push_back({*survey.codes, survey.codes_at_horizon ? " at the beginning" : "", ""});
  if (survey.codes_at_horizon) stretches.push_back({*survey.codes_at_horizon, " around the horizon", "_at_horizon"});
  add_codes(pictures, stretches, grid);
  if (survey.similarity) {
    pictures.push_back({"Similarity of codes",
                        "Mean over pairs of the cosine between a code and the code at an offset from it." +
                            distances_text(*survey.similarity, grid),
                        similarity_chart(*survey.similarity), "similarity.csv", similarity_csv(*survey.similarity)});
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

}  // namespace sextant
