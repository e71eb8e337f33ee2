#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/numeric/ulp.hpp"
#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/question_cases.hpp"
#include "subjects/operations.hpp"

// What integer, binary and learned codes are known for: where they are bounded, smooth, and end.

namespace sextant {
namespace {

using reference::Certainty;

bool is_integer(const Spec& spec) { return std::holds_alternative<Integer>(spec.encoding); }
bool is_binary(const Spec& spec) { return std::holds_alternative<Binary>(spec.encoding); }
const Learned* learned_of(const Spec& spec) { return std::get_if<Learned>(&spec.encoding); }

Tensor rows_at(Session& session, const Spec& spec, const Question& question,
               const std::vector<std::int64_t>& positions) {
  const Learned* learned = learned_of(spec);
  if (learned == nullptr) return encode(session, spec, positions);
  return encode(session, spec, positions,
                gen::values(spec.dtype, {learned->max_positions, learned->dim}, question.fill + 1));
}

// The largest position, of either sign, whose code the dtype can hold: float16 ends at 65504.
std::int64_t furthest_held(const Spec& spec) {
  const auto* integer = std::get_if<Integer>(&spec.encoding);
  const bool plain = integer != nullptr && !integer->normalize;
  return static_cast<std::int64_t>(plain ? std::min(largest_finite(spec.dtype), 0x1p62) : 0x1p62);
}

}  // namespace

Property code_bounds_property() {
  Property property;
  property.id = "code_bounds";
  property.explanation = {
      "codes stay within [-1, 1], whatever the position",
      "|c(p)| <= 1 for every position p",
      "what the sinusoidal code was chosen over: Vaswani et al. 2017, section 3.5; Gehring et al. 2017",
      "integer, binary; for an integer code that is not normalised mathematics says that it fails, and the witness is "
      "required",
      "none: 1 is a value of every dtype, and rounding does not carry a number over it",
      "a missing normalisation, or one by another length than the claim's"};
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (!is_integer(spec) && !is_binary(spec)) return not_stated_for(spec);
    if (is_integer(spec) && !std::get<Integer>(spec.encoding).normalize && spec.max_position <= 2 &&
        spec.min_position >= -1)
      return "no position of the claim is beyond 1";
    return std::nullopt;
  };
  property.theory = [](const Spec& spec) {
    return is_integer(spec) && !std::get<Integer>(spec.encoding).normalize ? Theory::fails : Theory::holds;
  };
  use_questions(property);
  property.make_check = [](const Spec& spec) -> Check {
    return [spec](Session& session, const Case& values) {
      const Question question = question_of(values);
      const std::vector<std::int64_t> positions =
          gen::consecutive(question.position, std::min(question.tokens, spec.max_position - question.position));
      const Tensor table = rows_at(session, spec, question, positions);
      Judgement judgement;
      for (std::int64_t i = 0; i < table.elements(); ++i) {
        const double value = table.at(i);
        judgement.add(std::fabs(value) <= 1 ? Certainty::yes : Certainty::no,
                      {std::isfinite(value) ? std::fabs(value) : not_finite().of_bound, std::fabs(value), 0}, [&] {
                        return fmt::format("position {}, channel {}: {}",
                                           positions[static_cast<std::size_t>(i / table.shape[1])], i % table.shape[1],
                                           value_text(spec.dtype, value));
                      });
      }
      return judgement;
    };
  };
  return property;
}

