#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "properties/catalogue.hpp"
#include "properties/gen/draw.hpp"
#include "properties/model/model.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/reshaped.hpp"

namespace sextant {
namespace {

// A call, in which other shape its tokens are asked again, and where it is cut.
struct Reshaping : Question {
  std::int64_t shape = 0;
  std::int64_t cut = 0;
};

Reshaping of(const Question& question, std::int64_t shape, std::int64_t cut) {
  Reshaping reshaping;
  static_cast<Question&>(reshaping) = question;
  reshaping.shape = shape;
  reshaping.cut = cut;
  return reshaping;
}

constexpr std::int64_t cuts = std::int64_t{1} << 20;
constexpr std::int64_t one_large_in = 16;  // drawn calls: the others are as small as every other law's

// An encoding may tell fewer fields than others: tokens that must lie inside a claim's end are its model's to say.
bool is_asked(const EncodingModel& model, const Question& question) {
  return holds(model.largest_reshaped(), question) && model.related(question);
}

std::vector<Reshaping> first_reshapings(const Spec& spec) {
  const auto model = model_of(spec);
  const gen::PositionRange range = model->range();
  const auto asked = [&](Question question, const gen::LargestCall& largest) {
    question = clipped(question, largest);
    question.tokens = std::min(question.tokens, model->most_tokens_from(range.first));
    question.position =
        question.position == 0 ? gen::simplest_position(range) : std::max(range.last - question.tokens, range.first);
    if (!model->related(question)) question.position = range.first;
    question.fill = 1;
    return question;
  };
  const gen::LargestCall usual = model->largest_drawn();
  std::vector<Reshaping> list;
  // Heads and rows of which an encoding has one leave calls that are the same.
  std::set<std::array<std::int64_t, 7>> listed;
  const auto put = [&](const Reshaping& r) {
    if (listed.insert({r.position, r.tokens, r.batch, r.heads, r.fill, r.shape, r.cut}).second) list.push_back(r);
  };
  for (std::int64_t shape = 0; shape < model->shapes(); ++shape) {
    put(of(asked({.position = 0, .tokens = 5, .batch = 2, .heads = 3}, usual), shape, 2));
    put(of(asked({.position = 0, .tokens = 257, .batch = 4, .heads = 8}, usual), shape, 131));
  }
  // As many tokens, rows and heads as kernels meet, one after the other, and calls that are large in two, at either end
  // of the range.
  constexpr std::int64_t far = 1;
  const auto add = [&](const Question& question, const gen::LargestCall& largest, std::int64_t shape) {
    put(of(asked(question, largest), shape % model->shapes(), 577));
  };
  add({.position = 0, .tokens = longest_call, .batch = 1, .heads = 1}, model->largest_reshaped(), 2);
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(model->largest_reshaped().vectors)));
  for (const std::int64_t heads : {1, 12}) {
    const auto square = static_cast<std::int64_t>(static_cast<double>(side) / std::sqrt(static_cast<double>(heads)));
    const std::int64_t extent = std::clamp<std::int64_t>(square, 1, 2049);
    for (const std::int64_t shape : {0, 3})
      add({.position = 0, .tokens = extent, .batch = extent, .heads = heads}, model->largest_reshaped(), shape);
  }
  for (const std::int64_t extent : {65, 129, 513})
    add({.position = 0, .tokens = extent, .batch = extent, .heads = 12}, usual, 3);
  add({.position = far, .tokens = 3000, .batch = 1, .heads = 12}, model->largest_reshaped(), 1);
  add({.position = 0, .tokens = longest_call, .batch = 1, .heads = 32}, model->largest_reshaped(), 5);
  add({.position = far, .tokens = 1025, .batch = 4, .heads = 16}, model->largest_reshaped(), 0);
  add({.position = 0, .tokens = longest_call, .batch = most_rows, .heads = 1}, model->largest_reshaped(), 0);
  add({.position = 0, .tokens = 3, .batch = most_rows, .heads = most_heads}, model->largest_reshaped(), 1);
  add({.position = 0, .tokens = 3, .batch = longest_call, .heads = 2}, model->largest_reshaped(), 0);
  add({.position = 0, .tokens = longest_drawn, .batch = 1, .heads = 2}, model->largest_reshaped(), 4);
  add({.position = 0, .tokens = 3, .batch = 1, .heads = most_heads}, usual, 1);
  add({.position = 0, .tokens = 1025, .batch = 3, .heads = 2}, usual, 3);
  // The longest call, and few of its tokens alone: what is wrong in each call from a length on shows beside those.
  const Question longest =
      asked({.position = 0, .tokens = longest_call, .batch = 1, .heads = 1}, model->largest_reshaped());
  constexpr std::int64_t few = 577;
  for (const auto& [alone, at] :
       {std::pair{TokenShape::first_alone, few}, {TokenShape::last_alone, longest.tokens - few}}) {
    if (const auto shape = model->number_of(alone)) put(of(longest, *shape, std::max<std::int64_t>(at - 1, 0)));
  }
  return list;
}

