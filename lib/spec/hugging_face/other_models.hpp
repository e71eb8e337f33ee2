#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "lib/spec/hugging_face/part.hpp"

// Private to lib/spec: models whose positions are added to tokens or to scores, and parts that no spec says.

namespace sextant::hugging_face {

struct OtherModel {
  std::string_view model_type;
  std::vector<ConfigClaim> (*claims)(const Part& part);
};

std::span<const OtherModel> other_models();

/// A file that holds the files of several models: where each stands, and its model_type where it does not say.
struct Composition {
  std::string_view model_type;
  /// Whether a part may be of another model_type than the file's class has for it; else it is of that class whatever it
  /// says.
  enum class Type { fixed, any };
  struct Member {
    const char* name;
    std::string_view model_type;
    Type type = Type::fixed;
  };
  Member text;
  Member vision = {"", ""};
  /// Whether the fields of text_config may stand at the top level, as in Qwen2-VL's first files.
  enum class Text { inner, inner_or_outer } where = Text::inner;
  const char* within = "";  ///< the object that holds the parts, where the file itself does not
};

std::span<const Composition> compositions();

}  // namespace sextant::hugging_face
