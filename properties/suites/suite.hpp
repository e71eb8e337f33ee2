#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant::suites {

// What public test suites compare, as functions of a subject: their dtypes, positions, shapes, reference and tolerance.
// Whatever else they do is left out, and so is what they set: each asks about a claim's own base and scaling rule.

/// What a suite says of an implementation.
struct Outcome {
  bool passes = true;
  std::string why = {};  ///< where it does not: how many values are outside, and the first
};

struct Suite {
  std::string_view project;
  std::string_view test;  ///< the file
  std::string_view link;  ///< to it
  bool (*is_about)(const Spec& claim);
  std::string_view compares;   ///< dtype and tolerance
  std::string_view positions;  ///< and shapes
  std::string_view reference;  ///< what the answers are compared with
  /// Asks it of a subject under a claim. @throws SubjectFailure where the subject has no such operation or dtype;
  /// whatever else goes wrong is an outcome.
  std::function<Outcome(const Subject& subject, const Spec& claim)> ask;
};

/// All of them.
std::span<const Suite> suites();

/// What suites compare with: the usual float32 code, bit for bit (reference/recipe.hpp), in 16 bits widened, where such
/// is known of the claim; else the right values.
std::unique_ptr<Subject> usual_implementation();

}  // namespace sextant::suites
