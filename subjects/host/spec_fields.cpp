#include "subjects/host/spec_fields.hpp"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace sextant::host {

// What the functions are given is this, by its base. A path that is no JSON pointer ("a~b") names no field.
class SpecFields::Parsed : public SextantSpec {
 public:
  explicit Parsed(std::string all) : all_(std::move(all)), fields_(nlohmann::json::parse(all_, nullptr, false)) {
    if (!fields_.is_object()) throw std::invalid_argument("the request's spec is no JSON object");
    SextantSpec::json = all_.c_str();
    SextantSpec::number = [](const SextantSpec* spec, const char* path) {
      return static_cast<const Parsed*>(spec)->number_at(path);
    };
    SextantSpec::text = [](const SextantSpec* spec, const char* path) {
      return static_cast<const Parsed*>(spec)->text_at(path);
    };
  }

 private:
  const nlohmann::json* find(const char* path) const {
    try {
      const nlohmann::json::json_pointer pointer("/" + std::string(path == nullptr ? "" : path));
      return fields_.contains(pointer) ? &fields_.at(pointer) : nullptr;
    } catch (const nlohmann::json::exception&) {
      return nullptr;
    }
  }
  double number_at(const char* path) const {
    const nlohmann::json* value = find(path);
    if (value != nullptr && value->is_boolean()) return value->get<bool>() ? 1 : 0;
    return value != nullptr && value->is_number() ? value->get<double>() : NAN;
  }
  const char* text_at(const char* path) const {
    const nlohmann::json* value = find(path);
    if (value == nullptr || value->is_null()) return nullptr;
    const auto [kept, is_new] = texts_.try_emplace(path);
    if (is_new) kept->second = value->is_string() ? value->get<std::string>() : value->dump();
    return kept->second.c_str();
  }

  std::string all_;
  nlohmann::json fields_;
  mutable std::map<std::string, std::string> texts_;  // those that were asked for, which have to stay
};

SpecFields::SpecFields(std::string all) : parsed_(std::make_unique<Parsed>(std::move(all))) {}
SpecFields::~SpecFields() = default;

const SextantSpec& SpecFields::spec() const { return *parsed_; }

}  // namespace sextant::host
