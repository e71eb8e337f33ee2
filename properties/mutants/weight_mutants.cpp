#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "lib/numeric/ulp.hpp"
#include "properties/mutants/local_fault.hpp"
#include "properties/mutants/plain_fourier.hpp"

// Matrices and tables that are given, and not used as they are: clipped, flushed, made of fewer columns, kept under one
// of their values.

namespace sextant::mutants::weight_mutants {
namespace {

constexpr const char* gaussian = R"({"encoding":"fourier","axes":2,"bands":16,"ladder":"weight","first":"cos",)"
                                 R"("position_dtype":"float32","position_step":0.000244140625,"max_position":2})";
constexpr const char* learned = R"({"encoding":"learned","dim":8,"max_positions":600})";

using Change = std::function<Tensor(const Tensor& weight)>;

FunctionSubject::Make with_matrix(Change change) {
  return fourier_subject([change = std::move(change)](PlainFourier& plain) { plain.matrix = change; });
}

Change each(std::function<double(double value)> change) {
  return [change = std::move(change)](const Tensor& weight) {
    Tensor other = weight;
    for (std::int64_t i = 0; i < other.elements(); ++i) other.set(i, change(weight.at(i)));
    return other;
  };
}

// The columns for which `is_odd` holds, of the one before and their own, are 0.
Change without_columns(std::function<bool(const std::vector<double>& before, const std::vector<double>& own)> is_odd) {
  return [is_odd = std::move(is_odd)](const Tensor& weight) {
    Tensor other = weight;
    const std::int64_t axes = weight.shape[0];
    const std::int64_t bands = weight.shape[1];
    const auto column = [&](std::int64_t band) {
      std::vector<double> values;
      for (std::int64_t axis = 0; axis < axes; ++axis) values.push_back(weight.at(axis * bands + band));
      return values;
    };
    for (std::int64_t band = 1; band < bands; ++band) {
      if (!is_odd(column(band - 1), column(band))) continue;
      for (std::int64_t axis = 0; axis < axes; ++axis) other.set(axis * bands + band, 0);
    }
    return other;
  };
}

bool is_zero(const std::vector<double>& column) {
  return std::ranges::all_of(column, [](double value) { return value == 0; });
}

FunctionSubject::Make kept_by_first_value() {
  return [](const Spec& spec) -> FunctionSubject::Call {
    const auto kept = std::make_shared<std::map<double, Tensor>>();
    return with_matrix([kept](const Tensor& weight) { return kept->try_emplace(weight.at(0), weight).first->second; })(
        spec);
  };
}

FunctionSubject::Make looked_up(std::function<double(Dtype dtype, double value)> change) {
  return wrong_where([](const Spot&) { return true; },
                     [change = std::move(change)](const Asked& asked) {
                       Tensor wrong = asked.answer;
                       for (std::int64_t i = 0; i < wrong.elements(); ++i)
                         wrong.set(i, change(wrong.dtype, wrong.at(i)));
                       return wrong;
                     });
}

}  // namespace

std::vector<Mutant> all() {
  LocalFaults list;
  list.add(Kind::defect, "fourier-weight-clipped", "frequencies beyond 1000 are 1000", gaussian,
           with_matrix(each([](double value) { return std::clamp(value, -1000.0, 1000.0); })));
  list.add(Kind::defect, "fourier-weight-flushed", "frequencies below 1e-8 are 0", gaussian,
           with_matrix(each([](double value) { return std::fabs(value) < 1e-8 ? 0 : value; })));
  list.add(Kind::defect, "fourier-weight-equal-columns", "a column like the one before is taken for padding", gaussian,
           with_matrix(without_columns([](const auto& before, const auto& own) { return before == own; })));
  list.add(Kind::defect, "fourier-weight-opposite-columns", "so is one that is its opposite", gaussian,
           with_matrix(without_columns([](auto before, const auto& own) {
             for (double& value : before) value = -value;
             return before == own && !is_zero(own);
           })));
  list.add(Kind::defect, "fourier-weight-constant-columns", "so is one whose frequencies are all equal", gaussian,
           with_matrix(without_columns([](const auto&, const auto& own) {
             return std::ranges::count(own, own.front()) == std::ssize(own) && !is_zero(own);
           })));
  list.add(Kind::defect, "fourier-weight-kept-by-first-value", "the matrix is kept under its first frequency", gaussian,
           kept_by_first_value());
  list.add(Kind::defect, "learned-flushed", "of a row that is looked up subnormal numbers are 0", learned,
           looked_up([](Dtype dtype, double value) {
             return std::fabs(value) < std::ldexp(1.0, format_of(dtype).min_exponent) ? std::copysign(0.0, value)
                                                                                      : value;
           }));
  list.add(Kind::defect, "learned-without-negative-zero", "a zero is added to a row that is looked up", learned,
           looked_up([](Dtype, double value) { return value + 0.0; }));
  list.add(Kind::control, "learned-of-every-value", "every value as it is in the table", learned, plain_call);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::weight_mutants
