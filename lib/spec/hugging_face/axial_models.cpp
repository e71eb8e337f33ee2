#include "lib/spec/hugging_face/axial_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "lib/spec/fields.hpp"
#include "lib/spec/hugging_face/draft.hpp"

namespace sextant::hugging_face {
namespace {

// What a tower's code counts.
enum class Places {
  unlimited,   // patches of whatever image comes
  in_image,    // those of an image of image_size
  from_one,    // the same from 1 on, the class token at 0
  normalized,  // the middles of those patches in [-1, 1]
};

// What tensors of 16 bits are turned in.
enum class Product { in_float32, in_dtype };

// What is added to its patches before.
enum class Added { nothing, table, interpolated_table, table_of_each_axis };

// A tower: its class's names and defaults, and what its modeling file does; transformers 5.23.
struct Tower {
  std::string_view model_type;
  const char* hidden_name;
  std::int64_t hidden;
  const char* heads_name;
  std::int64_t heads = 16;
  std::int64_t head_dim = 0;  // of a class that states it; 0: hidden / heads
  double theta = 10000;
  Places places = Places::unlimited;
  std::string_view frequencies = "per_axis";
  std::string_view pairing = "half";
  std::string_view pairing_scope = "head";
  std::string_view section_order = "blocked";
  bool columns_first = false;
  Added added = Added::nothing;
  Product product = Product::in_float32;
};

// In the order of the alphabet.
constexpr Tower towers[] = {
    {.model_type = "dinov3_vit",
     .hidden_name = "hidden_size",
     .hidden = 384,
     .heads_name = "num_attention_heads",
     .heads = 6,
     .theta = 100,
     .places = Places::normalized,
     .product = Product::in_dtype},
    {.model_type = "gemma4_vision",
     .hidden_name = "hidden_size",
     .hidden = 768,
     .heads_name = "num_attention_heads",
     .heads = 12,
     .head_dim = 64,
     .theta = 100,
     .pairing_scope = "axis",
     .columns_first = true,
     .added = Added::table_of_each_axis,
     .product = Product::in_dtype},
    {.model_type = "glm4v_vision",
     .hidden_name = "hidden_size",
     .hidden = 1536,
     .heads_name = "num_heads",
     .heads = 12,
     .added = Added::interpolated_table},
    {.model_type = "kimi_k25_vision",
     .hidden_name = "hidden_size",
     .hidden = 1152,
     .heads_name = "num_attention_heads",
     .section_order = "interleaved",
     .columns_first = true,
     .added = Added::interpolated_table},
    {.model_type = "llama4_vision_model",
     .hidden_name = "hidden_size",
     .hidden = 768,
     .heads_name = "num_attention_heads",
     .places = Places::from_one,
     .pairing = "interleaved",
     .columns_first = true,
     .added = Added::table},
    {.model_type = "pixtral",
     .hidden_name = "hidden_size",
     .hidden = 1024,
     .heads_name = "num_attention_heads",
     .places = Places::in_image,
     .frequencies = "dealt",
     .product = Product::in_dtype},
    {.model_type = "qwen2_5_vl_vision", .hidden_name = "hidden_size", .hidden = 3584, .heads_name = "num_heads"},
    {.model_type = "qwen2_vl_vision", .hidden_name = "embed_dim", .hidden = 1280, .heads_name = "num_heads"},
    {.model_type = "qwen3_5_vision",
     .hidden_name = "hidden_size",
     .hidden = 1152,
     .heads_name = "num_heads",
     .added = Added::interpolated_table},
    {.model_type = "qwen3_vl_vision",
     .hidden_name = "hidden_size",
     .hidden = 1152,
     .heads_name = "num_heads",
     .added = Added::interpolated_table},
};

class TowerReader {
 public:
  TowerReader(const Tower& tower, const Part& part)
      : tower_(tower),
        part_(part),
        draft_(part.name, tower.added == Added::nothing ? "" : "rotation", part.model_type) {}

  std::vector<ConfigClaim> claims() {
    std::vector<ConfigClaim> list{rotation()};
    if (tower_.added != Added::nothing) list.push_back(table());
    return list;
  }

 private:
  ConfigClaim rotation() {
    draft_.set("encoding", "rope_nd", draft_.type_source());
    const Read<std::int64_t> width = head_dim();
    draft_.set("head_dim", width);
    draft_.set("sections", std::array{width.value / 4, width.value / 4}, draft_.type_source());
    draft_.set("section_order", tower_.section_order, draft_.type_source());
    if (tower_.columns_first) draft_.set("axis_order", std::array{1, 0}, draft_.type_source());
    draft_.set("frequencies", tower_.frequencies, draft_.type_source());
    draft_.set("pairing", tower_.pairing, draft_.type_source());
    draft_.set("pairing_scope", tower_.pairing_scope, draft_.type_source());
    draft_.set("rope_theta", theta());
    if (tower_.places != Places::unlimited) {
      const Read<std::int64_t> side = patches();
      draft_.set("max_position", side.value + (tower_.places == Places::from_one ? 1 : 0), side.source);
      if (tower_.places == Places::normalized) {
        draft_.set("coordinates", "normalized", draft_.type_source());
        draft_.set("extents", std::array{side.value, side.value}, side.source);
        draft_.note("of a square image of image_size; the class and register tokens that come before are not turned");
      }
    }
    if (part_.dtype) {
      draft_.set("dtype", *part_.dtype);
      const bool is_16_bits = part_.dtype->value == "bfloat16" || part_.dtype->value == "float16";
      if (is_16_bits && tower_.product == Product::in_dtype)
        draft_.set("evaluation", "dtype", "transformers' product in the dtype");
    }
    draft_.note("axis 0 is a patch's row, axis 1 its column");
    if (tower_.places == Places::from_one) draft_.note("rows and columns count from 1; the class token is at 0, 0");
    return draft_.claim();
  }

