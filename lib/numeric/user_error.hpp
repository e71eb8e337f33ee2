#pragma once

namespace sextant {

/// Marks an exception that the user's input has caused: an argument, a spec, a file, an environment variable. Its
/// what() is one line that names the cause and what was expected of it; the command prints that line and exits with 2.
class UserError {
 public:
  virtual ~UserError() = default;

 protected:
  UserError() = default;
  UserError(const UserError&) = default;
  UserError& operator=(const UserError&) = default;
};

}  // namespace sextant
