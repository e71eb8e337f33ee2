#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/report.hpp"

namespace sextant {

// What a person wants to know first, in every format.

/// The last position up to which values are as claimed: what accuracy found where it is violated, else the least of the
/// violated properties' horizons where accuracy was not judged, else what the survey's grid shows. Nothing where there
/// is no such position, as where other calls decide, or none is known.
std::optional<std::int64_t> horizon_of(const Report& report);

/// Whether accuracy's violation shows after other calls alone, so that there is no position up to which values are
/// right.
bool is_decided_by_other_calls(const Report& report);

/// "correct up to position 256 of 131071", "wrong from position 1 on, right at 0 alone", "every value asked is correct,
/// positions 0 to 131071"; empty where no value was judged.
std::string correctness_text(const Report& report);

/// Whether accuracy is violated, and the survey, which asks a grid of positions in calls of its own, does not show it.
bool is_wrong_elsewhere(const Report& report);

/// "exact-angle", "none": the class measured, with a remark where accuracy found what the survey's grid does not show;
/// empty where no survey has measured one.
std::string measured_class_text(const Report& report);

/// "the angle, of which 7.5 bits are right": where the error comes from; empty if not told.
std::string stage_text(const Report& report);

/// A sentence without its full stop, or a command line to be copied.
enum class SummaryKind { sentence, command };
struct SummaryLine {
  SummaryKind kind;
  std::string text;
};

/// The summary: the verdict and how far values are correct; the diagnosis, where there is one, the claim that would
/// hold, and the command that audits that; where a survey has measured something the classes and the stage.
std::vector<SummaryLine> summary_lines(const Report& report);

/// The line as it stands among sentences: "audit it: sextant audit ...".
std::string text_of(const SummaryLine& line);

/// All of them in one line.
std::string summary_line(const Report& report);

/// The law or contract that says most plainly what is wrong: the first that is violated and shown by one case alone,
/// else the first that is violated, else the first that the subject failed in; null if there is none.
const PropertyResult* first_wrong(const Report& report);

}  // namespace sextant
