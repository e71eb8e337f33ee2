#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "subjects/function.hpp"

namespace sextant::mutants {

/// Whether an implementation is wrong, or right though it may look wrong: another convention, declared, or another
/// honest recipe.
enum class Kind { defect, control };

/// A small implementation of one encoding, as somebody might write it, under the spec on which it is to be seen. A
/// defect must be refused by some property, a control accepted by all.
struct Mutant {
  std::string name;  ///< of the subject: mutant:NAME
  Kind kind = Kind::defect;
  /// where the mechanism was seen: a row of the list of real bugs, "A5"; several with commas; empty where it was not,
  /// and for a control
  std::string row;
  std::string mechanism;  ///< what it does, in one line
  std::string spec;       ///< JSON
  FunctionSubject::Make make;
  FunctionSubject::Begin begin = nullptr;  ///< in its place, where sessions of one process share something
  FunctionSubject::Threads threads = FunctionSubject::Threads::one;
  std::string recipe = {};  ///< that its audit names; none where empty
};

#define MUTANTS(family)        \
  namespace family##_mutants { \
    std::vector<Mutant> all(); \
  }
#include "properties/mutants/mutants.def"
#undef MUTANTS

/// Every mutant and control.
const std::vector<Mutant>& registry();

/// The one of that name. @throws SubjectNameError if there is none.
const Mutant& named(std::string_view name);

/// Mutant `name` as a subject. @throws SubjectNameError if there is none.
std::unique_ptr<Subject> open(std::string_view name);

}  // namespace sextant::mutants
