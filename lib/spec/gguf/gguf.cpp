#include "lib/spec/gguf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lib/numeric/standard_arithmetic.hpp"
#include "lib/spec/gguf/metadata.hpp"
#include "lib/spec/hugging_face/draft.hpp"
#include "lib/spec/nearest_name.hpp"

namespace sextant {
namespace {

using gguf::Metadata;
using hugging_face::Draft;
using nlohmann::json;

enum class Steps { half, interleaved, blocked_sections, interleaved_sections, by_layer };

struct Architecture {
  std::string_view name;
  Steps steps;
};

// In the order of the alphabet. llama.cpp, src/llama-model.cpp, llama_model_rope_type; by_layer where layers turn by
// different bases or not at all, of which no key tells.
constexpr Architecture architectures[] = {{"apertus", Steps::half},
                                          {"arcee", Steps::interleaved},
                                          {"bitnet", Steps::half},
                                          {"chatglm", Steps::interleaved},
                                          {"codeshell", Steps::half},
                                          {"cohere2", Steps::by_layer},
                                          {"command-r", Steps::interleaved},
                                          {"dbrx", Steps::half},
                                          {"deepseek", Steps::interleaved},
                                          {"deepseek2", Steps::interleaved},
                                          {"ernie4_5", Steps::interleaved},
                                          {"exaone", Steps::half},
                                          {"exaone4", Steps::by_layer},
                                          {"falcon", Steps::half},
                                          {"gemma", Steps::half},
                                          {"gemma2", Steps::half},
                                          {"gemma3", Steps::by_layer},
                                          {"gemma3n", Steps::by_layer},
                                          {"gemma4", Steps::by_layer},
                                          {"glm4", Steps::interleaved},
                                          {"glm4moe", Steps::half},
                                          {"gpt-oss", Steps::half},
                                          {"gptneox", Steps::half},
                                          {"granite", Steps::interleaved},
                                          {"granitemoe", Steps::interleaved},
                                          {"internlm2", Steps::interleaved},
                                          {"lfm2", Steps::half},
                                          {"llama", Steps::interleaved},
                                          {"llama4", Steps::by_layer},
                                          {"minicpm", Steps::interleaved},
                                          {"minimax-m2", Steps::half},
                                          {"modern-bert", Steps::by_layer},
                                          {"nemotron", Steps::half},
                                          {"olmo", Steps::interleaved},
                                          {"olmo2", Steps::half},
                                          {"olmoe", Steps::half},
                                          {"openelm", Steps::half},
                                          {"orion", Steps::half},
                                          {"phi2", Steps::half},
                                          {"phi3", Steps::half},
                                          {"qwen", Steps::half},
                                          {"qwen2", Steps::half},
                                          {"qwen2moe", Steps::half},
                                          {"qwen2vl", Steps::blocked_sections},
                                          {"qwen3", Steps::half},
                                          {"qwen3moe", Steps::half},
                                          {"qwen3vl", Steps::interleaved_sections},
                                          {"seed_oss", Steps::half},
                                          {"smollm3", Steps::by_layer},
                                          {"stablelm", Steps::half},
                                          {"starcoder2", Steps::half},
                                          {"xverse", Steps::interleaved}};

std::string source_of(const std::string& key) { return fmt::format("key {}", key); }

// The keys of one architecture.
class File {
 public:
  File(const Metadata& metadata, const Architecture& architecture)
      : metadata_(metadata), architecture_(architecture), draft_("", "", std::string(architecture.name)) {}

  ConfigClaim claim() {
    refuse_steps_by_layer();
    const bool has_sections =
        architecture_.steps == Steps::blocked_sections || architecture_.steps == Steps::interleaved_sections;
    set("encoding", has_sections ? "rope_nd" : "rope");
    const bool is_half = has_sections || architecture_.steps == Steps::half;
    set("pairing", is_half ? "half" : "interleaved");
    set_widths();
    const std::string base = key("rope.freq_base");
    const auto theta = metadata_.number(base);
    draft_.set("rope_theta", theta.value_or(10000), theta ? source_of(base) : draft_.default_source());
    set_length();
    if (has_sections) set_sections();
    set_scaling();
    draft_.set("accuracy", "float32-recurrence", "ggml's angles are a running product");
    return draft_.claim();
  }

 private:
  std::string key(std::string_view suffix) const { return fmt::format("{}.{}", architecture_.name, suffix); }

  void set(const std::string& field, const char* value) { draft_.set(field, value, draft_.type_source()); }

