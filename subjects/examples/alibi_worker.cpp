// ALiBi (Press et al. 2022) in C++, served by sextant_worker.hpp.

#include <cmath>
#include <cstdint>

#include "sextant_worker.hpp"

using sextant_worker::Array;
using sextant_worker::Call;
using sextant_worker::Dtype;

// The slope of each head: 2^(-B (h+1)/n), for n a power of two; B is 8 in the paper.
double slope(std::int64_t head, std::int64_t heads, double bias_max) {
  return std::exp2(-bias_max * static_cast<double>(head + 1) / static_cast<double>(heads));
}

Array bias(const Call& call) {
  const auto heads = static_cast<std::int64_t>(call.spec.at("num_heads").number());
  if (call.spec.at("encoding").text() != "alibi" || call.spec.at("dtype").text() != "float32" ||
      call.spec.at("form").text() != "distance" || !call.spec.at("slope_dtype").is_null() || (heads & (heads - 1)) != 0)
    throw sextant_worker::Unsupported("distances in float32, of a power of two of heads, unrounded slopes");
  const Array& query = call["query_positions"];
  const Array& key = call["key_positions"];
  Array result = Array::zeros(Dtype::F32, {heads, query.size(), key.size()});
  float* value = result.data<float>();
  for (std::int64_t head = 0; head < heads; ++head) {
    const double m = slope(head, heads, call.spec.at("bias_max").number());
    for (std::int64_t i = 0; i < query.size(); ++i) {
      for (std::int64_t j = 0; j < key.size(); ++j) {
        const std::int64_t distance = query.data<std::int64_t>()[i] - key.data<std::int64_t>()[j];
        *value++ = static_cast<float>(-m * std::abs(static_cast<double>(distance)));
      }
    }
  }
  return result;
}

int main() {
  sextant_worker::Subject subject;
  subject.name = "ALiBi in C++";
  subject.bias = bias;
  return sextant_worker::serve(subject);
}
