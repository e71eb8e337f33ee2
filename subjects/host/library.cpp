#include "subjects/host/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <cstring>

namespace sextant::host {

SextantSubject load_subject(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw NoSubject(dlerror());
  auto* const symbol = reinterpret_cast<decltype(&sextant_subject)>(dlsym(library, "sextant_subject"));
  if (symbol == nullptr) throw NoSubject("the library defines no sextant_subject (see sextant_subject.h)");
  const SextantSubject* const table = symbol();
  if (table == nullptr) throw NoSubject("sextant_subject returned no table");
  if (table->version < 1 || table->version > SEXTANT_SUBJECT_VERSION) {
    throw NoSubject(fmt::format("the table is of version {} of sextant_subject.h, expected 1 to {}", table->version,
                                SEXTANT_SUBJECT_VERSION));
  }
  SextantSubject subject{};
  std::memcpy(&subject, table, table->version == 1 ? offsetof(SextantSubject, table) : sizeof subject);
  constexpr std::uint32_t flags = SEXTANT_IN_PLACE | SEXTANT_THREADS;
  if ((subject.flags & ~flags) != 0)
    throw NoSubject(fmt::format("the table's flags are {:#x}, expected some of {:#x}", subject.flags, flags));
  constexpr std::uint32_t largest_alignment = 4096;
  if (subject.alignment > largest_alignment || (subject.alignment != 0 && !std::has_single_bit(subject.alignment))) {
    throw NoSubject(fmt::format("the table's alignment is {}, expected 0 or a power of two of at most {}",
                                subject.alignment, largest_alignment));
  }
  for (const SextantOperation operation : {subject.encode, subject.rotate, subject.bias, subject.bucket, subject.attend,
                                           subject.backward, subject.table, subject.qk_norm_rope}) {
    if (operation != nullptr) return subject;
  }
  throw NoSubject("the table has none of encode, rotate, bias, bucket, attend, backward, table, qk_norm_rope");
}

}  // namespace sextant::host
