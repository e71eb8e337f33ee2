#include "reference/stages.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "lib/numeric/ulp.hpp"

namespace sextant::reference {
namespace {

Rotation rotation_of(Enclosure angle) {
  Enclosure sine = sin(angle);
  Enclosure cosine = cos(angle);
  return {std::move(angle), std::move(sine), std::move(cosine)};
}

// One component at each stage.
struct Stages {
  Enclosure real;
  Enclosure frequency;
  Enclosure angle;
  Enclosure table;
};

// A rounding of either kind moves a value by less than an ULP of what it makes.
StageErrors differences(const Stages& at, double value, double unseen, Dtype dtype) {
  const Precision precision = at.table.precision();
  const Enclosure zero(std::int64_t{0}, precision);
  const Enclosure rest = Enclosure(value, precision) - at.table;
  const bool is_rounding = abs(rest).upper() <= ulp(dtype, value) + unseen;
  return {at.frequency - at.real, at.angle - at.frequency, at.table - at.angle, is_rounding ? zero : rest,
          is_rounding ? rest : zero};
}

RealPair times(const Enclosure& factor, const RealPair& x) { return {factor * x.first, factor * x.second}; }

}  // namespace

std::string_view name_of(Stage stage) {
  switch (stage) {
    case Stage::real: return "real";
    case Stage::frequency: return "frequency";
    case Stage::angle: return "angle";
    case Stage::table: return "table";
    case Stage::rotation: return "rotation";
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
  const std::array<std::pair<Stage, double>, 5> sizes{{{Stage::frequency, abs(frequency).upper()},
                                                       {Stage::angle, abs(angle).upper()},
                                                       {Stage::table, abs(table).upper()},
                                                       {Stage::rotation, abs(rotation).upper()},
                                                       {Stage::rounding, abs(rounding).upper()}}};
  return std::ranges::max_element(sizes, {}, [](const auto& size) { return size.second; })->first;
}

PairStageErrors stage_errors(const Rotation& real, const Enclosure& factor, std::int64_t position,
                             const SeenIntermediates& had, const RealPair& x, const TurnedValues& y) {
  const Precision precision = real.angle.precision();
  const RealPair t0 = times(factor, RopeReference::rotate(real, x));
  const RealPair t1 =
      had.frequency
          ? times(factor, RopeReference::rotate(rotation_at_frequency(*had.frequency, position, precision), x))
          : t0;
  const RealPair t2 =
      had.angle ? times(factor, RopeReference::rotate(rotation_at_angle(*had.angle, precision), x)) : t1;
  // The table an implementation holds has the factor in it.
  const RealPair t3 = had.table ? rotate_by_table(*had.table, x) : t2;
  const double unseen = y.unseen_of_table * (abs(x.first) + abs(x.second)).upper();
  return {differences({t0.first, t1.first, t2.first, t3.first}, y.first, unseen, y.dtype),
          differences({t0.second, t1.second, t2.second, t3.second}, y.second, unseen, y.dtype)};
}

PairStageErrors stage_errors(const Rotation& real, const Enclosure& factor, std::int64_t position,
                             const Intermediates& had, const RealPair& x, const TurnedValues& y) {
  return stage_errors(real, factor, position, SeenIntermediates{had.frequency, had.angle, had.table}, x, y);
}

}  // namespace sextant::reference
