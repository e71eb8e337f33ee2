// Over 400 lines: one session, and the subjects that differ in how its process is begun.
#include "subjects/worker.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <utility>

#include "subjects/fork_server.hpp"
#include "subjects/safetensors.hpp"
#include "subjects/unusable.hpp"

namespace sextant {
namespace {

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) {
    word.erase(0, word.find_first_not_of(' '));
    word.erase(word.find_last_not_of(' ') + 1);
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

// The last line a worker wrote to its standard error: for a Python one, the exception.
std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of(" \r\n");
  if (end == std::string::npos) return "";
  const auto begin = text.find_last_of('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

// The last lines of a worker's standard error.
std::string last_lines(const std::string& text) {
  constexpr std::size_t most = 12;
  std::size_t begin = text.find_last_not_of(" \r\n");
  if (begin == std::string::npos) return "";
  const std::size_t end = begin + 1;
  for (std::size_t lines = 0; lines < most && begin != std::string::npos && begin > 0; ++lines)
    begin = text.find_last_of('\n', begin - 1);
  begin = begin == std::string::npos || begin == 0 ? 0 : begin + 1;
  return text.substr(begin, end - begin);
}

std::int64_t number_in(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::max<std::int64_t>(number, 0);
}

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char letter) { return letter < 0x20; }, ' ');
  constexpr std::size_t limit = 400;
  if (text.size() > limit) text = text.substr(0, limit) + "...";
  return text;
}

// How many values answer one position: the width of a code, or 1 where the reply is as large as the request.
std::uint64_t values_per_position(const Spec& spec) {
  return static_cast<std::uint64_t>(width_of(spec.encoding).value_or(1));
}

// The values of a bias, [heads, q, k], or 0 where none is asked for.
std::uint64_t bias_values(const Tensors& inputs, const Spec& spec) {
  const auto queries = inputs.find("query_positions");
  const auto keys = inputs.find("key_positions");
  if (queries == inputs.end() || keys == inputs.end()) return 0;
  std::int64_t heads = signature_of(spec.encoding).heads.value_or(1);
  if (const auto weight = inputs.find("weight"); weight != inputs.end() && !weight->second.shape.empty())
    heads = weight->second.shape.back();
  return static_cast<std::uint64_t>(heads) * static_cast<std::uint64_t>(queries->second.elements()) *
         static_cast<std::uint64_t>(keys->second.elements());
}

// A reply is at most the size of the request with room for an encoding of the positions or a bias between them: widths
// and heads are limited by the spec, so that a worker cannot make us read without end.
std::uint64_t reply_limit(const Tensors& inputs, const Spec& spec) {
  std::uint64_t largest = 0;
  for (const auto& [name, tensor] : inputs) largest = std::max<std::uint64_t>(largest, tensor.data.size());
  return (std::uint64_t{1} << 20) + 4 * largest * values_per_position(spec) +
         sizeof(double) * bias_values(inputs, spec);
}

// Reads replies, one after the other, to where they stay.
class Replies final : public Process::Sink {
 public:
  // One of at most so many bytes is awaited, behind those before.
  void await(std::uint64_t limit) { readers_.emplace_back(limit); }

  std::span<std::byte> room() override { return readers_[at_].room(); }
  bool filled(std::size_t bytes, std::span<const std::byte> beyond) override {
    readers_[at_].filled(bytes, beyond);
    // What follows the length is the header, what follows that the data, and what follows that the next reply.
    while (true) {
      beyond = beyond.subspan(readers_[at_].feed(beyond));
      if (!readers_[at_].complete()) return false;
      if (at_ + 1 == readers_.size()) break;
      ++at_;
    }
    if (!beyond.empty()) throw SafetensorsError("wrote more bytes after its reply");
    return true;
  }
  Blob blob(std::size_t which) { return readers_[which].blob(); }

 private:
  std::vector<SafetensorsReader> readers_;
  std::size_t at_ = 0;
};

class WorkerSession final : public Session {
 public:
  WorkerSession(std::shared_ptr<Process> process, Spec spec, WorkerLimits limits)
      : spec_(std::move(spec)), limits_(std::move(limits)), process_(std::move(process)) {}

