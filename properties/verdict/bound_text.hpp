#pragma once

#include <string>

namespace sextant {

/// An error over its bound in words: "0.23 of the bound", "7.4 times the bound", "12300 times the bound", "more than a
/// million times the bound", "beyond any bound" where it is infinite or NaN.
std::string bound_text(double of_bound);

/// The greatest of several errors in a sentence: "no error", "errors up to 0.23 of the bound", "errors up to the
/// bound", "errors up to 7.4 times the bound".
std::string errors_text(double of_bound);

}  // namespace sextant
