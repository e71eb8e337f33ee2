#include "properties/diagnose/laws/violated_contracts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/family.hpp"
#include "properties/model/model.hpp"
#include "properties/model/siblings.hpp"

namespace sextant::identify {
namespace {

constexpr std::string_view fraction_of = "fraction of ";

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool are_same_bits(const Tensor& one, const Tensor& other) {
  return one.dtype == other.dtype && one.shape == other.shape && one.data == other.data;
}

// What another spec answers to the call; nothing where it is asked other calls.
std::optional<Tensor> answer_under(const Subject& subject, const Spec& other, const Call& call) {
  try {
    return model_of(other)->ask(*subject.open(other), call);
  } catch (const SubjectFailure&) {
    return std::nullopt;
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

// What a question was answered where another spec had been asked it before, in one process.
struct Company {
  bool is_changed = false;   // the answer is another than that of a process of its own
  bool is_theirs = false;    // it is the other spec's
  bool was_refused = false;  // the other spec was
  bool is_apart = false;     // the other spec has another answer, and this one is not changed
};

Company in_company(const Subject& subject, const Spec& claim, const Spec& other, const Question& question) {
  const auto own = model_of(claim);
  const Call call = own->call_of(question);
  const Tensor alone = own->ask(*subject.open(claim), call);
  const std::array specs{claim, other};
  const auto sessions = subject.open_together(specs);
  Company company;
  try {
    const auto model = model_of(other);
    model->ask(*sessions[1], model->call_of(question));
  } catch (const SubjectFailure&) {
    company.was_refused = true;
  }
  const Tensor after = own->ask(*sessions[0], call);
  company.is_changed = !are_same_bits(after, alone);
  if (company.was_refused) return company;
  const std::optional<Tensor> theirs = answer_under(subject, other, call);
  company.is_theirs = theirs && are_same_bits(*theirs, after);
  company.is_apart = theirs && !company.is_changed && !are_same_bits(*theirs, alone);
  return company;
}

// The siblings of the field that a finding of the law `siblings` names, the longest where names begin alike; and those
// of the field of whose fraction it is, where a fraction alone was changed, before them: what forgets the whole field
// shows in both.
std::vector<Variant> siblings_named(const Spec& claim, std::string_view finding) {
  const std::vector<Variant> all = siblings_of(claim);
  std::string field;
  for (const Variant& one : all) {
    if (one.field.size() > field.size() && has(finding, fmt::format("with another {} in one process", one.field)))
      field = one.field;
  }
  std::vector<Variant> named;
  const auto add = [&](std::string_view name) {
    std::ranges::copy_if(all, std::back_inserter(named), [&](const Variant& one) { return one.field == name; });
  };
  if (field.starts_with(fraction_of)) add(std::string_view(field).substr(fraction_of.size()));
  if (!field.empty()) add(field);
  return named;
}

// How much of a field tells what is kept of one from what is kept of another.
enum class KeyHas { nothing_of_it, a_part_of_it };

std::string words_of(const std::string& field, const Company& company, KeyHas has_of_it) {
  const bool is_fraction = field.starts_with(fraction_of);
  const std::string name = is_fraction ? field.substr(fraction_of.size()) : field.substr(0, field.find(" ("));
  const std::string key = is_fraction                         ? fmt::format("by the whole number in {}", name)
                          : has_of_it == KeyHas::a_part_of_it ? fmt::format("by a part of {} alone", name)
                                                              : fmt::format("without {}", name);
  if (company.was_refused)
    return fmt::format("a call with another {} that is refused leaves something behind, which answers are made with",
                       name);
  return fmt::format("after a call with another {} in one process answers are {}: what is kept is looked up {}", name,
                     company.is_theirs ? "that call's" : "other ones", key);
}

std::optional<DiagnosedDifference> kept_of_others(const Subject& subject, const Spec& claim,
                                                  const std::string& finding) {
  if (has(finding, "while other threads ask"))
    return DiagnosedDifference{"calls of several threads at once disturb each other: what one sets up another uses", "",
                               DiagnosedStage::other};
  if (has(finding, ", by turns with a sequence"))
    return DiagnosedDifference{"two sequences in one process disturb each other: both go on with one state", "",
                               DiagnosedStage::other};
  const gen::PositionRange range = model_of(claim)->range();
  constexpr std::int64_t tokens = 3;
  const std::vector<Variant> siblings = siblings_named(claim, finding);
  for (auto first = siblings.begin(); first != siblings.end();) {
    const auto last =
        std::find_if(first, siblings.end(), [&](const Variant& one) { return one.field != first->field; });
    std::optional<Company> changed;
    KeyHas key = KeyHas::nothing_of_it;
    for (auto sibling = first; sibling != last; ++sibling) {
      for (const std::int64_t position : {std::max(range.first, range.last - tokens), gen::simplest_position(range)}) {
        const Question question{.position = position, .tokens = tokens, .heads = 2, .fill = 1};
        if (!model_of(claim)->fits(question)) continue;
        const Company company = in_company(subject, claim, sibling->spec, question);
        if (company.is_apart) key = KeyHas::a_part_of_it;
        if (company.is_changed && !changed) changed = company;
      }
    }
    if (changed) return DiagnosedDifference{words_of(first->field, *changed, key), "P4", DiagnosedStage::other};
    first = last;
  }
  return std::nullopt;
}

// What a call makes of values in channels that are not rotated: "NaN becomes 0", one for each that changes.
std::vector<std::string> changed_specials(const Subject& subject, const Spec& claim,
                                          const std::vector<Passthrough>& untouched) {
  const auto model = model_of(claim);
  const Question question{.position = model->range().first, .tokens = 1, .fill = 1};
  const auto session = subject.open(claim);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<std::string> changed;
  for (const double special : {std::numeric_limits<double>::quiet_NaN(), infinity, -0.0}) {
    Call call = model->call_of(question);
    for (Tensor& vectors : call.vectors) vectors.set(untouched.front().input, special);
    const Tensor answer = model->ask(*session, call);
    const double got = answer.at(untouched.front().output);
    const bool is_kept =
        std::isnan(special) ? std::isnan(got) : got == special && std::signbit(got) == std::signbit(special);
    if (!is_kept) changed.push_back(fmt::format("{} becomes {}", special, got));
  }
  return changed;
}

std::optional<DiagnosedDifference> unkept_channels(const Subject& subject, const Spec& claim) {
  const auto* rope = held<Rope>(claim);
  if (rope == nullptr) return std::nullopt;
  const std::vector<Passthrough> untouched = passthrough_channels(*rope);
  if (untouched.empty()) return std::nullopt;
  const std::vector<std::string> changed = changed_specials(subject, claim, untouched);
  if (changed.empty()) return std::nullopt;
  return DiagnosedDifference{fmt::format("in channels that are not rotated {}", fmt::join(changed, ", and ")), "",
                             DiagnosedStage::rotation};
}

// What a violated law says by itself, from the most special on.
struct SaidByLaw {
  std::string_view id;
  const char* words;
};
constexpr std::array said_by_laws{
    SaidByLaw{"determinism", "the same call is answered otherwise from time to time"},
    SaidByLaw{"history", "an answer depends on the calls before it"},
    SaidByLaw{"linearity",
              "vectors are not turned linearly: a multiple of one, or the sum of two, comes back as something else"},
};

}  // namespace

std::optional<DiagnosedDifference> violated_contracts(const Subject& subject, const Spec& claim,
                                                      std::span<const PropertyResult> violated) {
  for (const PropertyResult& result : violated) {
    const std::string finding = result.simplest ? result.simplest->finding : "";
    std::optional<DiagnosedDifference> difference;
    if (result.id == "siblings") difference = kept_of_others(subject, claim, finding);
    if (result.id == "untouched_channels") difference = unkept_channels(subject, claim);
    constexpr std::string_view modified = "left modified: ";
    if (result.id == "input_unchanged" && finding.starts_with(modified))
      difference = {fmt::format("a call writes into its input {}", finding.substr(modified.size())), "",
                    DiagnosedStage::other};
    if (difference) return difference;
  }
  for (const SaidByLaw& law : said_by_laws) {
    if (std::ranges::find(violated, law.id, &PropertyResult::id) != violated.end())
      return DiagnosedDifference{law.words, "", DiagnosedStage::other};
  }
  return std::nullopt;
}

}  // namespace sextant::identify
