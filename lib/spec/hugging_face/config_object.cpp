#include "lib/spec/hugging_face/config_object.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "lib/spec/fields.hpp"

namespace sextant::hugging_face {
namespace {

using nlohmann::json;

// Reads characters and counts the lines that it has passed.
struct CountedText {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  std::int64_t* line;

  const char& operator*() const { return *at; }
  CountedText& operator++() {
    *line += *at == '\n' ? 1 : 0;
    ++at;
    return *this;
  }
  CountedText operator++(int) {
    CountedText before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountedText& other) const { return at == other.at; }
};

// Notes the line of each key; a key's text has been read, and nothing behind it, when it is told of.
class LineReader : public json::json_sax_t {
 public:
  LineReader(std::map<std::string, std::int64_t>& lines, const std::int64_t& line) : lines_(lines), line_(line) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(json::number_integer_t) override { return true; }
  bool number_unsigned(json::number_unsigned_t) override { return true; }
  bool number_float(json::number_float_t, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(json::binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    open_.push_back(key_);
    open_keys_.emplace_back();
    return true;
  }
  bool key(std::string& name) override {
    key_ = name;
    std::string path;
    for (std::size_t i = 1; i < open_.size(); ++i) path += open_[i] + ".";
    const bool is_new = open_keys_.back().insert(name).second;
    const auto [first, _] = lines_.emplace(path + name, line_);
    if (!is_new && repeated_.empty())
      repeated_ = fmt::format("line {}: {}{}: is given twice, first in line {}", line_, path, name, first->second);
    return true;
  }
  bool end_object() override {
    key_ = open_.back();
    open_.pop_back();
    open_keys_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override { return false; }

  /// The first field that its object has twice, in words; else nothing.
  const std::string& repeated() const { return repeated_; }

 private:
  std::map<std::string, std::int64_t>& lines_;
  const std::int64_t& line_;
  std::string key_;
  std::vector<std::string> open_;
  std::vector<std::set<std::string>> open_keys_;
  std::string repeated_;
};

}  // namespace

ConfigObject::ConfigObject(std::shared_ptr<const json> object, std::shared_ptr<const Lines> lines,
                           std::shared_ptr<Asked> asked, std::string path)
    : object_(std::move(object)), lines_(std::move(lines)), asked_(std::move(asked)), path_(std::move(path)) {}

namespace {

// Python writes numbers that JSON does not have, of fields that no claim reads: as texts they are refused where
// a number is expected.
std::string with_quoted_numbers(std::string_view text) {
  std::string quoted;
  bool is_in_text = false;
  for (std::size_t at = 0; at < text.size();) {
    if (is_in_text && text[at] == '\\' && at + 1 < text.size()) {
      quoted += text.substr(at, 2);
      at += 2;
      continue;
    }
    if (text[at] == '"') is_in_text = !is_in_text;
    std::string_view number;
    for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
      if (!is_in_text && number.empty() && text.substr(at).starts_with(word)) number = word;
    }
    quoted += number.empty() ? std::string(1, text[at]) : fmt::format("\"{}\"", number);
    at += std::max<std::size_t>(number.size(), 1);
  }
  return quoted;
}

}  // namespace

ConfigObject ConfigObject::parse(std::string_view file) {
  const std::string text = with_quoted_numbers(file);
  auto lines = std::make_shared<Lines>();
  std::int64_t line = 1;
  LineReader reader(*lines, line);
  json::sax_parse(CountedText{text.data(), &line}, CountedText{text.data() + text.size(), &line}, &reader);
  if (!reader.repeated().empty()) throw SpecError(reader.repeated());
  auto object = std::make_shared<const json>(parse_object(text, "config"));
  return {std::move(object), std::move(lines), std::make_shared<Asked>(), ""};
}

bool ConfigObject::has(const std::string& name) const {
  asked_->insert(path_ + name);
  const auto found = object_->find(name);
  return found != object_->end() && !found->is_null();
}

std::vector<std::string> ConfigObject::unread() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : object_->items()) {
    if (!value.is_null() && !asked_->contains(path_ + name)) names.push_back(name);
  }
  return names;
}

std::string ConfigObject::source(const std::string& name) const {
  const auto line = lines_->find(path_ + name);
  return line == lines_->end() ? path_ + name : fmt::format("line {}: {}{}", line->second, path_, name);
}

void ConfigObject::refuse(const std::string& name, std::string_view expected) const {
  std::string place = source(name);
  for (const char* rule : {"rope_parameters.", "rope_scaling."}) {
    if (!lines_->contains(path_ + name) && lines_->contains(path_ + rule + name)) place = source(rule + name);
  }
  throw SpecError(fmt::format("{}: {}", place, expected));
}

