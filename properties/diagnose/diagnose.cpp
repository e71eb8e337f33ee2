#include "properties/diagnose/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/diagnose/answers_apart.hpp"
#include "properties/diagnose/laws/violated_contracts.hpp"
#include "properties/diagnose/laws/violated_gradients.hpp"
#include "properties/diagnose/laws/violated_recipe.hpp"
#include "properties/diagnose/places/failing_attention.hpp"
#include "properties/diagnose/places/other_weights.hpp"
#include "properties/diagnose/places/refused_calls.hpp"
#include "properties/diagnose/places/wrong_places.hpp"
#include "properties/diagnose/rearranged_answers.hpp"
#include "properties/diagnose/rotations/narrow_positions.hpp"
#include "properties/diagnose/rotations/other_rotations.hpp"
#include "properties/diagnose/short_audit.hpp"
#include "properties/identify/differences.hpp"
#include "properties/identify/identify.hpp"
#include "properties/identify/short_calls.hpp"
#include "properties/identify/state/kept_state.hpp"
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
      // The bound of a head that is normalized first leaves room for either.
      rounded = fmt::format("{}cosines and sines are rounded to {} before they are used",
                            is_of<QkNormRope>(claim) ? "normalized heads, or " : "", format);
      break;
    case Evaluation::dtype:
      // A wider bound that admits the answers says of no step that it is rounded.
      if (attends) {
        rounded = fmt::format("the formula is the claimed one, computed less exactly, as where steps are rounded to {}",
                              format);
        break;
      }
      rounded = fmt::format("the table and the result of each operation are rounded to {}, not the last alone", format);
      break;
    case Evaluation::dtype_accumulate:
      rounded = fmt::format("the result of each operation, and of each term of a sum, is rounded to {}", format);
      break;
  }
  return fmt::format("{}: evaluation {} measured, {} claimed", rounded, field_of(found.evaluation),
                     field_of(claim.evaluation));
}

bool is_16_bit_class(AccuracyClass accuracy) {
  return accuracy == AccuracyClass::float16_angle || accuracy == AccuracyClass::bfloat16_angle;
}

// The difference that is another class, which is named where a second audit held.
void name_class(Diagnosis& diagnosis, AccuracyClass claimed, AccuracyClass found) {
  std::string& words = diagnosis.differences.front().words;
  if (diagnosis.is_verified) {
    words = fmt::format("the formula is the claimed one, computed less exactly: {} measured, {} claimed",
                        name_of(found), name_of(claimed));
    return;
  }
  words = fmt::format("the formula is the claimed one, computed less exactly than {} allows", name_of(claimed));
  diagnosis.spec_json.clear();
}

// Whether a field is what pairs and channels show by themselves, their places, lengths and what position 0 is turned
// to, and no parameter that was fitted to some of the answers.
bool is_seen_directly(const Spec& claim, const DiagnosedDifference& difference) {
  // Scores show products of queries' and keys' alone.
  if (is_of<Attention>(claim)) return false;
  return difference.stage == DiagnosedStage::rotation || difference.stage == DiagnosedStage::table ||
         difference.stage == DiagnosedStage::position;
}

// Of a claim that a second audit refutes, and one of the answers to the first claim; the first `of_fields` differences
// are of its fields.
void keep_what_was_seen(const Spec& claim, Diagnosis& diagnosis, std::size_t of_fields) {
  diagnosis.spec_json.clear();
  const auto first = diagnosis.differences.begin();
  const auto last = first + static_cast<std::ptrdiff_t>(of_fields);
  diagnosis.differences.erase(
      std::remove_if(first, last, [&](const auto& one) { return !is_seen_directly(claim, one); }), last);
}

// Whether a case that fails by itself is of a call that a fault says to be right: a simpler one than the call of which
// it says that answers are farther off there than elsewhere ("in a call of 96 tokens from position 0 on ..."), or, of
// what is not attention, one that its condition leaves out.
bool is_refuted(const Spec& claim, const Fault& fault, const std::vector<Question>& failing) {
  const auto has = [&](std::string_view words) { return fault.words.find(words) != std::string::npos; };
  constexpr std::string_view mark = "in a call of ";
  std::int64_t tokens = 0;
  if (const auto at = fault.words.find(mark); at != std::string::npos && fault.kind == FaultKind::elsewhere) {
    const char* const first = fault.words.data() + at + mark.size();
    std::from_chars(first, fault.words.data() + fault.words.size(), tokens);
  }
  const bool has_condition = !is_of<Attention>(claim);
  const bool is_of_several = has("of several tokens");
  const bool is_of_rows = has("rows of a batch") || has("in batches of");
  return std::ranges::any_of(failing, [&](const Question& question) {
    const bool is_left_out = question.batch == 1 && (is_of_rows || (is_of_several && question.tokens == 1));
    return question.tokens < tokens || (has_condition && is_left_out);
  });
}

