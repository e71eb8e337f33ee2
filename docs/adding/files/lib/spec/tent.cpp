#include "lib/spec/tent.hpp"

#include "lib/spec/encoding_entry.hpp"

namespace sextant {

constinit const EncodingEntry<Tent> Tent::entry{
    .name = "tent",
    .example = R"({"encoding":"tent","dim":8})",
    .fields =
        [] {
          return std::vector<FieldMeaning>{{"dim", "channels"}};
        },
    .read = [](Fields& fields) { return Tent{.dim = fields.required_integer("dim")}; },
    .check = [](const Tent& encoding) { check_count("dim", encoding.dim, 8); },
    .write = [](const Tent& encoding, nlohmann::ordered_json& object) { object["dim"] = encoding.dim; },
    .signature = [](const Tent& encoding) { return Signature{.dim = encoding.dim}; }};

}  // namespace sextant
