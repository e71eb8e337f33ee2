#include "app/spec_argument.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/command.hpp"
#include "lib/spec/hf_config.hpp"
#include "lib/spec/presets.hpp"

namespace sextant {
namespace {

std::string read_file(const std::string& option, const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw UsageError(fmt::format("{} {}: no such file", option, path));
  if (std::filesystem::file_size(path, error) > (std::uintmax_t{16} << 20)) {
    throw UsageError(fmt::format("{} {}: larger than 16 MiB", option, path));
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw UsageError(fmt::format("{} {}: cannot be read", option, path));
  return {std::istreambuf_iterator<char>(stream), {}};
}

// A message about a file names the file.
template <class Parse>
Spec parsed_from(const std::string& path, Parse parse) {
  try {
    return parse();
  } catch (const SpecError& error) {
    throw SpecError(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace

Spec spec_from_argument(const std::string& argument) {
  if (const auto first = argument.find_first_not_of(" \t\r\n"); first != std::string::npos && argument[first] == '{') {
    return parse_spec(argument);
  }
  if (const auto preset = preset_named(argument)) return parse_spec(preset->json);
  std::error_code error;
  if (!std::filesystem::exists(argument, error)) {
    throw UsageError(
        fmt::format("--spec {}: neither a file, nor inline JSON, nor a preset (see sextant list specs)", argument));
  }
  return parsed_from(argument, [&] { return parse_spec(read_file("--spec", argument)); });
}

Spec spec_from_hf_file(const std::string& path) {
  return parsed_from(path, [&] { return spec_from_hf_config(read_file("--hf-config", path)); });
}

Spec spec_from_arguments(const std::string& spec, const std::string& hf_config) {
  if (spec.empty() == hf_config.empty()) throw UsageError("exactly one of --spec and --hf-config is needed");
  return spec.empty() ? spec_from_hf_file(hf_config) : spec_from_argument(spec);
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@+%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char letter : word) quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return quoted + "'";
}

}  // namespace sextant