// What differs by the name that was found, and whether no more is known of it than that something does.
struct Told {
  Diagnosis diagnosis;
  bool is_vague = false;
  bool is_of_class = false;  // it names a laxer accuracy class, and not what makes it so
  bool is_of_calls = false;  // it says in which calls of attention answers are wrong, and not what differs there
};

// Words that the audit's own failing calls refute are of fewer calls than are wrong.
void widen_places(const Spec& claim, const Clues& clues, std::vector<Fault>& faults) {
  const std::vector<AttentionCase> failing = failing_attention(claim, clues);
  for (Fault& fault : faults) {
    const Widened other = widened(fault, failing);
    if (other.is_refuted) fault.words = other.words;
  }
  std::erase_if(faults, [](const Fault& one) { return one.words.empty(); });
}

Told told_by_name(const Subject& subject, const Spec& claim, Identification found, const Clues& clues) {
  // Calls that a laxer class does not meet either say less than a second audit of that class.
  if (found.spec && found.spec->accuracy != claim.accuracy)
    std::erase_if(found.faults, [](const Fault& one) { return one.kind == FaultKind::elsewhere; });
  Told told;
  Diagnosis& diagnosis = told.diagnosis;
  // The fields of a name that does not explain the answers are no difference, nor is how far it is off.
  const auto has = [&](FaultKind kind) {
    return std::ranges::any_of(found.faults, [&](const Fault& one) { return one.kind == kind; });
  };
  if (has(FaultKind::misfit)) return told;
  told.is_vague = has(FaultKind::vague) || has(FaultKind::elsewhere) || has(FaultKind::remainder);
  // Of an audit that some calls are right is no news, and what is left of the name says less.
  if (std::erase_if(found.faults, [](const Fault& one) { return one.kind == FaultKind::remainder; }) > 0 &&
      found.faults.empty())
    return told;
  const std::vector<Question> failing = failing_questions(claim, clues);
  const std::size_t dropped =
      std::erase_if(found.faults, [&](const Fault& one) { return is_refuted(claim, one, failing); });
  told.is_vague = told.is_vague || dropped > 0;
  told.is_of_calls = std::ranges::any_of(found.faults, [](const Fault& one) { return one.says_right != nullptr; });
  widen_places(claim, clues, found.faults);
  if (found.spec && found.convention.empty()) diagnosis.differences = differences(claim, *found.spec);
  const std::size_t of_fields = diagnosis.differences.size();
  for (const Fault& convention : found.convention) diagnosis.differences.push_back(difference_of(convention));
  for (const Fault& fault : found.faults) diagnosis.differences.push_back(difference_of(fault));
  const bool is_as_claimed =
      found.confidence != Confidence::low && found.spec && found.spec->accuracy == claim.accuracy;
  if (!is_as_claimed) {
    for (const Fault& fault : found.arithmetic) diagnosis.differences.push_back(difference_of(fault));
  }
  const bool has_other_class = found.spec && found.spec->accuracy != claim.accuracy;
  if (diagnosis.differences.empty() && has_other_class) {
    // A class of 16-bit angles admits nearly anything at far positions. The fastest angles near 300 are some hundred
    // radians: those of a 16-bit format are off by 300 2^-12 and more, thousands of times what stricter classes allow.
    if (is_16_bit_class(found.spec->accuracy) && ShortCalls(subject, claim).is_early_call_right()) return told;
    diagnosis.differences.push_back({"", "", DiagnosedStage::arithmetic});
  }
  // Another evaluation is fitted to answers, and says nothing where a fault is behind them. Below it is kept where a
  // second audit held.
  const bool has_other_evaluation =
      found.spec && found.faults.empty() && found.convention.empty() && found.spec->evaluation != claim.evaluation;
  const std::size_t before_evaluation = diagnosis.differences.size();
  if (has_other_evaluation)
    diagnosis.differences.push_back(
        {evaluation_words(claim, *found.spec), "",
         found.spec->evaluation == Evaluation::table ? DiagnosedStage::table : DiagnosedStage::rounding});
  if (diagnosis.differences.empty()) return told;
  // A claim of another encoding is no spec of the subject's.
  const bool is_of_encoding = found.spec && are_of_one_encoding(*found.spec, claim);
  if (is_of_encoding && found.faults.empty() && to_json(*found.spec) != to_json(claim)) {
    diagnosis.spec_json = to_json(*found.spec);
    const ShortAudit second = audited(subject, *found.spec);
    diagnosis.is_verified = second.holds;
    diagnosis.of_bound = second.of_bound;
    // One that reads a field of the spec in some calls alone is another subject under the changed claim.
    const bool is_so_as_asked = !second.holds || audited_as_asked(subject, claim, *found.spec).holds;
    if (!is_so_as_asked) {
      told.diagnosis = {};
      return told;
    }
    if (has_other_evaluation && !second.holds)
      diagnosis.differences.erase(diagnosis.differences.begin() + static_cast<std::ptrdiff_t>(before_evaluation));
    if (diagnosis.differences.empty()) return {};
  }
  if (diagnosis.differences.front().words.empty()) {
    name_class(diagnosis, claim.accuracy, found.spec->accuracy);
    told.is_of_class = true;
    told.is_vague = !diagnosis.is_verified;
  } else if (!diagnosis.spec_json.empty() && !diagnosis.is_verified) {
    const ShortAudit as_asked = audited_as_asked(subject, claim, *found.spec);
    if (as_asked.holds) {
      diagnosis.is_as_asked = true;
      diagnosis.of_bound = as_asked.of_bound;
    } else {
      keep_what_was_seen(claim, diagnosis, of_fields);
      // What was seen may be so of some calls alone, which a place of wrong vectors says.
      told.is_vague = true;
    }
  }
  return told;
}

