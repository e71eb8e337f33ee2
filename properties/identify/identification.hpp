#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/verdict/diagnosis.hpp"

namespace sextant {
struct AttentionCase;
}  // namespace sextant

namespace sextant::identify {

/// How far a name can be relied on.
enum class Confidence {
  high,    ///< all that was seen fits, and each parameter is told from others as round
  medium,  ///< all fits, but a parameter is known within a range only, or is one of several that make the same
  low,     ///< the name explains a part of what was seen; `faults` say what it does not
  none     ///< no spec that was tried explains it
};
std::string_view name_of(Confidence confidence);

/// Whether a fault says what differs; that something does, and not what; that answers to calls of other extents are
/// farther off from a name; that some calls are as claimed, where no more is known; or that answers are off from it,
/// whose fields then tell nothing.
enum class FaultKind { cause, vague, elsewhere, remainder, misfit };

/// What no spec says of a subject, in words, and of what stage of the computation it is.
struct Fault {
  Fault(std::string told, DiagnosedStage of = DiagnosedStage::other, FaultKind is = FaultKind::cause);
  std::string words;
  DiagnosedStage stage;
  FaultKind kind;
  /// Of words that say in which calls of attention answers are wrong: whether they say of such a call that it is right.
  /// Empty of others.
  std::function<bool(const AttentionCase& call)> says_right = {};
};
Fault misfit(std::string words);
Fault vague(std::string words, DiagnosedStage of = DiagnosedStage::other);

/// What a subject computes, told from its answers. Without a spec there is no confidence either.
struct Identification {
  std::optional<Spec> spec;  ///< a claim that it would meet; nothing where no spec says it
  Confidence confidence = Confidence::none;
  std::vector<std::string> seen;       ///< what was measured, a line each
  std::vector<Fault> convention;       ///< what `spec` is called in place of its fields: "the corners of patches"
  std::vector<Fault> faults;           ///< what no spec says: "positions above 4095 are clamped"
  std::vector<Fault> arithmetic;       ///< "frequencies are rounded to bfloat16": what its accuracy class comes from
  std::vector<std::string> equal;      ///< other claims that are the same in what was seen, `describe`d
  std::vector<std::string> table;      ///< without a spec: a line for each pair or channel
  std::vector<std::string> effective;  ///< "frequency 8.2 bits", "angle at least 24.6 bits": what is right of each
  std::string recipe;                  ///< whose bits the answers have; empty where they have no known recipe's
  double of_bound = 0;                 ///< the worst value against the bound of `spec`, where there is one
  std::int64_t calls = 0;
};

}  // namespace sextant::identify
