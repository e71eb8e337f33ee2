#include "app/spec_argument.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

#include "app/command.hpp"
#include "app/one_of.hpp"
#include "lib/spec/gguf.hpp"
#include "lib/spec/nearest_name.hpp"
#include "lib/spec/presets.hpp"
#include "subjects/regular_file.hpp"

namespace sextant {
namespace {

std::string read_file(const std::string& option, const std::string& path) {
  if (const std::string why = why_no_file(path); !why.empty())
    throw UsageError(fmt::format("{} {}: {}", option, path, why));
  std::error_code error;
  if (std::filesystem::file_size(path, error) > (std::uintmax_t{16} << 20)) {
    throw UsageError(fmt::format("{} {}: larger than 16 MiB", option, path));
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw UsageError(fmt::format("{} {}: cannot be read", option, path));
  try {
    return {std::istreambuf_iterator<char>(stream), {}};
  } catch (const std::ios_base::failure&) {
    throw UsageError(fmt::format("{} {}: cannot be read", option, path));
  }
}

// A model's directory stands for the config.json in it.
std::string config_file(const std::string& path) {
  std::error_code error;
  const std::filesystem::path within = std::filesystem::path(path) / "config.json";
  if (std::filesystem::exists(within, error)) return within.string();
  if (std::filesystem::is_directory(path, error))
    throw UsageError(fmt::format("--hf-config {}: a directory without a config.json", path));
  return path;
}

// A message about a file names the file, and the line where it has one: "config.json:12: rope_theta: ...".
std::string located(const std::string& path, std::string_view message) {
  constexpr std::string_view line = "line ";
  if (message.starts_with(line)) return fmt::format("{}:{}", path, message.substr(line.size()));
  for (const std::string_view of_the_whole : {"config: ", "gguf: "}) {
    if (message.starts_with(of_the_whole)) message.remove_prefix(of_the_whole.size());
  }
  return fmt::format("{}: {}", path, message);
}

template <class Parse>
auto parsed_from(const std::string& path, const Parse& parse) {
  try {
    return parse();
  } catch (const SpecError& error) {
    throw SpecError(located(path, error.what()));
  }
}

ConfigChoice choice_of(const SpecOptions& options) {
  ConfigChoice choice{.pairing = {}, .layer = options.layer, .sub_config = options.sub_config};
  if (!options.pairing.empty()) choice.pairing = options.pairing == "half" ? Pairing::half : Pairing::interleaved;
  return choice;
}

// What only says more of a config.json.
void refuse_without_config(const SpecOptions& options) {
  if (!options.hf_config.empty()) return;
  for (const auto& [name, value] :
       {std::pair{"--layer", &options.layer}, std::pair{"--sub-config", &options.sub_config},
        std::pair{"--pairing", &options.pairing}}) {
    if (!value->empty()) throw UsageError(fmt::format("{}: needs --hf-config", name));
  }
}

// The JSON of a spec, in one line as a command line can hold it: JSON has line breaks only where a blank would do.
std::string spec_from_standard_input() {
  constexpr std::size_t most = std::size_t{16} << 20;
  std::string text;
  for (char letter = 0; text.size() <= most && std::cin.get(letter);) text += letter;
  if (text.size() > most) throw UsageError("--spec -: standard input has more than 16 MiB");
  std::ranges::replace_if(
      text, [](char letter) { return letter == '\n' || letter == '\r'; }, ' ');
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos || text[first] != '{')
    throw UsageError("--spec -: expected a spec on standard input, a JSON object");
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

}  // namespace

void add_spec_option(CLI::App& command, std::string& value, const std::string& help) {
  command.add_option("--spec", value, help)->transform([](const std::string& text) {
    return text == "-" ? spec_from_standard_input() : text;
  });
}

void add_spec_options(CLI::App& command, SpecOptions& options, const std::string& spec_help) {
  add_spec_option(command, options.spec, spec_help);
  command.add_option("--hf-config", options.hf_config,
                     "A Hugging Face config.json as the spec, or the model's directory that has it");
  command.add_option("--gguf", options.gguf, "A GGUF file's metadata as the spec, as llama.cpp runs it");
  command.add_option("--layer", options.layer,
                     "Of --hf-config: the claim of this layer, by its index from 0 or by its kind (full_attention)");
  command.add_option("--sub-config", options.sub_config, "Of --hf-config: the claim of this part (text_config)");
  one_of(command.add_option(
             "--pairing", options.pairing,
             "Of --hf-config: read a model_type that is not known as one that turns whole heads by this pairing"),
         {"half", "interleaved"});
}

Spec spec_from_argument(const std::string& argument) {
  if (const auto first = argument.find_first_not_of(" \t\r\n"); first != std::string::npos && argument[first] == '{') {
    return parse_spec(argument);
  }
  if (const auto preset = preset_named(argument)) return parse_spec(preset->json);
  std::error_code error;
  if (!std::filesystem::exists(argument, error)) {
    throw UsageError(fmt::format("--spec {}: neither a file, nor inline JSON, nor a preset (see sextant list specs){}",
                                 argument, did_you_mean(argument, presets(), &Preset::name)));
  }
  return parsed_from(argument, [&] { return parse_spec(read_file("--spec", argument)); });
}

bool names_a_model(const SpecOptions& options) { return !options.hf_config.empty() || !options.gguf.empty(); }

namespace {

std::vector<ConfigClaim> claims_of_gguf_file(const std::string& path) {
  if (const std::string why = why_no_file(path); !why.empty())
    throw UsageError(fmt::format("--gguf {}: {}", path, why));
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw UsageError(fmt::format("--gguf {}: cannot be read", path));
  return claims_of_gguf(stream);
}

void expect_one_name(const SpecOptions& options) {
  int names = 0;
  for (const auto* name : {&options.spec, &options.hf_config, &options.gguf}) names += name->empty() ? 0 : 1;
  if (names > 1) throw UsageError("exactly one of --spec, --hf-config and --gguf is needed");
  if (names == 0)
    throw UsageError(
        "exactly one of --spec, --hf-config and --gguf is needed, as --spec llama-2-7b (sextant list specs has more); "
        "sextant identify SUBJECT says what an implementation computes");
}

}  // namespace

std::vector<ConfigClaim> claims_of_model(const SpecOptions& options) {
  expect_one_name(options);
  refuse_without_config(options);
  if (!options.gguf.empty()) return parsed_from(options.gguf, [&] { return claims_of_gguf_file(options.gguf); });
  const std::string file = config_file(options.hf_config);
  return parsed_from(file, [&] { return claims_of_hf_config(read_file("--hf-config", file), choice_of(options)); });
}

Spec spec_from_options(const SpecOptions& options) {
  expect_one_name(options);
  refuse_without_config(options);
  if (!options.spec.empty()) return spec_from_argument(options.spec);
  if (!options.gguf.empty()) return *claims_of_model(options).front().spec;
  const std::string file = config_file(options.hf_config);
  return parsed_from(file, [&] { return spec_from_hf_config(read_file("--hf-config", file), choice_of(options)); });
}

std::string words_of(const SpecOptions& options) {
  if (!options.gguf.empty()) return fmt::format("--gguf {}", shell_word(options.gguf));
  if (options.hf_config.empty()) return fmt::format("--spec {}", shell_word(options.spec));
  std::string words = fmt::format("--hf-config {}", shell_word(options.hf_config));
  for (const auto& [name, value] : {std::pair{"--sub-config", &options.sub_config},
                                    std::pair{"--layer", &options.layer}, std::pair{"--pairing", &options.pairing}}) {
    if (!value->empty()) words += fmt::format(" {} {}", name, shell_word(*value));
  }
  return words;
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@+%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char letter : word) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

}  // namespace sextant
