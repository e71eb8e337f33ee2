#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <span>
#include <vector>

namespace sextant::attack {

/// One stream of random choices. The generator is the standard's mt19937_64 and what is made of its numbers is here, so
/// that a seed means the same everywhere; the standard's distributions do not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}

  std::uint64_t bits() { return generator_(); }
  /// first <= result <= last.
  template <std::integral A, std::integral B>
  std::int64_t between(A from, B to) {
    const auto first = static_cast<std::int64_t>(from);
    const auto last = static_cast<std::int64_t>(to);
    const auto size = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) + 1;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(first) + (size == 0 ? bits() : bits() % size));
  }
  /// In [0, 1).
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  template <std::floating_point A>
  A between(A first, A last) {
    return first + (last - first) * unit();
  }
  /// Its logarithm is uniform. Domain: above 0.
  double of_magnitude(double first, double last) { return std::exp2(between(std::log2(first), std::log2(last))); }
  /// True once in `many`.
  bool once_in(std::int64_t many) { return between(std::int64_t{1}, many) == 1; }
  double sign() { return once_in(2) ? -1.0 : 1.0; }

  template <class T>
  T of(std::initializer_list<T> choices) {
    return choices.begin()[between(std::int64_t{0}, static_cast<std::int64_t>(choices.size()) - 1)];
  }
  template <class T>
  const T& of(std::span<const T> choices) {
    return choices[static_cast<std::size_t>(between(std::int64_t{0}, std::ssize(choices) - 1))];
  }
  template <class T>
  const T& of(const std::vector<T>& choices) {
    return of(std::span<const T>(choices));
  }

  /// `value` or a double up to `most` steps beside it.
  double beside(double value, int most = 2) {
    for (std::int64_t step = between(-most, most); step != 0; step += step < 0 ? 1 : -1) {
      value = std::nextafter(value, step < 0 ? -HUGE_VAL : HUGE_VAL);
    }
    return value;
  }

 private:
  std::mt19937_64 generator_;
};

}  // namespace sextant::attack
