#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

/// What an audit says of one property.
enum class Verdict {
  holds,           ///< in every case the whole enclosure is inside the bound
  violated,        ///< in some case the whole enclosure is outside
  undecided,       ///< some case stayed open, at the highest precision or limit of work, none violated; or no case ran
  not_applicable,  ///< the property says nothing of this spec or this kind of subject
  unsupported,     ///< the subject says that it does not have the operation or dtype
  crashed,         ///< the subject's process died, broke the protocol or reported an error
  timed_out,       ///< the subject gave no answer within the time-out
};

/// What a property rests on: the mathematics of the spec; the contract of any implementation (dtype, shape, other rows
/// untouched, history); or good manners, which never fail an audit unless asked.
enum class Level { law, contract, advice };

/// How far one case was from its bound.
struct Deviation {
  double of_bound =
      0;  ///< error / bound: above 1 is a violation; infinity where the bound is 0 or the value not finite
  double absolute = 0;  ///< the error itself, in the encoding's unit
  double ulps = 0;      ///< the error in ULPs of the true value (lib/numeric/ulp.hpp)
  /// The error in conditioned ULPs: of a value that is turned, ULPs of its pair's norm; of a sine or cosine units of
  /// ulp(truth) + |angle| u |derivative|, u being the unit roundoff of the angle claimed. Absent where neither is.
  std::optional<double> conditioned_ulps = std::nullopt;
};

/// Whether a case shows by itself what was found in it, in a fresh session, or only after the calls before it.
enum class Shown { alone, after_other_calls };

/// One case with what was found in it.
struct Example {
  std::string token;    ///< for --replay
  std::string finding;  ///< one line: where, what came, what is true, the bound
  Deviation deviation;
  Shown shown = Shown::alone;
};

/// What a sweep compared, value by value.
struct Coverage {
  std::int64_t positions = 0;  ///< at how many positions
  std::int64_t claimed = 0;    ///< of how many that the claim has
  std::int64_t values = 0;
  std::string of = "positions";  ///< what they are: of encodings with several coordinates those of each axis
};

/// What mathematics says of an encoding and a property: that every correct implementation has it, or that none can.
/// Where it fails, an audit must exhibit the witness: the verdict is `holds` if a case shows the failure, `violated` if
/// none does.
enum class Theory { holds, fails };

struct Tally;  // tally.hpp

/// The outcome of one property.
struct PropertyResult {
  std::string id;
  std::string title;
  std::string statement;
  Level level = Level::law;
  Theory theory = Theory::holds;
  Verdict verdict = Verdict::undecided;
  std::string reason;                ///< why it is not holds or violated, in one line; a note otherwise; may be empty
  std::int64_t cases = 0;            ///< how many were judged, blocks of a sweep among them
  std::int64_t unsupported = 0;      ///< how many were not, as the subject serves no such calls; not kept in reports
  std::optional<Coverage> coverage;  ///< of the sweep, if there was one
  std::optional<Example> worst;      ///< the case nearest to, or farthest beyond, its bound
  std::optional<Example> simplest;   ///< the shrunk counterexample, or the case the subject failed in
  /// the largest position below that of every violation seen; absent if none was seen, or if no case names the position
  /// at which it is violated: of many tokens and positions at once, or of what does not depend on positions
  std::optional<std::int64_t> horizon;
  double seconds = 0;
  std::shared_ptr<const Tally> share;  ///< of a shard's result: what its cases came to, from which the whole is made
};

/// Whether it is a law or a contract that is violated, and no advice.
bool is_violated_law(const PropertyResult& result);

/// "holds", "not_applicable", ...
std::string_view name_of(Verdict verdict);
/// "law", "contract", "advice".
std::string_view name_of(Level level);
/// "holds", "fails".
std::string_view name_of(Theory theory);

/// Whether one of the laws that apply was judged, or none applies: what keeps its contracts and answers no question of
/// a law has shown no right value.
bool is_law_judged(const std::vector<PropertyResult>& results);

/// Whether advice counts.
enum class Strictness { lenient, strict };

/// "lenient", "strict".
std::string_view name_of(Strictness strictness);

/// The exit status of an audit: 1 if a property is violated, else 3 if the subject failed, else 4 if a verdict stayed
/// undecided or nothing was judged, of laws nothing where some apply, else 0. What advice comes to counts only when
/// strict.
int exit_status(const std::vector<PropertyResult>& results, Strictness strictness);

}  // namespace sextant
