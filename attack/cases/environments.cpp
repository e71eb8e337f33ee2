#include "attack/cases/attacks.hpp"

// The caller's floating-point environment is not the encoders' business: whatever it has set, the bits are the same.

namespace sextant::attack {
namespace {

std::vector<Case> elsewhere(Random& random, std::vector<Case> cases) {
  for (Case& example : cases) {
    example.environment = random.of({Environment::upward, Environment::downward, Environment::toward_zero,
                                     Environment::flush_to_zero, Environment::flush_to_zero});
  }
  return cases;
}

}  // namespace

std::vector<Case> environments_sinusoidal(Random& random, Dtype dtype) {
  return elsewhere(random, random.once_in(2) ? usual_sinusoidal(random, dtype) : guards_sinusoidal(random, dtype));
}
std::vector<Case> environments_sinusoidal_2d(Random& random, Dtype dtype) {
  return elsewhere(random, usual_sinusoidal_2d(random, dtype));
}
std::vector<Case> environments_sinusoidal_nd(Random& random, Dtype dtype) {
  return elsewhere(random,
                   random.once_in(2) ? usual_sinusoidal_nd(random, dtype) : quarters_sinusoidal_nd(random, dtype));
}
std::vector<Case> environments_fourier(Random& random, Dtype dtype) {
  return elsewhere(random, random.once_in(2) ? usual_fourier(random, dtype) : quarters_fourier(random, dtype));
}
std::vector<Case> environments_rope(Random& random, Dtype dtype) {
  return elsewhere(random, random.once_in(2) ? usual_rope(random, dtype) : guards_rope(random, dtype));
}
std::vector<Case> environments_rope_nd(Random& random, Dtype dtype) {
  return elsewhere(random, usual_rope_nd(random, dtype));
}
std::vector<Case> environments_xpos(Random& random, Dtype dtype) {
  return elsewhere(random, usual_xpos(random, dtype));
}
std::vector<Case> environments_alibi(Random& random, Dtype dtype) {
  return elsewhere(random, usual_alibi(random, dtype));
}
std::vector<Case> environments_integer(Random& random, Dtype dtype) {
  return elsewhere(random, usual_integer(random, dtype));
}
std::vector<Case> environments_learned(Random& random, Dtype dtype) {
  return elsewhere(random, usual_learned(random, dtype));
}
std::vector<Case> environments_window_bias(Random& random, Dtype dtype) {
  return elsewhere(random, usual_window_bias(random, dtype));
}
std::vector<Case> environments_log_coordinates(Random& random, Dtype dtype) {
  return elsewhere(random,
                   random.once_in(2) ? usual_log_coordinates(random, dtype) : guards_log_coordinates(random, dtype));
}
std::vector<Case> environments_relative_bias(Random& random, Dtype dtype) {
  return elsewhere(random, usual_relative_bias(random, dtype));
}

}  // namespace sextant::attack
