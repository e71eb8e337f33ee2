#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "lib/numeric/ulp.hpp"
#include "properties/catalogue.hpp"
#include "properties/model/model.hpp"
#include "properties/model/questions.hpp"

namespace sextant {
namespace {

// A session that notes which inputs came back modified.
class Watched final : public Session {
 public:
  explicit Watched(Session& session) : session_(session) {}

  Description describe() override { return session_.describe(); }
  Tensors call(std::string_view operation, const Tensors& inputs) override {
    return noted(session_.call(operation, inputs));
  }
  Tensors backward(std::string_view of, const Tensors& inputs) override { return noted(session_.backward(of, inputs)); }

  const std::set<std::string>& modified() const { return modified_; }

 private:
  Tensors noted(Tensors reply) {
    constexpr std::string_view prefix = "modified/";
    for (const auto& [name, tensor] : reply) {
      if (name.starts_with(prefix)) modified_.insert(name.substr(prefix.size()));
    }
    return reply;
  }

  Session& session_;
  std::set<std::string> modified_;
};

// Each third value is -0 or the smallest subnormal number, by turns: what makes zeros without a sign of them changes
// nothing that usual values would show.
void put_small_values(Tensor& values) {
  for (std::int64_t i = 0; i < values.elements(); i += 3) values.set(i, i % 2 == 0 ? -0.0 : ulp(values.dtype, 0));
}

void ask_of_small_values(Session& session, const Spec& spec, const Question& question) {
  const auto model = model_of(spec);
  Call call = model->call_of(question);
  std::ranges::for_each(call.vectors, put_small_values);
  if (call.weight) put_small_values(*call.weight);
  model->ask(session, call);
}

// Those of every call, of as many rows and heads as kernels have paths for, and long enough for kernels that go about a
// prompt in another way.
CasesOf<Question> cases_of_inputs() {
  CasesOf<Question> cases = questions();
  cases.first = [](const Spec& spec) {
    std::vector<Question> questions = first_questions(spec);
    const auto model = model_of(spec);
    const std::int64_t near = gen::simplest_position(model->range());
    std::ranges::copy_if(questions_of_every_extent(near), std::back_inserter(questions),
                         [&](const Question& question) { return fits(spec, question); });
    for (const std::int64_t tokens : {33, 257, 1024, 4097}) {
      if (tokens <= model->longest_drawn_row()) questions.push_back({.position = near, .tokens = tokens, .fill = 1});
    }
    return questions;
  };
  return cases;
}

}  // namespace

Property input_unchanged_property() {
  Property property;
  property.id = "input_unchanged";
  property.level = Level::contract;
  property.needs = Needs::live_subject;
  property.explanation = {
      "a call leaves its inputs as they were",
      "x, positions and weights have the same bits after f(x, positions) as before",
      "a function has no side effects; a worker's reply names the inputs that it left modified (docs/protocol.md)",
      "every encoding",
      "none: all bits are compared, by the worker; among the values are zeros of either sign and subnormal numbers. A "
      "subject that is meant to work in place says so (`in_place`), and is asked nothing",
      "rotations in place of an array that the caller goes on using, positions shifted or scaled where they lie, signs "
      "of zeros dropped"};
  property.not_applicable = [](const Spec&) { return std::optional<std::string>(); };
  use_cases(property, cases_of_inputs(), [](const Spec& spec) -> CheckOf<Question> {
    return [spec, in_place = std::optional<bool>()](Session& session, const Question& question) mutable {
      Judgement judgement;
      if (!in_place) in_place = session.describe().in_place;
      if (*in_place) {
        judgement.add_exact(std::nullopt, [] { return "works in place"; });
        judgement.remark = "the subject says that it works in place";
        return judgement;
      }
      Watched watched(session);
      ask_of_small_values(watched, spec, question);
      const auto& modified = watched.modified();
      judgement.add_exact(
          modified.empty() ? std::nullopt : std::optional(fmt::format("left modified: {}", fmt::join(modified, ", "))),
          [] { return "inputs as they were"; });
      return judgement;
    };
  });
  return property;
}

}  // namespace sextant
