#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "reference/recipe_answer.hpp"

// What libraries computed, bit for bit, against the recipes that say whose arithmetic they are: ci/recipes/measure.

namespace sextant::reference::recipe_libraries_test {
namespace {

using nlohmann::json;

json measurements() {
  const char* named = std::getenv("SEXTANT_RECIPES");
  std::ifstream file(named != nullptr ? std::filesystem::path(named)
                                      : std::filesystem::path(SEXTANT_SOURCE_DIR) / "ci/recipes/measured.json");
  return json::parse(file);
}

// The vector that every library was given at each position.
Tensor vectors(const Spec& spec, std::int64_t positions, std::int64_t dim) {
  Tensor x = Tensor::zeros(spec.dtype, {1, positions, 1, dim});
  for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, (static_cast<double>(i % dim * 37 % 64) - 31.5) / 16);
  return x;
}

// Values of a library that are the recipe's, and all.
struct Share {
  std::int64_t equal = 0;
  std::int64_t all = 0;
};

Share share_of(const json& entry, const std::vector<std::int64_t>& positions) {
  const Spec spec = parse_spec(entry.at("spec").dump());
  const auto answer = recipe_answer(recipe_named(entry.at("recipe").get<std::string>()), spec);
  const Tensor x = vectors(spec, std::ssize(positions), entry.at("spec").at("head_dim").get<std::int64_t>());
  const Tensor expected = answer->at(positions, &x);
  std::istringstream words(entry.at("bits").get<std::string>());
  Share share;
  for (std::string word; words >> word; ++share.all) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(word, nullptr, 16)));
    if (std::bit_cast<std::uint64_t>(static_cast<double>(value)) ==
        std::bit_cast<std::uint64_t>(expected.at(share.all)))
      ++share.equal;
  }
  EXPECT_EQ(share.all, expected.elements());
  return share;
}

TEST(Libraries, HaveTheBitsOfTheirRecipes) {
  const json measured = measurements();
  const auto positions = measured.at("positions").get<std::vector<std::int64_t>>();
  for (const json& entry : measured.at("measured")) {
    const Share share = share_of(entry, positions);
    fmt::print("{:<30} {:<22} {:<9} {} of {} values\n", entry.at("library").get<std::string>(),
               entry.at("recipe").get<std::string>(), entry.at("spec").value("dtype", "float32"), share.equal,
               share.all);
    if (!entry.contains("equal")) continue;
    EXPECT_EQ(share.equal, entry.at("equal").get<std::int64_t>()) << entry.at("library");
  }
}

}  // namespace
}  // namespace sextant::reference::recipe_libraries_test
