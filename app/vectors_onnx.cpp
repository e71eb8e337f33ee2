#include "app/vectors_files.hpp"

namespace sextant {

std::vector<VectorFile> onnx_vectors() { return {}; }

}  // namespace sextant
