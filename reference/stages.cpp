#include "reference/stages.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace sextant::reference {
namespace {

Rotation rotation_of(Enclosure angle) {
  Enclosure sine = sin(angle);
  Enclosure cosine = cos(angle);
  return {std::move(angle), std::move(sine), std::move(cosine)};
}

StageErrors differences(const Enclosure& real, const Enclosure& frequency, const Enclosure& angle,
                        const Enclosure& table, double value) {
  return {frequency - real, angle - frequency, table - angle, Enclosure(value, table.precision()) - table};
}

}  // namespace

std::string_view name_of(Stage stage) {
  switch (stage) {
    case Stage::real: return "real";
    case Stage::frequency: return "frequency";
    case Stage::angle: return "angle";
    case Stage::table: return "table";
    case Stage::rounding: return "rounding";
  }
  throw std::invalid_argument("name_of: no such stage");
}

Rotation rotation_at_frequency(double frequency, std::int64_t position, Precision precision) {
  return rotation_of(Enclosure(frequency, precision) * Enclosure(position, precision));
}

Rotation rotation_at_angle(double angle, Precision precision) { return rotation_of(Enclosure(angle, precision)); }

RealPair rotate_by_table(const TableEntry& entry, const RealPair& x) {
  const Precision precision = x.first.precision();
  const Enclosure sine(entry.sin, precision);
  const Enclosure cosine(entry.cos, precision);
  return {x.first * cosine - x.second * sine, x.first * sine + x.second * cosine};
}

Stage StageErrors::largest() const {
  const std::array<std::pair<Stage, double>, 4> sizes{{{Stage::frequency, abs(frequency).upper()},
                                                       {Stage::angle, abs(angle).upper()},
                                                       {Stage::table, abs(table).upper()},
                                                       {Stage::rounding, abs(rounding).upper()}}};
  return std::ranges::max_element(sizes, {}, [](const auto& size) { return size.second; })->first;
}

PairStageErrors stage_errors(const Rotation& real, const Enclosure& factor, std::int64_t position,
                             const Intermediates& had, const RealPair& x, double y0, double y1) {
  const Precision precision = real.angle.precision();
  const RealPair t0 = RopeReference::rotate(real, x);
  const RealPair t1 = RopeReference::rotate(rotation_at_frequency(had.frequency, position, precision), x);
  const RealPair t2 = RopeReference::rotate(rotation_at_angle(had.angle, precision), x);
  // The table an implementation holds has the factor in it.
  const RealPair t3 = rotate_by_table(had.table, x);
  return {differences(factor * t0.first, factor * t1.first, factor * t2.first, t3.first, y0),
          differences(factor * t0.second, factor * t1.second, factor * t2.second, t3.second, y1)};
}

}  // namespace sextant::reference
