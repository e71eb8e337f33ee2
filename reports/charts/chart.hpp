#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "properties/verdict/survey.hpp"

namespace sextant {

// Pictures as SVG elements, drawn without scripts: colours are those of the page's style sheet, so that they follow its
// dark mode. Each is empty where the survey has nothing to show.

/// Error against position, both logarithmic, with the bound of the claimed class and the errors of known recipes:
/// error_chart.cpp.
std::string error_chart(const ErrorGrid& grid);
/// How many values are off by how many ULPs, in powers of two, those beyond the claimed class's bound in another
/// colour: ulp_histogram.cpp.
std::string ulp_histogram(const ErrorGrid& grid);
/// Error over bound for each position and pair, with a line behind the horizon, the last position up to which the class
/// holds, if there is one on the grid: heat_map.cpp.
std::string error_map(const ErrorGrid& grid, const std::optional<std::int64_t>& horizon);
/// The codes themselves, position by channel: heat_map.cpp.
std::string code_map(const CodeMap& map);
/// A bias of attention scores, a picture for each of the first heads: heat_map.cpp.
std::string bias_map(const BiasMap& map);
/// The bias of the last query against the distance of its keys, a line for each of some heads: bias_chart.cpp.
std::string bias_chart(const BiasMap& map);
/// By how much frequencies differ from those claimed, relative to these: frequency_chart.cpp.
std::string frequency_chart(const FrequencyCurve& curve);
/// Similarity of codes against their distance, aliases marked: similarity_chart.cpp.
std::string similarity_chart(const SimilarityCurve& curve);
/// The codes in the plane of their two largest principal components: component_chart.cpp.
std::string component_chart(const CodeMap& map);

// What the charts are made of: plot.cpp.

/// Every picture's width in the units of its viewBox, in which its letters are 12 high: legible where the page shows it
/// 370 pixels wide, on a telephone.
inline constexpr double chart_width = 480;

enum class Scale { linear, logarithmic };

/// One line or set of points. Values that are not finite, or not positive on a logarithmic scale, are gaps.
struct Series {
  enum class Mark { line, dashed, points };
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
  Mark mark = Mark::line;
};

struct Axis {
  std::string title;
  Scale scale = Scale::linear;
};

/// The curves of error_chart, each over the grid's positions: the subject's, the bound's, then the recipes'.
std::vector<Series> error_curves(const ErrorGrid& grid);
/// The path of component_chart, a point for each position, then its first point; none if the codes cannot be drawn.
std::vector<Series> principal_components(const CodeMap& map);

/// The lines of bias_chart, each over key - query.
std::vector<Series> bias_curves(const BiasMap& map);

/// A bar of ulp_histogram.
struct UlpBin {
  std::string label;
  std::int64_t count = 0;
  std::int64_t beyond = 0;  ///< of those: how many exceed the bound of the claimed class
};
/// From the first bar that holds something to the last.
std::vector<UlpBin> ulp_bins(const ErrorGrid& grid);

/// A plot with axes, grid and legend; empty if no value can be drawn.
std::string plot(const Axis& horizontal, const Axis& vertical, std::span<const Series> series);

/// Text as the content of an element or the value of an attribute.
std::string escaped_xml(std::string_view text);

}  // namespace sextant
