#include "lib/spec/rotary_table.hpp"

#include <algorithm>
#include <iterator>

#include "lib/spec/encoding_entry.hpp"
#include "lib/spec/of.hpp"

namespace sextant {
namespace spec_rotary_table {
namespace {

// Fields of a rope that say how a table is applied.
constexpr const char* of_application[] = {"pairing", "output_pairing", "direction"};

RotaryTable read(Fields& fields) {
  for (const std::string name : of_application) {
    if (fields.has(name)) fields.refuse(name, "unknown field, a table has no channels that are turned");
  }
  return {Rope::entry.read(fields)};
}

void check(const RotaryTable& encoding) {
  Rope::entry.check(encoding.rope);
  if (pairs(encoding) == 0)
    refuse_field("rope_scaling.rope_type", "expected a rule that turns: under none a table has no columns");
  if (encoding.rope.positions.dtype != Dtype::int64)
    refuse_field("position_dtype", "expected int64: the rows of a table are whole positions");
}

void write(const RotaryTable& encoding, nlohmann::ordered_json& object) {
  Rope::entry.write(encoding.rope, object);
  for (const std::string name : of_application) object.erase(name);
}

constexpr std::string_view described[] = {"head_dim", "rope_theta"};

Signature signature(const RotaryTable& encoding) {
  return {.operation = Operation::table, .dim = 2 * pairs(encoding), .recording = Recording::rows};
}

std::vector<FieldMeaning> fields() {
  std::vector<FieldMeaning> list = Rope::entry.fields();
  std::erase_if(list, [](const FieldMeaning& field) {
    return field.name.starts_with("position_") || std::ranges::count(of_application, field.name) > 0;
  });
  return list;
}

}  // namespace
}  // namespace spec_rotary_table

std::int64_t pairs(const RotaryTable& encoding) { return pairs(encoding.rope); }

std::optional<Spec> recorded_claim(const Spec& spec) {
  if (signature_of(spec.encoding).recording == Recording::rows) return spec;
  const auto* rope = held<Rope>(spec);
  if (rope == nullptr) return std::nullopt;
  RotaryTable table{*rope};
  table.rope.pairing = table.rope.output_pairing = Rope().pairing;
  table.rope.direction = Rope().direction;
  Spec claim = spec;
  claim.encoding = table;
  validate(claim);
  return claim;
}

constinit const EncodingEntry<RotaryTable> RotaryTable::entry{
    .name = "rotary_table",
    .example = R"({"encoding":"rotary_table","head_dim":128})",
    .fields = spec_rotary_table::fields,
    .read = spec_rotary_table::read,
    .check = spec_rotary_table::check,
    .write = spec_rotary_table::write,
    .described = spec_rotary_table::described,
    .signature = spec_rotary_table::signature};

}  // namespace sextant
