#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lib/spec/hugging_face/config_object.hpp"
#include "lib/spec/hugging_face/part.hpp"

// Private to lib/spec.

namespace sextant::hugging_face {

/// Gives each field of the claim's spec one source, in the order in which the spec is written: those that the claim
/// has; "default of a spec" for what neither the file nor its model_type's class says.
void complete_sources(ConfigClaim& claim);

/// A claim in the making: the fields of a spec, and where each comes from.
class Draft {
 public:
  Draft(std::string part, std::string kind, std::string model_type);

  /// A field that is set again has its last value and source.
  template <class T>
  void set(const std::string& field, T value, std::string source) {
    spec_[field] = std::move(value);
    std::erase_if(claim_.sources, [&](const FieldSource& earlier) { return earlier.field == field; });
    claim_.sources.push_back({field, std::move(source)});
  }
  template <class T>
  void set(const std::string& field, const Read<T>& read) {
    set(field, read.value, read.source);
  }
  /// What the file states, or the default of its model_type.
  template <class T>
  void set(const std::string& field, const std::optional<Read<T>>& read, const T& fallback) {
    read ? set(field, *read) : set(field, fallback, default_source());
  }
  /// Where a field within one that is set comes from, as "rope_scaling.factor".
  void set_source(const std::string& inner, std::string source) {
    claim_.sources.push_back({inner, std::move(source)});
  }
  void note(std::string text);
  void cover(std::vector<std::int64_t> layers);

  /// "default of qwen2".
  std::string default_source() const;
  /// "qwen2": what all files of the model_type have.
  std::string type_source() const { return claim_.model_type; }

  /// @throws SpecError where a field is not in its domain, naming where it comes from.
  ConfigClaim claim() const;
  ConfigClaim refused(std::string why) const;

 private:
  [[noreturn]] void refuse(const std::string& field, const std::string& expected) const;

  ConfigClaim claim_;
  nlohmann::json spec_ = nlohmann::json::object();
};

/// What the file states, or the default of the draft's model_type.
template <class T>
Read<T> read_or(const std::optional<Read<T>>& read, T fallback, const Draft& draft) {
  return read.value_or(Read<T>{std::move(fallback), draft.default_source()});
}

/// The part's dtype, where it has one.
inline void set_dtype(Draft& draft, const Part& part) {
  if (part.dtype) draft.set("dtype", *part.dtype);
}

}  // namespace sextant::hugging_face
