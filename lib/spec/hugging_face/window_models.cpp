#include "lib/spec/hugging_face/window_models.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "lib/spec/fields.hpp"
#include "lib/spec/hugging_face/draft.hpp"

// transformers 5.24, models/TYPE/modeling_TYPE.py.

namespace sextant::hugging_face {
namespace {

using Claims = std::vector<ConfigClaim>;

// Reads one part; fields that a class takes no null for are refused where they are null.
class Reader {
 public:
  explicit Reader(const Part& part) : part_(part) {}

  Draft draft(std::string kind = "") const { return {part_.name, std::move(kind), part_.model_type}; }
  std::string default_source() const { return draft().default_source(); }

  void set_dtype(Draft& draft) const {
    if (part_.dtype) draft.set("dtype", *part_.dtype);
  }

  Read<std::int64_t> integer(ConfigObject::Names names, std::int64_t fallback) const {
    refuse_null(names);
    const auto read = part_.config.integer(names).value_or(Read<std::int64_t>{fallback, default_source()});
    if (read.value < 1 || read.value > width_limit)
      refuse(*names.begin(), fmt::format("expected an integer from 1 to {}, got {}", width_limit, read.value));
    return read;
  }

  bool is_set(const char* name) const {
    const auto read = part_.config.boolean({name});
    return read && read->value;
  }

  // Height and width, where the class takes one number or two.
  Read<std::array<std::int64_t, 2>> sides(const char* name, std::int64_t fallback) const {
    const auto stated = part_.config.fields().find(name);
    if (stated == part_.config.fields().end() || !stated->is_array()) {
      const auto both = integer({name}, fallback);
      return {{both.value, both.value}, both.source};
    }
    const auto list = *part_.config.integers({name});
    const bool is_good = list.value.size() == 2 && std::ranges::all_of(list.value, [](std::int64_t side) {
                           return side >= 1 && side <= width_limit;
                         });
    if (!is_good) refuse(name, fmt::format("expected an integer or two from 1 on, got {}", stated->dump()));
    return {{list.value[0], list.value[1]}, list.source};
  }

  // Whole patches of an image.
  Read<std::array<std::int64_t, 2>> patches(std::int64_t image, std::int64_t patch) const {
    const auto of_image = sides("image_size", image);
    const auto of_patch = sides("patch_size", patch);
    const std::array<std::int64_t, 2> grid{of_image.value[0] / of_patch.value[0],
                                           of_image.value[1] / of_patch.value[1]};
    if (grid[0] < 1 || grid[1] < 1) refuse("image_size", "expected no less than a patch");
    return {grid, fmt::format("{} / {}", of_image.source, of_patch.source)};
  }

  ConfigClaim table(std::string kind, const Read<std::int64_t>& dim, std::int64_t rows, std::string source) const {
    Draft table = draft(std::move(kind));
    table.set("encoding", "learned", table.type_source());
    table.set("dim", dim);
    table.set("max_positions", rows, std::move(source));
    set_dtype(table);
    table.note("images of other sizes are given an interpolated table, which no claim says");
    return table.claim();
  }

  [[noreturn]] void refuse(const char* name, const std::string& expected) const { part_.config.refuse(name, expected); }
  const ConfigObject& config() const { return part_.config; }

 private:
  void refuse_null(ConfigObject::Names names) const {
    for (const char* name : names) {
      if (part_.config.fields().contains(name) && !part_.config.has(name))
        part_.config.refuse(name, "expected an integer, got null");
    }
  }