  Description describe() override {
    try {
      const Blob reply = ask("describe", {}, {});
      const auto text = [&](const char* key) {
        const auto found = reply.metadata.find(key);
        return found == reply.metadata.end() ? std::string() : found->second;
      };
      Description said{one_line(text("name")),       one_line(text("version")),  split_commas(text("ops")),
                       split_commas(text("dtypes")), text("in_place") == "true", text("threads") == "true"};
      if (reply.metadata.contains("fields")) said.fields = split_commas(text("fields"));
      for (const std::string& line : split_commas(text("lines"))) {
        const std::size_t equals = line.find('=');
        if (equals == std::string::npos) continue;
        said.places[line.substr(0, equals)] = {one_line(text("file")), number_in(line.substr(equals + 1))};
      }
      return said;
    } catch (const SubjectFailure& failure) {
      if (failure.kind() == FailureKind::unsupported) return {};
      throw;
    }
  }

  Tensors call(std::string_view operation, const Tensors& inputs) override {
    return ask(operation, inputs, {}).tensors;
  }

  Tensors backward(std::string_view of, const Tensors& inputs) override {
    return ask("backward", inputs, {{"of", std::string(of)}}).tensors;
  }

  std::vector<ThreadReply> call_at_once(std::span<const ThreadCall> calls) override {
    std::vector<Request> requests;
    for (const ThreadCall& call : calls)
      requests.push_back(request(call.operation, call.inputs, call.spec,
                                 {{"at_once", std::to_string(calls.size())}, {"thread", std::to_string(call.thread)}}));
    std::vector<Blob> blobs = exchange(requests);
    std::vector<ThreadReply> replies;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      try {
        check(blobs[i], requests[i]);
        replies.push_back({std::move(blobs[i].tensors), std::nullopt});
      } catch (const SubjectFailure& failure) {
        replies.push_back({{}, failure});
      }
    }
    return replies;
  }

 private:
  struct Request {
    std::string operation;
    std::string id;
    std::string header;
    const Tensors& inputs;
    std::uint64_t reply_limit;
  };

  // What the process was asked when it ended: ", at call 3 of its session, of positions [1, 17] from 0 to 16, x [1, 17,
  // 2, 64]"; empty where that had no inputs.
  std::string asked_text(const Tensors& inputs) const {
    std::string text;
    for (const auto& [name, tensor] : inputs) {
      text += fmt::format("{} {} [{}]", text.empty() ? "" : ",", name, fmt::join(tensor.shape, ", "));
      if (tensor.dtype != Dtype::int64 || tensor.elements() == 0) continue;
      const std::vector<std::int64_t> numbers = tensor.integers();
      const auto [least, most] = std::ranges::minmax(numbers);
      text += least == most ? fmt::format(" all {}", least) : fmt::format(" from {} to {}", least, most);
    }
    return text.empty() ? text : fmt::format(", at call {} of its session, of{}", calls_, text);
  }

  // `metadata` goes beside op, id and spec.
  Request request(std::string_view operation, const Tensors& inputs, const Spec& spec,
                  std::map<std::string, std::string> metadata) {
    const std::string id = std::to_string(next_id_++);
    metadata.insert({{"op", std::string(operation)}, {"id", id}, {"spec", to_json(spec)}});
    return {std::string(operation), id, safetensors_header(inputs, metadata), inputs, reply_limit(inputs, spec)};
  }

  Blob ask(std::string_view operation, const Tensors& inputs, std::map<std::string, std::string> metadata) {
    const std::array<Request, 1> alone{request(operation, inputs, spec_, std::move(metadata))};
    Blob reply = std::move(exchange(alone).front());
    check(reply, alone[0]);
    return reply;
  }

  // Sends them all, and reads as many replies.
  std::vector<Blob> exchange(std::span<const Request> requests) {
    std::vector<std::span<const std::byte>> parts;
    Replies sink;
    for (const Request& request : requests) {
      parts.push_back(std::as_bytes(std::span(request.header)));
      for (const auto& [name, tensor] : request.inputs) parts.emplace_back(tensor.data);
      sink.await(request.reply_limit);
    }
    const std::string& operation = requests.front().operation;
    if (!requests.front().inputs.empty()) ++calls_;
    std::vector<Blob> blobs;
    try {
      process_->exchange(parts, sink, std::chrono::steady_clock::now() + limits_.timeout, limits_.stop);
      for (std::size_t i = 0; i < requests.size(); ++i) blobs.push_back(sink.blob(i));
    } catch (const SafetensorsError& error) {
      throw SubjectFailure(FailureKind::protocol, fmt::format("reply to {}: {}", operation, error.what()));
    } catch (const SubjectFailure& failure) {
      // The first request waits for all that comes before: a process that starts, a file that is imported.
      const bool is_first = requests.front().inputs.empty() && calls_ == 0;
      const bool has_ended = failure.kind() == FailureKind::crashed;
      const std::string earlier_fix = is_first && has_ended ? limits_.beginning.earlier_fix() : std::string();
      const std::string when = is_first && earlier_fix.empty() ? fmt::format(" (while {})", limits_.beginning.doing)
                                                               : asked_text(requests.front().inputs);
      if (failure.kind() == FailureKind::timed_out) {
        const double seconds = std::chrono::duration<double>(limits_.timeout).count();
        throw SubjectFailure(failure.kind(),
                             fmt::format("{}: gave no answer within {:g} s{}", operation, seconds, when),
                             {.fix = "if it takes longer than that, say so by --timeout SECONDS"});
      }
      const std::string line = has_ended ? last_line(process_->error_output()) : "";
      FailureTrace trace = failure.trace();
      if (has_ended) {
        trace.traceback = last_lines(process_->error_output());
        if (one_line(trace.traceback) == one_line(line)) trace.traceback.clear();  // the message has it
        // A shell's statuses for a program that it does not find, or may not run.
        const std::string_view what = failure.what();
        if (what.ends_with("exit status 127") || what.ends_with("exit status 126"))
          trace.fix = "name a program that the shell finds and may run";
        if (!earlier_fix.empty()) trace.fix = earlier_fix;
      }
      throw SubjectFailure(failure.kind(),
                           fmt::format("{}: {}{}{}{}", operation, failure.what(), when,
                                       line.empty() ? "" : "; it wrote: ", one_line(line)),
                           std::move(trace));
    }
    return blobs;
  }

  void check(const Blob& reply, const Request& request) const {
    const std::string& operation = request.operation;
    const std::string& id = request.id;
    const auto text = [&](const char* key) {
      const auto found = reply.metadata.find(key);
      return found == reply.metadata.end() ? std::string() : one_line(found->second);
    };
    if (text("id") != id) {
      throw SubjectFailure(FailureKind::protocol,
                           fmt::format(R"(reply to {} has id "{}", expected "{}")", operation, text("id"), id));
    }
    const std::string status = text("status");
    const std::string message = text("message");
    if (status == "ok") return;
    if (status == "unsupported") {
      throw SubjectFailure(FailureKind::unsupported,
                           message.empty() ? fmt::format("{} is unsupported", operation) : message);
    }
    const auto found = reply.metadata.find("traceback");
    constexpr std::size_t longest = 8000;
    FailureTrace trace{{text("file"), number_in(text("line"))},
                       found == reply.metadata.end() ? "" : found->second.substr(0, longest),
                       text("fix")};
    if (status == "unusable")
      throw SubjectUnusable(message.empty() ? std::string("the subject cannot be used") : message, std::move(trace));
    // At which call of its session depends on threads and shards, whose reports are the same.
    if (status == "error")
      throw SubjectFailure(FailureKind::error, fmt::format("{}: {}", operation, message), std::move(trace));
    if (status == "misbehaved") throw SubjectFailure(FailureKind::misbehaved, fmt::format("{} {}", operation, message));
    throw SubjectFailure(FailureKind::protocol,
                         fmt::format("reply to {} has status \"{}\", expected ok, unsupported, error, misbehaved or "
                                     "unusable",
                                     operation, status));
  }

  Spec spec_;
  WorkerLimits limits_;
  std::shared_ptr<Process> process_;  // others may be asked there by turns
  std::uint64_t next_id_ = 0;
  std::int64_t calls_ = 0;  // that had inputs
};

