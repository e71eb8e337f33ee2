#include "reports/tiles.hpp"

#include <fmt/format.h>

#include <cmath>

#include "reports/summary.hpp"

namespace sextant {
namespace {

void add_classes(std::vector<Tile>& tiles, const Report& report) {
  tiles.push_back({"Class claimed", report.claim, "The accuracy that the subject is held to: docs/concepts.md."});
  const bool is_surveyed = report.survey && report.survey->errors;
  if (is_surveyed)
    tiles.push_back({"Class measured", measured_class_text(report),
                     "The strictest class whose bound holds everywhere on a grid of positions."});
  // Of attention no grid is measured, and cases that fail have a horizon all the same.
  const std::optional<std::int64_t> horizon = horizon_of(report);
  if (!is_surveyed && !horizon) return;
  tiles.push_back({"Claim holds up to",
                   is_decided_by_other_calls(report) ? std::string("depends on the calls before")
                   : !horizon                        ? std::string("no position")
                                                     : fmt::format("position {}{}", report.grid.text(*horizon),
                                            *horizon == report.first_position ? " alone" : ""),
                   "The horizon: the last position up to which every value is within the bound of the class claimed."});
}

void add_causes(std::vector<Tile>& tiles, const Report& report) {
  const Survey& survey = *report.survey;
  if (!survey.recipe.empty())
    tiles.push_back(
        {"Same bits as recipe", survey.recipe, "A known choice of arithmetic whose values are these, bit for bit."});
  if (!stage_text(report).empty())
    tiles.push_back(
        {"Error comes from", survey.stage,
         fmt::format("The stage that adds most of it: the frequencies, the angle formed of them, the table "
                     "of sines and cosines, the rotation by it, or the last rounding; told by {}.",
                     survey.stage_evidence == "oracle" ? "the oracle, given what the subject had at each stage"
                                                       : "how the error grows with the position")});
  // Values of other frequencies, or of another rotation, meet no class and have no bits to speak of.
  if (survey.measured_class.empty() && survey.stage != "angle") return;
  // Where the last rounding is all that is wrong, the angle has more bits than its effect shows.
  const bool tells_of_angle = survey.stage == "angle" || survey.stage == "frequency";
  if (tells_of_angle && survey.angle_bits && *survey.angle_bits > 0)
    tiles.push_back({"Effective bits of the angle", fmt::format("{:.1f}", *survey.angle_bits),
                     "-log2 of the worst relative error of an angle: 24 for a float32 angle, 8 for a bfloat16 one."});
  if (survey.output_bits && *survey.output_bits > 1)
    tiles.push_back({"Effective bits of the values near position 0", fmt::format("{:.1f}", *survey.output_bits),
                     "-log2 of the worst error there, where the angle costs nothing."});
  const bool is_reached = survey.half_spacing && *survey.half_spacing < report.last_position;
  if (is_reached)
    tiles.push_back({"Error below half the spacing of neighbours up to",
                     fmt::format("position {}", report.grid.text(*survey.half_spacing)),
                     "Beyond it a code may be nearer to the true code of a neighbouring position than to its own."});
}

}  // namespace

std::vector<Tile> tiles_of(const Report& report) {
  std::vector<Tile> tiles;
  add_classes(tiles, report);
  if (report.survey) add_causes(tiles, report);
  tiles.push_back(
      {"Positions claimed",
       fmt::format("{} to {}", report.grid.text(report.first_position), report.grid.text(report.last_position)),
       "Outside of these nothing is judged."});
  if (report.grid.dtype != Dtype::int64)
    tiles.push_back({"Positions in tokens, pictures and files",
                     fmt::format("counted in steps of {}", report.grid.text(1)),
                     "A position of 3 there is three steps."});
  return tiles;
}

}  // namespace sextant
