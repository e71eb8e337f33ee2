#include "lib/spec/reach.hpp"

#include "lib/spec/encoding_entry.hpp"

namespace sextant {

constinit const EncodingEntry<Reach> Reach::entry{
    .name = "reach",
    .example = R"({"encoding":"reach","num_heads":8})",
    .read = [](Fields& fields) { return Reach{.num_heads = fields.required_integer("num_heads")}; },
    .check = [](const Reach& encoding) { check_count("num_heads", encoding.num_heads, 8); },
    .write = [](const Reach& encoding, nlohmann::ordered_json& object) { object["num_heads"] = encoding.num_heads; },
    .signature =
        [](const Reach& encoding) { return Signature{.operation = Operation::bias, .heads = encoding.num_heads}; }};

}  // namespace sextant