// A subject of processes that serve sessions, however they come about.
class ProcessSubject : public Subject {
 public:
  ProcessSubject(std::string name, WorkerLimits limits) : name_(std::move(name)), limits_(std::move(limits)) {}

  std::string name() const override { return name_; }

  std::unique_ptr<Session> open(const Spec& spec) const override {
    return std::make_unique<WorkerSession>(process(), spec, limits_);
  }

  std::vector<std::unique_ptr<Session>> open_together(std::span<const Spec> specs) const override {
    const std::shared_ptr<Process> shared = process();
    std::vector<std::unique_ptr<Session>> sessions;
    for (const Spec& spec : specs) sessions.push_back(std::make_unique<WorkerSession>(shared, spec, limits_));
    return sessions;
  }

 protected:
  const WorkerLimits& limits() const { return limits_; }
  Deadline deadline() const { return std::chrono::steady_clock::now() + limits_.timeout; }

 private:
  // One that nobody has asked anything. Called by several threads.
  virtual std::unique_ptr<Process> process() const = 0;

  std::string name_;
  WorkerLimits limits_;
};

class WorkerSubject final : public ProcessSubject {
 public:
  // Sessions are forks of a program of that name, if there is one.
  WorkerSubject(std::string name, StartProcess start, WorkerLimits limits, std::optional<Command> forked)
      : ProcessSubject(std::move(name), std::move(limits)), start_(std::move(start)), forked_(std::move(forked)) {}

