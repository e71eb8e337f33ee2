#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace sextant {

/// `text` as JSON. @throws ReadError (read_json.hpp) for what is no JSON, or nests deeper than any report: what walks a
/// value does so recursively, and a hostile file must not be able to exhaust the stack.
nlohmann::ordered_json parsed_json(std::string_view text);

}  // namespace sextant