  // Llama 4's has a row for each patch and one for the class token.
  ConfigClaim table() const {
    Draft draft(part_.name, "table", part_.model_type);
    if (tower_.added == Added::interpolated_table)
      return draft.refused("a learned table that is interpolated to the image is not said by any spec yet");
    if (tower_.added == Added::table_of_each_axis)
      return draft.refused("a learned table for each axis is not said by any spec yet");
    const Read<std::int64_t> side = patches();
    draft.set("encoding", "learned", draft.type_source());
    draft.set("dim", integer(tower_.hidden_name, tower_.hidden));
    draft.set("max_positions", side.value * side.value + 1,
              fmt::format("square of {}, and the class token", side.source));
    if (part_.dtype) draft.set("dtype", *part_.dtype);
    return draft.claim();
  }

  Read<std::int64_t> integer(const char* name, std::int64_t fallback) const {
    const auto read = part_.config.integer({name}).value_or(Read<std::int64_t>{fallback, draft_.default_source()});
    if (read.value < 1 || read.value > width_limit)
      part_.config.refuse(name, fmt::format("expected an integer from 1 to {}, got {}", width_limit, read.value));
    return read;
  }

  Read<std::int64_t> head_dim() const {
    if (tower_.head_dim != 0) {
      const auto width = integer("head_dim", tower_.head_dim);
      if (width.value % 4 != 0)
        part_.config.refuse("head_dim", fmt::format("expected a multiple of 4, got {}", width.value));
      return width;
    }
    const auto hidden = integer(tower_.hidden_name, tower_.hidden);
    const auto heads = integer(tower_.heads_name, tower_.heads);
    const std::int64_t width = hidden.value / heads.value;
    if (width < 4 || width % 4 != 0) {
      part_.config.refuse(tower_.hidden_name, fmt::format("expected heads of a multiple of 4 channels, got {} / {}",
                                                          hidden.value, heads.value));
    }
    const auto stated = part_.config.integer({"head_dim"});
    if (stated && stated->value != width)
      part_.config.refuse("head_dim", fmt::format("{} contradicts transformers' {}, which takes {} / {}", stated->value,
                                                  part_.model_type, hidden.value, heads.value));
    return {width, fmt::format("{} / {}", hidden.source, heads.source)};
  }

  // transformers 5 has it in rope_parameters, of the type axial.
  Read<double> theta() const {
    const auto older = part_.config.number({"rope_theta"});
    const auto rule = part_.config.object("rope_parameters");
    const auto newer = rule ? rule->number({"rope_theta"}) : std::nullopt;
    if (rule) {
      const auto type = rule->text({"rope_type", "type"});
      if (type && type->value != "axial" && type->value != "default")
        rule->refuse("rope_type", fmt::format("expected axial, got \"{}\"", type->value));
    }
    if (part_.config.has("rope_scaling"))
      part_.config.refuse("rope_scaling", fmt::format("not read by transformers' {}", part_.model_type));
    if (older && newer && older->value != newer->value)
      part_.config.refuse("rope_theta",
                          fmt::format("{} contradicts {} ({})", older->value, newer->value, newer->source));
    return newer ? *newer : older.value_or(Read<double>{tower_.theta, draft_.default_source()});
  }

  // Along one side of an image.
  Read<std::int64_t> patches() const {
    const bool from_one = tower_.places == Places::from_one;
    const auto image = integer("image_size", from_one ? 448 : tower_.places == Places::normalized ? 224 : 1024);
    const auto patch = integer("patch_size", from_one ? 14 : 16);
    const std::int64_t side = image.value / patch.value;
    if (side < 1 || side > 4096)
      part_.config.refuse("image_size", fmt::format("expected 1 to 4096 patches of {}, got {}", patch.value, side));
    return {side, fmt::format("{} / {}", image.source, patch.source)};
  }

  const Tower& tower_;
  const Part& part_;
  Draft draft_;
};

}  // namespace

std::vector<ConfigClaim> axial_claims(const Part& part) {
  const auto* tower = std::ranges::find(towers, part.model_type, &Tower::model_type);
  if (tower == std::end(towers)) throw std::logic_error("axial_claims: " + part.model_type + " has no tower");
  return TowerReader(*tower, part).claims();
}

}  // namespace sextant::hugging_face
