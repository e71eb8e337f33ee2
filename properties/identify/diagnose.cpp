#include "properties/identify/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/catalogue.hpp"
#include "properties/engine/engine.hpp"
#include "properties/gen/position.hpp"
#include "properties/identify/answers_apart.hpp"
#include "properties/identify/differences.hpp"
#include "properties/identify/identify.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// Faults by what their words begin with, and the rows of docs/bug-zoo.md that have them.
struct KnownFault {
  std::string_view beginning;
  std::string_view row;
};
constexpr std::array known_faults{
    KnownFault{"positions are rounded to whole numbers", "A16"},
    KnownFault{"positions are rounded down to whole numbers", "A16"},
    KnownFault{"positions are rounded to", "A1"},
    KnownFault{"angles are rounded to", "A3"},
    KnownFault{"frequencies are rounded to", "A5"},
    KnownFault{"frequencies come from", "B7"},
    KnownFault{"the two members of a pair change places", "I19"},
    KnownFault{"heads read the weight's columns in reverse", "C3"},
    KnownFault{"coordinates are multiplied by their scales, where", "N7"},
    KnownFault{"wavelengths are rounded to", "A11"},
    KnownFault{"cosines and sines alternate", "C6"},
    KnownFault{"a row stands there twice over", "C8"},
    KnownFault{"the channel that pads an odd width", "K17"},
    KnownFault{"frequencies are dealt out backwards", "N6"},
    KnownFault{"biases are rounded to", "L8"},
    KnownFault{"query and key change places", "M10"},
    KnownFault{"the number of tokens", "G5"},
    KnownFault{"a table of two equal halves", "C6"},
    KnownFault{"a table of adjacent repeats", "C7"},
    KnownFault{"the blend of llama3's middle band is reversed", "G9"},
    KnownFault{"llama3's middle band is left unscaled", "G10"},
    KnownFault{"one position off", "H4"},
    KnownFault{"a token's place", "H1"},
    KnownFault{"rotates over", "I20"},
    KnownFault{"all rows of a batch", "H6"},
    KnownFault{"positions are taken to be consecutive", "H9"},
    KnownFault{"rows of a batch continue", "I2"},
    KnownFault{"positions are read as [tokens, batch]", "I20"},
    KnownFault{"positions above", "I10"},
    KnownFault{"positions wrap", "I10"},
    KnownFault{"only the first head", "I15"},
    KnownFault{"negative positions", "H5"},
};

DiagnosedDifference difference_of(const Fault& fault) {
  const auto known =
      std::ranges::find_if(known_faults, [&](const KnownFault& one) { return fault.words.starts_with(one.beginning); });
  return {fault.words, known == known_faults.end() ? std::string() : std::string(known->row), fault.stage};
}

// As a spec has it.
std::string_view field_of(Evaluation evaluation) {
  switch (evaluation) {
    case Evaluation::float32: return "float32";
    case Evaluation::table: return "table";
    case Evaluation::dtype: return "dtype";
    case Evaluation::dtype_accumulate: return "dtype-accumulate";
  }
  return "";
}

// What is rounded where the evaluation found differs from the claimed one.
std::string evaluation_words(const Spec& claim, const Spec& found) {
  const std::string_view format = name_of(claim.dtype);
  const bool attends = is_of<Attention>(claim);
  std::string rounded;
  switch (found.evaluation) {
    case Evaluation::float32: rounded = "nothing is rounded before the result is"; break;
    case Evaluation::table:
      rounded = fmt::format("cosines and sines are rounded to {} before they are used", format);
      break;
    case Evaluation::dtype:
      rounded = fmt::format("{} are rounded to {}, not the last alone",
                            attends ? "the results of attention's steps" : "the table and the result of each operation",
                            format);
      break;
    case Evaluation::dtype_accumulate:
      rounded = fmt::format("the result of each operation, and of each term of a sum, is rounded to {}", format);
      break;
  }
  return fmt::format("{}: evaluation {} measured, {} claimed", rounded, field_of(found.evaluation),
                     field_of(claim.evaluation));
}

// A few cases of accuracy under the claim that was found.
void verify(Diagnosis& diagnosis, const Subject& subject, const Spec& found) {
  AuditOptions options;
  options.profile = Profile::quick;
  options.amount = {.values = 1 << 16, .cases = 12, .largest_call = 4096};
  options.counterexamples = Counterexamples::not_sought;
  const AuditOutcome outcome = audit({*property_named("accuracy")}, subject, found, options);
  const PropertyResult& result = outcome.results.front();
  diagnosis.is_verified = result.verdict == Verdict::holds;
  if (result.worst) diagnosis.of_bound = result.worst->deviation.of_bound;
}

