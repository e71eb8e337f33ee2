#include "attack/cases/attacks.hpp"

#include <array>

namespace sextant::attack {
namespace {

constexpr auto list = std::to_array<Attack>({
    {"sinusoidal", "usual", 2, usual_sinusoidal},
    {"sinusoidal", "exotic", 2, exotic_sinusoidal},
    {"sinusoidal", "near_ties", 3, near_ties_sinusoidal},
    {"sinusoidal", "near_zeros", 3, near_zeros_sinusoidal},
    {"sinusoidal", "exact_ties", 1, exact_ties_sinusoidal},
    {"sinusoidal", "guards", 6, guards_sinusoidal},
    {"sinusoidal", "large", 1, large_sinusoidal},
    {"sinusoidal", "environments", 1, environments_sinusoidal},
    {"sinusoidal_2d", "usual", 2, usual_sinusoidal_2d},
    {"sinusoidal_2d", "exotic", 1, exotic_sinusoidal_2d},
    {"sinusoidal_2d", "near_ties", 1, near_ties_sinusoidal_2d},
    {"sinusoidal_2d", "near_zeros", 1, near_zeros_sinusoidal_2d},
    {"sinusoidal_2d", "environments", 1, environments_sinusoidal_2d},
    {"sinusoidal_nd", "usual", 2, usual_sinusoidal_nd},
    {"sinusoidal_nd", "exotic", 1, exotic_sinusoidal_nd},
    {"sinusoidal_nd", "near_ties", 1, near_ties_sinusoidal_nd},
    {"sinusoidal_nd", "near_zeros", 1, near_zeros_sinusoidal_nd},
    {"sinusoidal_nd", "exact_quarters", 1, quarters_sinusoidal_nd},
    {"sinusoidal_nd", "guards", 1, guards_sinusoidal_nd},
    {"sinusoidal_nd", "environments", 1, environments_sinusoidal_nd},
    {"rope", "usual", 3, usual_rope},
    {"rope", "exotic", 3, exotic_rope},
    {"rope", "tables", 1, rope_tables},
    {"rope", "near_ties", 9, near_ties_rope},
    {"rope", "near_ties_of_tables", 1, near_ties_rope_tables},
    {"rope", "near_zeros", 1, near_zeros_rope},
    {"rope", "exact_ties", 1, exact_ties_rope},
    {"rope", "guards", 3, guards_rope},
    {"rope", "large", 1, large_rope},
    {"rope", "environments", 1, environments_rope},
    {"rope_nd", "usual", 2, usual_rope_nd},
    {"rope_nd", "exotic", 1, exotic_rope_nd},
    {"rope_nd", "near_ties", 2, near_ties_rope_nd},
    {"rope_nd", "near_zeros", 1, near_zeros_rope_nd},
    {"rope_nd", "guards", 1, guards_rope_nd},
    {"rope_nd", "environments", 1, environments_rope_nd},
    {"xpos", "usual", 2, usual_xpos},
    {"xpos", "exotic", 1, exotic_xpos},
    {"xpos", "near_ties", 2, near_ties_xpos},
    {"xpos", "near_zeros", 1, near_zeros_xpos},
    {"xpos", "guards", 2, guards_xpos},
    {"xpos", "environments", 1, environments_xpos},
    {"alibi", "usual", 1, usual_alibi},
    {"alibi", "exotic", 1, exotic_alibi},
    {"alibi", "near_ties", 2, near_ties_alibi},
    {"alibi", "exact_ties", 1, exact_ties_alibi},
    {"alibi", "guards", 1, guards_alibi},
    {"alibi", "environments", 1, environments_alibi},
    {"relative_bias", "usual", 1, usual_relative_bias},
    {"relative_bias", "exact_ties", 1, exact_ties_relative_bias},
    {"relative_bias", "exact_ties_of_sums", 1, exact_ties_sums_relative_bias},
    {"relative_bias", "environments", 1, environments_relative_bias},
    {"integer", "usual", 1, usual_integer},
    {"integer", "near_ties", 1, near_ties_integer},
    {"integer", "exact_ties", 1, exact_ties_integer},
    {"integer", "environments", 1, environments_integer},
    {"binary", "usual", 1, usual_binary},
    {"learned", "usual", 1, usual_learned},
    {"learned", "exact_ties", 1, exact_ties_learned},
    {"learned", "environments", 1, environments_learned},
    {"attention", "usual", 1, usual_attention},
});

}  // namespace

std::span<const Attack> attacks() { return list; }

}  // namespace sextant::attack
