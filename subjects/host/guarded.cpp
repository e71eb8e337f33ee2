#include "subjects/host/guarded.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace sextant::host {
namespace {

std::atomic<GuardedMemory*> all = nullptr;

std::uintptr_t page() {
  static const auto size = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return size;
}
std::uintptr_t page_of(std::uintptr_t address) { return address / page() * page(); }
std::uintptr_t page_behind(std::uintptr_t address) { return page_of(address + page() - 1); }

std::byte* at(std::uintptr_t address) { return reinterpret_cast<std::byte*>(address); }

// Bytes of poison by their address, whatever multiple of it they begin at.
std::byte poison_at(std::uintptr_t address) {
  return static_cast<std::byte>(address % 2 == 0 ? poison & 0xFF : poison >> 8);
}

void fill(std::uintptr_t begin, std::uintptr_t end) {
  for (; begin < end && begin % 8 != 0; ++begin) *at(begin) = poison_at(begin);
  constexpr std::uint64_t one_in_each_of_four = ~std::uint64_t{0} / 0xFFFF;
  constexpr std::uint64_t word = poison * one_in_each_of_four;
  for (; begin + 8 <= end; begin += 8) std::memcpy(at(begin), &word, 8);
  for (; begin < end; ++begin) *at(begin) = poison_at(begin);
}

}  // namespace

void fill_with_poison(std::span<std::byte> bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  fill(begin, begin + bytes.size());
}

GuardedMemory::GuardedMemory(std::string_view name) {
  name.copy(name_, sizeof name_ - 1);
  next_ = all.load();
  while (!all.compare_exchange_weak(next_, this)) {
  }
}

void GuardedMemory::reserve(std::size_t room) {
  if (room_ != 0) munmap(at(space_), 2 * room_);
  room_ = 0;
  opened_ = opened_end_ = 0;
  void* space = mmap(nullptr, 2 * room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (space == MAP_FAILED) throw std::bad_alloc();
  space_ = reinterpret_cast<std::uintptr_t>(space);
  room_ = room;
}

// Lets these pages be used, and none beside them. Those that were before keep what they hold.
void GuardedMemory::open(std::uintptr_t begin, std::uintptr_t end) {
  if (begin == opened_ && end == opened_end_) return;
  if (opened_ < opened_end_) mprotect(at(opened_), opened_end_ - opened_, PROT_NONE);
  opened_ = begin;
  opened_end_ = end;
  if (begin < end && mprotect(at(begin), end - begin, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
}

std::span<std::byte> GuardedMemory::place(std::size_t size, std::size_t alignment, Placement placement) {
  constexpr std::size_t least = std::size_t{1} << 30;
  const std::size_t needed = std::max(least, page_behind(4 * size));
  if (room_ < needed) reserve(needed);
  const std::uintptr_t middle = space_ + room_;
  const std::size_t behind = size == 0 ? 0 : placement.steps * alignment;
  const std::uintptr_t begin =
      placement.edge == Edge::beginning ? middle + behind : (middle - size) / alignment * alignment;
  if (placement.edge == Edge::beginning)
    open(middle, page_behind(begin + size));
  else
    open(page_of(begin), size == 0 ? begin : middle);
  data_ = begin;
  size_ = size;
  fill(opened_, begin);
  fill(begin + size, opened_end_);
  return {at(begin), size};
}

std::optional<std::string> GuardedMemory::overrun() const {
  const std::uintptr_t begin = data_;
  const std::uintptr_t end = begin + size_;
  for (std::uintptr_t address = end; address < opened_end_; ++address) {
    if (*at(address) != poison_at(address))
      return fmt::format("wrote past the end of {}: at byte {}, and it has {}", name_, address - begin, size_.load());
  }
  for (std::uintptr_t address = opened_; address < begin; ++address) {
    if (*at(address) != poison_at(address))
      return fmt::format("wrote before the beginning of {}: at byte -{}", name_, begin - address);
  }
  return std::nullopt;
}

std::optional<GuardedMemory::Place> GuardedMemory::place_of(std::uintptr_t address) const {
  if (address < space_ || address - space_ >= 2 * room_) return std::nullopt;
  const std::uintptr_t data = data_;
  const bool is_before = address < data;
  return Place{name_, size_, is_before ? data - address : address - data, is_before};
}

std::optional<GuardedMemory::Place> GuardedMemory::find(std::uintptr_t address) {
  for (const GuardedMemory* memory = all; memory != nullptr; memory = memory->next_) {
    if (const auto place = memory->place_of(address)) return place;
  }
  return std::nullopt;
}

GuardedMemory& Arena::of(const std::string& name) {
  GuardedMemory*& memory = memories_[name];
  if (memory == nullptr) memory = new GuardedMemory(name);
  return *memory;
}

}  // namespace sextant::host
