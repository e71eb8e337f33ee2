#include "subjects/fork_server.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "subjects/subject.hpp"

namespace sextant {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// One message with the three descriptors (unix(7), SCM_RIGHTS). @returns whether it was sent.
bool send_streams(int control, const std::array<int, 3>& streams) {
  char text = 's';
  iovec data{&text, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof streams)> rights{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = rights.data();
  message.msg_controllen = rights.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof streams);
  std::memcpy(CMSG_DATA(header), streams.data(), sizeof streams);
  return sendmsg(control, &message, MSG_NOSIGNAL) == 1;
}

// The server is gone, or says nothing of use.
struct NoAnswer {};

Command with_control(Command command, int control) {
  command.argv.emplace_back("--control");
  command.argv.push_back(std::to_string(control));
  command.inherited = control;
  return command;
}

}  // namespace

ForkServer::Started ForkServer::start(const Command& command, Deadline deadline, const std::stop_token& stop) {
  if (!adopts_descendants()) return {};
  std::array<int, 2> sockets{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  std::unique_ptr<ForkServer> server(new ForkServer(command, sockets));
  if (!server->process_) return {};
  const std::string answer = server->receive(deadline, stop);
  if (answer == "ready") return {std::move(server), nullptr, ""};
  constexpr std::string_view no = "no: ";
  return {nullptr, std::move(server->process_), answer.starts_with(no) ? answer.substr(no.size()) : ""};
}

std::unique_ptr<ForkServer> ForkServer::adopt(int control, Deadline deadline, const std::stop_token& stop) {
  std::unique_ptr<ForkServer> server(new ForkServer(control));
  return server->receive(deadline, stop) == "ready" ? std::move(server) : nullptr;
}

ForkServer::ForkServer(const Command& command, std::array<int, 2> sockets) : control_(sockets[0]) {
  try {
    process_ = std::make_unique<Process>(with_control(command, sockets[1]));
  } catch (const SubjectNameError&) {
    // An ordinary worker will say so.
  }
  close(sockets[1]);
}

ForkServer::~ForkServer() { close(control_); }

std::unique_ptr<Process> ForkServer::fork(Deadline deadline, const std::stop_token& stop) {
  try {
    return std::make_unique<Process>([&](const std::array<int, 3>& streams) {
      if (!send_streams(control_, streams)) throw NoAnswer();
      const std::string text = receive(deadline, stop);
      pid_t pid = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
      if (error != std::errc() || end != text.data() + text.size() || pid <= 0) throw NoAnswer();
      return pid;
    });
  } catch (const NoAnswer&) {
    return nullptr;
  }
}

// The next message; empty if the server is gone or late.
std::string ForkServer::receive(Deadline deadline, const std::stop_token& stop) const {
  while (true) {
    if (stop.stop_requested()) throw Interrupted();
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now()).count();
    if (left <= 0) return "";
    pollfd socket{control_, POLLIN, 0};
    const int ready = poll(&socket, 1, static_cast<int>(std::min<std::int64_t>(left, 50)));
    if (ready < 0 && errno != EINTR) return "";
    if (process_) process_->hear();  // a file may print much while it is imported, and waits once its pipe is full
    if (ready <= 0) continue;
    std::array<char, 256> text{};
    const ssize_t got = recv(control_, text.data(), text.size(), 0);
    return got > 0 ? std::string(text.data(), static_cast<std::size_t>(got)) : "";
  }
}

}  // namespace sextant
