#include "app/vectors_files.hpp"

namespace sextant {

std::vector<VectorFile> flashinfer_vectors() { return {}; }

}  // namespace sextant
