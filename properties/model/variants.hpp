#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "properties/model/model.hpp"

namespace sextant {

/// Collects a spec's variants: each change of its encoding's fields that makes another spec.
template <class Encoding>
class Variants {
 public:
  explicit Variants(const Spec& spec, std::vector<Variant> list = {}) : spec_(spec), list_(std::move(list)) {}

  void with(std::string field, const std::function<void(Encoding& encoding)>& change) {
    Spec changed = spec_;
    change(std::get<Encoding>(changed.encoding));
    try {
      validate(changed);
      // Some fields of a rule change nothing under another rule.
      if (to_json(changed) != to_json(spec_)) list_.push_back({std::move(field), std::move(changed)});
    } catch (const SpecError&) {
      // The field cannot have that value beside the others.
    }
  }

  std::vector<Variant> made() { return std::move(list_); }

 private:
  Spec spec_;
  std::vector<Variant> list_;
};

// What a field of two values is changed to.
inline Pairing other(Pairing pairing) { return pairing == Pairing::half ? Pairing::interleaved : Pairing::half; }
inline LengthScope other(LengthScope scope) {
  return scope == LengthScope::call ? LengthScope::row : LengthScope::call;
}
inline Direction other(Direction direction) {
  return direction == Direction::clockwise ? Direction::counterclockwise : Direction::clockwise;
}
inline Layout other(Layout layout) {
  return layout == Layout::interleaved ? Layout::concatenated : Layout::interleaved;
}

}  // namespace sextant
