#include "properties/model/reshaped.hpp"

#include <algorithm>
#include <numeric>

namespace sextant {

std::int64_t cut_of(std::int64_t extent, std::int64_t cut) { return extent > 1 ? 1 + cut % (extent - 1) : 0; }

std::vector<std::int64_t> tokens_again(TokenShape shape, std::int64_t tokens, std::int64_t cut) {
  const std::int64_t at = cut_of(tokens, cut);
  std::vector<std::int64_t> from(static_cast<std::size_t>(tokens));
  std::iota(from.begin(), from.end(), 0);
  switch (shape) {
    case TokenShape::last_alone: from.erase(from.begin(), from.begin() + at); break;
    case TokenShape::first_alone: from.resize(static_cast<std::size_t>(std::max<std::int64_t>(at, 1))); break;
    case TokenShape::others_first: std::fill_n(from.begin(), at, -1); break;
    case TokenShape::reversed: std::ranges::reverse(from); break;
    case TokenShape::every_second: std::erase_if(from, [](std::int64_t token) { return token % 2 != 0; }); break;
  }
  return from;
}

std::int64_t source_of(const std::vector<std::int64_t>& from, std::int64_t token, std::int64_t tokens) {
  const std::int64_t own = from[static_cast<std::size_t>(token)];
  return own >= 0 ? own : tokens - 1 - token;
}

std::vector<std::int64_t> positions_again(std::span<const std::int64_t> positions, std::int64_t tokens,
                                          const std::vector<std::int64_t>& from) {
  std::vector<std::int64_t> again;
  for (std::size_t line = 0; line < positions.size(); line += static_cast<std::size_t>(tokens)) {
    for (std::int64_t token = 0; token < std::ssize(from); ++token)
      again.push_back(positions[line + static_cast<std::size_t>(source_of(from, token, tokens))]);
  }
  return again;
}

Question clipped(Question question, const gen::LargestCall& largest) {
  question.heads = std::min({question.heads, largest.extents.heads, largest.vectors});
  question.batch = std::min({question.batch, largest.extents.batch, largest.vectors / question.heads});
  question.tokens =
      std::min({question.tokens, largest.extents.tokens, largest.vectors / question.heads / question.batch});
  return question;
}

bool holds(const gen::LargestCall& largest, const Question& question) {
  const Question within = clipped(question, largest);
  return within.heads == question.heads && within.batch == question.batch && within.tokens == question.tokens;
}

}  // namespace sextant
