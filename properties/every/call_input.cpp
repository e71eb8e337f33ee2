#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

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
      "none: all bits are compared, by the worker. A subject that is meant to work in place says so (`in_place`), and "
      "is "
      "asked nothing",
      "rotations in place of an array that the caller goes on using, positions shifted or scaled where they lie"};
  property.not_applicable = [](const Spec&) { return std::optional<std::string>(); };
  CasesOf<Question> cases = questions();
  cases.first = [](const Spec& spec) {
    const auto model = model_of(spec);
    std::vector<Question> first = first_questions(spec);
    // Kernels take another path for each size, and write in place in some.
    const std::int64_t near = gen::simplest_position(model->range());
    for (const std::vector<Question>& more :
         {questions_of_every_extent(near), questions_of_long_calls(near, model->judged_values())}) {
      std::ranges::copy_if(more, std::back_inserter(first),
                           [&](const Question& question) { return fits(spec, question); });
    }
    return first;
  };
  use_cases(property, cases, [](const Spec& spec) -> CheckOf<Question> {
    return [spec, in_place = std::optional<bool>()](Session& session, const Question& question) mutable {
      Judgement judgement;
      if (!in_place) in_place = session.describe().in_place;
      if (*in_place) {
        judgement.add_exact(std::nullopt, [] { return "works in place"; });
        judgement.remark = "the subject says that it works in place";
        return judgement;
      }
      Watched watched(session);
      ask(watched, spec, question);
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
