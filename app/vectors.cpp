#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "app/command.hpp"
#include "app/one_of.hpp"
#include "app/vectors_files.hpp"
#include "lib/kernels/targets.hpp"

namespace sextant {
namespace {

// The one list of formats.
struct VectorFormat {
  const char* name;
  std::vector<VectorFile> (*files)();
};
constexpr VectorFormat formats[] = {
    {"json", json_vectors},
    {"onnx", onnx_vectors},
    {"flashinfer", flashinfer_vectors},
};

struct VectorsArguments {
  std::string out;
  std::string format = formats[0].name;
};

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw UsageError(fmt::format("--out {}: {}", path.string(), why));
}

// Before anything is computed.
void make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path)) refuse(path, "expected a folder that is there or can be made");
}

void write(const std::filesystem::path& path, const std::string& content) {
  make_folder(path.parent_path());
  std::ofstream stream(path, std::ios::binary);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  stream.close();
  if (!stream) refuse(path, "cannot be written");
}

// What manifest.json says of dtypes, a line each.
void print_coverage(const std::string& manifest) {
  const auto parsed = nlohmann::json::parse(manifest);
  for (const auto& one : parsed["coverage"])
    fmt::print("  {}, evaluation {}: {} calls under {} claims\n", one["dtype"].get<std::string>(),
               one["evaluation"].get<std::string>(), one["calls"].get<int>(), one["groups"].get<int>());
}

int run_vectors(const VectorsArguments& arguments) {
  const auto* format = std::ranges::find(formats, arguments.format, &VectorFormat::name);
  const std::filesystem::path out(arguments.out);
  make_folder(out);
  const std::vector<VectorFile> files = format->files();
  std::size_t bytes = 0;
  for (const VectorFile& file : files) {
    write(out / file.name, file.content);
    bytes += file.content.size();
  }
  fmt::print("{}: {} files, {} bytes, {}\n", arguments.out, files.size(), bytes, bits_version);
  const auto manifest = std::ranges::find(files, "manifest.json", &VectorFile::name);
  if (manifest != files.end()) print_coverage(manifest->content);
  return 0;
}

// The last bits of attention depend on the instruction set (lib/attention/attention.hpp). Those of plain C++ are the
// same everywhere, as the bytes of one version are.
void compute_in_plain_code() {
  constexpr const char* variable = "SEXTANT_FORCE_TARGET";
  if (std::getenv(variable) != nullptr) return;
  for (const char* plain : {"SCALAR", "EMU128"}) {
    setenv(variable, plain, 1);
    try {
      target_in_use();
      return;
    } catch (const TargetError&) {
      unsetenv(variable);
    }
  }
}

}  // namespace

Run add_vectors(CLI::App& app) {
  auto arguments = std::make_shared<VectorsArguments>();
  CLI::App* command =
      app.add_subcommand("vectors", "Write conformance vectors: calls and their right answers, for test-suites");
  command->preparse_callback([](std::size_t) { compute_in_plain_code(); });
  command->add_option("--out", arguments->out, "The folder to write to")->required();
  std::vector<std::string> names;
  for (const VectorFormat& format : formats) names.emplace_back(format.name);
  one_of(command->add_option("--format", arguments->format,
                             "json: every encoding, in the shape of Wycheproof's; onnx: test data sets of "
                             "RotaryEmbedding; flashinfer: definitions and workloads of FlashInfer-Bench"),
         names)
      ->capture_default_str();
  return [arguments] { return run_vectors(*arguments); };
}

}  // namespace sextant
