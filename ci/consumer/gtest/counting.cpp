// The least of a worker: an encoding whose every channel is the position.
#include <sextant_worker.hpp>

using namespace sextant_worker;

Array encode(const Call& call) {
  const Array& positions = call["positions"];
  const auto dim = static_cast<std::int64_t>(call.spec.at("dim").number());
  Array encoding = Array::zeros(Dtype::F32, {positions.size(), dim});
  for (std::int64_t i = 0; i < encoding.size(); ++i)
    encoding.data<float>()[i] = static_cast<float>(positions.data<std::int64_t>()[i / dim]);
  return encoding;
}

int main() { return serve({.encode = encode}); }