void ConfigObject::refuse_nulls(Names names, std::string_view expected, std::string_view why) const {
  for (const char* name : names) {
    if (object_->contains(name) && object_->at(name).is_null())
      refuse(name, fmt::format("expected {}, got null, {}", expected, why));
  }
}

void ConfigObject::refuse_meaning(const std::string& name, std::string_view why) const {
  refuse(name, fmt::format("{}; what is meant can be stated with --spec", why));
}

namespace {

// Fields that transformers 5.24's classes (or, of qwen, its own code) take a null for as they take an absent one, or
// whose readers here ask for a null by themselves. To any other a null is not an absent field: classes refuse it, or
// fail, or take it for false where true is their default (rope_interleave).
bool takes_null(std::string_view name) {
  constexpr std::array<std::string_view, 18> names = {"alibi",
                                                      "dtype",
                                                      "full_attn_idxs",
                                                      "head_dim",
                                                      "interleaved",
                                                      "layer_types",
                                                      "model_type",
                                                      "mrope_interleaved",
                                                      "no_rope_layers",
                                                      "pos_att_type",
                                                      "position_embedding_type",
                                                      "rope_theta",
                                                      "sliding_window",
                                                      "torch_dtype",
                                                      "type",
                                                      "use_cache_quantization",
                                                      "use_dynamic_ntk",
                                                      "use_logn_attn"};
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

template <class T, class Convert>
std::optional<Read<T>> ConfigObject::first_of(Names names, std::string_view expected, const Convert& convert) const {
  std::optional<Read<T>> found;
  std::string found_name;
  for (const char* name : names) {
    if (*name == '\0') continue;
    if (!takes_null(name))
      refuse_nulls({name}, expected, "which is not an absent field: leave it out, or state the claim with --spec");
    if (!has(name)) continue;
    const json& stated = object_->at(name);
    std::optional<T> value = convert(stated);
    if (!value) refuse(name, fmt::format("expected {}, got {}", expected, stated.dump()));
    if (found && found->value != *value)
      refuse(name, fmt::format("{} contradicts {} {}", stated.dump(), found_name, object_->at(found_name).dump()));
    if (found) continue;
    found = Read<T>{*std::move(value), source(name)};
    found_name = name;
  }
  return found;
}

namespace {

std::optional<std::int64_t> as_integer(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
    return std::nullopt;
  return value.get<std::int64_t>();
}

std::optional<std::int64_t> as_whole_number(const json& value) {
  if (!value.is_number_float()) return as_integer(value);
  constexpr double limit = 9007199254740992;
  const double number = value.get<double>();
  if (!(number >= -limit && number <= limit)) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(number);
  return static_cast<double>(whole) == number ? std::optional(whole) : std::nullopt;
}

template <class T, class Convert>
std::optional<std::vector<T>> as_list(const json& value, const Convert& convert) {
  if (!value.is_array()) return std::nullopt;
  std::vector<T> list;
  for (const json& entry : value) {
    std::optional<T> converted = convert(entry);
    if (!converted) return std::nullopt;
    list.push_back(*std::move(converted));
  }
  return list;
}

std::optional<std::string> as_text(const json& value) {
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

}  // namespace

std::optional<Read<std::int64_t>> ConfigObject::integer(Names names) const {
  return first_of<std::int64_t>(names, "an integer", as_integer);
}

std::optional<Read<std::int64_t>> ConfigObject::whole_number(Names names) const {
  return first_of<std::int64_t>(names, "an integer", as_whole_number);
}

std::optional<Read<double>> ConfigObject::number(Names names) const {
  return first_of<double>(names, "a number", [](const json& value) {
    return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
  });
}

std::optional<Read<bool>> ConfigObject::boolean(Names names) const {
  return first_of<bool>(names, "true or false", [](const json& value) {
    return value.is_boolean() ? std::optional(value.get<bool>()) : std::nullopt;
  });
}

std::optional<Read<std::string>> ConfigObject::text(Names names) const {
  return first_of<std::string>(names, "a string", as_text);
}

std::optional<Read<std::vector<std::int64_t>>> ConfigObject::integers(Names names) const {
  return first_of<std::vector<std::int64_t>>(
      names, "a list of integers", [](const json& value) { return as_list<std::int64_t>(value, as_integer); });
}

std::optional<Read<std::vector<std::string>>> ConfigObject::texts(Names names) const {
  return first_of<std::vector<std::string>>(names, "a list of strings",
                                            [](const json& value) { return as_list<std::string>(value, as_text); });
}

std::optional<ConfigObject> ConfigObject::object(const char* name) const {
  if (!has(name)) return std::nullopt;
  const json& value = object_->at(name);
  if (!value.is_object()) refuse(name, fmt::format("expected an object, got {}", value.dump()));
  return ConfigObject(std::shared_ptr<const json>(object_, &value), lines_, asked_, path_ + name + ".");
}

}  // namespace sextant::hugging_face
