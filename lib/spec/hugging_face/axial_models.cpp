// What the fields of one file mean to one tower. Longer than 400 lines: the table stands beside the one class that
// reads its rows, and what one field says of another (a rule's base and the model's, heads and width) is checked there.
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
  in_image,    // those of an image of image_size, whose last patches its processor fills up
  from_one,    // the same from 1 on, the class token at 0
  normalized,  // the middles of those patches in [-1, 1]
};

// What tensors of 16 bits are turned in.
enum class Product { in_float32, in_dtype };

// What is added to its patches before.
enum class Added { nothing, table, interpolated_table, table_of_each_axis };

// Which sizes may be a list, of the rows first.
enum class Lists { none, image, image_and_patch };

// A size and what a file of no size has.
struct Size {
  std::int64_t image;
  std::int64_t patch;
};

// A tower: its class's names and defaults, and what its modeling file does; transformers 5.24.
struct Tower {
  std::string_view model_type;
  const char* hidden_name;
  std::int64_t hidden;
  const char* heads_name;
  const char* other_heads_name = "";  // by which the class's attribute_map knows them too
  std::int64_t heads = 16;
  std::int64_t head_dim = 0;  // of a class that states it; 0: hidden / heads
  double theta = 10000;
  Places places = Places::unlimited;
  std::string_view frequencies = "per_axis";
  std::string_view pairing = "half";
  std::string_view pairing_scope = "head";
  std::string_view section_order = "blocked";
  bool columns_first = false;
  Size size = {};  // of a tower whose places an image has
  Lists lists = Lists::none;
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
     .size = {224, 16},
     .lists = Lists::image_and_patch,
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
    {.model_type = "glm4v_moe_vision",
     .hidden_name = "hidden_size",
     .hidden = 1536,
     .heads_name = "num_heads",
     .other_heads_name = "num_attention_heads",
     .heads = 12,
     .added = Added::interpolated_table},
    {.model_type = "glm4v_vision",
     .hidden_name = "hidden_size",
     .hidden = 1536,
     .heads_name = "num_heads",
     .other_heads_name = "num_attention_heads",
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
     .size = {448, 14},
     .added = Added::table},
    {.model_type = "pixtral",
     .hidden_name = "hidden_size",
     .hidden = 1024,
     .heads_name = "num_attention_heads",
     .places = Places::in_image,
     .frequencies = "dealt",
     .size = {1024, 16},
     .lists = Lists::image,
     .product = Product::in_dtype},
    {.model_type = "qwen2_5_omni_vision_encoder",
     .hidden_name = "hidden_size",
     .hidden = 3584,
     .heads_name = "num_heads",
     .other_heads_name = "num_attention_heads"},
    {.model_type = "qwen2_5_vl_vision",
     .hidden_name = "hidden_size",
     .hidden = 3584,
     .heads_name = "num_heads",
     .other_heads_name = "num_attention_heads"},
    {.model_type = "qwen2_vl_vision",
     .hidden_name = "embed_dim",
     .hidden = 1280,
     .heads_name = "num_heads",
     .other_heads_name = "num_attention_heads"},
    {.model_type = "qwen3_5_moe_vision",
     .hidden_name = "hidden_size",
     .hidden = 1152,
     .heads_name = "num_heads",
     .other_heads_name = "num_attention_heads",
     .added = Added::interpolated_table},
    {.model_type = "qwen3_5_vision",
     .hidden_name = "hidden_size",
     .hidden = 1152,
     .heads_name = "num_heads",
     .other_heads_name = "num_attention_heads",
     .added = Added::interpolated_table},
    {.model_type = "qwen3_omni_moe_vision_encoder",
     .hidden_name = "hidden_size",
     .hidden = 1152,
     .heads_name = "num_heads",
     .other_heads_name = "num_attention_heads",
     .added = Added::interpolated_table},
    {.model_type = "qwen3_vl_moe_vision",
     .hidden_name = "hidden_size",
     .hidden = 1152,
     .heads_name = "num_heads",
     .other_heads_name = "num_attention_heads",
     .added = Added::interpolated_table},
    {.model_type = "qwen3_vl_vision",
     .hidden_name = "hidden_size",
     .hidden = 1152,
     .heads_name = "num_heads",
     .other_heads_name = "num_attention_heads",
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
    refuse_unread(width.value);
    draft_.set("head_dim", width);
    draft_.set("sections", std::array{width.value / 4, width.value / 4}, draft_.type_source());
    draft_.set("section_order", tower_.section_order, draft_.type_source());
    if (tower_.columns_first) draft_.set("axis_order", std::array{1, 0}, draft_.type_source());
    draft_.set("frequencies", tower_.frequencies, draft_.type_source());
    draft_.set("pairing", tower_.pairing, draft_.type_source());
    draft_.set("pairing_scope", tower_.pairing_scope, draft_.type_source());
    draft_.set("rope_theta", theta());
    if (tower_.places != Places::unlimited) {
      const Grid grid = patches();
      draft_.set("max_position", std::max(grid.rows, grid.columns) + (tower_.places == Places::from_one ? 1 : 0),
                 grid.source);
      if (tower_.places == Places::normalized) {
        draft_.set("coordinates", "normalized", draft_.type_source());
        draft_.set("extents", std::array{grid.rows, grid.columns}, grid.source);
        draft_.note("of an image of image_size; the class and register tokens that come before are not turned");
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
    const Grid grid = patches();
    draft.set("encoding", "learned", draft.type_source());
    draft.set("dim", integer({tower_.hidden_name}, tower_.hidden));
    draft.set("max_positions", grid.rows * grid.columns + 1,
              fmt::format("square of {}, and the class token", grid.source));
    if (part_.dtype) draft.set("dtype", *part_.dtype);
    return draft.claim();
  }

  // transformers' classes take no null for these.
  void refuse_null(ConfigObject::Names names, std::string_view expected) const {
    for (const char* name : names) {
      if (part_.config.fields().contains(name) && !part_.config.has(name))
        part_.config.refuse(name, fmt::format("expected {}, got null", expected));
    }
  }

  Read<std::int64_t> integer(ConfigObject::Names names, std::int64_t fallback) const {
    refuse_null(names, "an integer");
    const auto read = part_.config.integer(names).value_or(Read<std::int64_t>{fallback, draft_.default_source()});
    if (read.value < 1 || read.value > width_limit)
      part_.config.refuse(*names.begin(),
                          fmt::format("expected an integer from 1 to {}, got {}", width_limit, read.value));
    return read;
  }

  Read<std::int64_t> head_dim() const {
    if (tower_.head_dim != 0) {
      const auto width = integer({"head_dim"}, tower_.head_dim);
      if (width.value % 4 != 0)
        part_.config.refuse("head_dim", fmt::format("expected a multiple of 4, got {}", width.value));
      return width;
    }
    const auto hidden = integer({tower_.hidden_name}, tower_.hidden);
    const auto heads = integer({tower_.heads_name, tower_.other_heads_name}, tower_.heads);
    refuse_others_names(hidden, {"hidden_size", "embed_dim", "n_embd", "d_model", "vt_hidden_size"});
    refuse_others_names(heads, {"num_heads", "num_attention_heads", "n_head", "n_heads", "vt_num_attention_heads"});
    if (hidden.value % heads.value != 0)
      part_.config.refuse(tower_.hidden_name,
                          fmt::format("{} is no multiple of {} = {}", hidden.value, tower_.heads_name, heads.value));
    const std::int64_t width = hidden.value / heads.value;
    if (width % 4 != 0) {
      part_.config.refuse(tower_.hidden_name, fmt::format("expected heads of a multiple of 4 channels, got {} / {}",
                                                          hidden.value, heads.value));
    }
    const auto stated = part_.config.integer({"head_dim"});
    if (stated && stated->value != width)
      part_.config.refuse_meaning("head_dim", fmt::format("{} contradicts transformers' {}, which takes {} / {}",
                                                          stated->value, part_.model_type, hidden.value, heads.value));
    return {width, fmt::format("{} / {}", hidden.source, heads.source)};
  }

  // A size by a name that other classes have for it, where it is not the one that this class takes.
  void refuse_others_names(const Read<std::int64_t>& used, ConfigObject::Names names) const {
    for (const std::string_view name : names) {
      const bool is_own = name == tower_.heads_name || name == tower_.other_heads_name || name == tower_.hidden_name;
      // Qwen2-VL's hidden_size is the text's.
      if (is_own || (name == "hidden_size" && std::string_view(tower_.hidden_name) == "embed_dim")) continue;
      const auto stated = part_.config.integer({name.data()});
      if (stated && stated->value != used.value)
        part_.config.refuse_meaning(std::string(name), fmt::format("not read by transformers' {}, which takes {} ({})",
                                                                   part_.model_type, used.value, used.source));
    }
  }

  // What no tower's code reads, unless it says what the code does.
  void refuse_unread(std::int64_t width) const {
    const auto refuse = [&](const ConfigObject& object, const char* name) {
      object.refuse(name, fmt::format("not read by transformers' {}, which turns whole heads; state what you mean "
                                      "with --spec",
                                      part_.model_type));
    };
    for (const char* name : {"partial_rotary_factor", "rotary_pct", "rope_pct"}) {
      const auto share = part_.config.number({name});
      if (share && share->value != 1) refuse(part_.config, name);
    }
    const auto turned = part_.config.integer({"rotary_dim"});
    if (turned && turned->value != width) refuse(part_.config, "rotary_dim");
    for (const char* name : {"per_layer_config", "mrope_section"}) {
      if (part_.config.has(name)) refuse(part_.config, name);
    }
    refuse_null({"hidden_size", "num_attention_heads", "image_size", "patch_size"}, "an integer");
    // The classes that take a list of two fail when they make their patches.
    if (tower_.lists != Lists::image_and_patch) static_cast<void>(part_.config.integer({"patch_size"}));
  }

  // The base that a rule states; transformers 5 has it in rope_parameters, of the type axial.
  std::optional<Read<double>> theta_of_rule(const char* name) const {
    const auto rule = part_.config.object(name);
    if (!rule || rule->fields().empty()) return std::nullopt;
    for (const auto& [field, value] : rule->fields().items()) {
      const bool is_whole = field == "partial_rotary_factor" && value == 1;
      if (field != "rope_type" && field != "type" && field != "rope_theta" && !is_whole && !value.is_null())
        rule->refuse_meaning(field, fmt::format("not read by transformers' {}", part_.model_type));
    }
    const auto type = rule->text({"rope_type", "type"});
    if (type && type->value != "axial" && type->value != "default")
      rule->refuse("rope_type", fmt::format("expected axial, got \"{}\"", type->value));
    if (rule->fields().contains("rope_theta") && !rule->has("rope_theta"))
      rule->refuse("rope_theta", "expected a number, got null");
    return rule->number({"rope_theta"});
  }

  Read<double> theta() const {
    refuse_null({"rope_theta"}, "a number");
    auto used = part_.config.number({"rope_theta"});
    const bool reads_rules = tower_.places != Places::normalized;  // DINOv3 reads its own rope_theta alone
    if (!reads_rules && !used) used = Read<double>{tower_.theta, draft_.default_source()};
    const auto older = part_.config.object("rope_scaling");
    const bool is_alone = older && !older->fields().empty();
    if (const auto left_out = theta_of_rule("rope_parameters"); left_out && is_alone && !older->has("rope_theta")) {
      part_.config.refuse_meaning(
          "rope_scaling",
          fmt::format("transformers takes it for rope_parameters, and leaves out {}", left_out->source));
    }
    for (const char* name : {"rope_parameters", "rope_scaling"}) {
      const auto theta = theta_of_rule(name);
      if (!theta) continue;
      if (used && used->value != theta->value) {
        if (!reads_rules)
          part_.config.refuse_meaning(
              name, fmt::format("its rope_theta {} is not read by transformers' {}, which takes {} ({})", theta->value,
                                part_.model_type, used->value, used->source));
        part_.config.refuse_meaning("rope_theta",
                                    fmt::format("{} contradicts {} ({})", used->value, theta->value, theta->source));
      }
      if (reads_rules) used = theta;
    }
    return used.value_or(Read<double>{tower_.theta, draft_.default_source()});
  }

  // The patches of an image.
  struct Grid {
    std::int64_t rows;
    std::int64_t columns;
    std::string source;
  };

  struct Extents {
    std::int64_t height;
    std::int64_t width;
    std::string source;
  };

  Extents extents(const char* name, std::int64_t fallback, bool may_be_list) const {
    const auto stated = part_.config.fields().find(name);
    if (!may_be_list || stated == part_.config.fields().end() || !stated->is_array()) {
      const auto side = integer({name}, fallback);
      return {side.value, side.value, side.source};
    }
    const auto list = *part_.config.integers({name});
    const bool is_pair = list.value.size() == 2 && std::ranges::all_of(list.value, [](std::int64_t side) {
                           return side >= 1 && side <= width_limit;
                         });
    if (!is_pair)
      part_.config.refuse(name,
                          fmt::format("expected an integer or two, from 1 to {}, got {}", width_limit, stated->dump()));
    return {list.value[0], list.value[1], list.source};
  }

  Grid patches() const {
    const Extents image = extents("image_size", tower_.size.image, tower_.lists != Lists::none);
    const Extents patch = extents("patch_size", tower_.size.patch, tower_.lists == Lists::image_and_patch);
    // Pixtral's image processor makes whole patches of an image; the others' code leaves the rest of it out.
    const auto count = [&](std::int64_t pixels, std::int64_t each) {
      return (pixels + (tower_.places == Places::in_image ? each - 1 : 0)) / each;
    };
    const Grid grid{count(image.height, patch.height), count(image.width, patch.width),
                    fmt::format("{} / {}", image.source, patch.source)};
    for (const auto& [side, each] : {std::pair(grid.rows, patch.height), std::pair(grid.columns, patch.width)}) {
      if (side < 1 || side > 4096)
        part_.config.refuse("image_size", fmt::format("expected 1 to 4096 patches of {}, got {}", each, side));
    }
    return grid;
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
