#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "lib/spec/spec.hpp"

namespace sextant::identify {

/// How buckets differ from the claimed ones: by the formula that they are mistaken for, or by how many differ.
struct BucketWords {
  enum class Are { none, formula, count };
  std::string words = {};
  Are are = Are::none;
};

/// Of the distances from -far to far, seen in one query; a count has the first that differs. None where none differ but
/// those that the arithmetic which the claim admits leaves open.
BucketWords words_of_buckets(const Spec& claim, const RelativeBias& claimed, std::int64_t far,
                             const std::function<double(std::int64_t relative)>& seen);

}  // namespace sextant::identify
