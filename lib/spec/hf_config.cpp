// Over 400 lines: the way from a file to its claims, or to the one refusal that says what to pass instead.
#include "lib/spec/hf_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lib/numeric/standard_arithmetic.hpp"
#include "lib/spec/fields.hpp"
#include "lib/spec/hugging_face/layer_kinds.hpp"
#include "lib/spec/hugging_face/null_fields.hpp"
#include "lib/spec/hugging_face/other_models.hpp"
#include "lib/spec/hugging_face/rotary_models.hpp"
#include "lib/spec/hugging_face/value_types.hpp"

namespace sextant {
namespace {

using namespace hugging_face;
using Claims = std::vector<ConfigClaim>;

const OtherModel* other_model(std::string_view model_type) {
  const auto found = std::ranges::find(other_models(), model_type, &OtherModel::model_type);
  return found == other_models().end() ? nullptr : &*found;
}

bool is_known(std::string_view model_type) {
  return rotary_model(model_type) != nullptr || other_model(model_type) != nullptr;
}

std::optional<Read<std::string>> dtype_of(const ConfigObject& config) { return config.text({"dtype", "torch_dtype"}); }

// transformers loads all parts in the dtype of the whole, where it states one.
std::optional<Read<std::string>> dtype_of(const ConfigObject& part, const ConfigObject& whole) {
  const auto dtype = dtype_of(whole);
  return dtype ? dtype : dtype_of(part);
}

ConfigClaim refused(const std::string& part, const std::string& model_type, std::string why) {
  return {.part = part,
          .kind = "",
          .layers = {},
          .model_type = model_type,
          .spec = {},
          .refusal = std::move(why),
          .sources = {},
          .notes = {}};
}

// A field that tells of images, sound or video, whose places are no numbers, or nothing. `part` is the part's name.
std::string sign_of_tower(const ConfigObject& config, std::string_view part) {
  for (const char* sense : {"vision", "visual", "image", "video", "audio"}) {
    if (part.find(sense) != std::string_view::npos) return std::string(part);
  }
  for (const char* name :
       {"image_size", "patch_size", "crop_size", "num_channels", "in_channels", "in_chans", "spatial_merge_size",
        "merge_kernel_size", "temporal_patch_size", "tubelet_size", "num_frames", "num_mel_bins", "num_register_tokens",
        "pos_emb_height", "vision_config", "audio_config", "thinker_config"}) {
    if (config.has(name)) return name;
  }
  return "";
}

bool holds(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != text.npos; });
}

// Whether a file says that queries and keys are turned.
bool tells_of_rotation(const ConfigObject& config) {
  const auto& fields = config.fields().items();
  return std::any_of(fields.begin(), fields.end(), [](const auto& field) {
    return holds(field.key(), {"rope", "rotary"}) && !field.value().is_null();
  });
}

// Whether a field tells of positions or of what turns: its name does, it is no mere length, and its value says more
// than that queries and keys are turned alike in all layers. `alike`: the kinds of layers that turn alike.
bool tells_of_positions(std::string_view name, const nlohmann::json& value,
                        std::initializer_list<std::string_view> alike) {
  if (!holds(name, {"rope",
                    "rotary",
                    "alibi",
                    "position",
                    "theta",
                    "ntk",
                    "relative_attention",
                    "layer_types",
                    "layers_block_type",
                    "layer_pattern",
                    "override_pattern",
                    "attn_layer",
                    "mamba",
                    "ssm",
                    "kv_channels",
                    "attention_head_dim",
                    "xpos",
                    "yarn",
                    "n_rot",
                    "dual_chunk",
                    "compress_pos",
                    "logn",
                    "use_nope",
                    "nope_layer",
                    "pe_type",
                    "interpolation",
                    "text_config",
                    "attn_config",
                    "llama_4_scaling",
                    "temperature_tuning"}))
    return false;
  if (name == "n_positions" || holds(name, {"position_embeddings", "position_embedding_size"})) return false;
  const bool ends_in_rotation = name.ends_with("_rope") || name.ends_with("_rotary");
  const bool is_switch = holds(name, {"use_rope", "use_rotary", "add_rope"}) || name == "rope" || name == "rotary" ||
                         (ends_in_rotation && !name.starts_with("no_") && !name.starts_with("is_"));
  if (value.is_boolean()) return is_switch != value.get<bool>();
  // "absolute" is what transformers wrote of every model until its release 4.
  const auto* const text = value.get_ptr<const std::string*>();
  const bool is_rotation = text != nullptr && (text->starts_with("rope") || *text == "rotary" || *text == "absolute");
  const bool is_alike =
      value.is_array() && std::ranges::all_of(value, [&](const auto& kind) {
        return kind.is_string() && std::ranges::find(alike, kind.template get<std::string_view>()) != alike.end();
      });
  return !value.is_null() && !is_rotation && !is_alike;
}

