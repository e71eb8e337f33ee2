#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/numeric/ulp.hpp"
#include "properties/catalogue.hpp"
#include "properties/engine/failure.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/answers.hpp"
#include "properties/model/family.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/screen.hpp"
#include "subjects/operations.hpp"

// What integer, binary and learned codes are known for: where they are bounded, smooth, and end.

namespace sextant {
namespace {

using reference::Certainty;

Tensor rows_at(Session& session, const Spec& spec, const auto&, const std::vector<std::int64_t>& positions) {
  return encode(session, spec, positions);
}
Tensor rows_at(Session& session, const Spec& spec, const Learned& learned, const std::vector<std::int64_t>& positions) {
  return encode(session, spec, positions, gen::values(spec.dtype, {learned.max_positions, learned.dim}, 2));
}

// The first position behind the end of a code.
std::int64_t end_of(const Learned& learned) { return learned.max_positions; }
std::int64_t end_of(const Binary& binary) { return position_count(binary); }

// The largest position, of either sign, whose code the dtype can hold: float16 ends at 65504.
constexpr double beyond_every_position = 0x1p62;
std::int64_t furthest_held(const Spec& spec, const Integer& integer) {
  return static_cast<std::int64_t>(integer.normalize ? beyond_every_position
                                                     : std::min(largest_finite(spec.dtype), beyond_every_position));
}
std::int64_t furthest_held(const Spec&, const Binary&) { return static_cast<std::int64_t>(beyond_every_position); }

std::optional<std::string> within_one(const Spec& spec, const Integer& integer) {
  if (!integer.normalize && spec.max_position <= 2 && spec.min_position >= -1)
    return "the claim has no position above 1, so no code can leave [-1, 1]";
  return std::nullopt;
}
std::optional<std::string> within_one(const Spec&, const Binary&) { return std::nullopt; }

Theory bounds_theory(const Spec&, const Integer& integer) { return integer.normalize ? Theory::holds : Theory::fails; }
Theory bounds_theory(const Spec&, const Binary&) { return Theory::holds; }

AnswerCheck bounds_check(const Spec& spec) {
  return [spec](const Call& call, const Tensor& table) {
    Judgement judgement;
    for (std::int64_t i = 0; i < table.elements(); ++i) {
      const double value = table.at(i);
      const double size = std::fabs(value);
      judgement.place = call.positions[static_cast<std::size_t>(i / table.shape[1])];
      if (is_no_worse(judgement, size, 1.0)) continue;
      judgement.add(size <= 1 ? Certainty::yes : Certainty::no,
                    {std::isfinite(value) ? size : not_finite().of_bound, size, 0}, [&] {
                      return fmt::format("position {}, channel {}: {}", *judgement.place, i % table.shape[1],
                                         value_text(spec.dtype, value));
                    });
    }
    return judgement;
  };
}

Theory step_theory(const Spec&, const Integer&) { return Theory::holds; }
Theory step_theory(const Spec&, const Binary&) { return Theory::fails; }

CheckOf<Question> step_check(const Spec& spec, const auto& encoding) {
  return [spec, encoding](Session& session, const Question& question) {
    // BeyondCode what the dtype holds the code is infinite, and its steps are nothing.
    const std::int64_t held = furthest_held(spec, encoding);
    const std::int64_t first = std::max(spec.min_position, -held);
    const std::int64_t p = std::clamp(question.position, first, std::min(spec.max_position - 1, held) - 1);
    const Tensor table = rows_at(session, spec, encoding, {first, first + 1, p, p + 1});
    const std::int64_t width = table.shape[1];
    double near_step = 0;
    double far_step = 0;
    double largest = 0;
    for (std::int64_t c = 0; c < width; ++c) {
      near_step += std::fabs(table.at(width + c) - table.at(c));
      far_step += std::fabs(table.at(3 * width + c) - table.at(2 * width + c));
      for (std::int64_t row = 0; row < 4; ++row) largest = std::max(largest, std::fabs(table.at(row * width + c)));
    }
    Judgement judgement;
    const double bound = 8 * static_cast<double>(width) * ulp(spec.dtype, largest);
    const double error = std::fabs(far_step - near_step);
    const bool finite = std::isfinite(error) && std::isfinite(largest);
    judgement.add(finite && error <= bound ? Certainty::yes : Certainty::no,
                  finite ? Deviation{error / bound, error, 0} : not_finite(), [&] {
                    return fmt::format("from {} to {} the code changes by {:g}, from {} to {} by {:g}", first,
                                       first + 1, near_step, p, p + 1, far_step);
                  });
    return judgement;
  };
}

// How far behind the end of the code.
struct BeyondCode {
  std::int64_t beyond;
};

CasesOf<BeyondCode> places_beyond_code() {
  CasesOf<BeyondCode> cases;
  cases.fields = [](const Spec&) -> std::vector<FieldOf<BeyondCode>> {
    return {{"beyond", FieldRole::number, &BeyondCode::beyond, {0, std::int64_t{1} << 40}}};
  };
  cases.first = [](const Spec&) -> std::vector<BeyondCode> { return {{0}, {1}, {1000}}; };
  cases.drawn = [](const Spec&) {
    return gen::map(gen::position({0, std::int64_t{1} << 20}), [](std::int64_t beyond) { return BeyondCode{beyond}; });
  };
  return cases;
}

CheckOf<BeyondCode> refusal_check(const Spec& spec, const auto& encoding) {
  return [spec, encoding](Session& session, const BeyondCode& asked) {
    const std::int64_t end = end_of(encoding);
    Judgement judgement;
    std::optional<std::string> answered;
    try {
      rows_at(session, spec, encoding, {end + asked.beyond});
      answered = fmt::format("position {} of {} was answered", end + asked.beyond, end);
    } catch (const SubjectFailure& failure) {
      if (ends_session(failure.kind())) throw;
    }
    judgement.add_exact(answered, [] { return "refused"; });
    return judgement;
  };
}

std::optional<std::string> end_is_too_far(const Spec&, const Binary& binary) {
  if (binary.dim > 50) return "no position lies beyond its end";
  return std::nullopt;
}
std::optional<std::string> end_is_too_far(const Spec&, const Learned&) { return std::nullopt; }

}  // namespace

Property code_bounds_property() {
  Property property;
  property.id = "code_bounds";
  property.explanation = {
      "codes stay within [-1, 1], whatever the position",
      "|c(p)| <= 1 for every position p",
      "the unbounded codes that sinusoids were preferred to: Vaswani et al. 2017, section 3.5; Gehring et al. 2017",
      "integer, binary; for an integer code that is not normalised the encoding lacks the property, "
      "and the audit must find a case that shows it",
      "none: 1 is a value of every dtype, and rounding does not carry a number over it",
      "a missing normalisation, or one by another length than the claim's"};
  property.not_applicable =
      stated_for<Integer, Binary>([](const Spec& spec, const auto& encoding) { return within_one(spec, encoding); });
  property.theory =
      of<Integer, Binary>([](const Spec& spec, const auto& encoding) { return bounds_theory(spec, encoding); });
  judge_answers(property, bounds_check);
  return property;
}

Property uniform_step_property() {
  Property property;
  property.id = "uniform_step";
  property.explanation = {"neighbouring positions are equally far apart everywhere",
                          "max_c |c(p+1) - c(p)| summed over the channels is the same for all p",
                          "the way from integer over binary to sinusoidal codes: a count has it, digits that carry "
                          "have not, rotations have it again (Vaswani et al. 2017, section 3.5)",
                          "integer; binary lacks it, since a carry changes many digits at once, "
                          "and the audit must find a case that shows it",
                          "each of the four values is one conversion or quotient: within 2 ULP of the largest, so a "
                          "step is within 4 of them and two steps within 8, for each channel",
                          "positions of low precision beyond what the dtype costs, clamped or wrapped ones"};
  property.not_applicable =
      stated_for<Integer, Binary>([](const Spec& spec, const auto& encoding) -> std::optional<std::string> {
        const std::int64_t held = furthest_held(spec, encoding);
        if (std::min(spec.max_position - 1, held) - std::max(spec.min_position, -held) < 4)
          return "the dtype holds fewer than five positions of the claim";
        return std::nullopt;
      });
  property.theory =
      of<Integer, Binary>([](const Spec& spec, const auto& encoding) { return step_theory(spec, encoding); });
  use_cases(property, questions(),
            of<Integer, Binary>([](const Spec& spec, const auto& encoding) { return step_check(spec, encoding); }));
  return property;
}

Property out_of_range_property() {
  Property property;
  property.id = "out_of_range";
  property.level = Level::advice;
  property.needs = Needs::live_subject;
  property.explanation = {"a position beyond the end of the code is refused",
                          "encode(p) is an error for p >= max_positions (learned), p >= 2^dim (binary)",
                          "a table of n rows says nothing of row n: it does not extrapolate (Gehring et al. 2017; "
                          "Press et al. 2021, section 1)",
                          "learned, binary",
                          "none. Advice: beyond its claim an implementation cannot be convicted",
                          "indices clamped, wrapped, passed through, or read from whatever memory follows"};
  property.not_applicable = stated_for<Learned, Binary>(
      [](const Spec& spec, const auto& encoding) { return end_is_too_far(spec, encoding); });
  use_cases(property, places_beyond_code(),
            of<Learned, Binary>([](const Spec& spec, const auto& encoding) { return refusal_check(spec, encoding); }));
  return property;
}

}  // namespace sextant
