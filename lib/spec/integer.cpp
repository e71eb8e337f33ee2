#include "lib/spec/integer.hpp"

#include "lib/spec/encoding_entry.hpp"

namespace sextant {

namespace spec_integer {
namespace {

Integer read(Fields& fields) {
  Integer encoding;
  encoding.dim = fields.integer("dim").value_or(encoding.dim);
  encoding.normalize = fields.boolean("normalize").value_or(encoding.normalize);
  return encoding;
}

void check(const Integer& encoding) { check_count("dim", encoding.dim, width_limit); }

void check_claim(const Integer& encoding, const Spec& spec) {
  if (encoding.normalize && spec.max_position < 2) {
    refuse_field("normalize", fmt::format("divides by max_position - 1, so max_position must be at least 2, got {}",
                                          spec.max_position));
  }
}

void write(const Integer& encoding, nlohmann::ordered_json& object) {
  object["dim"] = encoding.dim;
  object["normalize"] = encoding.normalize;
}

Signature signature(const Integer& encoding) { return {.dim = encoding.dim}; }

constexpr std::string_view described[] = {"dim"};

constexpr FieldMeaning field_meanings[] = {
    {"dim", "channels, all of them alike"},
    {"normalize", "whether positions are divided by the last one of the claim"},
};

}  // namespace
}  // namespace spec_integer

constinit const EncodingEntry<Integer> Integer::entry{.name = "integer",
                                                      .example = R"({"encoding":"integer"})",
                                                      .fields = listed<spec_integer::field_meanings>,
                                                      .read = spec_integer::read,
                                                      .check = spec_integer::check,
                                                      .write = spec_integer::write,
                                                      .described = spec_integer::described,
                                                      .signature = spec_integer::signature,
                                                      .check_claim = spec_integer::check_claim};

}  // namespace sextant
