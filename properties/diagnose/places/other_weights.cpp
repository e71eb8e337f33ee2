#include "properties/diagnose/places/other_weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/of.hpp"
#include "properties/model/model.hpp"
#include "properties/model/question.hpp"

namespace sextant::identify {
namespace {

struct OtherWeight {
  std::string words;
  std::function<Tensor(const Tensor& weight)> taken;
};

constexpr double greatest_float16 = 65504;

using OfValue = std::function<double(double value)>;

OtherWeight of_each_value(std::string words, OfValue of) {
  return {std::move(words), [of = std::move(of)](const Tensor& weight) {
            Tensor other = weight;
            for (std::int64_t i = 0; i < weight.elements(); ++i) other.set(i, of(weight.at(i)));
            return other;
          }};
}

// The columns of which this is so, the one before and their own, are 0.
OtherWeight without_columns(
    std::string words,
    std::function<bool(const std::vector<double>& before, const std::vector<double>& own)> are_lost) {
  return {std::move(words), [are_lost = std::move(are_lost)](const Tensor& weight) {
            Tensor other = weight;
            const std::int64_t rows = weight.shape[0];
            const std::int64_t columns = weight.shape[1];
            const auto column = [&](std::int64_t number) {
              std::vector<double> values;
              for (std::int64_t row = 0; row < rows; ++row) values.push_back(weight.at(row * columns + number));
              return values;
            };
            for (std::int64_t number = 1; number < columns; ++number) {
              if (!are_lost(column(number - 1), column(number))) continue;
              for (std::int64_t row = 0; row < rows; ++row) other.set(row * columns + number, 0);
            }
            return other;
          }};
}

std::vector<OtherWeight> other_weights(const Spec& claim) {
  std::vector<OtherWeight> list;
  const double least_normal = std::ldexp(1.0, format_of(claim.dtype).min_exponent);
  list.push_back(of_each_value("the weight's subnormal numbers are taken for 0", [least_normal](double value) {
    return std::fabs(value) < least_normal ? std::copysign(0.0, value) : value;
  }));
  list.push_back(of_each_value("the weight's subnormal numbers are taken for 0, without their signs",
                               [least_normal](double value) { return std::fabs(value) < least_normal ? 0 : value; }));
  list.push_back(of_each_value("the weight's zeros lose their sign: -0 comes back as 0, as where 0 is added",
                               [](double value) { return value + 0.0; }));
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16})
    list.push_back(of_each_value(fmt::format("the weight is rounded to {}", name_of(dtype)),
                                 [dtype](double value) { return round_to(dtype, value); }));
  list.push_back(of_each_value("the weight's values are limited to 65504, float16's greatest",
                               [](double value) { return std::clamp(value, -greatest_float16, greatest_float16); }));
  list.push_back(
      of_each_value("the weight's values beyond 65504, float16's greatest, become infinite", [](double value) {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        return std::fabs(value) > greatest_float16 ? std::copysign(infinity, value) : value;
      }));
  for (int power = 0; power <= 8; ++power) {
    const double limit = std::pow(10.0, power);
    list.push_back(of_each_value(fmt::format("the weight's values are limited to {:.9g}", limit),
                                 [limit](double value) { return std::clamp(value, -limit, limit); }));
  }
  for (int power = -15; power < 0; ++power) {
    const double least = std::pow(10.0, power);
    list.push_back(of_each_value(fmt::format("the weight's values below {:g} are taken for 0", least),
                                 [least](double value) { return std::fabs(value) < least ? 0 : value; }));
  }
  list.push_back(without_columns("columns of the weight like the one before are taken for 0, as padding is",
                                 [](const auto& before, const auto& own) { return before == own; }));
  list.push_back(without_columns("columns of the weight that are the opposite of the one before are taken for 0",
                                 [](auto before, const auto& own) {
                                   for (double& value : before) value = -value;
                                   return before == own;
                                 }));
  list.push_back(without_columns(
      "columns of the weight whose values are all equal are taken for 0",
      [](const auto&, const auto& own) { return std::ranges::count(own, own.front()) == std::ssize(own); }));
  return list;
}