  void refuse_steps_by_layer() const {
    if (architecture_.steps == Steps::by_layer)
      gguf::refuse("general.architecture", fmt::format("layers of a {} turn by different rules, of which no key tells: "
                                                       "state each with --spec",
                                                       architecture_.name));
    // OLMo 3 comes as an OLMo 2 with a window, and stretches layers of full attention alone.
    const std::string window = key("attention.sliding_window");
    if (architecture_.name == "olmo2" && metadata_.has(window))
      gguf::refuse(window, "layers with a window turn by another rule, of which no key tells: state each with --spec");
    if (architecture_.name.starts_with("glm4") && metadata_.has(key("rope.dimension_sections")))
      gguf::refuse(key("rope.dimension_sections"), "decides how channels are paired: state the claim with --spec");
    // Granite does not turn where it is false.
    if (architecture_.name.starts_with("granite") && metadata_.has(key("rope.scaling.finetuned")))
      gguf::refuse(key("rope.scaling.finetuned"),
                   "decides whether a granite turns at all: state the claim with --spec");
    for (const char* suffix : {"rope.freq_base_swa", "rope.dimension_count_swa", "attention.key_length_swa"}) {
      if (metadata_.has(key(suffix)))
        gguf::refuse(key(suffix), "layers with a window have a rule of their own: state each with --spec");
    }
  }

  std::int64_t head_width() const {
    if (const auto width = metadata_.integer(key("attention.key_length"))) return *width;
    const auto whole = metadata_.integer(key("embedding_length"));
    const auto heads = metadata_.integer(key("attention.head_count"));
    if (!whole || !heads)
      gguf::refuse(key("attention.key_length"), "required, or embedding_length and attention.head_count");
    if (*heads < 1 || *whole % *heads != 0)
      gguf::refuse(key("embedding_length"), fmt::format("{} is no multiple of head_count = {}", *whole, *heads));
    return *whole / *heads;
  }

  void set_widths() {
    const std::string rotated_key = key("rope.dimension_count");
    const auto rotated = metadata_.integer(rotated_key);
    // The part of a head that turns comes by itself to the rotation under multi-head latent attention.
    if (architecture_.name == "deepseek2") {
      if (!rotated) gguf::refuse(rotated_key, "required of a deepseek2: state the claim with --spec");
      draft_.set("head_dim", *rotated, source_of(rotated_key));
      return;
    }
    const bool is_stated = metadata_.has(key("attention.key_length"));
    const std::int64_t width = head_width();
    draft_.set("head_dim", width,
               is_stated ? source_of(key("attention.key_length")) : source_of(key("embedding_length")));
    if (rotated) draft_.set("rotary_dim", *rotated, source_of(rotated_key));
  }

  void set_length() {
    const auto longest = metadata_.integer(key("context_length"));
    if (longest) draft_.set("max_position", *longest, source_of(key("context_length")));
    longest_ = longest.value_or(0);
  }

  void set_sections() {
    const std::string sections_key = key("rope.dimension_sections");
    const auto listed = metadata_.numbers(sections_key);
    if (!listed)
      gguf::refuse(sections_key, fmt::format("required of a {}: state the claim with --spec", architecture_.name));
    std::vector<std::int64_t> sections;
    for (const double section : *listed) {
      if (section > 0) sections.push_back(static_cast<std::int64_t>(section));
    }
    draft_.set("sections", sections, source_of(sections_key));
    set("section_order", architecture_.steps == Steps::interleaved_sections ? "interleaved" : "blocked");
  }

  void set_scaling() {
    const std::string type_key = key("rope.scaling.type");
    const std::string type = metadata_.text(type_key).value_or("linear");
    std::string factor_key = key("rope.scaling.factor");
    if (!metadata_.has(factor_key) && metadata_.has(key("rope.scale_linear"))) factor_key = key("rope.scale_linear");
    const double factor = metadata_.number(factor_key).value_or(0);  // 0 says none
    refuse_magnitudes(type);
    if (!metadata_.frequency_divisors().empty()) return set_divisors(type, factor);
    if (type == "longrope" || metadata_.has_tensor("rope_factors_long.weight"))
      gguf::refuse(type_key, "longrope's factors are tensors, which are not read: state the claim with --spec");
    if (type == "none" || (type == "linear" && (factor == 0 || factor == 1))) return;
    if (type == "linear") {
      draft_.set("rope_scaling", json{{"rope_type", "linear"}, {"factor", factor}}, source_of(factor_key));
    } else if (type == "yarn") {
      set_yarn(factor, factor_key);
    } else {
      gguf::refuse(type_key, fmt::format("expected none, linear, longrope or yarn, got \"{}\": state the claim with "
                                         "--spec",
                                         type));
    }
  }

