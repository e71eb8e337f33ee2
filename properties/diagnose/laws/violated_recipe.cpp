#include "properties/diagnose/laws/violated_recipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/model.hpp"
#include "reference/recipe_answer.hpp"
#include "subjects/operations.hpp"

namespace sextant::identify {
namespace {

// What is told apart: whole calls, the rows of their batch, or their heads.
enum class BitsOf { calls, rows, heads };

// Whether the inquiry by calls ends where parts of calls are apart.
enum class AtParts { end, go_on };
struct Inquiry {
  BitsOf by;
  AtParts at_parts;
};

// What is thrown out of an inquiry by calls where rows or heads of a call have other bits, and not all of them.
struct SomePartsApart {
  BitsOf by;
};

// The other recipes whose bits all have that have not the named one's, and calls of which some parts alone have not.
struct OtherRecipes {
  std::vector<const reference::Recipe*> candidates;
  bool has_any = false;
  int of_rows = 0;
  int of_heads = 0;
  bool are_all_known = false;  // calls that show no difference between them and the named one are refused
};

// Where an element of an answer stands: [batch, tokens, heads, width], or [tokens, width].
std::int64_t part_of(const Tensor& answer, std::int64_t element, BitsOf by) {
  if (by == BitsOf::calls || answer.shape.size() != 4) return 0;
  const std::int64_t vector = element / answer.shape[3];
  return by == BitsOf::heads ? vector % answer.shape[2] : vector / (answer.shape[1] * answer.shape[2]);
}

// The parts of an answer that have not all bits of another.
std::set<std::int64_t> parts_apart(const Tensor& answer, const Tensor& other, BitsOf by) {
  const std::size_t width = size_of(answer.dtype);
  std::set<std::int64_t> parts;
  for (std::int64_t i = 0; i < answer.elements(); ++i) {
    const auto at = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * width);
    const auto end = at + static_cast<std::ptrdiff_t>(width);
    if (!std::equal(answer.data.begin() + at, answer.data.begin() + end, other.data.begin() + at))
      parts.insert(part_of(answer, i, by));
  }
  return parts;
}

// Answers as another session does, but zeros where a part has not all bits of the recipe.
class MarkedSession final : public Session {
 public:
  MarkedSession(std::unique_ptr<Session> session, const reference::Recipe& recipe, const Spec& claim, Inquiry inquiry,
                OtherRecipes& others)
      : session_(std::move(session)),
        claim_(claim),
        expected_(reference::recipe_answer(recipe, claim)),
        inquiry_(inquiry),
        by_(inquiry.by),
        others_(others) {}

  Description describe() override { return session_->describe(); }
  Tensors call(std::string_view operation, const Tensors& inputs) override {
    Tensors reply = session_->call(operation, inputs);
    if (operation != expected_->operation() || reply.empty()) return reply;
    Tensor& answer = reply.begin()->second;
    const auto x = inputs.find("x");
    const Tensor* vectors = x == inputs.end() ? nullptr : &x->second;
    const std::vector<std::int64_t> positions = counts_of(inputs.at("positions"), position_grid_of(claim_.encoding));
    const Tensor expected = expected_->at(positions, vectors);
    if (expected.data.size() != answer.data.size()) return reply;
    if (expected.data == answer.data) {
      const bool shows_nothing =
          others_.are_all_known && std::ranges::all_of(others_.candidates, [&](const auto* other) {
            return answer_of(*other).at(positions, vectors).data == answer.data;
          });
      if (shows_nothing) throw SubjectFailure(FailureKind::unsupported, "a call that shows no recipe");
      return reply;
    }
    const std::set<std::int64_t> apart = parts_apart(answer, expected, by_);
    others_.has_any = true;
    if (by_ == BitsOf::calls) note_parts(answer, expected);
    std::erase_if(others_.candidates, [&](const reference::Recipe* other) {
      const std::set<std::int64_t> not_its = parts_apart(answer, answer_of(*other).at(positions, vectors), by_);
      return std::ranges::any_of(apart, [&](std::int64_t part) { return not_its.contains(part); });
    });
    for (std::int64_t i = 0; i < answer.elements(); ++i) {
      if (apart.contains(part_of(answer, i, by_))) answer.set(i, 0);
    }
    return reply;
  }

