#include "properties/identify/identify.hpp"

#include <fmt/format.h>

#include <utility>

#include "lib/spec/of.hpp"
#include "properties/identify/asked_once_more.hpp"
#include "properties/identify/attention/identify_attention.hpp"
#include "properties/identify/biases/identify_bias.hpp"
#include "properties/identify/biases/identify_lookups.hpp"
#include "properties/identify/codes/identify_sinusoidal.hpp"
#include "properties/identify/counted_session.hpp"
#include "properties/identify/counted_subject.hpp"
#include "properties/identify/fitted_answers.hpp"
#include "properties/identify/rotations/effective_bits.hpp"
#include "properties/identify/rotations/identify_axes.hpp"
#include "properties/identify/rotations/identify_rope.hpp"
#include "properties/identify/rotations/rounded_values.hpp"
#include "properties/identify/short_calls.hpp"
#include "properties/identify/state/kept_state.hpp"

namespace sextant::identify {
namespace {

struct OfEncoding {
  CountedSession& session;
  const Spec& probe;

  Identification operator()(const Rope& rope) const { return identify_rope(session, probe, rope); }
  Identification operator()(const RopeNd& rope) const { return identify_rope_nd(session, probe, rope); }
  Identification operator()(const Xpos& xpos) const { return identify_xpos(session, probe, xpos); }
  Identification operator()(const QkNormRope& rope) const { return identify_qk_norm_rope(session, probe, rope); }
  Identification operator()(const RotaryTable& table) const { return identify_rotary_table(session, probe, table); }
  Identification operator()(const Sinusoidal& table) const { return identify_sinusoidal(session, probe, table); }
  Identification operator()(const SinusoidalNd& table) const { return identify_sinusoidal_nd(session, probe, table); }
  Identification operator()(const Sinusoidal2d& table) const { return identify_sinusoidal_2d(session, probe, table); }
  Identification operator()(const Attention& attention) const { return identify_attention(session, probe, attention); }
  Identification operator()(const Alibi& alibi) const { return identify_alibi(session, probe, alibi); }
  Identification operator()(const RelativeBias& bias) const { return identify_relative_bias(session, probe, bias); }
  Identification operator()(const Learned& table) const { return identify_learned(session, probe, table); }
  Identification operator()(const WindowBias& bias) const { return identify_window_bias(session, probe, bias); }
  Identification operator()(const Fourier& features) const { return identify_fourier(session, probe, features); }
  Identification operator()(const LogCoordinates& offsets) const {
    return identify_log_coordinates(session, probe, offsets);
  }
  Identification operator()(const Integer& code) const { return identify_integer(session, probe, code); }
  Identification operator()(const Binary& code) const { return identify_binary(session, probe, code); }
};

// Where nothing is told, the claim itself, which a few answers and calls of other extents may meet.
void try_claim(CountedSession& session, const Spec& probe, Identification& found) {
  if (found.spec || !found.faults.empty()) return;
  const FittedAnswers fitted = fitted_answers(session, probe);
  if (!fitted.hold || to_json(fitted.spec) != to_json(probe) || !answers_unlike(session, probe).empty()) return;
  found.spec = probe;
  found.of_bound = fitted.of_bound;
  found.confidence = Confidence::medium;
  found.seen.emplace_back("what was asked for explains the answers, and no other claim was tried");
  found.table.clear();
}

// What is kept from call to call, in place of what one session's answers show then; whether anything is.
bool take_state(const CountedSubject& subject, const Spec& probe, Identification& found) {
  try {
    if (!depends_on_order(subject, probe)) return false;
    std::optional<Fault> state = found.spec ? kept_state(subject, probe, *found.spec) : std::nullopt;
    if (!state) {
      state = kept_state(subject, probe, probe);
      if (state) found.spec = probe;
    }
    found.faults.assign(1, state ? *state : vague(std::string(depends_on_calls)));
    if (found.spec) {
      found.confidence = Confidence::low;
      found.table.clear();
    }
    return true;
  } catch (const SubjectFailure&) {
    // It has answered enough for a name.
    return false;
  }
}

}  // namespace

Fault::Fault(std::string told, DiagnosedStage of, FaultKind is) : words(std::move(told)), stage(of), kind(is) {}

Fault misfit(std::string words) { return {std::move(words), DiagnosedStage::other, FaultKind::misfit}; }

Fault vague(std::string words, DiagnosedStage of) { return {std::move(words), of, FaultKind::vague}; }

std::string_view name_of(Confidence confidence) {
  switch (confidence) {
    case Confidence::high: return "high";
    case Confidence::medium: return "medium";
    case Confidence::low: return "low";
    case Confidence::none: return "none";
  }
  return "";
}

Identification identify(const Subject& subject, const Spec& probe) {
  constexpr std::int64_t fewest = 16;
  const bool is_grid = is_of<SinusoidalNd, Sinusoidal2d, LogCoordinates>(probe);
  const bool has_too_few = probe.min_position > 0 || (probe.max_position < fewest && !is_grid);
  CountedSession session(subject.open(probe));
  Identification found = has_too_few ? Identification() : of_each(probe, OfEncoding{session, probe});
  if (has_too_few)
    found.table.push_back(fmt::format("positions 0 to {} at least are asked, and the spec has {} to {}", fewest - 1,
                                      probe.min_position, probe.max_position - 1));
  try_claim(session, probe, found);
  const auto is_as_asked = [&](const Spec& spec) {
    return found.confidence != Confidence::low && spec.accuracy == probe.accuracy &&
           spec.evaluation == probe.evaluation;
  };
  if (found.spec && found.faults.empty() && !is_as_asked(*found.spec)) {
    RoundedValues seen = rounded_values(session, *found.spec);
    // Truncated results look like those of an evaluation that rounds more often.
    if (seen.are_truncated && found.spec->evaluation != probe.evaluation) {
      found.spec->evaluation = probe.evaluation;
      found.confidence = Confidence::low;
    }
    if (!seen.words.empty())
      (found.confidence == Confidence::low ? found.faults : found.arithmetic)
          .emplace_back(std::move(seen.words), seen.stage);
  }
  // Truncation shortens all pairs, which no spec of a rotation says.
  if (!found.spec && found.faults.empty()) {
    if (RoundedValues seen = rounded_values(session, probe); seen.are_truncated)
      found.faults.emplace_back(std::move(seen.words), seen.stage);
  }
  if (found.spec && found.faults.empty() &&
      (found.confidence == Confidence::high || found.confidence == Confidence::medium)) {
    if (std::string where = answers_unlike(session, *found.spec); !where.empty()) {
      found.faults.emplace_back(std::move(where), DiagnosedStage::other, FaultKind::elsewhere);
      found.confidence = Confidence::low;
    }
  }
  const CountedSubject counted(subject);
  if (!has_too_few && !take_state(counted, probe, found)) hold_to_short_calls(counted, probe, found);
  // A wider bound that admits the answers says of no step that it is rounded: the claim with its own evaluation and one
  // step less exact is another name of them, where no recipe's bits tell.
  const bool is_fitted = found.spec && found.spec->evaluation != probe.evaluation && found.recipe.empty();
  if (is_fitted && found.confidence == Confidence::high) found.confidence = Confidence::medium;
  if (found.spec) {
    found.effective = effective_bits(session, *found.spec);
  } else {
    found.confidence = Confidence::none;
  }
  found.calls = session.calls() + counted.calls();
  return found;
}

}  // namespace sextant::identify
