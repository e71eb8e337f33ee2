#include "lib/spec/learned.hpp"

#include "lib/spec/encoding_entry.hpp"

namespace sextant {

std::int64_t position_count(const Learned& encoding) { return encoding.max_positions; }

namespace spec_learned {
namespace {

Learned read(Fields& fields) {
  Learned encoding;
  encoding.dim = fields.required_integer("dim");
  encoding.max_positions = fields.required_integer("max_positions");
  return encoding;
}

void check(const Learned& encoding) {
  check_count("dim", encoding.dim, width_limit);
  check_count("max_positions", encoding.max_positions, position_limit);
}

void write(const Learned& encoding, nlohmann::ordered_json& object) {
  object["dim"] = encoding.dim;
  object["max_positions"] = encoding.max_positions;
}

Signature signature(const Learned& encoding) {
  return {.dim = encoding.dim, .weight = WeightShape{encoding.max_positions, encoding.dim}};
}

constexpr std::string_view described[] = {"dim", "max_positions"};

constexpr FieldMeaning field_meanings[] = {
    {"dim", "channels: columns of the table"},
    {"max_positions", "rows of the table, one for each position"},
};

}  // namespace
}  // namespace spec_learned

constinit const EncodingEntry<Learned> Learned::entry{
    .name = "learned",
    .example = R"({"encoding":"learned","dim":768,"max_positions":512})",
    .fields = listed<spec_learned::field_meanings>,
    .read = spec_learned::read,
    .check = spec_learned::check,
    .write = spec_learned::write,
    .described = spec_learned::described,
    .signature = spec_learned::signature,
    .position_bounds = [](const Learned& encoding) {
      return std::optional(PositionBounds{.end = position_count(encoding)});
    }};

}  // namespace sextant
