#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lib/numeric/user_error.hpp"

namespace sextant {

/// One drawn input of a property: an integer for each of the property's fields, in their order. Everything else that a
/// case needs (vectors, say) is a pure function of these, so that a case is a short token.
using Case = std::vector<std::int64_t>;

/// A token that cannot be replayed. what() is one line.
class TokenError : public std::runtime_error, public UserError {
 public:
  using std::runtime_error::runtime_error;
};

/// "accuracy:position=257,rows=1": stable, self-contained, and needs no quoting in a shell.
std::string write_token(std::string_view property, const std::vector<std::string>& fields, const Case& values);

/// The property's id in a token: what stands before the colon. @throws TokenError if there is none.
std::string token_property(std::string_view token);

/// The values of a token for a property with these fields. @throws TokenError, naming the field.
Case read_token(std::string_view token, const std::vector<std::string>& fields);

}  // namespace sextant
