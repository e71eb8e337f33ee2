#include "subjects/host/faults.hpp"

#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "subjects/host/guarded.hpp"

namespace sextant::host {
namespace {

constexpr std::size_t stack_size = std::size_t{1} << 16;

int replies_descriptor = -1;
thread_local const Underway* underway_here = nullptr;
thread_local std::array<char, stack_size> handler_stack;

// Text put together without anything that a signal handler may not call. What does not fit is left out.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    size_ += text.copy(text_.data() + size_, text_.size() - size_);
    return *this;
  }
  Line& operator<<(std::uint64_t number) {
    const auto [end, error] = std::to_chars(text_.data() + size_, text_.data() + text_.size(), number);
    if (error == std::errc()) size_ = static_cast<std::size_t>(end - text_.data());
    return *this;
  }
  std::string_view text() const { return {text_.data(), size_}; }
  void write_to(int descriptor) const {
    for (std::size_t done = 0; done < size_;) {
      const ssize_t put = write(descriptor, text_.data() + done, size_ - done);
      if (put <= 0 && errno != EINTR) return;
      if (put > 0) done += static_cast<std::size_t>(put);
    }
  }

 private:
  std::array<char, 1024> text_{};
  std::size_t size_ = 0;
};

std::string_view access_of([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  // Bit 1 of a page fault's error code is set for a write: Intel's manual, volume 3A, section 4.7.
  const auto* machine = static_cast<const ucontext_t*>(context);
  return (machine->uc_mcontext.gregs[REG_ERR] & 2) != 0 ? "wrote" : "read";
#else
  return "used memory";
#endif
}

// A blob without tensors, as safetensors.hpp writes them; the message needs no escapes.
void reply(const char* id, std::string_view message) {
  Line header;
  header << R"({"__metadata__":{"id":")" << id << R"(","status":"misbehaved","message":")" << message << "\"}}";
  std::uint64_t length = header.text().size();
  std::array<char, 8> bytes{};
  for (char& byte : bytes) {
    byte = static_cast<char>(length);
    length >>= 8;
  }
  Line blob;
  blob << std::string_view(bytes.data(), bytes.size()) << header.text();
  blob.write_to(replies_descriptor);
}

void handle(int signal, siginfo_t* info, void* context) {
  std::signal(signal, SIG_DFL);  // the instruction is tried again, and then ends the process
  const Underway* underway = underway_here;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const auto place = info->si_code > 0 ? GuardedMemory::find(address) : std::nullopt;
  Line message;                           // behind the operation's name, which who reads the reply puts before it
  constexpr int raised_by_kernel = 0x80;  // SI_KERNEL: of no address
  if (place) {
    message << access_of(context) << (place->is_before ? " before the beginning of " : " past the end of ")
            << std::string_view(place->name);
    message << (place->is_before ? ": at byte -" : ": at byte ") << place->distance;
    if (!place->is_before) message << ", and it has " << place->size;
  } else if (info->si_code == raised_by_kernel) {
    message << "made an access that the processor refuses: of data less aligned than its instruction needs (say so in "
               "the table's alignment), or at no possible address";
  } else {
    message << "used an address that is in none of its tensors";
  }
  if (place && underway != nullptr && underway->id != nullptr) reply(underway->id, message.text());
  Line line;
  line << (underway == nullptr ? "the library" : std::string_view(underway->operation)) << " " << message.text()
       << "\n";
  line.write_to(STDERR_FILENO);
}

}  // namespace

Performing::Performing(Underway underway) : underway_(underway) {
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  sigaltstack(&stack, nullptr);
  underway_here = &underway_;
}

Performing::~Performing() { underway_here = nullptr; }

void tell_faults(int replies) {
  replies_descriptor = replies;
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGSEGV, SIGBUS}) sigaction(signal, &action, nullptr);
}

}  // namespace sextant::host
