#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "attack/cases/case.hpp"
#include "attack/numbers/random.hpp"

namespace sextant::attack {

/// A way of constructing cases for one encoder.
struct Attack {
  std::string_view encoder;
  std::string_view family;
  /// Its share of the encoder's time.
  int weight;
  std::vector<Case> (*make)(Random& random, Dtype dtype);
};

/// All of them: the list that help, cells and reports follow.
std::span<const Attack> attacks();

// One file for each family, with the encoders that it knows.

// near_ties_rotations.cpp: elements whose rotation lies next to a tie, by lattice reduction.
std::vector<Case> near_ties_rope(Random& random, Dtype dtype);
std::vector<Case> near_ties_rope_nd(Random& random, Dtype dtype);
std::vector<Case> near_ties_xpos(Random& random, Dtype dtype);

// near_ties_tables.cpp: scales, factors, positions and slopes whose products lie next to a tie.
std::vector<Case> near_ties_sinusoidal(Random& random, Dtype dtype);
std::vector<Case> near_ties_sinusoidal_2d(Random& random, Dtype dtype);
std::vector<Case> near_ties_sinusoidal_nd(Random& random, Dtype dtype);
std::vector<Case> near_ties_fourier(Random& random, Dtype dtype);
std::vector<Case> near_ties_rope_tables(Random& random, Dtype dtype);
std::vector<Case> near_ties_alibi(Random& random, Dtype dtype);
std::vector<Case> near_ties_integer(Random& random, Dtype dtype);

// near_zeros.cpp: positions and bases for which an angle lies next to a multiple of a quarter turn.
std::vector<Case> near_zeros_sinusoidal(Random& random, Dtype dtype);
std::vector<Case> near_zeros_sinusoidal_2d(Random& random, Dtype dtype);
std::vector<Case> near_zeros_rope(Random& random, Dtype dtype);
std::vector<Case> near_zeros_rope_nd(Random& random, Dtype dtype);
std::vector<Case> near_zeros_xpos(Random& random, Dtype dtype);

// places.cpp: codes of several coordinates, those next to quarters of a turn, at these, and at the ends of their spec.
std::vector<Case> usual_sinusoidal_nd(Random& random, Dtype dtype);
std::vector<Case> exotic_sinusoidal_nd(Random& random, Dtype dtype);
std::vector<Case> near_zeros_sinusoidal_nd(Random& random, Dtype dtype);
std::vector<Case> quarters_sinusoidal_nd(Random& random, Dtype dtype);
std::vector<Case> guards_sinusoidal_nd(Random& random, Dtype dtype);

// fourier.cpp: Fourier features, of their own frequencies and of matrices; next to quarters of a turn, at these, and at
// the ends of their spec.
std::vector<Case> usual_fourier(Random& random, Dtype dtype);
std::vector<Case> exotic_fourier(Random& random, Dtype dtype);
std::vector<Case> near_zeros_fourier(Random& random, Dtype dtype);
std::vector<Case> quarters_fourier(Random& random, Dtype dtype);
std::vector<Case> guards_fourier(Random& random, Dtype dtype);

// exact_ties.cpp: real numbers that are ties, borders that are met, sums that cancel.
std::vector<Case> exact_ties_sinusoidal(Random& random, Dtype dtype);
std::vector<Case> exact_ties_rope(Random& random, Dtype dtype);
std::vector<Case> exact_ties_integer(Random& random, Dtype dtype);
std::vector<Case> exact_ties_alibi(Random& random, Dtype dtype);
std::vector<Case> exact_ties_relative_bias(Random& random, Dtype dtype);
std::vector<Case> exact_ties_sums_relative_bias(Random& random, Dtype dtype);
std::vector<Case> exact_ties_learned(Random& random, Dtype dtype);

// guards.cpp: both ends of every limit in the encoders' code.
std::vector<Case> guards_sinusoidal(Random& random, Dtype dtype);
std::vector<Case> guards_rope(Random& random, Dtype dtype);
std::vector<Case> guards_rope_nd(Random& random, Dtype dtype);
std::vector<Case> guards_xpos(Random& random, Dtype dtype);
std::vector<Case> guards_alibi(Random& random, Dtype dtype);

// surroundings.cpp: encodings, positions, elements and memory at random, as models have them and as a spec allows.
std::vector<Case> usual_sinusoidal(Random& random, Dtype dtype);
std::vector<Case> exotic_sinusoidal(Random& random, Dtype dtype);
std::vector<Case> usual_sinusoidal_2d(Random& random, Dtype dtype);
std::vector<Case> exotic_sinusoidal_2d(Random& random, Dtype dtype);
std::vector<Case> usual_rope(Random& random, Dtype dtype);
std::vector<Case> exotic_rope(Random& random, Dtype dtype);
std::vector<Case> rope_tables(Random& random, Dtype dtype);
std::vector<Case> usual_rotary_table(Random& random, Dtype dtype);
std::vector<Case> usual_qk_norm_rope(Random& random, Dtype dtype);
std::vector<Case> usual_rope_nd(Random& random, Dtype dtype);
std::vector<Case> exotic_rope_nd(Random& random, Dtype dtype);
std::vector<Case> usual_xpos(Random& random, Dtype dtype);
std::vector<Case> exotic_xpos(Random& random, Dtype dtype);
std::vector<Case> usual_alibi(Random& random, Dtype dtype);
std::vector<Case> exotic_alibi(Random& random, Dtype dtype);
std::vector<Case> usual_integer(Random& random, Dtype dtype);
std::vector<Case> usual_binary(Random& random, Dtype dtype);
std::vector<Case> usual_learned(Random& random, Dtype dtype);
std::vector<Case> usual_relative_bias(Random& random, Dtype dtype);
std::vector<Case> usual_attention(Random& random, Dtype dtype);

// windows.cpp: biases of windows, and the logarithms of their offsets: next to ties, whole, at the end of what is kept.
std::vector<Case> usual_window_bias(Random& random, Dtype dtype);
std::vector<Case> environments_window_bias(Random& random, Dtype dtype);
std::vector<Case> usual_log_coordinates(Random& random, Dtype dtype);
std::vector<Case> near_ties_log_coordinates(Random& random, Dtype dtype);
std::vector<Case> whole_log_coordinates(Random& random, Dtype dtype);
std::vector<Case> guards_log_coordinates(Random& random, Dtype dtype);
std::vector<Case> environments_log_coordinates(Random& random, Dtype dtype);

// large.cpp: tables past the caches, and calls that several threads share.
std::vector<Case> large_sinusoidal(Random& random, Dtype dtype);
std::vector<Case> large_rope(Random& random, Dtype dtype);

// environments.cpp: any of the above with another rounding direction, or subnormal numbers flushed.
std::vector<Case> environments_sinusoidal(Random& random, Dtype dtype);
std::vector<Case> environments_sinusoidal_2d(Random& random, Dtype dtype);
std::vector<Case> environments_sinusoidal_nd(Random& random, Dtype dtype);
std::vector<Case> environments_fourier(Random& random, Dtype dtype);
std::vector<Case> environments_rope(Random& random, Dtype dtype);
std::vector<Case> environments_rope_nd(Random& random, Dtype dtype);
std::vector<Case> environments_xpos(Random& random, Dtype dtype);
std::vector<Case> environments_alibi(Random& random, Dtype dtype);
std::vector<Case> environments_integer(Random& random, Dtype dtype);
std::vector<Case> environments_learned(Random& random, Dtype dtype);
std::vector<Case> environments_relative_bias(Random& random, Dtype dtype);

}  // namespace sextant::attack
