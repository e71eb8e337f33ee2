#include "lib/spec/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace sextant {
namespace {

std::string folded(std::string_view name) {
  std::string text(name);
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    if (letter == '-') letter = '_';
  }
  return text;
}

// Letters added, left out, changed or swapped with the next: the optimal string alignment distance.
std::size_t distance(std::string_view one, std::string_view other) {
  std::vector<std::vector<std::size_t>> d(one.size() + 1, std::vector<std::size_t>(other.size() + 1));
  for (std::size_t i = 0; i <= one.size(); ++i) {
    for (std::size_t j = 0; j <= other.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const std::size_t change = one[i - 1] == other[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[one.size()][other.size()];
}

// What papers and libraries call a field or a value.
struct OtherName {
  std::string_view name;
  std::string_view meant;
};
constexpr OtherName other_names[] = {
    {"theta", "rope_theta"}, {"base", "rope_theta"},   {"interleaved", "pairing"},  {"neox", "pairing"},
    {"is_neox", "pairing"},  {"neox", "half"},         {"halves", "half"},          {"rotate_half", "half"},
    {"gptj", "interleaved"}, {"type", "rope_type"},    {"bf16", "bfloat16"},        {"fp16", "float16"},
    {"f16", "float16"},      {"half", "float16"},      {"fp32", "float32"},         {"f32", "float32"},
    {"fp64", "float64"},     {"double", "float64"},    {"d_model", "dim"},          {"dim", "head_dim"},
    {"hidden_size", "dim"},  {"n_heads", "num_heads"}, {"scaling", "rope_scaling"}, {"mrope_section", "sections"},
    {"axes_dim", "sections"}};

}  // namespace

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  constexpr std::size_t longest = 64;  // no name is longer
  if (name.empty() || name.size() > longest) return "";
  const std::string meant = folded(name);
  for (const auto& [other, field] : other_names) {
    if (meant == other && std::ranges::find(known, field) != known.end())
      return fmt::format("; did you mean {}?", field);
  }
  std::string_view nearest;
  std::size_t least = 0;
  for (const std::string_view one : known) {
    const bool begins = meant.size() >= 3 && folded(one).starts_with(meant);
    const std::size_t away = begins ? 0 : distance(meant, folded(one));
    const std::size_t most = std::max<std::size_t>(1, std::min(one.size(), name.size()) / 3);
    // Of those that begin with it the shortest.
    const bool is_nearer = nearest.empty() || away < least || (begins && away == least && one.size() < nearest.size());
    if (away > most || !is_nearer) continue;
    nearest = one;
    least = away;
  }
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

}  // namespace sextant
