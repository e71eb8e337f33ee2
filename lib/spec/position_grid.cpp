#include "lib/spec/position_grid.hpp"

#include <cmath>

#include "lib/spec/encoding_entry.hpp"

namespace sextant {
namespace {

constexpr Names<Dtype, 3> position_dtypes{
    {{"int64", Dtype::int64}, {"float32", Dtype::float32}, {"float64", Dtype::float64}}};

// 131072 positions in steps of it are the 2^24 that float32 tells apart.
constexpr double default_real_step = 0x1p-7;

constexpr FieldMeaning meanings[] = {
    {"position_dtype", "of the positions that a subject is given: int64, or float32 or float64 for real positions"},
    {"position_step", "what real positions are multiples of: a power of two from 2^-40 to 1"},
};

}  // namespace

std::string PositionGrid::text(std::int64_t count) const {
  if (step == 1) return fmt::format("{}", count);
  // A multiple of 2^-40 ends after 40 decimals.
  std::string decimals = fmt::format("{:.40f}", at(count));
  decimals.erase(decimals.find_last_not_of('0') + 1);
  if (decimals.back() == '.') decimals.pop_back();
  return decimals;
}

PositionGrid read_position_grid(Fields& fields) {
  PositionGrid positions;
  positions.dtype = fields.choice("position_dtype", position_dtypes, positions.dtype);
  if (positions.dtype != Dtype::int64) positions.step = default_real_step;
  positions.step = fields.number("position_step").value_or(positions.step);
  return positions;
}

void check_position_grid(const PositionGrid& positions) {
  if (positions.dtype != Dtype::int64 && positions.dtype != Dtype::float32 && positions.dtype != Dtype::float64)
    refuse_field("position_dtype", "expected int64, float32 or float64");
  if (positions.dtype == Dtype::int64) {
    if (positions.step != 1)
      refuse_field("position_step", fmt::format("expected 1 for position_dtype int64, got {}", positions.step));
    return;
  }
  int exponent = 0;
  const bool power_of_two = std::isfinite(positions.step) && std::frexp(positions.step, &exponent) == 0.5;
  if (!power_of_two || positions.step < 0x1p-40 || positions.step > 1)
    refuse_field("position_step", fmt::format("expected a power of two from 2^-40 to 1, got {}", positions.step));
}

void write_position_grid(const PositionGrid& positions, nlohmann::ordered_json& object) {
  if (positions.dtype == Dtype::int64) return;
  object["position_dtype"] = text_of("position_dtype", position_dtypes, positions.dtype);
  object["position_step"] = positions.step;
}

std::span<const FieldMeaning> position_grid_fields() { return meanings; }

}  // namespace sextant
