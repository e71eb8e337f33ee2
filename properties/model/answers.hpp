#pragma once

#include <functional>

#include "properties/engine/typed_cases.hpp"
#include "properties/model/question.hpp"

namespace sextant {

/// The cases of accuracy: the questions of the encoding's model, and its sweep.
CasesOf<Question> accuracy_cases();

/// Gives a property the cases of accuracy, judged by make(spec)'s check of the answer to each.
void judge_answers(Property& property, const std::function<AnswerCheck(const Spec& spec)>& make);

}  // namespace sextant
