// Frequencies in turns, of 192 bits, as three doubles each: 53 bits after 53 bits from the leading one on, of the
// frequency or, where it is more than half a turn, of what is left to one with its sign changed. What is cut off is
// below 2^-160 turn: docs/proofs/encoder-rotations.md begins with these pieces.

#include "lib/kernels/frequency_pieces.hpp"

#include <array>
#include <cmath>

namespace sextant {
namespace {

constexpr int turn_bits = 192;
constexpr int piece_bits = 53;

// The three pieces of a magnitude of at most half a turn: its leading 53 bits, the 53 after them, and the 53 after
// those. What is cut off lies below 2^-160 turn, since the leading bit is at most 2^-1.
std::array<double, 3> pieces_of(const Turns& magnitude) {
  std::array<double, 3> pieces{};
  if (magnitude.is_zero()) return pieces;
  int top = static_cast<int>(msb(magnitude)) + 1;
  Turns rest = magnitude;
  for (double& piece : pieces) {
    const int shift = std::max(top - piece_bits, 0);
    const Turns leading = rest >> static_cast<unsigned>(shift);
    piece = std::ldexp(static_cast<double>(static_cast<std::uint64_t>(leading)), shift - turn_bits);
    rest -= leading << static_cast<unsigned>(shift);
    top = shift;
  }
  return pieces;
}

}  // namespace

FrequencyPieces::FrequencyPieces(std::span<const Turns> frequencies) : pairs_(frequencies.size()) {
  const std::size_t entries = (pairs_ + lanes - 1) / lanes * lanes;
  const Turns half = Turns(1) << (turn_bits - 1);
  for (std::size_t i = 0; i < entries; ++i) {
    if (i >= pairs_) {
      high_.push_back(high_.back());
      middle_.push_back(middle_.back());
      low_.push_back(low_.back());
      continue;
    }
    const bool negative = frequencies[i] > half;
    const double sign = negative ? -1 : 1;
    const std::array<double, 3> pieces = pieces_of(negative ? Turns(Turns(0) - frequencies[i]) : frequencies[i]);
    high_.push_back(sign * pieces[0]);
    middle_.push_back(sign * pieces[1]);
    low_.push_back(sign * pieces[2]);
  }
}

}  // namespace sextant