 private:
  // A row or a head may have the same bits by chance, as at position 0, so that one call says nothing.
  void note_parts(const Tensor& answer, const Tensor& expected) {
    const auto is_parted = [&](BitsOf by) {
      const std::set<std::int64_t> parts = parts_apart(answer, expected, by);
      return std::ssize(parts) <= part_of(answer, answer.elements() - 1, by);
    };
    others_.of_rows += is_parted(BitsOf::rows) ? 1 : 0;
    others_.of_heads += is_parted(BitsOf::heads) ? 1 : 0;
    constexpr int few = 2;
    if (inquiry_.at_parts == AtParts::go_on || std::max(others_.of_rows, others_.of_heads) < few) return;
    throw SomePartsApart{others_.of_heads > others_.of_rows ? BitsOf::heads : BitsOf::rows};
  }

  reference::RecipeAnswer& answer_of(const reference::Recipe& other) {
    auto& answer = answers_[&other];
    if (!answer) answer = reference::recipe_answer(other, claim_);
    return *answer;
  }

  std::unique_ptr<Session> session_;
  Spec claim_;
  std::unique_ptr<reference::RecipeAnswer> expected_;
  std::map<const reference::Recipe*, std::unique_ptr<reference::RecipeAnswer>> answers_;
  Inquiry inquiry_;
  BitsOf by_;
  OtherRecipes& others_;
};

class MarkedSubject final : public Subject {
 public:
  MarkedSubject(const Subject& subject, const reference::Recipe& recipe, Inquiry inquiry)
      : subject_(subject), recipe_(recipe), inquiry_(inquiry) {}

  std::string name() const override { return subject_.name(); }
  std::unique_ptr<Session> open(const Spec& spec) const override {
    if (others_.candidates.empty() && !others_.has_any) {
      for (const reference::Recipe& other : reference::recipes()) {
        if (other.name != recipe_.name && reference::recipe_answer(other, spec) != nullptr)
          others_.candidates.push_back(&other);
      }
    }
    return std::make_unique<MarkedSession>(subject_.open(spec), recipe_, spec, inquiry_, others_);
  }
  const OtherRecipes& others() const { return others_; }
  void leave_out_what_shows_nothing() { others_.are_all_known = !others_.candidates.empty(); }

 private:
  const Subject& subject_;
  const reference::Recipe& recipe_;
  Inquiry inquiry_;
  mutable OtherRecipes others_;
};

// "the bits of recipe float32-power", "... of recipe a or b", which have the same there; of more it says nothing.
std::string whose_bits(const std::vector<const reference::Recipe*>& candidates) {
  constexpr std::size_t most = 3;
  if (candidates.empty() || candidates.size() > most) return "other bits";
  std::string text = "the bits of recipe";
  for (std::size_t i = 0; i < candidates.size(); ++i)
    text += fmt::format("{} {}", i == 0 ? "" : i + 1 == candidates.size() ? " or" : ",", candidates[i]->name);
  return text;
}

// The recipe that a finding of recipe_identity names, "got 1, float32 has 2": none of another is in that.
const reference::Recipe* recipe_in(std::string_view finding) {
  for (const reference::Recipe& recipe : reference::recipes()) {
    if (finding.find(fmt::format(", {} has ", recipe.name)) != std::string_view::npos) return &recipe;
  }
  return nullptr;
}

struct ToldRecipe {
  std::optional<DiagnosedDifference> difference;
  bool has_parted = false;  // whether rows or heads of a call had other bits, and not all of them
};

ToldRecipe told_by(const Subject& subject, const Spec& claim, const reference::Recipe& recipe, const Clues& clues,
                   const Inquiry& inquiry) {
  constexpr std::string_view of_sizes = "greatest value";
  MarkedSubject marked(subject, recipe, inquiry);
  const std::vector<std::string> failing = failing_cases_of(*violated_named(clues, "recipe_identity"));
  auto place = wrong_places(marked, claim, {.proposer = clues.proposer, .failing = failing});
  // Vectors of one size have the same bits by both.
  if (place && place->words.find(of_sizes) != std::string::npos) {
    marked.leave_out_what_shows_nothing();
    place = wrong_places(marked, claim, {.proposer = clues.proposer, .failing = failing});
  }
  ToldRecipe told{std::nullopt, marked.others().of_rows + marked.others().of_heads > 0};
  if (!place || place->words.find(of_sizes) != std::string::npos) return told;
  for (const std::string_view zeros : {" come back as zeros", " comes back as zeros"}) {
    const std::size_t at = place->words.find(zeros);
    if (at == std::string::npos || !place->words.ends_with(", and the rest is right")) continue;
    std::string_view where = std::string_view(place->words).substr(0, at);
    if (where.ends_with(',')) where.remove_suffix(1);
    const std::string whose = whose_bits(marked.others().candidates);
    told.difference = {fmt::format("{} {} {}, and the rest has those of {}", where,
                                   zeros.starts_with(" comes") ? "has" : "have", whose, recipe.name),
                       "P5", DiagnosedStage::rounding};
    return told;
  }
  return told;
}

}  // namespace

