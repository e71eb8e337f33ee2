#pragma once

#include <string>
#include <vector>

#include "sextant_worker.hpp"

namespace sextant::function_audit {

/// A property that a claim is asked, as `sextant explain` has it.
struct Question {
  std::string property;
  std::string title;
};

// Not to be called before main: catalogues are made of what other files initialize then.

/// Every property that applies to the claim, in the order of reports, but for advice.
/// @param spec  JSON, or a preset's name.
/// @throws std::exception, whose what() names the field, for what is no spec.
std::vector<Question> questions(const std::string& spec);

/// What became of one.
struct Finding {
  enum class Kind { holds, fails, skipped };
  Kind kind;
  std::string text;  ///< what was found, where it is not that it holds; several lines
};

/// How much is asked.
struct Amount {
  std::string profile = "quick";  ///< or standard, exhaustive: as --profile takes it
  std::string replay = {};        ///< a token: its case alone
  double timeout = 60;            ///< seconds for one answer
};

/// Judges functions by one property. They run in a process of their own, a fork of this one, so that what they do wrong
/// ends that and not the tests. Skipped is what they say they do not support.
/// @throws std::exception, whose what() says why, for what is no property, spec, profile or token.
Finding judge(const std::string& property, const std::string& spec, const sextant_worker::Subject& functions,
              const Amount& amount);

}  // namespace sextant::function_audit
