#pragma once

#include <string>
#include <vector>

#include "lib/spec/hf_config.hpp"
#include "lib/spec/spec.hpp"

namespace CLI {
class App;
}

namespace sextant {

/// The options by which a claim is named, and their values.
struct SpecOptions {
  std::string spec;
  std::string hf_config;
  std::string gguf;
  std::string layer;
  std::string sub_config;
  std::string pairing;
};

/// Adds --spec to a subcommand. Of "-" the value becomes what standard input holds, in one line.
void add_spec_option(CLI::App& command, std::string& value, const std::string& help);

/// Adds --spec, --hf-config, --gguf, --layer, --sub-config and --pairing to a subcommand; `spec_help` is about --spec.
void add_spec_options(CLI::App& command, SpecOptions& options, const std::string& spec_help);

/// The spec that --spec names: inline JSON, a preset's name, or a file. @throws SpecError, UsageError.
Spec spec_from_argument(const std::string& argument);

/// Whether they name a model's file, which may make several claims.
bool names_a_model(const SpecOptions& options);

/// The claims of a model's file, config.json or GGUF, that the other options leave. @throws SpecError, UsageError.
std::vector<ConfigClaim> claims_of_model(const SpecOptions& options);

/// The one claim that the options name.
/// @throws UsageError unless exactly one of --spec, --hf-config and --gguf is given; SpecError as above, and where the
/// file makes several claims or one that no spec says.
Spec spec_from_options(const SpecOptions& options);

/// "--hf-config config.json --layer 3": the options that name the same claim again.
std::string words_of(const SpecOptions& options);

/// A word as a POSIX shell reads it back: quoted if it needs to be.
std::string shell_word(const std::string& word);

}  // namespace sextant