bool is_16_bit_class(AccuracyClass accuracy) {
  return accuracy == AccuracyClass::float16_angle || accuracy == AccuracyClass::bfloat16_angle;
}

// Whether a value near position 300 is off. The fastest angles there are some hundred radians: those of a 16-bit format
// are off by 300 2^-12 and more, thousands of times what stricter classes allow.
bool is_off_early(const Subject& subject, const Spec& claim) {
  const auto session = subject.open(claim);
  const auto model = model_of(claim);
  const gen::PositionRange range = model->range();
  constexpr std::int64_t tokens = 4;
  const std::int64_t position = std::clamp<std::int64_t>(301, range.first, std::max(range.first, range.last - tokens));
  const Call call = model->call_of({.position = position, .tokens = tokens, .batch = 1, .heads = 2, .fill = 7});
  return model->judge()->values(call, model->ask(*session, call)).within == reference::Certainty::no;
}

// The difference that is another class, which is named where a second audit held.
void name_class(Diagnosis& diagnosis, AccuracyClass claimed, AccuracyClass found) {
  std::string& words = diagnosis.differences.front().words;
  if (diagnosis.is_verified) {
    words =
        fmt::format("what is claimed, but its arithmetic is that of {}, not of {}", name_of(found), name_of(claimed));
    return;
  }
  words = fmt::format("what is claimed, but its arithmetic is less exact than {} allows", name_of(claimed));
  diagnosis.spec_json.clear();
}

std::optional<Diagnosis> made(const Subject& subject, const Spec& asked) {
  // A recorded table's positions.
  const Spec claim = subject.within_reach(asked);
  Diagnosis diagnosis;
  if (auto unusable = unusable_answers(subject, claim)) {
    diagnosis.differences.push_back(std::move(*unusable));
    return diagnosis;
  }
  const Identification found = identify(subject, claim);
  // The fields of a name that does not explain the answers are no difference, nor is how far it is off.
  const bool is_off = std::ranges::any_of(found.faults, [](const Fault& one) { return one.kind == FaultKind::misfit; });
  if (is_off) return std::nullopt;
  if (found.spec && found.convention.empty()) diagnosis.differences = differences(claim, *found.spec);
  for (const Fault& convention : found.convention) diagnosis.differences.push_back(difference_of(convention));
  for (const Fault& fault : found.faults) diagnosis.differences.push_back(difference_of(fault));
  const bool is_as_claimed =
      found.confidence != Confidence::low && found.spec && found.spec->accuracy == claim.accuracy;
  if (!is_as_claimed) {
    for (const Fault& fault : found.arithmetic) diagnosis.differences.push_back(difference_of(fault));
  }
  const bool has_other_class = found.spec && found.spec->accuracy != claim.accuracy;
  if (diagnosis.differences.empty() && has_other_class) {
    // A class of 16-bit angles admits nearly anything at far positions.
    if (is_16_bit_class(found.spec->accuracy) && !is_off_early(subject, claim)) return std::nullopt;
    diagnosis.differences.push_back({"", "", DiagnosedStage::arithmetic});
  }
  // Another evaluation is tried where the claimed one does not hold, and kept where it does.
  if (found.spec && found.spec->evaluation != claim.evaluation)
    diagnosis.differences.push_back(
        {evaluation_words(claim, *found.spec), "",
         found.spec->evaluation == Evaluation::table ? DiagnosedStage::table : DiagnosedStage::rounding});
  if (diagnosis.differences.empty()) return std::nullopt;
  if (found.spec && found.faults.empty() && to_json(*found.spec) != to_json(claim)) {
    diagnosis.spec_json = to_json(*found.spec);
    verify(diagnosis, subject, *found.spec);
  }
  if (diagnosis.differences.front().words.empty()) name_class(diagnosis, claim.accuracy, found.spec->accuracy);
  return diagnosis;
}

}  // namespace

std::optional<Diagnosis> diagnose(const Subject& subject, const Spec& claim) {
  try {
    return made(subject, claim);
  } catch (const SubjectFailure&) {
    // The verdicts tell how it failed.
    return std::nullopt;
  }
}

}  // namespace sextant::identify
