#include "subjects/array_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "subjects/stored_array.hpp"

namespace {

using namespace sextant;

// One file in memory, under a name for each of the formats that are told by it.
class Written {
 public:
  Written() {
    std::string folder = std::filesystem::temp_directory_path() / "array_file_fuzz_XXXXXX";
    if (descriptor_ < 0 || mkdtemp(folder.data()) == nullptr) std::abort();
    folder_ = folder;
    for (const char* name : {"table.npy", "table.safetensors", "table.pb"}) {
      paths_.push_back(folder_ / name);
      std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(descriptor_), paths_.back());
    }
  }
  ~Written() {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
    close(descriptor_);
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;

  const std::vector<std::filesystem::path>& paths() const { return paths_; }

  void write(const std::uint8_t* data, std::size_t size) const {
    if (ftruncate(descriptor_, 0) != 0 || pwrite(descriptor_, data, size, 0) != static_cast<ssize_t>(size))
      std::abort();
  }

 private:
  int descriptor_ = memfd_create("table", 0);
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> paths_;
};

void read_ends(const ArrayFile& file, const std::string& name) {
  const StoredArray array = squeezed(as_real(file.array(name)));
  const std::int64_t columns = array.shape.empty() ? 1 : array.shape.back();
  if (columns > 4096) return;
  const auto rows = rows_of(array, columns);
  if (!rows || rows->rows == 0) return;
  const std::vector<std::int64_t> ends{0, rows->rows - 1};
  for (const Dtype dtype : {Dtype::float64, Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::int64})
    if (holds(array, dtype) && gather(*rows, dtype, ends).elements() != 2 * columns) std::abort();
}

}  // namespace

// Any file has arrays, of whose rows the first and the last can be read, or is an ArrayFileError: .npy, .npz,
// .safetensors, .pb and what torch.save writes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Written written;
  written.write(data, size);
  for (const std::filesystem::path& path : written.paths()) {
    try {
      const ArrayFile file(path);
      for (const std::string& name : file.names()) {
        try {
          read_ends(file, name);
        } catch (const ArrayFileError&) {
        }
      }
      file.check_whole();
    } catch (const ArrayFileError&) {
    }
  }
  return 0;
}