// Those of a part that nothing has read.
std::vector<std::string> unread_of_positions(const ConfigObject& config,
                                             std::initializer_list<std::string_view> alike) {
  std::vector<std::string> names = config.unread();
  std::erase_if(names,
                [&](const std::string& name) { return !tells_of_positions(name, config.fields().at(name), alike); });
  return names;
}

// Of a type that is not known: the caller knows what no table does.
Claims claims_by_pairing(const Part& part, Pairing pairing) {
  if (!tells_of_rotation(part.config))
    part.config.refuse("model_type", "no field of the file tells of a rotation: state the claim with --spec");
  const Turning turning = pairing == Pairing::half ? Turning::half : Turning::interleaved;
  Claims claims = claims_of(unknown_model(part.model_type, turning), part);
  const bool counts_layers = part.config.has("num_hidden_layers") || part.config.has("n_layer");
  for (ConfigClaim& claim : claims) {
    if (!counts_layers) claim.layers.clear();
  }
  // What a known type's table says and a file of another may say under names of its own.
  std::vector<std::string> unread = unread_of_positions(part.config, {"full_attention", "attention"});
  for (const std::string& name : part.config.unread()) {
    const nlohmann::json& value = part.config.fields().at(name);
    // A mere count of layers tells nothing of any of them.
    if (name == "num_layers" && value.is_number_integer()) continue;
    const bool is_size =
        holds(name, {"num_layers", "head_size", "head_dim", "d_head", "d_kv", "every_n_layers", "block_types"});
    if (is_size || ((name == "nope" || name == "use_mem_rope") && value.is_boolean())) unread.push_back(name);
  }
  for (const std::string& name : unread)
    part.config.refuse(name, "not read with --pairing: state the claim with --spec");
  return claims;
}

// The first part of a file that is of a known type.
std::string known_part(const ConfigObject& config) {
  for (const auto& [name, value] : config.fields().items()) {
    if (value.is_object() && value.contains("model_type") && value["model_type"].is_string() &&
        is_known(value["model_type"].get<std::string>()))
      return name;
  }
  return "";
}

// Why --pairing would not read a part either, or nothing.
std::string refusal_by_pairing(std::string_view model_type, const ConfigObject& config) {
  try {
    claims_by_pairing({"", config, std::string(model_type), dtype_of(config)}, Pairing::half);
    return "";
  } catch (const SpecError& error) {
    return error.what();
  }
}

std::string is_not_known(std::string_view model_type, const std::string& sign, const ConfigObject& config) {
  const std::string name = nlohmann::json(model_type).dump();
  if (const std::string part = known_part(config); !part.empty())
    return fmt::format("{} is not known, but its {} is: pass --sub-config {}", name, part, part);
  const std::string meant = did_you_mean(model_type, known_model_types());
  if (sign.empty() && !tells_of_rotation(config))
    return fmt::format("{} is not known, and no field of its file tells of a rotation: state the claim with --spec{}",
                       name, meant);
  if (!sign.empty()) {
    return fmt::format(
        "{} is not known, and {} tells of images, video or sound, which no --pairing reads: state the claim with "
        "--spec{}",
        name, sign, meant);
  }
  if (const std::string refusal = refusal_by_pairing(model_type, config); !refusal.empty())
    return fmt::format("{} is not known{}, and --pairing does not read its file: {}", name, meant, refusal);
  return fmt::format(
      "{} is not known: pass --pairing half or --pairing interleaved if it turns queries and keys by one rule in all "
      "layers, or state the claim with --spec{}",
      name, meant);
}

