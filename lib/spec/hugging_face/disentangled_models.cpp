#include "lib/spec/hugging_face/disentangled_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "lib/spec/hugging_face/draft.hpp"

namespace sextant::hugging_face {
namespace {

using Claims = std::vector<ConfigClaim>;

// What a configuration class has by default, and what it takes.
struct EncoderSizes {
  std::int64_t hidden_size;
  bool is_relative;
  std::int64_t position_buckets;  ///< 0: none
  bool adds_table;                ///< whether a table of positions may be added to the tokens
  std::vector<std::string> scores;
  bool takes_text;  ///< pos_att_type as "c2p|p2c" or null, which SEW-D's class refuses
};

constexpr std::string_view fails = "with which transformers fails";

// [x.strip() for x in text.lower().split("|")]
std::vector<std::string> split_kinds(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr const char* blanks = " \t\n\v\f\r";
  std::vector<std::string> kinds;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find('|', start), text.size());
    const std::string kind = text.substr(start, end - start);
    const std::size_t first = kind.find_first_not_of(blanks);
    kinds.push_back(first == kind.npos ? "" : kind.substr(first, kind.find_last_not_of(blanks) - first + 1));
    start = end + 1;
  }
  return kinds;
}

// A list is taken as it is, element by element.
std::vector<std::string> kinds_of_scores(const Part& part, const EncoderSizes& sizes) {
  constexpr const char* name = "pos_att_type";
  if (!sizes.takes_text) part.config.refuse_nulls({name}, "a list of strings", fails);
  if (!part.config.has(name)) return part.config.fields().contains(name) ? std::vector<std::string>{} : sizes.scores;
  if (!sizes.takes_text || !part.config.fields().at(name).is_string()) return part.config.texts({name})->value;
  return split_kinds(part.config.text({name})->value);
}

bool reads_relative_rows(const std::vector<std::string>& kinds) {
  return std::ranges::any_of(kinds, [](const std::string& kind) { return kind == "c2p" || kind == "p2c"; });
}

// c2p_pos = clamp(relative_pos + att_span, 0, 2 att_span - 1), and p2c_pos the same of the same query and key.
// It ends where a table that is added does, and nowhere without one.
ConfigClaim relative(const Part& part, const EncoderSizes& sizes, const Read<std::int64_t>& length, bool ends) {
  Draft draft(part.name, "relative", part.model_type);
  if (!reads_relative_rows(kinds_of_scores(part, sizes)))
    return draft.refused("pos_att_type has neither c2p nor p2c: no score reads the table of relative positions");
  part.config.refuse_nulls({"max_relative_positions"}, "an integer", fails);
  if (sizes.position_buckets != 0) part.config.refuse_nulls({"position_buckets"}, "an integer", fails);
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
  if (ends) draft.set("max_position", length);
  set_dtype(draft, part);
  draft.note(
      "the claim is of which row of the table a query and a key read; the code forms a score of that row by products "
      "with the query (c2p) and the key (p2c), where the claim has a number for each head");
  return draft.claim();
}

Claims claims_of(const Part& part, const EncoderSizes& sizes) {
  Claims claims;
  const Draft draft(part.name, "", part.model_type);
  part.config.refuse_nulls({"max_position_embeddings", "hidden_size"}, "an integer", fails);
  part.config.refuse_nulls({"relative_attention"}, "true or false", fails);
  if (sizes.adds_table) {
    part.config.refuse_nulls({"embedding_size"}, "an integer", fails);
    part.config.refuse_nulls({"position_biased_input"}, "true or false", fails);
  }
  const auto length = read_or(part.config.integer({"max_position_embeddings"}), std::int64_t{512}, draft);
  const auto is_relative = read_or(part.config.boolean({"relative_attention"}), sizes.is_relative, draft);
  const bool adds_table =
      sizes.adds_table && read_or(part.config.boolean({"position_biased_input"}), true, draft).value;
  if (adds_table) {
    Draft table(part.name, "table", part.model_type);
    table.set("encoding", "learned", table.type_source());
    // A width of its own is projected to that of the layers.
    const auto width = part.config.integer({part.config.has("embedding_size") ? "embedding_size" : "hidden_size"});
    table.set("dim", read_or(width, sizes.hidden_size, table));
    table.set("max_positions", length);
    set_dtype(table, part);
    claims.push_back(table.claim());
  }
  if (is_relative.value) claims.push_back(relative(part, sizes, length, adds_table));
  if (claims.empty()) claims.push_back(draft.refused("relative_attention is false: it has no positions"));
  return claims;
}

}  // namespace

Claims deberta(const Part& part) { return claims_of(part, {768, false, 0, true, {}, true}); }

Claims deberta_v2(const Part& part) { return claims_of(part, {1536, false, -1, true, {}, true}); }

Claims sew_d(const Part& part) { return claims_of(part, {768, true, 256, false, {"p2c", "c2p"}, false}); }

}  // namespace sextant::hugging_face
