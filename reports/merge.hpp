#pragma once

#include <span>
#include <stdexcept>
#include <vector>

#include "lib/numeric/user_error.hpp"
#include "reports/report.hpp"

namespace sextant {

/// Shards that do not make one report. what() is one line that says why.
class MergeError : public std::runtime_error, public UserError {
 public:
  using std::runtime_error::runtime_error;
};

/// Puts the shards of a run together, one by one in any order, so that no more than one need be in memory. The whole is
/// the report of the run whose shards these are, byte for byte but for times and the environment, which is the first
/// shard's: each property's result is what the tallies of its shares come to together (tally.hpp).
class Merging {
 public:
  /// @throws MergeError for a report that is no shard, is partial, is of another run than those before (same_run.hpp),
  /// or is given twice.
  void take(Report shard);

  /// @throws MergeError where shards are missing.
  Report whole() &&;

 private:
  void join(const Report& shard);

  Report whole_;
  int count_ = 0;
  double seconds_ = 0;
  std::vector<bool> taken_;
};

/// The same of shards at hand.
Report merge(std::span<const Report> shards);

}  // namespace sextant
