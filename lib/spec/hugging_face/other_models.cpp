// Over 400 lines: a function for each model_type, most of them a few lines that are read alone, and their one list.
#include "lib/spec/hugging_face/other_models.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/spec/fields.hpp"
#include "lib/spec/hugging_face/axial_models.hpp"
#include "lib/spec/hugging_face/disentangled_models.hpp"
#include "lib/spec/hugging_face/draft.hpp"
#include "lib/spec/hugging_face/qwen.hpp"
#include "lib/spec/hugging_face/rotary_models.hpp"
#include "lib/spec/hugging_face/window_models.hpp"

namespace sextant::hugging_face {
namespace {

using Claims = std::vector<ConfigClaim>;

Draft draft_of(const Part& part, std::string kind = "") { return {part.name, std::move(kind), part.model_type}; }

std::int64_t in_range(const ConfigObject& config, const char* name, const Read<std::int64_t>& read) {
  if (read.value < 1 || read.value > width_limit)
    config.refuse(name, fmt::format("expected an integer from 1 to {}, got {}", width_limit, read.value));
  return read.value;
}

// A table of so many rows, of which the first token takes row `first`.
struct Table {
  Read<std::int64_t> dim;
  Read<std::int64_t> rows;
  std::int64_t first = 0;
};

ConfigClaim learned(Draft draft, const Part& part, const Table& table) {
  draft.set("encoding", "learned", draft.type_source());
  draft.set("dim", table.dim);
  draft.set("max_positions", table.rows);
  if (table.first != 0) {
    draft.set("min_position", table.first,
              fmt::format("{}: row {} is the first token's", draft.type_source(), table.first));
  }
  set_dtype(draft, part);
  return draft.claim();
}

// Sines, then cosines; `first` is the position of the first token.
ConfigClaim sinusoids(Draft draft, const Part& part, const Table& table, std::string_view denominator) {
  draft.set("encoding", "sinusoidal", draft.type_source());
  draft.set("dim", table.dim);
  draft.set("layout", "concatenated", draft.type_source());
  draft.set("denominator", denominator, draft.type_source());
  if (table.first != 0)
    draft.set("position_offset", table.first, fmt::format("{}: padding comes before", draft.type_source()));
  draft.set("max_position", table.rows);
  set_dtype(draft, part);
  return draft.claim();
}

// A size by the names that the class knows, none of which may be null. One that is stated by other classes' names alone
// is not what anybody means.
void check_names(const Part& part, ConfigObject::Names own, ConfigObject::Names foreign) {
  const auto is_own = [&](std::string_view name) { return std::ranges::find(own, name) != own.end(); };
  for (const char* name : own) {
    if (part.config.fields().contains(name) && !part.config.has(name))
      part.config.refuse(name, "expected an integer, got null");
  }
  if (std::ranges::any_of(own, [&](const char* name) { return part.config.has(name); })) return;
  for (const char* name : foreign) {
    if (!is_own(name) && part.config.has(name))
      part.config.refuse_meaning(
          name, fmt::format("not read by transformers' {}, which looks for {}", part.model_type, *own.begin()));
  }
}

Read<std::int64_t> length(const Part& part, const Draft& draft, std::int64_t fallback,
                          const char* other = "max_position_embeddings") {
  check_names(part, {"max_position_embeddings", other}, {"n_positions"});
  return read_or(part.config.integer({"max_position_embeddings", other}), fallback, draft);
}

// `other`: a second name by which the class knows hidden_size.
Read<std::int64_t> width(const Part& part, const Draft& draft, std::int64_t fallback,
                         const char* other = "hidden_size") {
  check_names(part, {"hidden_size", other}, {"n_embd", "n_embed", "d_model", "embed_dim"});
  return read_or(part.config.integer({other, "hidden_size"}), fallback, draft);
}

void refuse_relative(const Part& part) {
  const auto type = part.config.text({"position_embedding_type"});
  if (type && type->value != "absolute")
    part.config.refuse_meaning("position_embedding_type", fmt::format("\"{}\" is not said by any spec", type->value));
}

Claims bert(const Part& part) {
  refuse_relative(part);
  const Draft draft = draft_of(part);
  return {learned(draft, part, {width(part, draft, 768), length(part, draft, 512)})};
}

// The padding token's row stands still, and the tokens' follow it.
Claims roberta(const Part& part) {
  refuse_relative(part);
  const Draft draft = draft_of(part);
  if (part.config.fields().contains("pad_token_id") && !part.config.has("pad_token_id"))
    part.config.refuse("pad_token_id", "expected an integer, got null");
  const auto padding = read_or(part.config.integer({"pad_token_id"}), std::int64_t{1}, draft);
  if (padding.value < 0 || padding.value > width_limit)
    part.config.refuse("pad_token_id",
                       fmt::format("expected an integer from 0 to {}, got {}", width_limit, padding.value));
  return {learned(draft, part, {width(part, draft, 768), length(part, draft, 512), padding.value + 1})};
}

// Rotary in ESM-2; of ESM-1b's tables the padding token's row stands still.
Claims esm(const Part& part) {
  const auto type = part.config.text({"position_embedding_type"});
  if (!type || type->value == "absolute") {
    if (!part.config.has("pad_token_id"))
      part.config.refuse("pad_token_id", "required: transformers' esm counts positions from it");
    const Draft draft = draft_of(part);
    const auto padding = *part.config.integer({"pad_token_id"});
    if (padding.value < 0 || padding.value > width_limit)
      part.config.refuse("pad_token_id",
                         fmt::format("expected an integer from 0 to {}, got {}", width_limit, padding.value));
    return {learned(draft, part, {width(part, draft, 768), length(part, draft, 1026), padding.value + 1})};
  }
  if (type->value != "rotary") refuse_relative(part);
  for (const char* name : {"rope_parameters", "rope_scaling"}) {
    if (part.config.has(name)) part.config.refuse_meaning(name, "not read by transformers' esm");
  }
  return claims_of(*rotary_model("esm"), part);
}

// Of a token's embedding, before it is made as wide as the layers.
Claims of_embeddings(const Part& part) {
  const Draft draft = draft_of(part);
  check_names(part, {"embedding_size"}, {});
  const auto dim = read_or(part.config.integer({"embedding_size"}), std::int64_t{128}, draft);
  return {learned(draft, part, {dim, length(part, draft, 512)})};
}

Claims distilbert(const Part& part) {
  const Draft draft = draft_of(part);
  return {learned(draft, part, {width(part, draft, 768, "dim"), length(part, draft, 512)})};
}

// A table for the encoder and one for the decoder, alike.
Claims of_both_stacks(const Part& part, std::int64_t dim, std::int64_t positions, std::int64_t first) {
  Claims claims;
  for (const char* kind : {"encoder", "decoder"}) {
    const Draft draft = draft_of(part, kind);
    auto rows = length(part, draft, positions);
    rows.value = in_range(part.config, "max_position_embeddings", rows) + first;
    if (first != 0) rows.source += fmt::format(", and {}", first);
    claims.push_back(learned(draft, part, {width(part, draft, dim, "d_model"), rows, first}));
  }
  return claims;
}

Claims bart(const Part& part) { return of_both_stacks(part, 1024, 1024, 2); }
Claims blenderbot(const Part& part) { return of_both_stacks(part, 2560, 128, 0); }
Claims blenderbot_small(const Part& part) { return of_both_stacks(part, 512, 512, 0); }

Claims led(const Part& part) {
  Claims claims;
  for (const auto& [kind, field, positions] : {std::tuple("encoder", "max_encoder_position_embeddings", 16384),
                                               std::tuple("decoder", "max_decoder_position_embeddings", 1024)}) {
    const Draft draft = draft_of(part, kind);
    check_names(part, {field}, {"max_position_embeddings", "n_positions"});
    const auto rows = read_or(part.config.integer({field}), std::int64_t{positions}, draft);
    claims.push_back(learned(draft, part, {width(part, draft, 1024, "d_model"), rows}));
  }
  return claims;
}

// Two rows more than positions, and position p in row p + 2.
Claims from_row_two(const Part& part, std::int64_t dim, std::int64_t positions) {
  const Draft draft = draft_of(part);
  auto rows = length(part, draft, positions);
  rows.value = in_range(part.config, "max_position_embeddings", rows) + 2;
  rows.source += ", and 2";
  return {learned(draft, part, {width(part, draft, dim), rows, 2})};
}

Claims biogpt(const Part& part) { return from_row_two(part, 1024, 1024); }
Claims opt(const Part& part) { return from_row_two(part, 768, 2048); }

Claims gpt2(const Part& part) {
  const Draft draft = draft_of(part);
  return {learned(draft, part, {width(part, draft, 768, "n_embd"), length(part, draft, 1024, "n_positions")})};
}

Claims gpt_neo(const Part& part) {
  const Draft draft = draft_of(part);
  return {learned(draft, part, {width(part, draft, 2048), length(part, draft, 2048)})};
}

// Whether a size may be a list of two; the table of an oblong image is interpolated.
enum class Sizes { numbers, numbers_or_lists };

struct Image {
  std::int64_t size;
  std::int64_t patch;
  Sizes sizes = Sizes::numbers;
};

Read<std::int64_t> pixels(const Part& part, const Draft& draft, const char* name, std::int64_t fallback, Sizes sizes) {
  check_names(part, {name}, {});
  const auto stated = part.config.fields().find(name);
  if (sizes == Sizes::numbers || stated == part.config.fields().end() || !stated->is_array())
    return read_or(part.config.integer({name}), fallback, draft);
  const auto list = *part.config.integers({name});
  if (list.value.size() != 2 || list.value[0] != list.value[1])
    part.config.refuse(name, fmt::format("expected an integer or two that are equal, got {}", stated->dump()));
  return {list.value[0], list.source};
}

// A row for each patch.
Read<std::int64_t> side_in_patches(const Part& part, const Draft& draft, const Image& image) {
  const auto image_size = pixels(part, draft, "image_size", image.size, image.sizes);
  const auto patch_size = pixels(part, draft, "patch_size", image.patch, image.sizes);
  const std::int64_t side =
      in_range(part.config, "image_size", image_size) / in_range(part.config, "patch_size", patch_size);
  if (side < 1 || side > 4096)
    part.config.refuse("image_size", fmt::format("expected 1 to 4096 patches of {}, got {}", patch_size.value, side));
  return {side, fmt::format("{} / {}", image_size.source, patch_size.source)};
}

// A row for the class token, and one for each patch.
Claims rows_of_patches(const Part& part, std::int64_t hidden, const Image& image) {
  Draft draft = draft_of(part);
  const auto side = side_in_patches(part, draft, image);
  draft.note("images of other sizes are given an interpolated table, which no claim says");
  return {learned(draft, part,
                  {width(part, draft, hidden),
                   {side.value * side.value + 1, fmt::format("square of {}, and the class token", side.source)}})};
}

Claims clip_vision(const Part& part) { return rows_of_patches(part, 768, {224, 32}); }
Claims vit(const Part& part) { return rows_of_patches(part, 768, {224, 16, Sizes::numbers_or_lists}); }
Claims dinov2(const Part& part) { return rows_of_patches(part, 768, {224, 14, Sizes::numbers_or_lists}); }

Claims internvl_vision(const Part& part) {
  const auto has_table = part.config.boolean({"use_absolute_position_embeddings"});
  if (has_table && !has_table->value) return {draft_of(part).refused("it has no positions")};
  return rows_of_patches(part, 1024, {448, 14, Sizes::numbers_or_lists});
}

Claims siglip2_vision(const Part& part) {
  return {draft_of(part).refused("a learned table that is interpolated to the image is not said by any spec yet")};
}

Claims clip_text(const Part& part) {
  const Draft draft = draft_of(part);
  return {learned(draft, part, {width(part, draft, 512), length(part, draft, 77)})};
}

Claims siglip_text(const Part& part) {
  const Draft draft = draft_of(part);
  return {learned(draft, part, {width(part, draft, 768), length(part, draft, 64)})};
}

Claims siglip_vision(const Part& part) {
  const Draft draft = draft_of(part);
  const auto side = side_in_patches(part, draft, {224, 16});
  return {learned(draft, part,
                  {width(part, draft, 768), {side.value * side.value, fmt::format("square of {}", side.source)}})};
}

// get_2d_sincos_pos_embed: the column's half first. The class token's row of zeros comes before.
Claims vit_mae(const Part& part) {
  Claims claims;
  for (const auto& [kind, field, fallback] :
       {std::tuple("encoder", "hidden_size", 768), std::tuple("decoder", "decoder_hidden_size", 512)}) {
    Draft draft = draft_of(part, kind);
    const auto side = side_in_patches(part, draft, {224, 16});
    draft.set("encoding", "sinusoidal_2d", draft.type_source());
    draft.set("dim", part.config.integer({field}), std::int64_t{fallback});
    draft.set("height", side);
    draft.set("width", side);
    draft.set("layout", "concatenated", draft.type_source());
    draft.set("axis_order", "width_first", draft.type_source());
    set_dtype(draft, part);
    draft.note("the class token comes before the patches and has zeros");
    claims.push_back(draft.claim());
  }
  return claims;
}

Claims marian(const Part& part) {
  const Draft draft = draft_of(part);
  const auto dim = width(part, draft, 1024, "d_model");
  if (dim.value % 2 != 0)
    part.config.refuse("d_model", fmt::format("expected an even number, got {}: an odd table of transformers' {} has a "
                                              "sine more than cosines, which no spec says",
                                              dim.value, part.model_type));
  return {sinusoids(draft, part, {dim, length(part, draft, 1024)}, "dim")};
}

// Positions count from the padding token's index + 1, as in fairseq.
Claims m2m_100(const Part& part) {
  const Draft draft = draft_of(part);
  const auto padding = read_or(part.config.integer({"pad_token_id"}), std::int64_t{1}, draft);
  return {sinusoids(draft, part, {width(part, draft, 1024, "d_model"), length(part, draft, 1024), padding.value + 1},
                    "half_minus_one")};
}

// Positions count from 2, as in fairseq.
Claims xglm(const Part& part) {
  const Draft draft = draft_of(part);
  return {
      sinusoids(draft, part, {width(part, draft, 1024, "d_model"), length(part, draft, 2048), 2}, "half_minus_one")};
}

Claims whisper(const Part& part) {
  const Draft encoder = draft_of(part, "encoder");
  const Draft decoder = draft_of(part, "decoder");
  const auto dim = width(part, encoder, 384, "d_model");
  return {sinusoids(encoder, part,
                    {dim, read_or(part.config.integer({"max_source_positions"}), std::int64_t{1500}, encoder)},
                    "half_minus_one"),
          learned(decoder, part,
                  {dim, read_or(part.config.integer({"max_target_positions"}), std::int64_t{448}, decoder)})};
}

Claims t5(const Part& part) {
  Claims claims;
  for (const auto& [kind, bidirectional] : {std::pair("encoder", true), std::pair("decoder", false)}) {
    Draft draft = draft_of(part, kind);
    draft.set("encoding", "relative_bias", draft.type_source());
    draft.set("num_buckets", part.config.integer({"relative_attention_num_buckets"}), std::int64_t{32});
    draft.set("max_distance", part.config.integer({"relative_attention_max_distance"}), std::int64_t{128});
    draft.set("bidirectional", bidirectional, fmt::format("{}'s {}", draft.type_source(), kind));
    set_dtype(draft, part);
    claims.push_back(draft.claim());
  }
  return claims;
}

// The encoder looks at blocks, in which distances have the same buckets. One of "transient-global" attention looks at
// sums of blocks besides.
Claims longt5(const Part& part) {
  const auto type = part.config.text({"encoder_attention_type"});
  if (type && type->value != "local" && type->value != "transient-global")
    part.config.refuse("encoder_attention_type",
                       fmt::format("expected local or transient-global, got \"{}\"", type->value));
  Claims claims = t5(part);
  if (type && type->value == "transient-global")
    claims.front().notes.push_back(
        "its global tokens, the sums of blocks, have a table of their own by the distance of blocks: not claimed");
  return claims;
}

// A table of positions from the row `first` on, and T5's buckets of tokens' distances, in all layers alike.
Claims table_and_buckets(const Part& part, std::int64_t first, const Read<std::int64_t>& buckets,
                         const Read<std::int64_t>& distance, std::string note) {
  const Draft table = draft_of(part, "table");
  Draft bias = draft_of(part, "bias");
  bias.set("encoding", "relative_bias", bias.type_source());
  bias.set("num_buckets", buckets);
  bias.set("max_distance", distance);
  bias.set("bidirectional", true, bias.type_source());
  set_dtype(bias, part);
  if (!note.empty()) bias.note(std::move(note));
  return {learned(table, part, {width(part, table, 768), length(part, table, 512), first}), bias.claim()};
}

// compute_position_bias counts 32 buckets, whatever the table's rows are.
Claims mpnet(const Part& part) {
  const Draft draft = draft_of(part);
  const auto buckets = read_or(part.config.integer({"relative_attention_num_buckets"}), std::int64_t{32}, draft);
  if (buckets.value != 32)
    part.config.refuse_meaning("relative_attention_num_buckets",
                               fmt::format("{} contradicts transformers' mpnet, which counts 32 buckets whatever the "
                                           "file says",
                                           buckets.value));
  return table_and_buckets(part, 2, buckets, {128, draft.type_source()}, "");
}

// What it makes of boxes on the page, and of patches of the image, is no position of a token.
Claims layoutlmv3(const Part& part) {
  const Draft draft = draft_of(part);
  const auto padding = read_or(part.config.integer({"pad_token_id"}), std::int64_t{1}, draft);
  if (padding.value < 0 || padding.value > width_limit)
    part.config.refuse("pad_token_id",
                       fmt::format("expected an integer from 0 to {}, got {}", width_limit, padding.value));
  const auto buckets = read_or(part.config.integer({"rel_pos_bins"}), std::int64_t{32}, draft);
  const auto distance = read_or(part.config.integer({"max_rel_pos"}), std::int64_t{128}, draft);
  Claims claims = table_and_buckets(part, padding.value + 1, buckets, distance,
                                    "the code divides the table's values by the root of the head's width");
  const auto has_bias = part.config.boolean({"has_relative_attention_bias"});
  if (has_bias && !has_bias->value) claims.pop_back();
  for (ConfigClaim& claim : claims)
    claim.notes.push_back("of the tokens of the text; tables and biases of boxes and patches are not claimed");
  return claims;
}

// `other`: a second name by which the class knows num_attention_heads.
Draft alibi(const Part& part, std::string_view form, std::int64_t heads, const char* other = "num_attention_heads") {
  Draft draft = draft_of(part);
  draft.set("encoding", "alibi", draft.type_source());
  draft.set("num_heads", part.config.integer({"num_attention_heads", other}), heads);
  draft.set("form", form, draft.type_source());
  if (const auto longest = part.config.integer({"seq_length", "max_seq_len", "max_position_embeddings"}))
    draft.set("max_position", *longest);
  set_dtype(draft, part);
  return draft;
}

Claims bloom(const Part& part) { return {alibi(part, "key_index", 8, "n_head").claim()}; }

Claims mpt(const Part& part) {
  const auto attention = part.config.object("attn_config");
  if (attention) {
    const auto is_used = attention->boolean({"alibi"});
    if (is_used && !is_used->value)
      attention->refuse_meaning("alibi", "false contradicts transformers' mpt, which always has ALiBi");
  }
  Draft draft = alibi(part, "distance", 16, "n_heads");
  if (attention) {
    if (const auto exponent = attention->integer({"alibi_bias_max"})) {
      draft.set("bias_max", *exponent);
      // MptModel.forward leaves build_mpt_alibi_tensor its default; seen in 5.23, by the scores of a model that ran.
      if (exponent->value != 8)
        draft.note(
            "transformers' own mpt computes bias_max 8 whatever the file says; MosaicML's code and vLLM read it");
    }
  }
  draft.note(
      "the code adds the slope times (key - last key), which differs from the claim by a constant for each query");
  return {draft.claim()};
}

Claims falcon(const Part& part) {
  const auto has_alibi = part.config.boolean({"alibi"});
  if (!has_alibi || !has_alibi->value) return claims_of(*rotary_model("falcon"), part);
  Draft draft = alibi(part, "key_index", 71);
  draft.set("slope_dtype", "bfloat16", draft.type_source());
  // build_alibi_tensor: slopes.bfloat16() * positions, whose common dtype is bfloat16, then cast to the model's.
  draft.note(
      "transformers rounds key positions (257 is 256 there) and their products with the slopes to bfloat16 too, in a "
      "model of any dtype, and multiplies the bias by the scores' scale: slope_dtype says the slopes alone, and no "
      "field "
      "the rest");
  return {draft.claim()};
}

// DbrxAttention keeps attn_config.rope_theta, which the weights were trained with, and its rotation takes the base at
// the top level, which no published file states.
Claims dbrx(const Part& part) {
  const auto attention = part.config.object("attn_config");
  const auto trained = attention ? attention->number({"rope_theta"}) : std::nullopt;
  if (!trained) part.config.refuse("attn_config", "rope_theta is required within: transformers' dbrx fails without it");
  Claims claims = claims_of(*rotary_model("dbrx"), part);
  const auto spec = nlohmann::ordered_json::parse(to_json(*claims.front().spec));
  if (spec["rope_theta"] == trained->value) return claims;
  const nlohmann::ordered_json meant = {{"encoding", "rope"},
                                        {"head_dim", spec["head_dim"]},
                                        {"rope_theta", trained->value},
                                        {"dtype", spec["dtype"]},
                                        {"max_position", spec["max_position"]}};
  attention->refuse("rope_theta", fmt::format("{} is not read by transformers 5.24's dbrx, which turns by {}; pass "
                                              "--spec '{}' for the file's base",
                                              trained->value, spec["rope_theta"].dump(), meant.dump()));
}

// The published files name code beside them, which is nomic-ai/contrastors' modeling_hf_nomic_bert.py (a GPT2Config, so
// n_embd and its kin); transformers' own class has other names.
Claims nomic_bert(const Part& part) {
  const ConfigObject& config = part.config;
  if (!config.has("rotary_emb_fraction")) return claims_of(*rotary_model("nomic_bert"), part);
  Draft draft = draft_of(part);
  const auto size = [&](const char* name, const char* other) {
    const auto stated = config.integer({name, other});
    if (!stated) config.refuse(name, "required by the code beside the file");
    return Read<std::int64_t>{in_range(config, name, *stated), stated->source};
  };
  const auto hidden = size("n_embd", "hidden_size");
  const auto heads = size("n_head", "num_attention_heads");
  if (hidden.value % heads.value != 0)
    config.refuse("n_embd", fmt::format("{} is no multiple of n_head = {}", hidden.value, heads.value));
  const auto positions = size("n_positions", "max_position_embeddings");
  const auto share = config.number({"rotary_emb_fraction"});
  const auto base = config.number({"rotary_emb_base"});
  const auto interleaved = config.boolean({"rotary_emb_interleaved"});
  if (!base) config.refuse("rotary_emb_base", "required by the code beside the file");
  if (!(share->value > 0 && share->value <= 1))
    config.refuse("rotary_emb_fraction", fmt::format("expected a number above 0 and at most 1, got {}", share->value));
  if (config.has("rotary_emb_scale_base"))
    config.refuse_meaning("rotary_emb_scale_base", "xPos, whose centre the code takes from the longest call so far");
  draft.set("encoding", "rope", draft.type_source());
  draft.set("head_dim", hidden.value / heads.value, fmt::format("{} / {}", hidden.source, heads.source));
  draft.set("partial_rotary_factor", *share);
  draft.set("rope_theta", *base);
  draft.set("pairing", interleaved && interleaved->value ? "interleaved" : "half",
            interleaved ? interleaved->source : "default of the code beside the file");
  draft.set("max_position", positions);
  set_dtype(draft, part);
  if (part.dtype && (part.dtype->value == "float16" || part.dtype->value == "bfloat16"))
    draft.set("evaluation", "dtype", "the product in the dtype, of the code beside the file");
  draft.note("read as the code beside the file has it (nomic-ai/contrastors, modeling_hf_nomic_bert.py)");
  ConfigClaim claim = draft.claim();
  const auto factor = config.has("rotary_scaling_factor") ? config.number({"rotary_scaling_factor"}) : std::nullopt;
  const auto trained = config.has("max_trained_positions") ? config.integer({"max_trained_positions"}) : std::nullopt;
  if (!factor || factor->value == 0) return {std::move(claim)};
  auto spec = nlohmann::ordered_json::parse(to_json(*claim.spec));
  spec["rope_scaling"] = {{"rope_type", "dynamic"},
                          {"factor", factor->value},
                          {"original_max_position_embeddings", trained ? trained->value : 2048}};
  config.refuse("rotary_scaling_factor", fmt::format("{}: the code keeps the frequencies of the longest call so far; "
                                                     "pass --spec '{}' for those of each call by itself",
                                                     factor->value, spec.dump()));
}

Claims unsaid(const Part& part, std::string why) { return {draft_of(part).refused(std::move(why))}; }

// One layer in eight has attention, without positions, and the others are recurrent.
Claims jamba(const Part& part) {
  for (const char* name : {"layer_types", "layers_block_type"}) {
    if (part.config.fields().contains(name))
      part.config.refuse_meaning(name, "transformers' jamba fails where a file has it");
  }
  const auto number = [&](const char* name, std::int64_t fallback) {
    const auto stated = part.config.integer({name});
    return stated ? stated->value : fallback;
  };
  const std::int64_t layers = number("num_hidden_layers", 32);
  const std::int64_t period = number("attn_layer_period", 8);
  const std::int64_t offset = number("attn_layer_offset", 4);
  if (layers > width_limit)
    part.config.refuse("num_hidden_layers",
                       fmt::format("expected an integer from 1 to {}, got {}", width_limit, layers));
  if (offset < 0 || offset >= period)
    part.config.refuse(
        "attn_layer_offset",
        fmt::format("expected an integer from 0 to below attn_layer_period = {}, got {}", period, offset));
  Draft standing(part.name, "full_attention", part.model_type);
  Draft rest(part.name, "linear_attention", part.model_type);
  std::vector<std::int64_t> with_attention;
  std::vector<std::int64_t> without;
  for (std::int64_t layer = 0; layer < layers; ++layer)
    (layer % period == offset ? with_attention : without).push_back(layer);
  rest.cover(without);
  ConfigClaim refused = rest.refused("these layers have no positions");
  if (with_attention.empty()) return {std::move(refused)};
  standing.cover(with_attention);
  const auto hidden = width(part, standing, 4096);
  const std::int64_t heads = number("num_attention_heads", 32);
  const auto stated = part.config.integer({"head_dim"});
  standing.set("encoding", "rope", standing.type_source());
  standing.set("head_dim", stated.value_or(Read<std::int64_t>{hidden.value / heads,
                                                              fmt::format("{} / num_attention_heads", hidden.source)}));
  standing.set("max_position", length(part, standing, 262144));
  set_dtype(standing, part);
  standing.set("rope_scaling", nlohmann::json{{"rope_type", "none"}}, "these layers have no positions");
  return {standing.claim(), std::move(refused)};
}

// Kimi Linear: latent attention without a rotation (mla_use_nope) in the layers listed, counted from 1, and linear
// attention in the others.
Claims kimi_linear(const Part& part) {
  const auto linear = part.config.object("linear_attn_config");
  const auto full = linear ? linear->integers({"full_attn_layers"}) : std::nullopt;
  const auto unturned = part.config.integer({"qk_nope_head_dim"});
  const auto other = part.config.integer({"qk_rope_head_dim"});
  const auto stands = part.config.boolean({"mla_use_nope"});
  if (!full || !unturned || !other) return unsaid(part, "its layers have no positions");
  if (stands && !stands->value)
    part.config.refuse_meaning("mla_use_nope", "false contradicts the class, which turns nothing");
  Draft standing(part.name, "full_attention", part.model_type);
  std::vector<std::int64_t> layers;
  for (const std::int64_t layer : full->value) layers.push_back(layer - 1);
  standing.cover(layers);
  standing.set("encoding", "rope", standing.type_source());
  standing.set("head_dim", unturned->value + other->value, fmt::format("{} + {}", unturned->source, other->source));
  if (const auto longest = part.config.integer({"model_max_length", "max_position_embeddings"}))
    standing.set("max_position", *longest);
  set_dtype(standing, part);
  standing.set("rope_scaling", nlohmann::json{{"rope_type", "none"}}, "these layers have no positions");
  Draft rest(part.name, "linear_attention", part.model_type);
  if (const auto others = linear->integers({"kda_layers"})) {
    std::vector<std::int64_t> linear_layers;
    for (const std::int64_t layer : others->value) linear_layers.push_back(layer - 1);
    rest.cover(linear_layers);
  }
  return {standing.claim(), rest.refused("these layers have no positions")};
}

// In the order of the alphabet. transformers 5.23, models/TYPE/modeling_TYPE.py.
constexpr OtherModel models[] = {{"albert", of_embeddings},
                                 {"bart", bart},
                                 {"beit", beit},
                                 {"bert", bert},
                                 {"biogpt", biogpt},
                                 {"blenderbot", blenderbot},
                                 {"blenderbot-small", blenderbot_small},
                                 {"bloom", bloom},
                                 {"camembert", roberta},
                                 {"clip_text_model", clip_text},
                                 {"clip_vision_model", clip_vision},
                                 {"conditional_detr", detr},
                                 {"data2vec-vision", beit},
                                 {"dbrx", dbrx},
                                 {"deberta", deberta},
                                 {"deberta-v2", deberta_v2},
                                 {"deformable_detr", detr},
                                 {"detr", detr},
                                 {"dinov2", dinov2},
                                 {"dinov3_vit", axial_claims},
                                 {"distilbert", distilbert},
                                 {"donut-swin", swin},
                                 {"electra", of_embeddings},
                                 {"esm", esm},
                                 {"falcon", falcon},
                                 {"gemma4_vision", axial_claims},
                                 {"glm4v_moe_vision", axial_claims},
                                 {"glm4v_vision", axial_claims},
                                 {"gpt2", gpt2},
                                 {"gpt_bigcode", gpt2},
                                 {"gpt_neo", gpt_neo},
                                 {"internvl_vision", internvl_vision},
                                 {"jamba", jamba},
                                 {"kimi_k25_vision", axial_claims},
                                 {"kimi_linear", kimi_linear},
                                 {"layoutlmv3", layoutlmv3},
                                 {"led", led},
                                 {"llama4_vision_model", axial_claims},
                                 {"longformer", roberta},
                                 {"longt5", longt5},
                                 {"m2m_100", m2m_100},
                                 {"marian", marian},
                                 {"maskformer-swin", swin},
                                 {"mbart", bart},
                                 {"mpnet", mpnet},
                                 {"mpt", mpt},
                                 {"mt5", t5},
                                 {"nomic_bert", nomic_bert},
                                 {"opt", opt},
                                 {"pegasus", marian},
                                 {"pixtral", axial_claims},
                                 {"qwen", qwen},
                                 {"qwen2_5_omni_audio_encoder", sound_sinusoids},
                                 {"qwen2_5_omni_vision_encoder", axial_claims},
                                 {"qwen2_5_vl_vision", axial_claims},
                                 {"qwen2_audio_encoder", sound_table},
                                 {"qwen2_vl_vision", axial_claims},
                                 {"qwen3_5_moe_vision", axial_claims},
                                 {"qwen3_5_vision", axial_claims},
                                 {"qwen3_omni_moe_audio_encoder", sound_sinusoids},
                                 {"qwen3_omni_moe_vision_encoder", axial_claims},
                                 {"qwen3_vl_moe_vision", axial_claims},
                                 {"qwen3_vl_vision", axial_claims},
                                 {"roberta", roberta},
                                 {"sew-d", sew_d},
                                 {"siglip2_text_model", siglip_text},
                                 {"siglip2_vision_model", siglip2_vision},
                                 {"siglip_text_model", siglip_text},
                                 {"siglip_vision_model", siglip_vision},
                                 {"swin", swin},
                                 {"swinv2", swinv2},
                                 {"t5", t5},
                                 {"table-transformer", detr},
                                 {"umt5", t5},
                                 {"vit", vit},
                                 {"vit_mae", vit_mae},
                                 {"whisper", whisper},
                                 {"xglm", xglm},
                                 {"xlm-roberta", roberta},
                                 {"xlnet", xlnet}};

}  // namespace

std::span<const OtherModel> other_models() { return models; }

}  // namespace sextant::hugging_face