// One power of ten and a half beside another in the first row, and nothing in the others, which would hide them.
Tensor of_powers_of_ten(const Tensor& weight, int first) {
  Tensor made = Tensor::zeros(weight.dtype, weight.shape);
  for (std::int64_t i = 0; i < weight.shape[1]; ++i) made.set(i, 3 * std::pow(10.0, first - static_cast<int>(i)));
  return made;
}

std::vector<Call> calls_about_weights(const EncodingModel& model, const Spec& claim) {
  std::vector<Call> calls;
  const gen::PositionRange range = model.range();
  constexpr std::int64_t few = 20;
  constexpr std::int64_t of_patterns = 8;
  for (const std::int64_t fill : {std::int64_t{7}, of_patterns, table_of_every_magnitude,
                                  table_of_every_magnitude + tables_of_every_magnitude_in}) {
    const Question question{.position = range.first, .tokens = std::min(few, range.last - range.first), .fill = fill};
    if (model.fits(question)) calls.push_back(model.call_of(question));
  }
  if (held<Fourier>(claim) == nullptr || calls.empty()) return calls;
  for (const int first : {6, -1, -7}) {
    Call call = calls.front();
    call.weight = of_powers_of_ten(*call.weight, first);
    calls.push_back(std::move(call));
  }
  return calls;
}

bool has_weight(const Spec& claim) {
  const auto* features = held<Fourier>(claim);
  return held<Learned>(claim) != nullptr || (features != nullptr && is_given(*features));
}

}  // namespace

std::optional<DiagnosedDifference> other_weight(const Subject& subject, const Spec& claim) {
  if (!has_weight(claim)) return std::nullopt;
  const auto model = model_of(claim);
  if (model->not_judged()) return std::nullopt;
  const std::vector<Call> calls = calls_about_weights(*model, claim);
  const auto judge = model->judge();
  const auto is_right = [&](const Call& call, const Tensor& answer) {
    return judge->values(call, answer).within == reference::Certainty::yes;
  };
  std::vector<Tensor> answers;
  bool are_right = true;
  for (const Call& call : calls) {
    // One whose weight is kept from another call is no other weight.
    const auto session = subject.open(claim);
    answers.push_back(model->ask(*session, call));
    are_right = are_right && is_right(call, answers.back());
  }
  if (are_right) return std::nullopt;
  for (const OtherWeight& other : other_weights(claim)) {
    bool explains = true;
    for (std::size_t i = 0; i < calls.size() && explains; ++i) {
      Call taken = calls[i];
      taken.weight = other.taken(*calls[i].weight);
      explains = is_right(taken, answers[i]);
    }
    if (explains) return DiagnosedDifference{other.words, "", DiagnosedStage::other};
  }
  return std::nullopt;
}

std::string words_of_weight_there(const Spec& claim, const std::vector<ComparedVector>& compared) {
  constexpr std::size_t enough = 3;
  std::set<std::vector<std::int64_t>> positions;
  for (const ComparedVector& one : compared) positions.insert(one.alone.positions);
  if (positions.size() < enough || !has_weight(claim)) return {};
  const auto judge = model_of(claim)->judge();
  for (const OtherWeight& other : other_weights(claim)) {
    // Vectors of a call have one weight.
    const Tensor* last = nullptr;
    Tensor taken;
    const bool explains = std::ranges::all_of(compared, [&](const ComparedVector& one) {
      Call call = one.alone;
      if (last == nullptr || last->data != one.alone.weight->data) taken = other.taken(*one.alone.weight);
      last = &*one.alone.weight;
      call.weight = taken;
      return judge->values(call, one.got).within == reference::Certainty::yes;
    });
    if (explains) return other.words;
  }
  return {};
}

}  // namespace sextant::identify
