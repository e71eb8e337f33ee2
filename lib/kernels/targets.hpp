#pragma once

#include <stdexcept>
#include <string_view>
#include <vector>

#include "lib/numeric/user_error.hpp"

namespace sextant {

/// SEXTANT_FORCE_TARGET names no instruction set that this machine has; what() is one line that lists the choices.
class TargetError : public std::runtime_error, public UserError {
 public:
  using std::runtime_error::runtime_error;
};

/// The instruction sets that the encoders are compiled for and this machine has, best first, as Highway names them:
/// "AVX3", "NEON", ... SCALAR or EMU128 stands for plain C++. The choice made by SEXTANT_FORCE_TARGET does not shorten
/// the list.
std::vector<std::string_view> supported_targets();

/// The instruction set that the encoders run on: the one that the environment variable SEXTANT_FORCE_TARGET names, else
/// the best. The variable is read once, at the first call; encoders call this before their first dispatch.
/// @throws TargetError if the variable names none of supported_targets().
std::string_view target_in_use();

}  // namespace sextant
