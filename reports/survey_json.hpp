#pragma once

#include <nlohmann/json.hpp>

#include "properties/verdict/survey.hpp"

namespace sextant {

/// The survey as JSON. Numbers in lists are numbers, or "nan", "inf", "-inf".
nlohmann::ordered_json survey_json(const Survey& survey);

/// The inverse. @throws std::invalid_argument, naming the field, for another form; the extents of grids must fit their
/// lists.
Survey survey_of(const nlohmann::ordered_json& json);

}  // namespace sextant
