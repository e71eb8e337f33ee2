// What a model claims: read, changed, checked and written.

#include <sextant/spec.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "expect.hpp"

int main() {
  sextant::Spec spec = sextant::parse_spec(R"({"encoding": "rope", "head_dim": 128, "rope_theta": 500000})");
  spec.dtype = sextant::Dtype::bfloat16;
  expect(sextant::describe(spec) == "rope head_dim 128, rope_theta 500000, pairing half, bfloat16",
         "one line for a person");
  expect(sextant::to_json(sextant::parse_spec(sextant::to_json(spec))) == sextant::to_json(spec), "JSON gives it back");
  std::string refusal;
  try {
    sextant::parse_spec(R"({"encoding": "rope", "head_dim": 128, "theta": 500000})");
  } catch (const sextant::SpecError& error) {
    refusal = error.what();
  }
  expect(refusal.find("theta") != std::string::npos, "a field that no spec has is refused by its name");
  expect(sextant::axes_of(spec.encoding) == 1, "a position is one number");
  return failures();
}
