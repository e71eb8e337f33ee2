#include "properties/engine/failure.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace sextant {

Verdict verdict_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::timed_out: return Verdict::timed_out;
    case FailureKind::unsupported: return Verdict::unsupported;
    case FailureKind::crashed:
    case FailureKind::protocol:
    case FailureKind::error:
    case FailureKind::misbehaved: return Verdict::crashed;
  }
  throw std::invalid_argument("verdict_of: no such failure kind");
}

std::string text_of(const SubjectFailure& failure) {
  return failure.kind() == FailureKind::unsupported ? failure.what()
                                                    : fmt::format("{}: {}", name_of(failure.kind()), failure.what());
}

std::string text_with_place_of(const SubjectFailure& failure) {
  const SourcePlace& place = failure.trace().place;
  if (place.file.empty()) return text_of(failure);
  return fmt::format("{} (at {}, line {})", text_of(failure), place.file, place.line);
}

}  // namespace sextant
