#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "properties/verdict/verdict.hpp"

namespace sextant {

// A run and its shards come to the same result because a result is a function of a tally, and a tally is a sum: each of
// a property's cases has its number in the whole run, and what is kept of many cases is a count or the least by an
// order that knows nothing of who judged them. docs/ci.md says what that leaves out.

/// The worst case seen, and what the search that began there came to. A violated case is worse than any other, then the
/// greater deviation, then the lesser number.
struct WorstCase {
  std::int64_t number = 0;
  bool is_violated = false;
  double of_bound = 0;                                 ///< of the case itself
  std::optional<std::int64_t> place = std::nullopt;    ///< the position of its worst value
  Example example;                                     ///< the worst that the search found; before it, the case
  std::int64_t searched = 0;                           ///< how many cases the search judged
  std::optional<std::int64_t> horizon = std::nullopt;  ///< below the violations that the search saw
};

/// The violated case from which the simplest one was sought: that of the least position which shows the violation by
/// itself, then the lesser number; where none does, that of the least number.
struct Counterexample {
  std::int64_t number = 0;
  std::optional<std::int64_t> place;  ///< nothing where no position alone shows it
  Example example;                    ///< the simplest that the search found; before it, the case
  std::optional<std::int64_t> horizon = std::nullopt;
};

/// Of the first case in which the subject failed: the simplest one that fails so.
struct FailedCase {
  std::int64_t number = 0;
  std::int64_t asked = 0;  ///< how many cases of a whole run are asked before it
  Verdict verdict = Verdict::crashed;
  std::string reason;
  Example example;
};

/// Words about the case of a number.
struct Remark {
  std::int64_t number = 0;
  std::string text;
};

/// What some of a property's cases came to.
struct Tally {
  std::int64_t judged = 0;
  std::int64_t undecided = 0;             ///< of those judged: open even at `precision`
  std::int64_t precision = 0;             ///< bits
  std::int64_t hiding = 0;                ///< of those judged: where theory fails, how many say nothing
  std::int64_t informative = 0;           ///< comparisons, where some may have bounds that any answer meets
  std::int64_t uninformative = 0;         ///< those
  std::int64_t unsupported = 0;           ///< how many the subject does not support
  std::optional<Remark> why_unsupported;  ///< the first one's reason
  std::optional<Remark> unfinished;       ///< the token of the first one that exceeds the limit of work
  std::optional<Remark> remark;           ///< of the first case that tells something of the subject
  std::optional<Coverage> coverage;
  std::optional<std::int64_t> horizon;  ///< below the violations seen in judging
  std::optional<WorstCase> worst;
  std::optional<Counterexample> counterexample;
  std::optional<FailedCase> failure;
};

/// Whether the first is the one to keep.
bool is_before(const WorstCase& one, const WorstCase& other);
bool is_before(const Counterexample& one, const Counterexample& other);

/// The tally of the cases of both, no case in two of them; in any order.
Tally joined(const Tally& one, const Tally& other);

/// The lesser of two horizons, of which either may be unknown.
std::optional<std::int64_t> lesser(const std::optional<std::int64_t>& one, const std::optional<std::int64_t>& other);

/// Whether a tally is of all cases of a run or of a shard's share.
enum class Extent { whole, share };

/// The result that the tally comes to. id, title, statement, level, theory and seconds are `about`'s. A share that
/// decides nothing by itself is not_applicable.
PropertyResult settled(PropertyResult about, const Tally& tally, Extent extent);

/// A property of which a run has judged its first `done` cases, and not all.
struct Underway {
  std::string id;
  std::int64_t done = 0;
  Tally tally;
};

}  // namespace sextant
