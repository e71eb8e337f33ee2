#include "subjects/array_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "subjects/stored_array.hpp"

// Any file has arrays, of whose rows the first and the last can be read, or is an ArrayFileError: .npy, .npz,
// .safetensors and what torch.save writes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sextant;
  const int written = memfd_create("table", 0);
  if (written < 0 || write(written, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    const ArrayFile file("/proc/self/fd/" + std::to_string(written));
    for (const std::string& name : file.names()) {
      try {
        const StoredArray array = squeezed(as_real(file.array(name)));
        const std::int64_t columns = array.shape.empty() ? 1 : array.shape.back();
        const auto rows = rows_of(array, columns);
        if (!rows || rows->rows == 0 || columns > 4096) continue;
        const std::vector<std::int64_t> ends{0, rows->rows - 1};
        for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16})
          if (holds(array, dtype) && gather(*rows, dtype, ends).elements() != 2 * columns) std::abort();
      } catch (const ArrayFileError&) {
      }
    }
    file.check_whole();
  } catch (const ArrayFileError&) {
  }
  close(written);
  return 0;
}
