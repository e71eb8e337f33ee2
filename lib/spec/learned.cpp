#include "lib/spec/learned.hpp"

#include "lib/spec/encodings.hpp"

namespace sextant {

std::int64_t position_count(const Learned& encoding) { return encoding.max_positions; }

Learned read_learned(Fields& fields) {
  Learned encoding;
  encoding.dim = fields.needed_integer("dim");
  encoding.max_positions = fields.needed_integer("max_positions");
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

std::string size_text(const Learned& encoding) {
  return fmt::format("dim {} max_positions {}", encoding.dim, encoding.max_positions);
}

}  // namespace sextant