std::optional<DiagnosedDifference> violated_recipe(const Subject& subject, const Spec& claim, const Clues& clues) {
  const PropertyResult* result = violated_named(clues, "recipe_identity");
  if (result == nullptr || !result->simplest) return std::nullopt;
  const reference::Recipe* recipe = recipe_in(result->simplest->finding);
  if (recipe == nullptr || reference::recipe_answer(*recipe, claim) == nullptr) return std::nullopt;
  // Where all parts of every call that differs do, they are told as calls or not at all.
  std::vector<BitsOf> rest{BitsOf::rows, BitsOf::heads};
  try {
    ToldRecipe told = told_by(subject, claim, *recipe, clues, {BitsOf::calls, AtParts::end});
    if (told.difference || !told.has_parted) return std::move(told.difference);
  } catch (const SomePartsApart& parts) {
    rest = {parts.by, BitsOf::calls, parts.by == BitsOf::rows ? BitsOf::heads : BitsOf::rows};
  }
  for (const BitsOf by : rest) {
    if (ToldRecipe told = told_by(subject, claim, *recipe, clues, {by, AtParts::go_on}); told.difference)
      return std::move(told.difference);
  }
  return std::nullopt;
}

std::optional<DiagnosedDifference> violated_bounds(const Subject& subject, const Spec& claim, const Clues& clues) {
  if (violated_named(clues, "bounds") == nullptr || clues.proposer == nullptr) return std::nullopt;
  const auto* sinusoidal = held<Sinusoidal>(claim);
  if (sinusoidal == nullptr || sinusoidal->scale != 1) return std::nullopt;
  const auto model = model_of(claim);
  const auto session = subject.open(claim);
  const auto proposing = clues.proposer->open(claim);
  const gen::PositionRange range = model->range();
  std::optional<double> in_place;
  for (const auto& [position, tokens] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {range.first, 1},
           {range.first, std::min<std::int64_t>(range.last - range.first, 200)},
           {range.first + (range.last - range.first) / 2, 1},
           {std::max(range.first, range.last - 33), std::min<std::int64_t>(range.last - range.first, 33)}}) {
    const Call call = model->call_of({.position = position, .tokens = tokens});
    const Tensor got = model->ask(*session, call);
    const Tensor right = model->ask(*proposing, call);
    for (std::int64_t i = 0; i < got.elements(); ++i) {
      const bool is_one = right.at(i) == 1;
      if (!is_one && !(got.at(i) <= 1 && got.at(i) >= -1)) return std::nullopt;
      if (!is_one) continue;
      if (in_place && *in_place != got.at(i)) return std::nullopt;
      in_place = got.at(i);
    }
  }
  if (!in_place || !(*in_place > 1)) return std::nullopt;
  return DiagnosedDifference{
      fmt::format("where a value is 1, {:.10g} comes back, which is beyond every sine and cosine", *in_place), "B4",
      DiagnosedStage::table};
}

}  // namespace sextant::identify
