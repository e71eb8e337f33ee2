#include "subjects/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "subjects/regular_file.hpp"

namespace sextant {
namespace {

struct stat status_of(int descriptor) {
  struct stat status {};
  fstat(descriptor, &status);
  return status;
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& file) : file_(file), descriptor_(-1) {
  if (const std::string why = why_no_file(file); !why.empty())
    throw ArrayFileError(fmt::format("{}: {}", file.string(), why));
  const auto refuse = [&](std::string_view what) {
    const std::string why = std::strerror(errno);
    if (descriptor_ >= 0) close(descriptor_);
    throw ArrayFileError(fmt::format("{}: cannot be {}: {}", file.string(), what, why));
  };
  // Without waiting, should the path be a pipe by now.
  descriptor_ = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) refuse("opened");
  const struct stat status = status_of(descriptor_);
  if (!S_ISREG(status.st_mode)) {
    close(descriptor_);
    throw ArrayFileError(fmt::format("{}: no regular file", file.string()));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return;
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor_, 0);
  if (data == MAP_FAILED) refuse("mapped");
  bytes_ = {static_cast<const std::byte*>(data), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  close(descriptor_);
}

void MappedFile::check_whole() const {
  if (static_cast<std::size_t>(status_of(descriptor_).st_size) < bytes_.size())
    throw ArrayFileError(fmt::format("{}: became shorter while it was read", file_.string()));
}

}  // namespace sextant
