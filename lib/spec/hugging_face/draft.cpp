#include "lib/spec/hugging_face/draft.hpp"

#include <fmt/format.h>

namespace sextant::hugging_face {

Draft::Draft(std::string part, std::string kind, std::string model_type) {
  claim_.part = std::move(part);
  claim_.kind = std::move(kind);
  claim_.model_type = std::move(model_type);
}

// Out of line: inlined, GCC 12 takes a literal's heap copy for one that is held within the string (GCC bug 105329).
void Draft::note(std::string text) { claim_.notes.push_back(std::move(text)); }

void Draft::cover(std::vector<std::int64_t> layers) { claim_.layers = std::move(layers); }

std::string Draft::default_source() const { return fmt::format("default of {}", claim_.model_type); }

ConfigClaim Draft::claim() const {
  ConfigClaim claim = claim_;
  claim.spec = parse_spec(spec_.dump());
  return claim;
}

ConfigClaim Draft::refused(std::string why) const {
  ConfigClaim claim = claim_;
  claim.refusal = std::move(why);
  return claim;
}

}  // namespace sextant::hugging_face
