#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "properties/engine/property.hpp"
#include "properties/model/question.hpp"

namespace sextant {

/// A further integer of a case: 0 .. count - 1, all equally likely, simplest at 0.
struct ExtraField {
  std::string name;
  std::function<std::int64_t(const Spec& spec)> count;
};

/// Gives a property cases that are a question (position, tokens, batch, heads, fill) and then the extra fields: fields,
/// admits, simplest, first_cases and cases. Extents mostly differ from each other, since equal ones hide swapped axes,
/// and one token and one head are frequent.
void use_questions(Property& property, const std::vector<ExtraField>& extra = {});

/// The question at the start of such a case.
Question question_of(const Case& values);

/// Extra field `index` of it.
std::int64_t extra_of(const Case& values, std::size_t index);

}  // namespace sextant
