#include "subjects/kind.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "lib/spec/nearest_name.hpp"

namespace sextant {

// Each is made in the file of its kind.
SubjectKind builtin_kind();   // builtin.cpp
SubjectKind python_kind();    // python.cpp
SubjectKind exec_kind();      // exec.cpp
SubjectKind onnx_kind();      // onnx.cpp
SubjectKind tvmffi_kind();    // tvmffi.cpp
SubjectKind plugin_kind();    // plugin.cpp
SubjectKind recorded_kind();  // recorded.cpp
SubjectKind live_kind();      // live.cpp

std::span<const SubjectKind> subject_kinds() {
  static const std::array kinds{builtin_kind(), python_kind(), exec_kind(),     plugin_kind(),
                                tvmffi_kind(),  onnx_kind(),   recorded_kind(), live_kind()};
  return kinds;
}

std::string usage_of(std::span<const SubjectKind> kinds) {
  std::string text;
  for (std::size_t i = 0; i < kinds.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == kinds.size() ? " or " : ", ", kinds[i].usage);
  return text;
}

namespace {

// "; did you mean python:ok.py?" of "ok.py", "; did you mean python?" of "pyton:ok.py".
std::string kind_meant(std::span<const SubjectKind> kinds, std::string_view name) {
  if (const auto colon = name.find(':'); colon != name.npos)
    return did_you_mean(name.substr(0, colon), kinds, &SubjectKind::prefix);
  for (const auto& [ending, prefix] :
       {std::pair(".py", "python"), std::pair(".so", "plugin"), std::pair(".onnx", "onnx"), std::pair(".npy", "file"),
        std::pair(".npz", "file"), std::pair(".safetensors", "file"), std::pair(".pt", "file"),
        std::pair(".pb", "file")}) {
    if (name.ends_with(ending)) return fmt::format("; did you mean {}:{}?", prefix, name);
  }
  return "";
}

}  // namespace

std::unique_ptr<Subject> open_subject(std::span<const SubjectKind> kinds, const std::string& name, const Spec& spec,
                                      const OpenOptions& options) {
  const auto colon = name.find(':');
  const std::string rest = colon == std::string::npos ? "" : name.substr(colon + 1);
  for (const SubjectKind& kind : kinds) {
    const bool takes_rest = kind.usage.find(':') != std::string_view::npos;
    if (takes_rest ? !rest.empty() && name.substr(0, colon) == kind.prefix : name == kind.prefix)
      return kind.open(name, rest, spec, options);
  }
  throw SubjectNameError(fmt::format("subject \"{}\": expected {}{}", name, usage_of(kinds), kind_meant(kinds, name)));
}

}  // namespace sextant
