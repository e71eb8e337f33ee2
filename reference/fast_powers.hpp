#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "reference/double_double_within.hpp"
#include "reference/enclosure.hpp"

namespace sextant::reference {

/// The certified fast tier of real numbers that grow or shrink by a constant ratio at each position: ratio^position for
/// each of several ratios, in double-double. A position is written in digits of base 64 and the power is the product of
/// those of its digits, of which the first of each place is the exact tier's and the others are its products; the error
/// that each product adds is told (double_double_within.hpp). A power beyond doubles has no bound. An object belongs to
/// one thread.
class FastPowers {
 public:
  /// ln(ratio) of number `index`.
  using Logarithm = std::function<Enclosure(std::int64_t index, Precision precision)>;

  FastPowers(Logarithm logarithm, std::int64_t count) : logarithm_(std::move(logarithm)), count_(count) {}

  /// Those of all ratios at one position, |position| <= 2^54; good until the next call.
  /// @throws std::domain_error for a position outside of the domain.
  std::span<const DoubleDoubleWithin> at(std::int64_t position);

 private:
  using Row = std::vector<DoubleDoubleWithin>;

  static constexpr std::uint64_t base = 64;
  static constexpr int places = 10;

  const Row& of_digit(int place, std::uint64_t digit);
  void multiply_by_digits(Row& product, std::uint64_t number, int first_place);

  Logarithm logarithm_;
  std::int64_t count_;
  // Of one sign of positions: exchanged for those of the other when a position has it.
  std::int64_t sign_ = 1;
  std::array<std::vector<Row>, places> digits_;  // powers of digits 1, 2, ... as far as they were asked for
  std::uint64_t head_number_ = 0;                // the position without its last digit
  Row head_;                                     // and its power
  std::optional<std::int64_t> position_;         // the last one
  Row result_;                                   // of it
};

}  // namespace sextant::reference
