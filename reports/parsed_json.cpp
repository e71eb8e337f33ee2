#include "reports/parsed_json.hpp"

#include "reports/read_json.hpp"

namespace sextant {

nlohmann::ordered_json parsed_json(std::string_view text) {
  using nlohmann::ordered_json;
  constexpr int deepest = 64;  // a report has 6 levels, a spec 3
  const auto watch = [](int depth, ordered_json::parse_event_t, ordered_json&) {
    if (depth > deepest) throw ReadError("nested too deeply");
    return true;
  };
  ordered_json json = ordered_json::parse(text, watch, false);
  if (json.is_discarded()) throw ReadError("expected JSON");
  return json;
}

}  // namespace sextant
