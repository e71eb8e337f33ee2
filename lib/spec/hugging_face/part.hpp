#pragma once

#include <optional>
#include <string>

#include "lib/spec/hugging_face/config_object.hpp"

// Private to lib/spec.

namespace sextant::hugging_face {

/// One part of a file: the file itself, or its text_config, vision_config, ...
struct Part {
  std::string name;  ///< empty for the file itself
  ConfigObject config;
  std::string model_type;
  std::optional<Read<std::string>> dtype;  ///< the file's, else its own
};

}  // namespace sextant::hugging_face
