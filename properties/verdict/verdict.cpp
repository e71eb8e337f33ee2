#include "properties/verdict/verdict.hpp"

#include <algorithm>
#include <stdexcept>

namespace sextant {

bool is_violated_law(const PropertyResult& result) {
  return result.verdict == Verdict::violated && result.level != Level::advice;
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds: return "holds";
    case Verdict::violated: return "violated";
    case Verdict::undecided: return "undecided";
    case Verdict::not_applicable: return "not_applicable";
    case Verdict::unsupported: return "unsupported";
    case Verdict::crashed: return "crashed";
    case Verdict::timed_out: return "timed_out";
  }
  throw std::invalid_argument("name_of: no such verdict");
}

std::string_view name_of(Level level) {
  switch (level) {
    case Level::law: return "law";
    case Level::contract: return "contract";
    case Level::advice: return "advice";
  }
  throw std::invalid_argument("name_of: no such level");
}

std::string_view name_of(Theory theory) {
  switch (theory) {
    case Theory::holds: return "holds";
    case Theory::fails: return "fails";
  }
  throw std::invalid_argument("name_of: no such theory");
}

std::string_view name_of(Strictness strictness) {
  switch (strictness) {
    case Strictness::lenient: return "lenient";
    case Strictness::strict: return "strict";
  }
  throw std::invalid_argument("name_of: no such strictness");
}

namespace {

bool came_to_something(const PropertyResult& result) {
  return result.verdict == Verdict::holds || result.verdict == Verdict::violated ||
         result.verdict == Verdict::crashed || result.verdict == Verdict::timed_out;
}

}  // namespace

bool is_law_judged(const std::vector<PropertyResult>& results) {
  const auto applies = [](const PropertyResult& result) {
    return result.level == Level::law && result.verdict != Verdict::not_applicable;
  };
  return std::ranges::none_of(results, applies) || std::ranges::any_of(results, [&](const PropertyResult& result) {
           return applies(result) && came_to_something(result);
         });
}

int exit_status(const std::vector<PropertyResult>& results, Strictness strictness) {
  const auto any = [&](Verdict verdict) {
    return std::any_of(results.begin(), results.end(), [&](const PropertyResult& result) {
      const bool counts = result.level != Level::advice || strictness == Strictness::strict;
      return result.verdict == verdict && counts;
    });
  };
  const bool judged = std::ranges::any_of(results, came_to_something) && is_law_judged(results);
  if (any(Verdict::violated)) return 1;
  if (any(Verdict::crashed) || any(Verdict::timed_out)) return 3;
  if (any(Verdict::undecided) || !judged) return 4;
  return 0;
}

}  // namespace sextant
