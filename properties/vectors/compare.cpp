#include "properties/vectors/compare.hpp"

#include <fmt/format.h>

#include <cmath>

#include "properties/vectors/asked.hpp"

namespace sextant::vectors {
namespace {

// In doubles, as Python has them: a difference of two values of a dtype of at most 24 bits is off by half an ulp of
// double, which a tolerance of two digits, rounded up, has room for.
bool is_within(double got, double expected, double tolerance) {
  if (!std::isfinite(expected)) return std::isnan(got) || got == expected;
  return std::fabs(got - expected) <= tolerance;
}

std::optional<std::string> difference(const ExpectedTensor& expected, const Tensor& got) {
  if (got.dtype != expected.dtype || got.shape != expected.shape)
    return fmt::format("{}: {} {}, expected {} {}", expected.name, name_of(got.dtype), shape_text(got.shape),
                       name_of(expected.dtype), shape_text(expected.shape));
  for (const auto& [element, value, tolerance] : expected.values) {
    if (!is_within(got.at(element), value, tolerance))
      return fmt::format("{}: element {} is {}, expected {} within {}", expected.name, element, got.at(element), value,
                         tolerance);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> difference(const Test& test, const Tensors& reply) {
  for (const ExpectedTensor& expected : test.outputs) {
    const auto found = reply.find(expected.name);
    if (found == reply.end()) return fmt::format("{}: none", expected.name);
    if (auto text = difference(expected, found->second)) return text;
  }
  return std::nullopt;
}

std::optional<std::string> asked_difference(Session& session, const Test& test) {
  Tensors inputs = test.inputs;  // not const: some write to what they are given
  try {
    const Tensors reply = with_named_parts(test.operation, send(session, test.operation, inputs));
    if (test.due == Due::refusal) return "was answered, expected a refusal";
    for (const auto& [name, tensor] : test.inputs) {
      if (inputs.at(name).data != tensor.data) return fmt::format("{} was changed", name);
    }
    return difference(test, reply);
  } catch (const SubjectFailure& failure) {
    if (failure.kind() == FailureKind::unsupported || test.due == Due::refusal) return std::nullopt;
    return std::string(failure.what());
  }
}

}  // namespace sextant::vectors
