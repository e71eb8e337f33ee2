#include "properties/vectors/chosen.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <span>

namespace sextant::vectors {
namespace {

// A line of chosen.def: a claim's spec, or a question of the last claim.
struct Line {
  std::string_view spec;
  std::int64_t kind = 0;
  Question question = {};
  std::string_view elements = {};
  std::string_view flags = {};
};

#define CLAIM(spec) {spec},
#define ASK(kind, position, tokens, batch, heads, fill, order, elements, flags) \
  {"", kind, {position, tokens, batch, heads, fill, order}, elements, flags},
constexpr Line narrow_lines[] = {
#include "properties/vectors/chosen_narrow.def"
};
constexpr Line lines[] = {
#include "properties/vectors/chosen.def"
};
#undef ASK
#undef CLAIM

constexpr Bug bugs[] = {
#define BUG(row, text, thread) {row, text, thread},
#include "properties/vectors/bugs.def"
#undef BUG
};

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

ChosenAsk ask_of(const Line& line) {
  ChosenAsk chosen{{static_cast<Kind>(line.kind), line.question}, {}, words_of(line.flags)};
  for (const std::string& word : words_of(line.elements)) {
    std::int64_t& element = chosen.elements.emplace_back();
    std::from_chars(word.data(), word.data() + word.size(), element);
  }
  return chosen;
}

std::vector<ChosenClaim> claims_of(std::span<const Line> list) {
  std::vector<ChosenClaim> claims;
  for (const Line& line : list) {
    if (!line.spec.empty()) {
      claims.push_back({line.spec, {}});
    } else {
      claims.back().asks.push_back(ask_of(line));
    }
  }
  return claims;
}

}  // namespace

std::vector<ChosenClaim> chosen_claims() {
  std::vector<ChosenClaim> claims = claims_of(narrow_lines);
  std::ranges::move(claims_of(lines), std::back_inserter(claims));
  return claims;
}

std::vector<ChosenClaim> claims_with_mutants() { return claims_of(lines); }

const Bug* bug_named(std::string_view row) {
  const auto* found = std::ranges::find(bugs, row, &Bug::row);
  return found == std::end(bugs) ? nullptr : found;
}

}  // namespace sextant::vectors
