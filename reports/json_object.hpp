#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "properties/verdict/verdict.hpp"
#include "reports/read_json.hpp"

namespace sextant {

/// One object of a report that is read, and where it stands in it. Members that are missing or of another kind are
/// refused. @throws ReadError, naming the field, as all members do.
class JsonObject {
 public:
  JsonObject(const nlohmann::ordered_json& json, std::string place);

  std::string path(const char* name) const;
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail(const char* name, const std::string& what) const;

  /// Whether it has the member, and not as null.
  bool has(const char* name) const;
  const nlohmann::ordered_json& at(const char* name) const;
  std::string text(const char* name) const;
  std::vector<std::string> texts(const char* name) const;
  std::int64_t integer(const char* name) const;
  /// As json_numbers.hpp writes them.
  double number(const char* name) const;
  bool truth(const char* name) const;
  JsonObject object(const char* name) const { return {at(name), path(name)}; }

  /// The one of `values` that is called so by name_of.
  template <class Enum, std::size_t count>
  Enum one_of(const char* name, const Enum (&values)[count]) const {
    const std::string word = text(name);
    for (const Enum value : values) {
      if (name_of(value) == word) return value;
    }
    fail_word(name, word);
  }

 private:
  [[noreturn]] void fail_word(const char* name, const std::string& word) const;

  const nlohmann::ordered_json& json_;
  std::string place_;
};

/// Of an example: "after_other_calls" is written where it is true.
inline Shown shown_of(const JsonObject& example) {
  return example.has("after_other_calls") && example.truth("after_other_calls") ? Shown::after_other_calls
                                                                                : Shown::alone;
}

}  // namespace sextant
