#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "lib/spec/spec.hpp"

namespace sextant::identify {

/// How buckets of the distances from -far to far, seen in one query, differ from the claimed ones, in words: the
/// formula that they are mistaken for, else how many differ, and the first. Empty where none does but those that the
/// arithmetic which the claim admits leaves open.
std::string words_of_buckets(const Spec& claim, const RelativeBias& claimed, std::int64_t far,
                             const std::function<double(std::int64_t relative)>& seen);

}  // namespace sextant::identify
