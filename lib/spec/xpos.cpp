#include "lib/spec/xpos.hpp"

#include <cmath>

#include "lib/spec/encoding_entry.hpp"

namespace sextant {
namespace {

constexpr Names<Role, 2> roles{{{"query", Role::query}, {"key", Role::key}}};

Xpos read(Fields& fields) {
  Xpos encoding;
  if (fields.has("rope_scaling"))
    fields.refuse("rope_scaling", "unknown field, xpos has no scaling of its frequencies");
  encoding.rope = Rope::entry.read(fields);
  encoding.scale_base = fields.number("scale_base").value_or(encoding.scale_base);
  encoding.role = fields.choice("role", roles, encoding.role);
  return encoding;
}

void check(const Xpos& encoding) {
  Rope::entry.check(encoding.rope);
  if (!(encoding.scale_base > 0) || std::isinf(encoding.scale_base)) {
    refuse_field("scale_base", fmt::format("expected a finite number above 0, got {}", encoding.scale_base));
  }
}

void write(const Xpos& encoding, nlohmann::ordered_json& object) {
  Rope::entry.write(encoding.rope, object);
  object.erase("rope_scaling");
  object["scale_base"] = encoding.scale_base;
  object["role"] = text_of(roles, encoding.role);
}

std::string size_text(const Xpos& encoding) {
  return fmt::format("{} {}", Rope::entry.size_text(encoding.rope), text_of(roles, encoding.role));
}

void check_within(const Xpos& encoding, const Attention&) {
  if (encoding.role != Role::query)
    refuse_field("position.role", "expected none: attention turns q as a query and k as a key");
}

Signature signature(const Xpos& encoding) {
  return {.operation = Operation::rotate, .head_dim = encoding.rope.head_dim};
}

// Those of rope, whose frequencies nothing scales, and its own.
std::vector<FieldMeaning> fields() {
  std::vector<FieldMeaning> list = Rope::entry.fields();
  std::erase_if(list, [](const FieldMeaning& field) { return field.name.starts_with("rope_scaling"); });
  list.push_back({"scale_base", "positions for each power: pair i is multiplied by zeta_i^(p/scale_base)"});
  list.push_back({"role", "what is turned: query, or key, which is multiplied by the inverse"});
  return list;
}

}  // namespace

constinit const EncodingEntry<Xpos> Xpos::entry{.name = "xpos",
                                                .example = R"({"encoding":"xpos","head_dim":128})",
                                                .fields = fields,
                                                .read = read,
                                                .check = check,
                                                .write = write,
                                                .size_text = size_text,
                                                .signature = signature,
                                                .check_within = check_within};

}  // namespace sextant