// What one way of asking tells.
using AskedDifference = std::function<std::optional<DiagnosedDifference>()>;

// The first of them that tells something, by itself.
std::optional<Diagnosis> first_told(std::initializer_list<AskedDifference> ways) {
  for (const AskedDifference& ask : ways) {
    if (auto difference = ask()) {
      Diagnosis alone;
      alone.differences.push_back(std::move(*difference));
      return alone;
    }
  }
  return std::nullopt;
}

std::optional<Diagnosis> made(const Subject& subject, const Spec& asked, const Clues& clues) {
  // A recorded table's positions.
  const Spec claim = subject.within_reach(asked);
  if (auto first = first_told(
          {[&] { return unusable_answers(subject, claim); }, [&] { return rearranged_answers(subject, claim); }}))
    return first;
  const Identification found = identify(subject, claim);
  Told told = told_by_name(subject, claim, found, clues);
  if (told.diagnosis.differences.empty() || told.is_vague || told.is_of_class) {
    if (auto narrow = first_told({[&] { return narrow_positions(subject, claim); }})) return narrow;
  }
  // What explains every vector that is asked is more than what is told of some, or what a short audit does not refute.
  const Spec* verified = told.diagnosis.is_verified ? &*found.spec : nullptr;
  if (auto reading =
          first_told({[&] { return other_rotation(subject, claim, verified, failing_questions(claim, clues)); }}))
    return reading;
  // Other calls are wrong in another order of calls.
  if (told.is_of_calls && fails_after_other_calls(clues))
    return first_told({[] {
      return DiagnosedDifference{std::string(depends_on_calls), "P4", DiagnosedStage::position};
    }});
  if (told.diagnosis.differences.empty() || told.is_vague) {
    if (auto place = first_told(
            {[&] { return other_weight(subject, claim); }, [&] { return dependent_answers(subject, claim); },
             [&] { return wrong_places(subject, claim, clues); }, [&] { return wrong_block(subject, claim); }}))
      return place;
  }
  if (!told.diagnosis.differences.empty()) return std::move(told.diagnosis);
  // Values are right, or nothing is known of them.
  return first_told({[&] { return violated_contracts(subject, claim, clues.violated); },
                     [&] { return violated_gradients(subject, claim, clues); },
                     [&] { return violated_recipe(subject, claim, clues); },
                     [&] { return violated_bounds(subject, claim, clues); }});
}

}  // namespace

std::optional<Diagnosis> diagnose(const Subject& subject, const Spec& claim, const Clues& clues) {
  try {
    if (auto told = made(subject, claim, clues)) return told;
  } catch (const SubjectFailure&) {
    // The verdicts tell how it failed.
  }
  return first_told({[&] { return refused_calls(subject, subject.within_reach(claim)); }});
}

}  // namespace sextant::identify
