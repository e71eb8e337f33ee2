#pragma once

#include <string>

#include "lib/spec/spec.hpp"

namespace sextant {

/// The spec that --spec names: inline JSON, a preset's name, or a file. @throws SpecError, UsageError.
Spec spec_from_argument(const std::string& argument);

/// The spec in a Hugging Face config.json. @throws SpecError, UsageError.
Spec spec_from_hf_file(const std::string& path);

/// The one of the two options that is given. @throws UsageError unless it is exactly one; else as above.
Spec spec_from_arguments(const std::string& spec, const std::string& hf_config);

/// A word as a POSIX shell reads it back: quoted if it needs to be.
std::string shell_word(const std::string& word);

}  // namespace sextant
