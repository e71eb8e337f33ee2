#include "lib/spec/binary.hpp"

#include <algorithm>

#include "lib/spec/encoding_entry.hpp"

namespace sextant {

std::int64_t position_count(const Binary& encoding) {
  return encoding.dim < 53 ? std::int64_t{1} << encoding.dim : position_limit;
}

namespace spec_binary {
namespace {

Binary read(Fields& fields) {
  Binary encoding;
  encoding.dim = fields.required_integer("dim");
  encoding.normalize = fields.boolean("normalize").value_or(encoding.normalize);
  return encoding;
}

// A position is a signed 64-bit integer of at least 0: 63 digits are all it can have.
void check(const Binary& encoding) { check_count("dim", encoding.dim, 63); }

void write(const Binary& encoding, nlohmann::ordered_json& object) {
  object["dim"] = encoding.dim;
  object["normalize"] = encoding.normalize;
}

Signature signature(const Binary& encoding) { return {.dim = encoding.dim}; }

constexpr std::string_view described[] = {"dim"};

constexpr FieldMeaning field_meanings[] = {
    {"dim", "digits, the least significant first"},
    {"normalize", "whether digits are -1 and 1 instead of 0 and 1"},
};

}  // namespace
}  // namespace spec_binary

constinit const EncodingEntry<Binary> Binary::entry{
    .name = "binary",
    .example = R"({"encoding":"binary","dim":17})",
    .fields = listed<spec_binary::field_meanings>,
    .read = spec_binary::read,
    .check = spec_binary::check,
    .write = spec_binary::write,
    .described = spec_binary::described,
    .signature = spec_binary::signature,
    .position_bounds = [](const Binary& encoding) {
      return std::optional(PositionBounds{.end = position_count(encoding)});
    }};

}  // namespace sextant