  // llama.cpp multiplies cosines and sines by attn_factor under any rule, and its versions differ in what these mean
  // beside yarn. Without yarn they leave all as it is where they have the value that says nothing.
  void refuse_magnitudes(const std::string& type) const {
    for (const auto& [suffix, neutral] :
         {std::pair("rope.scaling.attn_factor", 1.0), std::pair("rope.scaling.yarn_attn_factor", 1.0),
          std::pair("rope.scaling.yarn_log_multiplier", 0.0), std::pair("rope.scaling.yarn_ext_factor", 0.0)}) {
      if (!metadata_.has(key(suffix))) continue;
      if (type == "yarn" || metadata_.number(key(suffix)) != neutral)
        gguf::refuse(key(suffix), "versions of llama.cpp differ in what it means: state the claim with --spec");
    }
    if (type == "yarn" && architecture_.name == "deepseek2")
      gguf::refuse(
          key("rope.scaling.type"),
          "versions of llama.cpp differ in the magnitude of a deepseek2 under yarn: state the claim with --spec");
  }

  // The attention factor is 0.1 ln s + 1.
  void set_yarn(double factor, const std::string& factor_key) {
    if (factor == 0) gguf::refuse(factor_key, "required of yarn");
    const auto original = metadata_.integer(key("rope.scaling.original_context_length"));
    if (!original && longest_ == 0) gguf::refuse(key("rope.scaling.original_context_length"), "required of yarn");
    json rule{
        {"rope_type", "yarn"}, {"factor", factor}, {"original_max_position_embeddings", original.value_or(longest_)}};
    for (const auto& [field, suffix] : {std::pair("beta_fast", "rope.scaling.yarn_beta_fast"),
                                        std::pair("beta_slow", "rope.scaling.yarn_beta_slow")}) {
      if (const auto beta = metadata_.number(key(suffix))) rule[field] = *beta;
    }
    draft_.set("rope_scaling", rule, source_of(factor_key));
    const double served = factor * static_cast<double>(original.value_or(longest_));
    if (served > static_cast<double>(longest_) && served <= 0x1p53)
      draft_.set("max_position", static_cast<std::int64_t>(served),
                 source_of(factor_key) + ": factor times original length");
  }

  // Converters write Llama 3's rule as divisors of the frequencies, which leave the magnitude as it is.
  void set_divisors(const std::string& type, double factor) {
    constexpr const char* tensor = "rope_freqs.weight";
    if (type != "linear" && type != "none")
      gguf::refuse(tensor, fmt::format("beside {} = \"{}\", whose sum no spec says: state the claim with --spec",
                                       key("rope.scaling.type"), type));
    if (factor != 0 && factor != 1)
      gguf::refuse(tensor, fmt::format("beside {} = {}, whose sum no spec says: state the claim with --spec",
                                       key("rope.scaling.factor"), factor));
    const json divisors = metadata_.frequency_divisors();
    // One list for every length, so that the length at which longrope changes lists is of no account.
    draft_.set("rope_scaling",
               json{{"rope_type", "longrope"},
                    {"original_max_position_embeddings", std::max<std::int64_t>(longest_, 2)},
                    {"short_factor", divisors},
                    {"long_factor", divisors},
                    {"attention_factor", 1.0}},
               fmt::format("tensor {}", tensor));
  }

  const Metadata& metadata_;
  const Architecture& architecture_;
  Draft draft_;
  std::int64_t longest_ = 0;
};

}  // namespace

std::vector<std::string_view> known_gguf_architectures() {
  std::vector<std::string_view> names;
  for (const Architecture& architecture : architectures) names.push_back(architecture.name);
  return names;
}

std::vector<ConfigClaim> claims_of_gguf(std::istream& file) {
  const StandardArithmetic arithmetic;
  const Metadata metadata(file);
  const auto name = metadata.text("general.architecture");
  if (!name)
    gguf::refuse("general.architecture", "required, and the file does not have it: state the claim with --spec");
  const auto* const architecture = std::ranges::find(architectures, *name, &Architecture::name);
  if (architecture == std::end(architectures))
    gguf::refuse("general.architecture", fmt::format("\"{}\" is not known: state the claim with --spec{}", *name,
                                                     did_you_mean(*name, known_gguf_architectures())));
  return {File(metadata, *architecture).claim()};
}

}  // namespace sextant
