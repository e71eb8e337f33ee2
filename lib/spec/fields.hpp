#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/spec/nearest_name.hpp"
#include "lib/spec/spec.hpp"  // SpecError

// Private to lib/spec: typed reading of a JSON object in which every field must be asked for.

namespace sextant {

/// The JSON text of an enumeration's values.
template <class Enum, std::size_t N>
using Names = std::array<std::pair<std::string_view, Enum>, N>;

/// What is refused of one field: "spec: FIELD: EXPECTED".
class FieldError : public SpecError {
 public:
  FieldError(std::string_view field, std::string_view expected)
      : SpecError(fmt::format("spec: {}: {}", field, expected)), field_(field), expected_(expected) {}

  const std::string& field() const { return field_; }
  const std::string& expected() const { return expected_; }

 private:
  std::string field_;
  std::string expected_;
};

/// @throws FieldError.
[[noreturn]] void refuse_field(std::string_view field, std::string_view expected);

/// The text of one of an enumeration's values, in `field`. @throws FieldError for a number that none of them has, which
/// a spec made in C++ may hold.
template <class Enum, std::size_t N>
std::string_view text_of(std::string_view field, const Names<Enum, N>& names, Enum value) {
  std::vector<std::string_view> known;
  for (const auto& [name, known_value] : names) {
    if (known_value == value) return name;
    known.push_back(name);
  }
  refuse_field(field,
               fmt::format("expected one of {}, got {}", fmt::join(known, ", "), static_cast<std::int64_t>(value)));
}

/// @throws SpecError unless `width` is an even number from 2 to 2^20.
void check_even_width(std::string_view field, std::int64_t width);

/// No encoding is wider: sizes computed from it cannot overflow.
inline constexpr std::int64_t width_limit = std::int64_t{1} << 20;

/// @throws SpecError unless `count` is from 1 to `limit`.
void check_count(std::string_view field, std::int64_t count, std::int64_t limit);

/// @throws SpecError unless `base` is finite and at least 1.
void check_base(std::string_view field, double base);

/// Parses `text` as one JSON object. @throws SpecError for other text and for a repeated field.
nlohmann::json parse_object(std::string_view text, std::string_view what);

/// Reads fields of one object; `finish` refuses those that nobody asked for. Every error is a SpecError naming the
/// field with its path.
class Fields {
 public:
  Fields(const nlohmann::json& object, std::string path) : object_(object), path_(std::move(path)) {}

  std::optional<std::int64_t> integer(const std::string& name);
  /// As integer, an absent field being refused.
  std::int64_t required_integer(const std::string& name);
  std::optional<std::vector<std::int64_t>> integers(const std::string& name);
  std::optional<bool> boolean(const std::string& name);
  std::optional<double> number(const std::string& name);
  std::optional<std::string> text(const std::string& name);
  std::optional<std::vector<double>> numbers(const std::string& name);
  /// As above, a null standing for an absent field.
  std::optional<std::int64_t> integer_or_null(const std::string& name);
  std::optional<double> number_or_null(const std::string& name);
  std::optional<std::string> text_or_null(const std::string& name);
  std::optional<std::vector<std::int64_t>> integers_or_null(const std::string& name);
  std::optional<std::vector<double>> numbers_or_null(const std::string& name);
  bool has(const std::string& name) const { return object_.contains(name); }
  bool is_text(const std::string& name) const { return has(name) && object_.at(name).is_string(); }
  /// The value, or null if the field is absent or null.
  const nlohmann::json* object(const std::string& name);

  template <class Enum, std::size_t N>
  Enum choice(const std::string& name, const Names<Enum, N>& names, Enum fallback) {
    const std::optional<std::string> value = text(name);
    if (!value) return fallback;
    std::vector<std::string_view> known;
    for (const auto& [known_name, known_value] : names) {
      if (known_name == *value) return known_value;
      known.push_back(known_name);
    }
    refuse(name, fmt::format("expected one of {}, got \"{}\"{}", fmt::join(known, ", "), *value,
                             did_you_mean(*value, known)));
  }

  /// Of the object, whether asked for or not.
  std::vector<std::string> names() const;

  [[noreturn]] void refuse(const std::string& name, std::string_view expected) const;
  /// That no field is called so.
  [[noreturn]] void refuse_unknown(const std::string& name, std::span<const std::string_view> known) const;
  /// That an encoding does not have a field which the reader of its parts asks for: to be said before and after that.
  /// @throws SpecError, with the reason, where it is given.
  void refuse_of_parts(const std::string& name, std::string_view reason);
  void finish() const;

 private:
  const nlohmann::json* find(const std::string& name);

  const nlohmann::json& object_;
  std::string path_;
  std::set<std::string> asked_;
};

}  // namespace sextant