rc::Gen<Reshaping> drawn_reshapings(const Spec& spec) {
  const auto model = model_of(spec);
  const rc::Gen<Question> large =
      of_many_shapes(drawn_questions(spec), model->range(), model->largest_drawn(), one_large_in);
  const auto parts = gen::tuple(large, gen::count(0, model->shapes() - 1), gen::count(0, cuts - 1));
  return gen::map(parts, [model = std::shared_ptr<const EncodingModel>(model_of(spec))](const auto& drawn) {
    const auto& [question, shape, cut] = drawn;
    Question within = clipped(question, model->largest_drawn());
    within.tokens = std::min(within.tokens, model->most_tokens_from(within.position));
    return of(within, shape, cut);
  });
}

CasesOf<Reshaping> reshapings() {
  CasesOf<Reshaping> cases;
  cases.fields = [](const Spec& spec) {
    const auto model = model_of(spec);
    std::vector<FieldOf<Reshaping>> fields;
    for (const auto& [name, role, member, range] : model->reshaping_fields())
      fields.push_back({name, role, member, range});
    fields.push_back({"shape", FieldRole::choice, &Reshaping::shape, {0, model->shapes() - 1}});
    fields.push_back({"cut", FieldRole::choice, &Reshaping::cut, {0, cuts - 1}});
    return fields;
  };
  cases.related = [](const Spec& spec, const Reshaping& asked) { return is_asked(*model_of(spec), asked); };
  cases.first = first_reshapings;
  cases.drawn = drawn_reshapings;
  return cases;
}

CheckOf<Reshaping> shape_independence_check(const Spec& spec) {
  const std::shared_ptr<const EncodingModel> model = model_of(spec);
  return [model, judge = std::shared_ptr(model->judge())](Session& session, const Reshaping& asked) {
    return judge_parts(session, *model, *judge, model->reshaped(asked, asked.shape, asked.cut));
  };
}

}  // namespace

Property shape_independence_property() {
  Property property;
  property.id = "shape_independence";
  property.level = Level::contract;
  property.needs = Needs::live_subject;
  property.explanation = {
      "what a token gets does not depend on the shape of its call",
      "the same tokens asked twice agree: b rows of n against one row of n b; the last heads, the first or last tokens "
      "by themselves; behind other tokens; in reverse order; b(q, k) whole and in tiles, one query, one key; "
      "attend(q, k, v) by batch rows, causal: its first tokens, else: tokens and positions in another order",
      "Vaswani et al. 2017, section 3.5, and Su et al. 2021, section 3.2.2: defined position by position; Press et al. "
      "2021, section 3, and Raffel et al. 2019, section 2.1: by query and key; Vaswani et al. 2017, section 3.2.1: a "
      "sum over keys",
      "every encoding whose frequencies do not depend on the length of the call; calls to 65537 tokens, 128 heads, 64 "
      "rows and 33 MiB, biases of 2049 x 2049 (fewer with many heads), attention of 4096 tokens (fewer with many wide "
      "heads)",
      "where bits differ, both answers are within the class's bound E of one true value, so within 2 E of each other "
      "(docs/proofs/accuracy-classes.md; attention's in attention-oracle.md beside it)",
      "blocks, tiles and tails that are handled wrongly, at one length or from one on; heads or rows beyond a number "
      "that a kernel holds; more queries than keys; offsets that overflow; rows that share what is one row's"};
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (auto reason = accuracy_not_stated(spec)) return reason;
    return depends_on_length(spec);
  };
  use_cases(property, reshapings(), shape_independence_check);
  return property;
}

}  // namespace sextant
