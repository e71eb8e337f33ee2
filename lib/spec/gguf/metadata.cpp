#include "lib/spec/gguf/metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "lib/spec/spec.hpp"

namespace sextant::gguf {
namespace {

// As the format's description numbers them (https://github.com/ggml-org/ggml, its document on GGUF).
enum class Type : std::uint32_t {
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  float32,
  boolean,
  text,
  list,
  uint64,
  int64,
  float64
};

// No file has as many by orders of magnitude; what says more is no head of a file.
constexpr std::uint64_t most_entries = 1 << 20;
constexpr std::uint64_t most_text = 1 << 24;
constexpr std::uint64_t most_listed = 1 << 28;
constexpr std::uint64_t kept_list = 1 << 12;
constexpr std::uint64_t most_divisors = 1 << 19;

// Little-endian values, one after the other.
class Reader {
 public:
  explicit Reader(std::istream& stream) : stream_(stream) {}

  template <class T>
  T value() {
    static_assert(std::endian::native == std::endian::little);
    T result;
    stream_.read(reinterpret_cast<char*>(&result), sizeof(T));
    if (!stream_) cut_short();
    at_ += sizeof(T);
    return result;
  }

  std::string text() {
    const auto length = value<std::uint64_t>();
    if (length > most_text) throw SpecError(fmt::format("gguf: a text of {} bytes at byte {}", length, at_));
    std::string result(length, '\0');
    stream_.read(result.data(), static_cast<std::streamsize>(length));
    if (!stream_) cut_short();
    at_ += length;
    return result;
  }

  void skip(std::uint64_t bytes) {
    stream_.ignore(static_cast<std::streamsize>(bytes));
    if (static_cast<std::uint64_t>(stream_.gcount()) != bytes) cut_short();
    at_ += bytes;
  }

  std::uint64_t at() const { return at_; }

 private:
  [[noreturn]] void cut_short() const {
    if (at_ == 0) throw SpecError("gguf: the file does not begin with the letters GGUF");
    throw SpecError(fmt::format("gguf: the file ends within what begins at byte {}", at_));
  }

  std::istream& stream_;
  std::uint64_t at_ = 0;
};

[[noreturn]] void refuse_type(std::uint32_t type, const std::string& key) {
  refuse(key, fmt::format("the type {} is not known", type));
}

template <class T>
Value as_value(T number) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(number);
  } else {
    if (std::is_same_v<T, std::uint64_t> && static_cast<std::uint64_t>(number) > std::uint64_t{1} << 62) return {};
    return static_cast<std::int64_t>(number);
  }
}

// Calls `visit` with a value of the C++ type of a number's type.
template <class Visit>
auto with_number(Type type, const std::string& key, const Visit& visit) {
  switch (type) {
    case Type::uint8: return visit(std::uint8_t{});
    case Type::int8: return visit(std::int8_t{});
    case Type::uint16: return visit(std::uint16_t{});
    case Type::int16: return visit(std::int16_t{});
    case Type::uint32: return visit(std::uint32_t{});
    case Type::int32: return visit(std::int32_t{});
    case Type::float32: return visit(float{});
    case Type::uint64: return visit(std::uint64_t{});
    case Type::int64: return visit(std::int64_t{});
    case Type::float64: return visit(double{});
    case Type::boolean: return visit(std::uint8_t{});
    case Type::text:
    case Type::list: break;
  }
  refuse_type(static_cast<std::uint32_t>(type), key);
}

Value read_list(Reader& reader, const std::string& key) {
  const auto type = static_cast<Type>(reader.value<std::uint32_t>());
  const auto count = reader.value<std::uint64_t>();
  if (count > most_listed) refuse(key, fmt::format("a list of {} entries", count));
  if (type == Type::text) {
    for (std::uint64_t i = 0; i < count; ++i) reader.text();
    return {};
  }
  return with_number(type, key, [&]<class T>(T) -> Value {
    if (count > kept_list) {
      reader.skip(count * sizeof(T));
      return {};
    }
    std::vector<double> list;
    for (std::uint64_t i = 0; i < count; ++i) list.push_back(static_cast<double>(reader.value<T>()));
    return list;
  });
}

Value read_value(Reader& reader, const std::string& key) {
  const auto number = reader.value<std::uint32_t>();
  const auto type = static_cast<Type>(number);
  if (type == Type::text) return reader.text();
  if (type == Type::list) return read_list(reader, key);
  if (type == Type::boolean) return reader.value<std::uint8_t>() != 0;
  if (number > static_cast<std::uint32_t>(Type::float64)) refuse_type(number, key);
  return with_number(type, key, [&]<class T>(T) { return as_value(reader.value<T>()); });
}

