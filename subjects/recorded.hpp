#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "subjects/subject.hpp"
#include "subjects/table_order.hpp"

namespace sextant {

/// What is known of a recording beside its file.
struct RecordedOptions {
  const TableOrder* order = nullptr;             ///< of a rotary table's values; null: as the file says or shows
  std::function<void(const std::string&)> note;  ///< told what was taken from the file that nobody said
};

/// A table that some program wrote to a file (array_file.hpp): row p is that of position p, or of position positions[p]
/// where the file has `positions`, which follow one by one. Of a code it answers `encode`, of a rope `table`: the claim
/// is then that of the table (recorded_claim).
/// @throws SubjectNameError if the file cannot be read as such a table of the spec's dtype, or the spec's encoding has
/// none.
std::unique_ptr<Subject> recorded_subject(std::string name, const std::filesystem::path& file, const Spec& spec,
                                          const RecordedOptions& options = {});

}  // namespace sextant
