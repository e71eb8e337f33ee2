#include "app/encodings.hpp"

#include <array>

namespace sextant {
namespace {

constexpr std::array<EncodingExample, 11> table{{
    {"integer", R"({"encoding":"integer"})"},
    {"binary", R"({"encoding":"binary","dim":17})"},
    {"sinusoidal", R"({"encoding":"sinusoidal","dim":512})"},
    {"sinusoidal_2d", R"({"encoding":"sinusoidal_2d","dim":768,"height":14,"width":14})"},
    {"learned", R"({"encoding":"learned","dim":768,"max_positions":512})"},
    {"rope", R"({"encoding":"rope","head_dim":128})"},
    {"rope_nd", R"({"encoding":"rope_nd","head_dim":128,"sections":[16,24,24]})"},
    {"xpos", R"({"encoding":"xpos","head_dim":128})"},
    {"alibi", R"({"encoding":"alibi","num_heads":8})"},
    {"relative_bias", R"({"encoding":"relative_bias"})"},
    {"attention", R"({"encoding":"attention","num_heads":8,"head_dim":64})"},
}};

}  // namespace

std::span<const EncodingExample> encoding_examples() { return table; }

}  // namespace sextant
