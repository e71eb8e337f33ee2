#pragma once

#include <span>
#include <stdexcept>

#include "lib/numeric/user_error.hpp"
#include "reports/report.hpp"

namespace sextant {

/// Shards that do not make one report. what() is one line that says why.
class MergeError : public std::runtime_error, public UserError {
 public:
  using std::runtime_error::runtime_error;
};

/// The report of the run whose shards these are, in any order: the same, but for times and the environment, which is
/// the first shard's. Property k of a run is judged by shard k mod N.
/// @throws MergeError for reports that are no shards, are partial, or are of different runs (same_run.hpp), and for
/// missing or repeated shards.
Report merge(std::span<const Report> shards);

}  // namespace sextant
