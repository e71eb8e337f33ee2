#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "subjects/subject.hpp"

namespace sextant {

/// A subject whose work is not counted as the judge's (reference/work_limit.hpp), even where it runs on the same thread
/// and asks the same exact tier; what is asked of it is counted by the values that calls move. Everything else is the
/// given subject's, which must live longer. It outlives its sessions.
class MeteredSubject final : public Subject {
 public:
  explicit MeteredSubject(const Subject& subject) : subject_(subject) {}

  std::string name() const override { return subject_.name(); }
  bool is_live() const override { return subject_.is_live(); }
  Spec within_reach(const Spec& spec) const override { return subject_.within_reach(spec); }
  std::unique_ptr<Session> open(const Spec& spec) const override;
  std::unique_ptr<Session> open_anew(const Spec& spec) const override;
  std::vector<std::unique_ptr<Session>> open_together(std::span<const Spec> specs) const override;

  /// How many values its sessions were given and have answered so far, attention's scores among them.
  std::int64_t values_moved() const { return values_moved_; }

 private:
  const Subject& subject_;
  mutable std::atomic<std::int64_t> values_moved_ = 0;
};

}  // namespace sextant
