#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/spec/hf_config.hpp"

// Private to lib/spec: a config.json whose fields are known by their lines.

namespace sextant::hugging_face {

/// A value and where it was read: "line 12: rope_theta".
template <class T>
struct Read {
  T value;
  std::string source;
};

/// One object of a config.json. A null is refused, but of the few fields of which it says as much as their absence, and
/// of objects. Where several names are given the file may use any of them;
/// two that disagree are refused. Every error is a SpecError that names the field.
class ConfigObject {
 public:
  /// @throws SpecError for text that is no JSON object and for repeated fields.
  static ConfigObject parse(std::string_view text);

  /// Empty names name nothing.
  using Names = std::initializer_list<const char*>;
  std::optional<Read<std::int64_t>> integer(Names names) const;
  /// An integer that may be written as a float, 8192.0: classes check no types within a rule.
  std::optional<Read<std::int64_t>> whole_number(Names names) const;
  std::optional<Read<double>> number(Names names) const;
  std::optional<Read<bool>> boolean(Names names) const;
  std::optional<Read<std::string>> text(Names names) const;
  std::optional<Read<std::vector<std::int64_t>>> integers(Names names) const;
  std::optional<Read<std::vector<std::string>>> texts(Names names) const;
  std::optional<ConfigObject> object(const char* name) const;

  /// The object's fields, nulls left out, that no call of the above or of has() has asked for, of any copy of it.
  std::vector<std::string> unread() const;

  /// For classes to which a null is not an absent field. @throws SpecError naming the first of the fields that is a
  /// null: what was expected, and `why` it is refused.
  void refuse_nulls(Names names, std::string_view expected, std::string_view why) const;

  /// Whether the field is there and no null.
  bool has(const std::string& name) const;
  const nlohmann::json& fields() const { return *object_; }
  const std::string& path() const { return path_; }
  /// "line 12: text_config.rope_theta"; without the line where the file does not have the field.
  std::string source(const std::string& name) const;

  /// @throws SpecError: "line 12: text_config.rope_theta: EXPECTED". A field that the object does not have and its
  /// rope_parameters or rope_scaling does is named there.
  [[noreturn]] void refuse(const std::string& name, std::string_view expected) const;
  /// The same of a field that says what the class does not do, or contradicts another: `why`, and that --spec can state
  /// what is meant.
  [[noreturn]] void refuse_meaning(const std::string& name, std::string_view why) const;

 private:
  // The line of each field, by its path.
  using Lines = std::map<std::string, std::int64_t>;
  // The paths of the fields that were asked for.
  using Asked = std::set<std::string>;
  ConfigObject(std::shared_ptr<const nlohmann::json> object, std::shared_ptr<const Lines> lines,
               std::shared_ptr<Asked> asked, std::string path);

  template <class T, class Convert>
  std::optional<Read<T>> first_of(Names names, std::string_view expected, const Convert& convert) const;

  std::shared_ptr<const nlohmann::json> object_;
  std::shared_ptr<const Lines> lines_;
  std::shared_ptr<Asked> asked_;
  std::string path_;  // "" or "text_config."
};

}  // namespace sextant::hugging_face
