#include "lib/spec/hugging_face/disentangled_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "lib/spec/hugging_face/draft.hpp"

namespace sextant::hugging_face {
namespace {

using Claims = std::vector<ConfigClaim>;

// What a configuration class has by default.
struct Sizes {
  std::int64_t hidden_size;
  bool is_relative;
  std::int64_t position_buckets;  ///< 0: none
  bool adds_table;                ///< whether a table of positions may be added to the tokens
  std::vector<std::string> scores;
};

template <class T>
Read<T> read_or(const std::optional<Read<T>>& read, T fallback, const Draft& draft) {
  return read.value_or(Read<T>{std::move(fallback), draft.default_source()});
}

// "c2p|p2c" or a list.
std::vector<std::string> kinds_of_scores(const Part& part, const Sizes& sizes) {
  constexpr const char* name = "pos_att_type";
  if (!part.config.has(name)) return part.config.fields().contains(name) ? std::vector<std::string>{} : sizes.scores;
  if (!part.config.fields().at(name).is_string()) return part.config.texts({name})->value;
  return {part.config.text({name})->value};
}

bool reads_relative_rows(const std::vector<std::string>& kinds) {
  return std::ranges::any_of(
      kinds, [](const std::string& kind) { return kind.find("c2p") != kind.npos || kind.find("p2c") != kind.npos; });
}

void set_dtype(Draft& draft, const Part& part) {
  if (part.dtype) draft.set("dtype", *part.dtype);
}

// c2p_pos = clamp(relative_pos + att_span, 0, 2 att_span - 1), and p2c_pos the same of the same query and key.
ConfigClaim relative(const Part& part, const Sizes& sizes, const Read<std::int64_t>& length) {
  Draft draft(part.name, "relative", part.model_type);
  if (!reads_relative_rows(kinds_of_scores(part, sizes)))
    return draft.refused("pos_att_type has neither c2p nor p2c: no score reads the table of relative positions");
  auto furthest = read_or(part.config.integer({"max_relative_positions"}), std::int64_t{-1}, draft);
  if (furthest.value < 1) furthest = length;
  const auto buckets = sizes.position_buckets == 0
                           ? Read<std::int64_t>{0, draft.type_source()}
                           : read_or(part.config.integer({"position_buckets"}), sizes.position_buckets, draft);
  draft.set("encoding", "relative_bias", draft.type_source());
  if (buckets.value > 0) {
    draft.set("buckets", "log", draft.type_source());
    draft.set("num_buckets", 2 * buckets.value, fmt::format("twice {}", buckets.source));
    draft.set("max_distance", furthest);
  } else {
    draft.set("buckets", "clipped", draft.type_source());
    draft.set("num_buckets", 2 * furthest.value, fmt::format("twice {}", furthest.source));
  }
  draft.set("max_position", length);
  set_dtype(draft, part);
  draft.note(
      "the claim is of which row of the table a query and a key read; the code forms a score of that row by products "
      "with the query (c2p) and the key (p2c), where the claim has a number for each head");
  return draft.claim();
}

Claims claims_of(const Part& part, const Sizes& sizes) {
  Claims claims;
  const Draft draft(part.name, "", part.model_type);
  const auto length = read_or(part.config.integer({"max_position_embeddings"}), std::int64_t{512}, draft);
  const auto is_relative = read_or(part.config.boolean({"relative_attention"}), sizes.is_relative, draft);
  const bool adds_table =
      sizes.adds_table && read_or(part.config.boolean({"position_biased_input"}), true, draft).value;
  if (adds_table) {
    Draft table(part.name, "table", part.model_type);
    table.set("encoding", "learned", table.type_source());
    table.set("dim", read_or(part.config.integer({"embedding_size", "hidden_size"}), sizes.hidden_size, table));
    table.set("max_positions", length);
    set_dtype(table, part);
    claims.push_back(table.claim());
  }
  if (is_relative.value) claims.push_back(relative(part, sizes, length));
  if (claims.empty()) claims.push_back(draft.refused("relative_attention is false: it has no positions"));
  return claims;
}

}  // namespace

Claims deberta(const Part& part) { return claims_of(part, {768, false, 0, true, {}}); }

Claims deberta_v2(const Part& part) { return claims_of(part, {1536, false, -1, true, {}}); }

Claims sew_d(const Part& part) { return claims_of(part, {768, true, 256, false, {"p2c", "c2p"}}); }

}  // namespace sextant::hugging_face
