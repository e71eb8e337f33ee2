#include <fmt/format.h>
#include <sys/socket.h>

#include <charconv>

#include "subjects/kind.hpp"

namespace sextant {
namespace {

// The descriptor that is a socket of sequenced packets, as both ends of a fork server's are.
int read_socket(const std::string& name, const std::string& text) {
  int descriptor = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), descriptor);
  int type = 0;
  socklen_t size = sizeof type;
  if (error != std::errc() || end != text.data() + text.size() || descriptor < 0 ||
      getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET)
    throw SubjectNameError(
        fmt::format("{}: expected the number of a descriptor that is a socket of a fork server", name));
  return descriptor;
}

}  // namespace

/// A function of a running program, which forked a server that holds it and then became this command: how the Python
/// package audits (subjects/python/sextant/_live.py).
SubjectKind live_kind() {
  return {"live", "live:SOCKET",
          [](const std::string& name, const std::string& socket, const Spec&, const OpenOptions& options) {
            return live_subject(name, read_socket(name, socket), options.limits);
          }};
}

}  // namespace sextant