// The claims of a known type, with a note of each field that tells of positions to some other code.
Claims with_notes_of_unread(Claims claims, const Part& part) {
  // These are read as the code beside their files has it.
  const bool is_of_own_code = part.model_type.starts_with("kimi_") || part.model_type == "qwen" ||
                              (part.model_type == "nomic_bert" && part.config.has("rotary_emb_fraction"));
  if (part.config.has("auto_map") && !is_of_own_code) {
    for (ConfigClaim& claim : claims)
      claim.notes.push_back(fmt::format("{} names code beside the file; claimed is what transformers' {} computes",
                                        part.config.source("auto_map"), part.model_type));
  }
  // Of a type that is known its table says which layers turn alike.
  for (const std::string& name :
       unread_of_positions(part.config, {"full_attention", "attention", "sliding_attention", "chunked_attention"})) {
    for (ConfigClaim& claim : claims) {
      if (claim.spec)
        claim.notes.push_back(fmt::format("{} is not read by transformers' {}, and not claimed",
                                          part.config.source(name), part.model_type));
    }
  }
  return claims;
}

// transformers checks it of every class; those that read layer_types know their number of layers themselves.
void check_layer_types(const Part& part) {
  check_kinds_of_layers(part.config);
  const auto listed = part.config.fields().find("layer_types");
  if (listed == part.config.fields().end() || listed->is_null()) return;
  const auto count = part.config.integer({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
  if (!count || count->value != static_cast<std::int64_t>(listed->size()))
    part.config.refuse_meaning("layer_types", fmt::format("not read by transformers' {}, which refuses it unless it "
                                                          "has an entry for each layer",
                                                          part.model_type));
}

Claims claims_of_part(const Part& part, const ConfigChoice& choice) {
  if (choice.pairing && is_known(part.model_type)) {
    part.config.refuse("model_type", fmt::format("{} is known, and read without --pairing; to claim another pairing "
                                                 "state it with --spec",
                                                 part.model_type));
  }
  const OtherModel* const other = other_model(part.model_type);
  const RotaryModel* const rotary = rotary_model(part.model_type);
  if (other != nullptr || rotary != nullptr) {
    refuse_other_types(part);
    if (other != nullptr) check_layer_types(part);
    Claims claims = other != nullptr ? other->claims(part) : claims_of(*rotary, part);
    refuse_null_fields(part);
    return with_notes_of_unread(std::move(claims), part);
  }
  return claims_by_pairing(part, *choice.pairing);
}

// A member of a file, as one model_type or, where that is not known, refused by itself.
void add_member(Claims& claims, const Composition::Member& member, const ConfigObject& config, const std::string& name,
                const ConfigObject& whole, std::string_view outer_type, const ConfigChoice& choice) {
  const auto stated = config.text({"model_type"});
  // Files of before transformers 5 give the vision part the type of the whole.
  const bool is_inherited = !stated || (stated->value == outer_type && member.type == Composition::Type::fixed);
  const std::string model_type = is_inherited ? std::string(member.model_type) : stated->value;
  const std::string sign = sign_of_tower(config, name);
  if (!is_known(model_type) && !(choice.pairing && choice.sub_config == name && sign.empty())) {
    claims.push_back(refused(name, model_type, fmt::format("model_type {}", is_not_known(model_type, sign, config))));
    return;
  }
  std::ranges::move(claims_of_part({name, config, model_type, dtype_of(config, whole)}, choice),
                    std::back_inserter(claims));
}

[[noreturn]] void refuse_sub_config(const ConfigObject& config, const ConfigChoice& choice) {
  config.refuse(choice.sub_config, "--sub-config names it, and the file has no such part");
}

// Of a file whose text fields stand at the top level transformers hands on those that the text part's class names.
void refuse_what_is_not_handed_on(const ConfigObject& config, std::string_view text) {
  constexpr std::string_view known[] = {
      // Of the text part.
      "hidden_size", "layer_types", "max_position_embeddings", "max_window_layers", "num_attention_heads",
      "num_hidden_layers", "num_key_value_heads", "rope_parameters", "rope_scaling", "rope_theta", "sliding_window",
      "use_sliding_window",
      // Of the whole.
      "auto_map", "dtype", "model_type", "text_config", "torch_dtype", "vision_config"};
  const std::vector<std::string> unread = config.unread();
  for (const auto& [name, value] : config.fields().items()) {
    if (!value.is_null() && std::ranges::find(known, name) == std::end(known) &&
        std::ranges::find(unread, name) == unread.end())
      config.refuse_meaning(name, fmt::format("not handed on to {} from the top level of a file", text));
  }
}

Claims claims_of_members(const Composition& composition, const ConfigObject& config, const ConfigChoice& choice) {
  Claims claims;
  std::optional<ConfigObject> within;
  if (*composition.within != '\0') {
    within = config.object(composition.within);
    if (!within) config.refuse(composition.within, fmt::format("required of a {}", composition.model_type));
  }
  const ConfigObject& holder = within ? *within : config;
  for (const Composition::Member& member : {composition.text, composition.vision}) {
    if (*member.name == '\0' || (!choice.sub_config.empty() && choice.sub_config != member.name)) continue;
    const bool is_text = member.name == composition.text.name;
    if (const auto inner = holder.object(member.name)) {
      const auto stated = inner->text({"model_type"});
      const bool is_other = stated && stated->value != member.model_type && stated->value != composition.model_type;
      if (is_other && member.type == Composition::Type::fixed)
        inner->refuse("model_type", fmt::format("expected {}, which transformers takes whatever the file says, got {}",
                                                member.model_type, stated->value));
      add_member(claims, member, *inner, member.name, config, composition.model_type, choice);
    } else if (is_text && composition.where == Composition::Text::inner_or_outer) {
      add_member(claims, member, config, "", config, composition.model_type, choice);
      refuse_what_is_not_handed_on(config, member.model_type);
    } else if (is_text) {
      holder.refuse(member.name, fmt::format("required of a {}", composition.model_type));
    }
  }
  if (claims.empty()) refuse_sub_config(config, choice);
  return claims;
}

// A file of a type that is not known, of which one part is asked for.
Claims claims_of_sub_config(const ConfigObject& config, const ConfigChoice& choice) {
  const auto inner = config.object(choice.sub_config.c_str());
  if (!inner) refuse_sub_config(config, choice);
  const auto model_type = inner->text({"model_type"});
  const std::string name = model_type ? model_type->value : "";
  const std::string sign = sign_of_tower(*inner, choice.sub_config);
  if (!is_known(name) && !(choice.pairing && sign.empty()))
    inner->refuse("model_type", is_not_known(name, sign, *inner));
  return claims_of_part({choice.sub_config, *inner, name, dtype_of(*inner, config)}, choice);
}

Claims all_claims(const ConfigObject& config, const ConfigChoice& choice) {
  const auto stated = config.text({"model_type"});
  const std::string model_type = stated ? stated->value : "";
  const auto composition = std::ranges::find(compositions(), model_type, &Composition::model_type);
  if (composition != compositions().end()) return claims_of_members(*composition, config, choice);
  if (!choice.sub_config.empty()) return claims_of_sub_config(config, choice);
  if (!is_known(model_type)) {
    if (choice.pairing && config.has("text_config"))
      config.refuse("text_config", "the file of several models: name one with --sub-config");
    const std::string sign = config.has("text_config") ? "" : sign_of_tower(config, "");
    if (!stated && config.has("_class_name"))
      config.refuse("_class_name", "a file of diffusers, which no table here reads: state the claim with --spec");
    if (!choice.pairing || !sign.empty()) {
      if (!stated && sign.empty()) config.refuse("model_type", "required, or --pairing half or --pairing interleaved");
      config.refuse("model_type", is_not_known(model_type, sign, config));
    }
  }
  return claims_of_part({"", config, model_type, dtype_of(config)}, choice);
}

std::string names_of(const Claims& claims) {
  std::vector<std::string> names;
  names.reserve(claims.size());
  for (const ConfigClaim& claim : claims) {
    const std::string layers = layers_text(claim);
    names.push_back(layers.empty() ? name_of(claim) : fmt::format("{} ({})", name_of(claim), layers));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Why a layer has no claim where another kind of layers alone turns, else nothing.
std::string of_other_layers(const Claims& claims, const std::string& layer) {
  if (!layer_index(layer)) return "";
  const bool others_stand = std::ranges::any_of(claims, [](const ConfigClaim& claim) {
    const RotaryModel* model = rotary_model(claim.model_type);
    return model != nullptr && model->traits.layering == Layering::in_full_attention;
  });
  return others_stand ? "; its other layers (linear attention, convolutions) have no positions" : "";
}

bool covers(const ConfigClaim& claim, const std::string& layer) {
  if (layer.empty() || claim.kind == layer) return true;
  const auto index = layer_index(layer);
  return index && std::ranges::find(claim.layers, *index) != claim.layers.end();
}

}  // namespace

std::string name_of(const ConfigClaim& claim) {
  if (claim.part.empty() && claim.kind.empty()) return "the model";
  return claim.part.empty() || claim.kind.empty() ? claim.part + claim.kind : claim.part + " " + claim.kind;
}

std::string layers_text(const ConfigClaim& claim) {
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < claim.layers.size();) {
    std::size_t last = i;
    while (last + 1 < claim.layers.size() && claim.layers[last + 1] == claim.layers[last] + 1) ++last;
    ranges.push_back(last == i ? fmt::format("{}", claim.layers[i])
                               : fmt::format("{}-{}", claim.layers[i], claim.layers[last]));
    i = last + 1;
  }
  if (ranges.empty()) return "";
  return fmt::format("layer{} {}", claim.layers.size() == 1 ? "" : "s", fmt::join(ranges, ", "));
}

std::vector<std::string_view> known_model_types() {
  std::vector<std::string_view> names;
  for (const RotaryModel& model : rotary_models()) names.push_back(model.model_type);
  for (const OtherModel& model : other_models()) names.push_back(model.model_type);
  for (const Composition& composition : compositions()) names.push_back(composition.model_type);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<ConfigClaim> claims_of_hf_config(std::string_view text, const ConfigChoice& choice) {
  const StandardArithmetic arithmetic;
  Claims claims = all_claims(ConfigObject::parse(text), choice);
  Claims chosen;
  std::ranges::copy_if(claims, std::back_inserter(chosen), [&](const ConfigClaim& claim) {
    return covers(claim, choice.layer) && (choice.sub_config.empty() || claim.part == choice.sub_config);
  });
  if (chosen.empty()) {
    throw SpecError(fmt::format("config: nothing is claimed of {}{}{}; it states {}{}", choice.sub_config,
                                choice.sub_config.empty() || choice.layer.empty() ? "" : " ",
                                choice.layer.empty() ? "" : "layer " + choice.layer, names_of(claims),
                                of_other_layers(claims, choice.layer)));
  }
  return chosen;
}

Spec spec_from_hf_config(std::string_view text, const ConfigChoice& choice) {
  const Claims claims = claims_of_hf_config(text, choice);
  if (claims.size() > 1) {
    throw SpecError(fmt::format("config: it makes {} claims, {}: name one with --layer or --sub-config", claims.size(),
                                names_of(claims)));
  }
  if (!claims.front().spec)
    throw SpecError(fmt::format("config: {}: {}", name_of(claims.front()), claims.front().refusal));
  return *claims.front().spec;
}

}  // namespace sextant