struct Tensor {
  std::uint64_t elements;
  std::uint32_t type;
  std::uint64_t offset;
};

Tensor read_tensor(Reader& reader, const std::string& name) {
  const auto dimensions = reader.value<std::uint32_t>();
  if (dimensions > 8) refuse(name, fmt::format("a tensor of {} dimensions", dimensions));
  std::uint64_t elements = 1;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const auto extent = reader.value<std::uint64_t>();
    if (extent == 0 || elements > std::numeric_limits<std::uint64_t>::max() / extent)
      refuse(name, "a tensor of no or too many elements");
    elements *= extent;
  }
  const auto type = reader.value<std::uint32_t>();
  return {elements, type, reader.value<std::uint64_t>()};
}

// A value for a message.
std::string text_of(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) return nlohmann::json(*text).dump();
  if (const auto* list = std::get_if<std::vector<double>>(&value))
    return fmt::format("a list of {} numbers", list->size());
  return "a list that is not read";
}

}  // namespace

void refuse(std::string_view key, std::string_view expected) {
  throw SpecError(fmt::format("gguf: {}: {}", key, expected));
}

Metadata::Metadata(std::istream& file) {
  Reader reader(file);
  const auto magic = reader.value<std::array<char, 4>>();
  if (magic != std::array{'G', 'G', 'U', 'F'}) throw SpecError("gguf: the file does not begin with GGUF");
  const auto version = reader.value<std::uint32_t>();
  if (version != 2 && version != 3) throw SpecError(fmt::format("gguf: version {}, expected 2 or 3", version));
  const auto tensors = reader.value<std::uint64_t>();
  const auto entries = reader.value<std::uint64_t>();
  if (tensors > most_entries || entries > most_entries)
    throw SpecError(fmt::format("gguf: {} keys and {} tensors are too many", entries, tensors));
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::string key = reader.text();
    Value value = read_value(reader, key);
    if (!values_.emplace(key, std::move(value)).second) refuse(key, "given twice");
  }
  std::optional<Tensor> divisors;
  for (std::uint64_t i = 0; i < tensors; ++i) {
    tensors_.push_back(reader.text());
    const Tensor tensor = read_tensor(reader, tensors_.back());
    if (tensors_.back() == "rope_freqs.weight") divisors = tensor;
  }
  std::ranges::sort(tensors_);
  if (!divisors) return;
  if (divisors->type != 0 || divisors->elements > most_divisors)
    refuse("rope_freqs.weight", "expected float32 values, one for each pair");
  const std::int64_t alignment = integer("general.alignment").value_or(32);
  if (alignment < 1 || alignment > 1 << 20 || divisors->offset > std::uint64_t{1} << 50)
    refuse("general.alignment", fmt::format("expected 1 to {}, got {}", 1 << 20, alignment));
  const auto step = static_cast<std::uint64_t>(alignment);
  const std::uint64_t data = (reader.at() + step - 1) / step * step;
  reader.skip(data + divisors->offset - reader.at());
  for (std::uint64_t i = 0; i < divisors->elements; ++i) divisors_.push_back(reader.value<float>());
}

bool Metadata::has_tensor(std::string_view name) const { return std::ranges::binary_search(tensors_, name); }

std::optional<std::int64_t> Metadata::integer(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return std::nullopt;
  if (const auto* value = std::get_if<std::int64_t>(&found->second)) return *value;
  // Some keys have an entry for each layer, which are one number where layers are alike.
  const auto* list = std::get_if<std::vector<double>>(&found->second);
  if (list != nullptr && !list->empty() && std::ranges::adjacent_find(*list, std::not_equal_to<>()) == list->end())
    return static_cast<std::int64_t>(list->front());
  if (list != nullptr) refuse(key, "differs from layer to layer: state the claim with --spec");
  refuse(key, fmt::format("expected an integer, got {}", text_of(found->second)));
}

std::optional<double> Metadata::number(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return std::nullopt;
  if (const auto* value = std::get_if<double>(&found->second)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&found->second)) return static_cast<double>(*value);
  refuse(key, fmt::format("expected a number, got {}", text_of(found->second)));
}

std::optional<std::string> Metadata::text(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return std::nullopt;
  if (const auto* value = std::get_if<std::string>(&found->second)) return *value;
  refuse(key, fmt::format("expected a text, got {}", text_of(found->second)));
}

std::optional<std::vector<double>> Metadata::numbers(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return std::nullopt;
  if (const auto* value = std::get_if<std::vector<double>>(&found->second)) return *value;
  refuse(key, fmt::format("expected a list of numbers, got {}", text_of(found->second)));
}

}  // namespace sextant::gguf