  const Part& part_;
};

std::vector<std::int64_t> depths_of(const Reader& reader) {
  const auto stated = reader.config().integers({"depths"});
  std::vector<std::int64_t> depths = stated ? stated->value : std::vector<std::int64_t>{2, 2, 6, 2};
  constexpr std::size_t most_stages = 16;
  const bool is_good = !depths.empty() && depths.size() <= most_stages &&
                       std::ranges::all_of(depths, [](std::int64_t n) { return n >= 0 && n <= 4096; });
  if (!is_good)
    reader.refuse("depths", fmt::format("expected the number of layers in each of 1 to 16 stages, got [{}]",
                                        fmt::join(depths, ", ")));
  // Each stage looks its number of heads up, and leaves out what is listed beyond them.
  const auto heads = reader.config().integers({"num_heads", "num_attention_heads"});
  const std::size_t stages_with_heads = heads ? heads->value.size() : 4;
  if (stages_with_heads < depths.size())
    reader.refuse("num_heads",
                  fmt::format("expected one for each of {} stages, got {}", depths.size(), stages_with_heads));
  return depths;
}

// A row for each patch of the image, no class token; but the other classes' have one more, and fail to be added.
Claims with_table_of_patches(const Reader& reader, Claims claims, const Read<std::array<std::int64_t, 2>>& patches) {
  if (!reader.is_set("use_absolute_embeddings")) return claims;
  Draft table = reader.draft("table");
  if (table.type_source() != "swin") {
    claims.push_back(table.refused("transformers' table has a row more than there are patches, and fails to be added"));
    return claims;
  }
  claims.push_back(reader.table("table", reader.integer({"embed_dim"}, 96), patches.value[0] * patches.value[1],
                                fmt::format("patches of {}", patches.source)));
  return claims;
}

}  // namespace

Claims swin(const Part& part) {
  const Reader reader(part);
  const auto patches = reader.patches(224, 4);
  const auto window = reader.integer({"window_size"}, 7);
  Draft bias = reader.draft(reader.is_set("use_absolute_embeddings") ? "bias" : "");
  bias.set("encoding", "window_bias", bias.type_source());
  bias.set("window", std::array{window.value, window.value}, window.source);
  reader.set_dtype(bias);
  bias.note("in every second layer windows are shifted, and those cut by the image's edge masked besides");
  std::int64_t side = std::min(patches.value[0], patches.value[1]);
  for (std::size_t stage = 1; stage < depths_of(reader).size(); ++stage) side = (side + 1) / 2;
  if (side < window.value && part.model_type != "maskformer-swin") {
    return {
        bias.refused(fmt::format("the last stage has {} tokens on a side, fewer than a window of {}, whose bias "
                                 "transformers then fails to add",
                                 side, window.value))};
  }
  return with_table_of_patches(reader, {bias.claim()}, patches);
}

Claims swinv2(const Part& part) {
  const Reader reader(part);
  const auto patches = reader.patches(224, 4);
  const auto window = reader.integer({"window_size"}, 7);
  const std::vector<std::int64_t> depths = depths_of(reader);
  const auto pretrained = reader.config().integers({"pretrained_window_sizes"});
  if (pretrained && pretrained->value.size() < depths.size())
    reader.refuse("pretrained_window_sizes", fmt::format("expected one for each of {} stages", depths.size()));
  Claims claims;
  std::int64_t first_layer = 0;
  for (std::size_t stage = 0; stage < depths.size(); ++stage) {
    Draft code = reader.draft(fmt::format("stage{}", stage + 1));
    std::vector<std::int64_t> layers;
    for (std::int64_t i = 0; i < depths[stage]; ++i) layers.push_back(first_layer + i);
    first_layer += depths[stage];
    code.cover(layers);
    // A window is no wider than the stage's image is high.
    const std::int64_t height = patches.value[0] >> stage;
    const std::int64_t width = std::min(window.value, height);
    const std::string source =
        width == window.value ? window.source : fmt::format("height of the stage, {}", patches.source);
    const std::int64_t before = pretrained ? pretrained->value[stage] : 0;
    if (width < 2) {
      claims.push_back(code.refused(fmt::format("a window of {} tokens on a side has no offsets", width)));
      continue;
    }
    code.set("encoding", "log_coordinates", code.type_source());
    code.set("window", std::array{width, width}, source);
    if (before > 0) code.set("pretrained_window", std::array{before, before}, pretrained->source);
    code.set("min_position", 1 - width, "offsets within a window");
    code.set("max_position", width, "offsets within a window");
    reader.set_dtype(code);
    code.note("the bias is what the model's own network makes of them");
    claims.push_back(code.claim());
  }
  return with_table_of_patches(reader, std::move(claims), patches);
}

Claims beit(const Part& part) {
  const Reader reader(part);
  const auto patches = reader.patches(224, 16);
  const bool has_table = reader.is_set("use_absolute_position_embeddings");
  const bool has_each = reader.is_set("use_relative_position_bias");
  const bool has_shared = reader.is_set("use_shared_relative_position_bias");
  Claims claims;
  if (has_each && has_shared) {
    claims.push_back(reader.draft("bias").refused("a bias of each layer beside one of all: their sum is no claim"));
  } else if ((has_each || has_shared) && patches.value[0] != patches.value[1]) {
    // The table is read as one of its width by its height, and interpolated to its height by its width.
    claims.push_back(
        reader.draft(has_table ? "bias" : "").refused("transformers interpolates the bias of an oblong image"));
  } else if (has_each || has_shared) {
    Draft bias = reader.draft(has_table ? "bias" : "");
    bias.set("encoding", "window_bias", bias.type_source());
    bias.set("window", patches.value, patches.source);
    bias.set("class_token", "first", bias.type_source());
    reader.set_dtype(bias);
    bias.note("images of other sizes are given an interpolated bias, which no claim says");
    claims.push_back(bias.claim());
  }
  if (has_table) {
    claims.push_back(reader.table(has_each || has_shared ? "table" : "", reader.integer({"hidden_size"}, 768),
                                  patches.value[0] * patches.value[1] + 1,
                                  fmt::format("patches of {}, and the class token", patches.source)));
  }
  if (claims.empty()) claims.push_back(reader.draft().refused("it has no positions"));
  return claims;
}

Claims detr(const Part& part) {
  const Reader reader(part);
  const Draft draft = reader.draft();
  const auto type = reader.config().text({"position_embedding_type"});
  if (type && type->value == "learned")
    return {draft.refused("a learned table for each axis is not said by any spec yet")};
  if (type && type->value != "sine")
    reader.refuse("position_embedding_type", fmt::format("expected sine or learned, got \"{}\"", type->value));
  if (part.model_type == "deformable_detr")
    return {draft.refused("rows and columns are counted from a half, which no spec says")};
  const auto width = reader.integer({"d_model", "hidden_size"}, 256);
  return {draft.refused(fmt::format(
      "rows and columns are parts of the image's, whose size the file does not state; an image of 25 x 34 "
      "cells is --spec {{\"encoding\":\"sinusoidal_nd\",\"dim\":{},\"extents\":[25,34],\"position_offset\":1,"
      "\"coordinates\":\"normalized\",\"epsilon\":1e-6}}",
      width.value))};
}

Claims xlnet(const Part& part) {
  const Reader reader(part);
  Draft draft = reader.draft();
  draft.set("encoding", "sinusoidal", draft.type_source());
  const Read<std::int64_t> dim = reader.integer({"d_model", "hidden_size"}, 1024);
  if (dim.value % 2 != 0) reader.refuse("d_model", fmt::format("expected an even number, got {}", dim.value));
  draft.set("dim", dim);
  draft.set("layout", "concatenated", draft.type_source());
  const auto attention = reader.config().text({"attn_type"});
  const std::string type = attention ? attention->value : "bi";
  if (type != "bi" && type != "uni") reader.refuse("attn_type", fmt::format("expected bi or uni, got \"{}\"", type));
  const auto clamp = reader.config().integer({"clamp_len"});
  const bool is_clamped = clamp && clamp->value > 0;
  constexpr std::int64_t furthest = 131071;
  const Read<std::int64_t> reach =
      is_clamped ? *clamp : Read<std::int64_t>{furthest, fmt::format("{}: distances have no end", draft.type_source())};
  if (reach.value > furthest)
    reader.refuse("clamp_len", fmt::format("expected at most {}, got {}", furthest, reach.value));
  const std::string behind = attention ? attention->source : draft.default_source();
  // Of one direction the code begins at the query's own place.
  draft.set("min_position", type == "bi" ? -reach.value : 0, type == "bi" ? reach.source : behind);
  draft.set("max_position", reach.value + 1, reach.source);
  reader.set_dtype(draft);
  draft.note("a position is how far a key lies before the query: negative behind it");
  if (is_clamped) draft.note("beyond clamp_len distances are taken for it, which no claim says");
  if (reader.is_set("bi_data")) draft.note("the second half of a batch has the distances the other way round");
  return {draft.claim()};
}

Claims sound_sinusoids(const Part& part) {
  const Reader reader(part);
  Draft draft = reader.draft();
  draft.set("encoding", "sinusoidal", draft.type_source());
  draft.set("dim", reader.integer({"d_model", "hidden_size"}, 1280));
  draft.set("layout", "concatenated", draft.type_source());
  draft.set("denominator", "half_minus_one", draft.type_source());
  draft.set("max_position", reader.integer({"max_source_positions"}, 1500));
  reader.set_dtype(draft);
  draft.note("positions begin anew in each chunk of sound");
  return {draft.claim()};
}

Claims sound_table(const Part& part) {
  const Reader reader(part);
  Draft draft = reader.draft();
  draft.set("encoding", "learned", draft.type_source());
  draft.set("dim", reader.integer({"d_model", "hidden_size"}, 1280));
  draft.set("max_positions", reader.integer({"max_source_positions"}, 1500));
  reader.set_dtype(draft);
  draft.note("the weights have Whisper's sinusoids here, which the code does not compute");
  return {draft.claim()};
}

}  // namespace sextant::hugging_face
