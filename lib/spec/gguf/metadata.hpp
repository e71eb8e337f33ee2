#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// Private to lib/spec: the head of a GGUF file.

namespace sextant::gguf {

/// A value of the metadata: a number, a truth, a text or a list of numbers. Long lists, and lists of texts, as
/// tokenizers have them, are passed over.
using Value = std::variant<std::monostate, std::int64_t, double, bool, std::string, std::vector<double>>;

/// The keys of a file, and its one tensor that is about positions.
class Metadata {
 public:
  /// @throws SpecError for what is no GGUF file of version 2 or 3, or one that is cut short or says impossible sizes.
  explicit Metadata(std::istream& file);

  /// The value of a key. @throws SpecError where it is of another type.
  std::optional<std::int64_t> integer(const std::string& key) const;
  std::optional<double> number(const std::string& key) const;
  std::optional<std::string> text(const std::string& key) const;
  std::optional<std::vector<double>> numbers(const std::string& key) const;
  bool has(const std::string& key) const { return values_.contains(key); }

  /// The values of rope_freqs.weight, by which frequencies are divided; empty where there is none.
  const std::vector<double>& frequency_divisors() const { return divisors_; }
  /// Whether the file has a tensor of the name.
  bool has_tensor(std::string_view name) const;

 private:
  std::map<std::string, Value> values_;
  std::vector<std::string> tensors_;
  std::vector<double> divisors_;
};

/// @throws SpecError: "gguf: KEY: EXPECTED".
[[noreturn]] void refuse(std::string_view key, std::string_view expected);

}  // namespace sextant::gguf
