#pragma once

#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace sextant {

/// Lets an option take one of these words only, in the order in which help and messages name them; another is refused
/// in one line that has them. Returns the option.
CLI::Option* one_of(CLI::Option* option, std::vector<std::string> words);

}  // namespace sextant
