#include "properties/model/question_cases.hpp"

#include "properties/gen/position.hpp"

namespace sextant {
namespace {

constexpr std::size_t question_fields = 5;

gen::PositionRange range_in(const Spec& spec) { return {spec.min_position, last_position_of(spec)}; }

}  // namespace

Question question_of(const Case& values) { return {values[0], values[1], values[2], values[3], values[4]}; }

std::int64_t extra_of(const Case& values, std::size_t index) { return values[question_fields + index]; }

void use_questions(Property& property, const std::vector<ExtraField>& extra) {
  property.fields = [extra](const Spec&) {
    std::vector<std::string> names{"position", "tokens", "batch", "heads", "fill"};
    for (const ExtraField& field : extra) names.push_back(field.name);
    return names;
  };
  property.admits = [extra](const Spec& spec, const Case& values) {
    const Question question = question_of(values);
    const gen::PositionRange range = range_in(spec);
    if (question.position < range.first || question.position >= range.last || question.tokens < 1 ||
        question.tokens > 64 || question.batch < 1 || question.batch > 16 || question.heads < 1 ||
        question.heads > 64 || question.fill < 0) {
      return false;
    }
    for (std::size_t i = 0; i < extra.size(); ++i) {
      if (extra_of(values, i) < 0 || extra_of(values, i) >= extra[i].count(spec)) return false;
    }
    return true;
  };
  property.simplest = [extra](const Spec& spec) {
    Case values{gen::simplest_position(range_in(spec)), 1, 1, 1, 0};
    values.resize(question_fields + extra.size(), 0);
    return values;
  };
  property.first_cases = [extra](const Spec& spec) {
    const gen::PositionRange range = range_in(spec);
    // One token of several rows, several tokens of one row, several of both: kernels have a path for each.
    std::vector<Case> cases{{gen::simplest_position(range), 1, 2, 3, 1},
                            {range.last - 1, 1, 1, 1, 1},
                            {gen::simplest_position(range), 5, 1, 2, 1},
                            {range.first, 3, 2, 5, 1}};
    for (Case& values : cases) values.resize(question_fields + extra.size(), 0);
    return cases;
  };
  property.cases = [extra](const Spec& spec) {
    const auto question = rc::gen::tuple(gen::position(range_in(spec)), gen::one_of({1, 1, 2, 3, 4, 7, 17}),
                                         gen::one_of({1, 1, 2, 3}), gen::one_of({1, 2, 5, 8}), gen::count(0, 1000));
    const auto words =
        rc::gen::container<std::vector<std::int64_t>>(extra.size(), gen::count(0, std::int64_t{1} << 40));
    std::vector<std::int64_t> counts;
    counts.reserve(extra.size());
    for (const ExtraField& field : extra) counts.push_back(field.count(spec));
    return rc::gen::map(rc::gen::pair(question, words), [counts](const auto& drawn) {
      Case values = std::apply([](auto... value) { return Case{value...}; }, drawn.first);
      for (std::size_t i = 0; i < counts.size(); ++i) values.push_back(drawn.second[i] % counts[i]);
      return values;
    });
  };
}

}  // namespace sextant