  std::unique_ptr<Session> open_anew(const Spec& spec) const override {
    return std::make_unique<WorkerSession>(start_(), spec, limits());
  }

 private:
  std::unique_ptr<Process> process() const override {
    std::unique_ptr<Process> process = forked();
    return process ? std::move(process) : start_();
  }

  // Null where there is no forking. The first session of a file whose workers cannot be forked is the worker that said
  // so.
  std::unique_ptr<Process> forked() const {
    const std::lock_guard lock(mutex_);
    if (!forked_) return nullptr;
    const Deadline until = deadline();
    std::unique_ptr<Process> process;
    if (!server_) {
      ForkServer::Started started = ForkServer::start(*forked_, until, limits().stop);
      if (!started.why_not.empty())
        limits().note(fmt::format("each session starts an interpreter anew: {}", one_line(started.why_not)));
      server_ = std::move(started.server);
      process = std::move(started.worker);
    }
    if (server_) {
      process = server_->fork(until, limits().stop);
      if (!process)
        limits().note(
            "the process that sessions are forked from ended or fell silent: sessions since then start an "
            "interpreter anew");
    }
    if (!server_ || !process) {
      forked_.reset();
      server_.reset();
    }
    return process;
  }

  StartProcess start_;
  // A cache of no consequence for what sessions answer, shared by the threads that open them.
  mutable std::mutex mutex_;
  mutable std::optional<Command> forked_;
  mutable std::unique_ptr<ForkServer> server_;
};

class LiveSubject final : public ProcessSubject {
 public:
  LiveSubject(std::string name, int control, WorkerLimits limits)
      : ProcessSubject(std::move(name), std::move(limits)),
        server_(ForkServer::adopt(control, deadline(), this->limits().stop)) {
    if (!server_)
      throw SubjectNameError(fmt::format("{}: nobody answers on the socket that a fork server is ready", this->name()));
  }

 private:
  std::unique_ptr<Process> process() const override {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Process> process = server_->fork(deadline(), limits().stop);
    if (!process) throw SubjectFailure(FailureKind::crashed, "the process that holds the subject does not fork");
    return process;
  }

  mutable std::mutex mutex_;  // of the server, which threads ask by turns
  std::unique_ptr<ForkServer> server_;
};

}  // namespace

std::unique_ptr<Subject> live_subject(std::string name, int control, WorkerLimits limits) {
  return std::make_unique<LiveSubject>(std::move(name), control, std::move(limits));
}

std::unique_ptr<Subject> worker_subject(std::string name, Command command, WorkerLimits limits, SessionStart start) {
  const auto forked = start == SessionStart::fork ? std::optional(command) : std::nullopt;
  return std::make_unique<WorkerSubject>(
      std::move(name), [command = std::move(command)] { return std::make_unique<Process>(command); }, std::move(limits),
      forked);
}

std::unique_ptr<Subject> worker_subject(std::string name, StartProcess start, WorkerLimits limits) {
  return std::make_unique<WorkerSubject>(std::move(name), std::move(start), std::move(limits), std::nullopt);
}

}  // namespace sextant
