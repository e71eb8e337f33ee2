#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lib/numeric/user_error.hpp"

namespace sextant {

/// One drawn input of a property as the engine and tokens have it: an integer for each of the property's fields, in
/// their order. Everything else that a case needs (vectors, say) is a pure function of these, so that a case is a short
/// token. A property sees it as a struct of its own (typed_cases.hpp).
using Case = std::vector<std::int64_t>;

/// What an integer of a case means, from which shrinking follows.
enum class FieldRole {
  position,  ///< a position of the claim
  step,      ///< what is added to the case's positions
  run,       ///< how many positions follow one by one
  sequence,  ///< the same of tokens that see each other, so that a call grows with its square
  batch,     ///< how many rows of positions, each gen::batch_row_distance further on
  count,     ///< how many of what has no position of its own: heads, queries, distances
  number,    ///< a number by which a call does not grow: a distance, a factor
  choice,    ///< which one of several
  order,     ///< how positions follow each other; tokens leave out 0, the usual order
  fill,      ///< which vectors (gen/values.hpp)
  bits,      ///< of a value of the dtype (gen/floats.hpp)
};

/// The values of a field, both ends included, and the one that counterexamples shrink towards: that nearest to 0,
/// unless one is given.
struct FieldRange {
  std::int64_t least;
  std::int64_t most;
  std::optional<std::int64_t> simplest = std::nullopt;

  bool holds(std::int64_t value) const { return value >= least && value <= most; }
};

/// One integer of a property's cases under one spec.
struct CaseField {
  std::string name;  ///< in tokens; nothing follows from its spelling
  FieldRole role;
  FieldRange range;
};

/// The fields of a case, in the order of tokens.
using CaseFields = std::vector<CaseField>;

/// Whether each value is in its field's range.
bool in_range(const CaseFields& fields, const Case& values);

/// Which field's value is not in its range: "position: expected 0 to 511, got 999"; nothing if all are.
std::optional<std::string> out_of_range(const CaseFields& fields, const Case& values);

/// The case of every field's simplest value.
Case simplest_of(const CaseFields& fields);

/// A token that cannot be replayed. what() is one line.
class TokenError : public std::runtime_error, public UserError {
 public:
  using std::runtime_error::runtime_error;
};

/// How large a call the case asks: the product of its runs, batch rows and counts, 1 at least. Most of what asking it
/// takes grows with that.
std::int64_t size_of(const CaseFields& fields, const Case& values);

/// "accuracy:position=257,rows=1": stable, self-contained, and needs no quoting in a shell.
std::string write_token(std::string_view property, const CaseFields& fields, const Case& values);

/// The text in quotes, cut short where it is long: for messages about what a user gave.
std::string in_quotes(std::string_view text);

/// The property's id in a token: what stands before the colon. @throws TokenError if there is none.
std::string token_property(std::string_view token);

/// The values of a token for a property with these fields. @throws TokenError, naming the field.
Case read_token(std::string_view token, const CaseFields& fields);

}  // namespace sextant
