#pragma once

#include <stdexcept>
#include <string>

#include "subjects/c/sextant_subject.h"

namespace sextant::host {

/// A library that is no subject. what() is one line.
class NoSubject : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The table of the library at `path`, which stays loaded; what a table of version 1 has not is null.
/// @throws NoSubject if it cannot be loaded, does not define sextant_subject, or its table is of another version, has
/// no operation or says what cannot be.
SextantSubject load_subject(const std::string& path);

}  // namespace sextant::host
