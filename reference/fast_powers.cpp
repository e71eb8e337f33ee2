#include "reference/fast_powers.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>

namespace sextant::reference {

std::span<const DoubleDoubleWithin> FastPowers::at(std::int64_t position) {
  constexpr std::int64_t furthest = std::int64_t{1} << 54;
  if (position < -furthest || position > furthest)
    throw std::domain_error(fmt::format("FastPowers: position {} is beyond 2^54", position));
  if (position_ == position) return result_;
  position_ = position;
  const std::int64_t sign = position < 0 ? -1 : 1;
  if (sign != sign_ || head_.empty()) {
    sign_ = sign;
    for (std::vector<Row>& rows : digits_) rows.clear();
    head_number_ = 0;
    head_.assign(static_cast<std::size_t>(count_), DoubleDoubleWithin::exactly(1));
  }
  const auto number = static_cast<std::uint64_t>(std::abs(position));
  if (number / base != head_number_) {
    head_number_ = number / base;
    head_.assign(static_cast<std::size_t>(count_), DoubleDoubleWithin::exactly(1));
    multiply_by_digits(head_, head_number_, 1);
  }
  result_ = head_;
  multiply_by_digits(result_, number % base, 0);
  return result_;
}

void FastPowers::multiply_by_digits(Row& product, std::uint64_t number, int first_place) {
  for (int place = first_place; number != 0; ++place, number /= base) {
    if (number % base == 0) continue;
    const Row& power = of_digit(place, number % base);
    for (std::size_t i = 0; i < product.size(); ++i) product[i] = product[i] * power[i];
  }
}

const FastPowers::Row& FastPowers::of_digit(int place, std::uint64_t digit) {
  std::vector<Row>& rows = digits_[static_cast<std::size_t>(place)];
  while (rows.size() < digit) {
    Row row;
    for (std::int64_t i = 0; i < count_; ++i) {
      if (rows.empty()) {
        const Enclosure steps(sign_ * (std::int64_t{1} << (6 * place)), first_precision);
        row.push_back(DoubleDoubleWithin::of(exp(steps * logarithm_(i, first_precision))));
      } else {
        const auto at = static_cast<std::size_t>(i);
        row.push_back(rows.back()[at] * rows.front()[at]);
      }
    }
    rows.push_back(std::move(row));
  }
  return rows[digit - 1];
}

}  // namespace sextant::reference
