#include "properties/model/fractions.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace sextant {
namespace {

using NamedNumbers = std::vector<std::pair<std::string, double*>>;

void add_number(NamedNumbers& numbers, const char* field, double& number) { numbers.emplace_back(field, &number); }
void add_number(NamedNumbers& numbers, const char* field, std::optional<double>& number) {
  if (number) numbers.emplace_back(field, &*number);
}

// Those of an encoding, of its rotation, of its scaling rule, or of attention's position encoding.
template <class Fields>
void add_numbers(NamedNumbers& numbers, Fields& fields) {
  if constexpr (requires { fields.base; }) add_number(numbers, "base", fields.base);
  if constexpr (requires { fields.rope_theta; }) add_number(numbers, "rope_theta", fields.rope_theta);
  if constexpr (requires { fields.factor; }) add_number(numbers, "factor", fields.factor);
  if constexpr (requires { fields.scale_base; }) add_number(numbers, "scale_base", fields.scale_base);
  if constexpr (requires { fields.scale; }) add_number(numbers, "scale", fields.scale);
  if constexpr (requires { fields.angle_scale; }) add_number(numbers, "angle_scale", fields.angle_scale);
  if constexpr (requires { fields.rope; }) add_numbers(numbers, fields.rope);
  const auto add_held = [&](auto& held) { std::visit([&](auto& one) { add_numbers(numbers, one); }, held); };
  if constexpr (requires { fields.rope_scaling; }) add_held(fields.rope_scaling);
  if constexpr (requires { fields.position->index(); }) {
    if (fields.position) add_held(*fields.position);
  }
}

NamedNumbers numbers_of(Spec& spec) {
  NamedNumbers numbers;
  std::visit([&](auto& encoding) { add_numbers(numbers, encoding); }, spec.encoding);
  return numbers;
}

// The whole number below is the same, and the nearest one of a number that is whole.
double with_another_fraction(double number) {
  constexpr double step = 0.4375;
  return number + (number - std::floor(number) < 0.5 ? step : -step);
}

}  // namespace

std::vector<Variant> variants_by_fraction(const Spec& spec) {
  Spec counted = spec;
  const std::size_t count = numbers_of(counted).size();
  std::vector<Variant> variants;
  for (std::size_t i = 0; i < count; ++i) {
    Spec changed = spec;
    const auto [field, number] = numbers_of(changed)[i];
    *number = with_another_fraction(*number);
    try {
      validate(changed);
      if (to_json(changed) != to_json(spec)) variants.push_back({"fraction of " + field, std::move(changed)});
    } catch (const SpecError&) {
      // The field cannot have that value beside the others.
    }
  }
  return variants;
}

}  // namespace sextant
