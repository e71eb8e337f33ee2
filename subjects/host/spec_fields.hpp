#pragma once

#include <memory>
#include <string>

#include "subjects/c/sextant_subject.h"

namespace sextant::host {

/// The spec of a request as plugins see it. Used by one thread.
class SpecFields {
 public:
  /// @throws std::invalid_argument if `all` is no JSON object.
  explicit SpecFields(std::string all);
  ~SpecFields();
  SpecFields(const SpecFields&) = delete;
  SpecFields& operator=(const SpecFields&) = delete;

  const SextantSpec& spec() const;

 private:
  class Parsed;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace sextant::host