Property uniform_step_property() {
  Property property;
  property.id = "uniform_step";
  property.explanation = {"neighbouring positions are equally far apart everywhere",
                          "max_c |c(p+1) - c(p)| summed over the channels is the same for all p",
                          "the way from integer over binary to sinusoidal codes: a count has it, digits that carry "
                          "have not, rotations have it again (Vaswani et al. 2017, section 3.5)",
                          "integer; for binary mathematics says that it fails, since a carry changes many digits at "
                          "once, and the witness is required",
                          "each of the four values is one conversion or quotient: within 2 ULP of the largest, so a "
                          "step is within 4 of them and two steps within 8, for each channel",
                          "positions of low precision beyond what the dtype costs, clamped or wrapped ones"};
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (!is_integer(spec) && !is_binary(spec)) return not_stated_for(spec);
    if (std::min(spec.max_position - 1, furthest_held(spec)) - std::max(spec.min_position, -furthest_held(spec)) < 4)
      return "the dtype holds fewer than five positions of the claim";
    return std::nullopt;
  };
  property.theory = [](const Spec& spec) { return is_binary(spec) ? Theory::fails : Theory::holds; };
  use_questions(property);
  property.make_check = [](const Spec& spec) -> Check {
    return [spec](Session& session, const Case& values) {
      const Question question = question_of(values);
      // Beyond what the dtype holds the code is infinite, and its steps are nothing.
      const std::int64_t first = std::max(spec.min_position, -furthest_held(spec));
      const std::int64_t p =
          std::clamp(question.position, first, std::min(spec.max_position - 1, furthest_held(spec)) - 1);
      const Tensor table = rows_at(session, spec, question, {first, first + 1, p, p + 1});
      const std::int64_t width = table.shape[1];
      double near = 0;
      double far = 0;
      double largest = 0;
      for (std::int64_t c = 0; c < width; ++c) {
        near += std::fabs(table.at(width + c) - table.at(c));
        far += std::fabs(table.at(3 * width + c) - table.at(2 * width + c));
        for (std::int64_t row = 0; row < 4; ++row) largest = std::max(largest, std::fabs(table.at(row * width + c)));
      }
      Judgement judgement;
      const double bound = 8 * static_cast<double>(width) * ulp(spec.dtype, largest);
      const double error = std::fabs(far - near);
      const bool finite = std::isfinite(error) && std::isfinite(largest);
      judgement.add(finite && error <= bound ? Certainty::yes : Certainty::no,
                    finite ? Deviation{error / bound, error, 0} : not_finite(), [&] {
                      return fmt::format("from {} to {} the code changes by {:g}, from {} to {} by {:g}", first,
                                         first + 1, near, p, p + 1, far);
                    });
      return judgement;
    };
  };
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
  property.fields = [](const Spec&) { return std::vector<std::string>{"beyond"}; };
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (learned_of(spec) == nullptr && !is_binary(spec)) return not_stated_for(spec);
    if (is_binary(spec) && std::get<Binary>(spec.encoding).dim > 50) return "its end is beyond every position";
    return std::nullopt;
  };
  property.admits = [](const Spec&, const Case& values) {
    return values[0] >= 0 && values[0] <= (std::int64_t{1} << 40);
  };
  property.simplest = [](const Spec&) { return Case{0}; };
  property.first_cases = [](const Spec&) { return std::vector<Case>{{0}, {1}, {1000}}; };
  property.cases = [](const Spec&) {
    return rc::gen::map(gen::position({0, std::int64_t{1} << 20}), [](std::int64_t beyond) { return Case{beyond}; });
  };
  property.make_check = [](const Spec& spec) -> Check {
    return [spec](Session& session, const Case& values) {
      const Learned* learned = learned_of(spec);
      const std::int64_t end =
          learned != nullptr ? learned->max_positions : position_count(std::get<Binary>(spec.encoding));
      Judgement judgement;
      std::optional<std::string> answered;
      try {
        rows_at(session, spec, {0, 1, 1, 1, 1}, {end + values[0]});
        answered = fmt::format("position {} of {} was answered", end + values[0], end);
      } catch (const SubjectFailure& failure) {
        if (failure.kind() != FailureKind::error && failure.kind() != FailureKind::unsupported) throw;
      }
      judgement.add_exact(answered, [] { return "refused"; });
      return judgement;
    };
  };
  return property;
}

Property scatter_gradient_property() {
  Property property;
  property.id = "scatter_gradient";
  property.needs = Needs::live_subject;
  property.explanation = {"the gradient of a lookup adds up what each use of a row sends back",
                          "grad_weight[r] = sum of grad[i] over all i with positions[i] = r",
                          "the adjoint of a selection matrix: <W[positions], g> = <W, scatter(g)>",
                          "learned whose subject answers backward",
                          "m terms are added with m - 1 roundings in any order: gamma_m(u) sum |g|, u of the dtype "
                          "(Higham 2002, section 4.2), and 1 ULP for the last rounding",
                          "rows overwritten instead of added to, lost updates of racing threads, a gradient that is "
                          "zero, order by position instead of by use"};
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (learned_of(spec) == nullptr) return not_stated_for(spec);
    return std::nullopt;
  };
  use_questions(property);
  property.make_check = [](const Spec& spec) -> Check {
    return [spec, learned = *learned_of(spec)](Session& session, const Case& values) {
      const Question question = question_of(values);
      // Few rows, used again and again.
      std::vector<std::int64_t> positions;
      const std::int64_t rows = std::min<std::int64_t>(3, spec.max_position - question.position);
      for (std::int64_t i = 0; i < question.tokens + 2; ++i) positions.push_back(question.position + (i * i) % rows);
      const Tensor weight = gen::values(spec.dtype, {learned.max_positions, learned.dim}, question.fill + 1);
      const Tensor grad = gen::values(spec.dtype, {std::ssize(positions), learned.dim}, question.fill + 2);
      const Tensor got =
          backward(session, spec, "encode",
                   {{"weight", weight}, {"positions", Tensor::of_integers({std::ssize(positions)}, positions)}}, grad);
      const double u = unit_roundoff(spec.dtype);
      Judgement judgement;
      for (std::int64_t row = 0; row < learned.max_positions; ++row) {
        std::vector<std::int64_t> uses;
        for (std::size_t i = 0; i < positions.size(); ++i) {
          if (positions[i] == row) uses.push_back(static_cast<std::int64_t>(i));
        }
        for (std::int64_t c = 0; c < learned.dim; ++c) {
          double sum = 0;  // of at most 19 values of 8 to 53 bits in double, which the factor below covers
          double size = 0;
          for (const std::int64_t use : uses) {
            sum += grad.at(use * learned.dim + c);
            size += std::fabs(grad.at(use * learned.dim + c));
          }
          const auto m = static_cast<double>(uses.size());
          const double bound =
              uses.size() <= 1 ? 0
                               : (m * u / (1 - m * u) * size + ulp(spec.dtype, sum)) * (1 + 1e-9) + m * 0x1p-52 * size;
          const double value = got.at(row * learned.dim + c);
          const double error = std::fabs(value - sum);
          const bool fine = error <= bound;
          judgement.add(fine ? Certainty::yes : Certainty::no,
                        {error == 0   ? 0
                         : bound == 0 ? not_finite().of_bound
                                      : error / bound,
                         error, error / ulp(spec.dtype, sum)},
                        [&] {
                          return fmt::format("row {}, used {} times, channel {}: {} for {:.9g}", row, uses.size(), c,
                                             value_text(spec.dtype, value), sum);
                        });
        }
      }
      return judgement;
    };
  };
  return property;
}

}  // namespace sextant
