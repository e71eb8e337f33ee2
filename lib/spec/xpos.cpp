#include "lib/spec/xpos.hpp"

#include <cmath>

#include "lib/spec/encoding_entry.hpp"

namespace sextant {
namespace spec_xpos {
namespace {

constexpr Names<Role, 2> roles{{{"query", Role::query}, {"key", Role::key}}};
constexpr Names<HalfOfCall, 2> halves{{{"floor_half", HalfOfCall::floor}, {"ceil_half", HalfOfCall::ceil}}};

std::variant<std::int64_t, HalfOfCall> read_centre(Fields& fields) {
  if (fields.is_text("centre")) return fields.choice("centre", halves, HalfOfCall::floor);
  return fields.integer("centre").value_or(0);
}

nlohmann::json written(const std::variant<std::int64_t, HalfOfCall>& centre) {
  if (const auto* half = std::get_if<HalfOfCall>(&centre)) return text_of("centre", halves, *half);
  return std::get<std::int64_t>(centre);
}

Xpos read(Fields& fields) {
  Xpos encoding;
  const auto without_parts_of_rope = [&] {
    fields.refuse_of_parts("rope_scaling", "no field of xpos, which has no scaling of its frequencies");
    for (const char* name : {"position_dtype", "position_step"})
      fields.refuse_of_parts(name, "no field of xpos, which takes whole positions");
  };
  without_parts_of_rope();
  encoding.rope = Rope::entry.read(fields);
  without_parts_of_rope();
  encoding.scale_base = fields.number("scale_base").value_or(encoding.scale_base);
  encoding.role = fields.choice("role", roles, encoding.role);
  encoding.centre = read_centre(fields);
  return encoding;
}

void check(const Xpos& encoding) {
  Rope::entry.check(encoding.rope);
  if (encoding.rope.positions.dtype != Dtype::int64)
    refuse_field("position_dtype", "expected int64: xpos takes whole positions");
  if (!(encoding.scale_base > 0) || std::isinf(encoding.scale_base)) {
    refuse_field("scale_base", fmt::format("expected a finite number above 0, got {}", encoding.scale_base));
  }
  if (const auto* centre = std::get_if<std::int64_t>(&encoding.centre);
      centre != nullptr && (*centre < -position_limit || *centre > position_limit)) {
    refuse_field("centre", fmt::format("expected an integer within +-2^53, floor_half or ceil_half, got {}", *centre));
  }
}

void write(const Xpos& encoding, nlohmann::ordered_json& object) {
  Rope::entry.write(encoding.rope, object);
  object.erase("rope_scaling");
  object["scale_base"] = encoding.scale_base;
  object["role"] = text_of("role", roles, encoding.role);
  object["centre"] = written(encoding.centre);
}

void check_within(const Xpos& encoding, const Attention&) {
  if (encoding.role != Role::query)
    refuse_field("position.role", "expected none: attention turns q as a query and k as a key");
}

Signature signature(const Xpos& encoding) {
  return {.operation = Operation::rotate, .head_dim = encoding.rope.head_dim};
}

// Those of rope, whose frequencies nothing scales and whose positions are whole, and its own.
std::vector<FieldMeaning> fields() {
  std::vector<FieldMeaning> list = Rope::entry.fields();
  std::erase_if(list, [](const FieldMeaning& field) {
    return field.name.starts_with("rope_scaling") || field.name.starts_with("position_");
  });
  list.push_back({"scale_base", "positions for each power: pair i is multiplied by zeta_i^((p - centre)/scale_base)"});
  list.push_back({"role", "what is turned: query, or key, which is multiplied by the inverse"});
  list.push_back({"centre", "where powers are 1: a position, or floor_half or ceil_half: half the call's length"});
  return list;
}

constexpr std::string_view described[] = {"head_dim", "rope_theta", "pairing", "role"};

}  // namespace
}  // namespace spec_xpos

constinit const EncodingEntry<Xpos> Xpos::entry{.name = "xpos",
                                                .example = R"({"encoding":"xpos","head_dim":128})",
                                                .fields = spec_xpos::fields,
                                                .read = spec_xpos::read,
                                                .check = spec_xpos::check,
                                                .write = spec_xpos::write,
                                                .described = spec_xpos::described,
                                                .signature = spec_xpos::signature,
                                                .check_within = spec_xpos::check_within};

}  // namespace sextant
