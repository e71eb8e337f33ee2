#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/spec/position_grid.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "properties/verdict/survey.hpp"
#include "properties/verdict/verdict.hpp"

namespace sextant {

/// Part `index` of `count` of a run's cases, 1 <= index <= count.
struct Shard {
  int index;
  int count;
};

/// How much a run asked where that was not left to its profile.
struct AskedAmount {
  std::optional<double> budget;              ///< seconds by which the numbers were chosen
  std::optional<std::int64_t> values;        ///< that a sweep compares at most
  std::optional<std::int64_t> cases;         ///< of a property, at most: of the first ones and of the drawn ones each
  std::optional<std::int64_t> largest_call;  ///< tokens x batch rows x heads of a case at most

  bool operator==(const AskedAmount&) const = default;
};

/// A line of the subject's source.
struct CodePlace {
  std::string file;       ///< empty if not known
  std::int64_t line = 0;  ///< from 1 on; 0 if not known
};

/// Why nothing was judged: the subject could not describe itself, or failed in the first calls, however simple.
struct Stop {
  std::string reason;     ///< one line, with the kind of failure
  CodePlace place;        ///< where to look
  std::string traceback;  ///< several lines; may be empty
  std::string fix;        ///< what most likely mends it; may be empty
};

/// The audit of one subject against one spec: plain data, from which every format is written.
struct Report {
  std::string sextant_version;
  std::string subject;          ///< as named on the command line
  std::string subject_name;     ///< as it calls itself; may be empty
  std::string subject_version;  ///< likewise
  CodePlace source;             ///< where the function that answers is defined, as the subject says
  std::string spec_json;        ///< every field written
  std::string spec_text;        ///< one line for a person, without accuracy class and positions
  std::string claim;            ///< the accuracy class
  std::int64_t first_position = 0;
  std::int64_t last_position = 0;        ///< inclusive
  PositionGrid grid = {};                ///< what these, horizons and a survey's positions count steps of
  std::vector<std::string> claim_notes;  ///< what a model's file says of the claim that no field of a spec does
  std::string profile;
  std::uint64_t seed = 0;
  std::string recipe;  ///< whose bits were asked for, of recipe_identity; empty where none was named
  AskedAmount amount;
  std::optional<Shard> shard;  ///< nothing for a whole run
  Strictness strictness = Strictness::lenient;
  std::vector<std::pair<std::string, std::string>> environment;  ///< name and value, in the order to print
  std::string command;       ///< the audit's command line, to which --replay TOKEN can be added
  std::string selection;     ///< what the whole run's has besides: " --only accuracy"; may be empty
  std::optional<Stop> stop;  ///< then every property that applies has failed, by its reason
  std::vector<PropertyResult> results;
  /// ids of the properties that the run was to judge and did not, as it was cut short; empty for a whole report
  std::vector<std::string> missing;
  std::vector<std::string> notes;      ///< what a person should know of how the subject was run
  std::optional<Diagnosis> diagnosis;  ///< of a violated claim, where something is known of it
  std::optional<Survey> survey;
  int exit_status = 0;
  double seconds = 0;
};

/// Whether the result is one that no audit fails for: advice not followed, unless the audit is strict.
bool is_aside(const Report& report, const PropertyResult& result);

/// The status that the audit exits with: that of its results (verdict.hpp); 4 instead of 0 where some are missing; 0
/// for a shard that had nothing to judge, which says nothing of the whole.
int exit_status(const Report& report);

/// "2 of 6 properties violated", "all 4 applicable properties hold", ...: the first line of every format. Of a report
/// with properties missing: "partial, 5 of 34 properties not judged; of the others: ...". Of a shard "shard 2 of 5: "
/// before it.
std::string headline(const Report& report);

/// "rope head_dim 128, rope_theta 10000, pairing half, float32, float32-angle, positions 0 to 131071": the claim in one
/// line, which every format shows.
std::string claim_text(const Report& report);

/// The result's statement. Of one that has a line of each encoding, "xpos: as rope times ...", those of the claim's,
/// the one that it refers to before it.
std::string statement_of(const Report& report, const PropertyResult& result);

/// How many results have the verdict, those aside.
std::int64_t count(const Report& report, Verdict verdict);

/// "good.py, line 6"; the file alone where no line is known.
std::string place_text(const CodePlace& place);

/// "within 30 s: at most 2097152 values a sweep, 40 cases of each property and 64 tokens x rows x heads a case"; empty
/// where all is the profile's.
std::string amount_text(const AskedAmount& amount);

/// "standard, seed 1", and the amount behind it.
std::string profile_text(const Report& report);

/// "1 case", "203 cases".
std::string cases_text(std::int64_t cases);

/// Whether cases were judged: the result is one of `holds` and `violated`.
bool is_judged(const PropertyResult& result);

/// "131072 of 131072 positions, 8388608 values, all compared"; nothing of a result that was not judged.
std::optional<std::string> coverage_text(const PropertyResult& result);

/// The command that shows an example of the result again: `sextant audit ... --replay TOKEN`; of a result whose
/// simplest example shows only after other calls the audit of that property, `sextant audit ... --only ID`.
std::string replay_command(const Report& report, const PropertyResult& result, const Example& example);

/// The command line of the whole run.
std::string whole_command(const Report& report);

/// Whether a replay of the result's examples, each alone, would hold, as far as is known.
bool needs_other_calls(const PropertyResult& result);

/// "claims pairing half, computes interleaved; with pairing interleaved instead of half the claim holds: a second,
/// short audit found errors up to 0.3 of the bound; audit it: sextant audit ...": of a report that has a diagnosis.
std::optional<std::string> diagnosis_text(const Report& report);

/// The same where it says why this result is violated, which fails the audit; nothing of others.
std::optional<std::string> diagnosis_of(const Report& report, const PropertyResult& result);

}  // namespace sextant
