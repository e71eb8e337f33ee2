#pragma once

#include <memory>
#include <string>

#include "subjects/subject.hpp"

namespace sextant {

/// A subject whose work is not counted as the judge's (reference/work_limit.hpp), even where it runs on the same thread
/// and asks the same exact tier. Everything else is the given subject's, which must live longer.
class UncountedSubject final : public Subject {
 public:
  explicit UncountedSubject(const Subject& subject) : subject_(subject) {}

  std::string name() const override { return subject_.name(); }
  bool is_live() const override { return subject_.is_live(); }
  Spec within_reach(const Spec& spec) const override { return subject_.within_reach(spec); }
  std::unique_ptr<Session> open(const Spec& spec) const override;
  std::unique_ptr<Session> open_anew(const Spec& spec) const override;

 private:
  const Subject& subject_;
};

}  // namespace sextant
