#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sextant::host {

/// Where the memory that faults begins right behind the data or right before them: a read or write past that edge ends
/// the process at its first byte. Past the other edge lie up to a page of padding, of which writes are seen
/// afterwards, and then memory that faults as well.
enum class Edge { end, beginning };

/// How the data of a tensor lie to an edge: right at it, or behind the beginning by `steps` times their alignment, with
/// padding before them too. An odd number of steps makes them no better aligned than was asked for, which data at the
/// end of a page often are by their size.
struct Placement {
  Edge edge = Edge::end;
  std::size_t steps = 0;
};

/// What every byte holds that the host has written nothing else into: in 16, 32 and 64 bits a quiet NaN of every dtype.
inline constexpr std::uint16_t poison = 0xFFD7;

/// Fills them with poison.
void fill_with_poison(std::span<std::byte> bytes);

/// The memory of one tensor of a call, by turns at either edge or near one, amid address space that faults: 1 GiB of it
/// on both sides, or twice the data where that is more.
class GuardedMemory {
 public:
  /// @param name  of the tensor, for messages. At most 23 characters of it are kept.
  explicit GuardedMemory(std::string_view name);
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory() = delete;  // the signal handler may look at it at any time: it lives as long as the process

  /// `size` bytes between padding of poison, which begin at a multiple of `alignment`, a power of two of at most a
  /// page. They hold what they held before. None lie right at the edge.
  /// @throws std::bad_alloc if the system has no room.
  std::span<std::byte> place(std::size_t size, std::size_t alignment, Placement placement);

  /// What was written into the padding on either side since: "wrote past the end of x: ..."; nothing if nothing was.
  std::optional<std::string> overrun() const;

  /// How an address that faulted lies to this memory, for the signal handler: nothing if it is not within its space.
  struct Place {
    const char* name;
    std::uint64_t size;      ///< of the data, in bytes
    std::uint64_t distance;  ///< of the address, before the beginning or from the beginning on
    bool is_before;
  };
  std::optional<Place> place_of(std::uintptr_t address) const;

  /// The memory whose space an address lies in; async-signal-safe.
  static std::optional<Place> find(std::uintptr_t address);

 private:
  void reserve(std::size_t room);
  void open(std::uintptr_t begin, std::uintptr_t end);

  char name_[24] = {};
  // The handler reads these from whatever thread has faulted.
  std::atomic<std::uintptr_t> space_ = 0;  ///< where the reservation begins
  std::atomic<std::size_t> room_ = 0;      ///< on each side of its middle, where data end or begin
  std::atomic<std::uintptr_t> data_ = 0;
  std::atomic<std::size_t> size_ = 0;
  std::uintptr_t opened_ = 0;  ///< the pages that do not fault
  std::uintptr_t opened_end_ = 0;
  GuardedMemory* next_ = nullptr;  ///< the list that `find` goes through
};

/// The memories of one thread's calls, by tensor.
class Arena {
 public:
  GuardedMemory& of(const std::string& name);

 private:
  std::map<std::string, GuardedMemory*> memories_;
};

}  // namespace sextant::host
