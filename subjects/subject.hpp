#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/numeric/user_error.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// Tensors by the names of the protocol: "positions", "x", "encoding", ...
using Tensors = std::map<std::string, Tensor>;

/// `tensor` under this name. A list in braces would copy it, and calls have up to 33 MiB.
Tensors named(std::string name, Tensor tensor);

/// Why a subject gave no answer.
enum class FailureKind {
  crashed,      ///< its process died
  timed_out,    ///< no answer within the time-out
  protocol,     ///< the answer was malformed, oversized, of the wrong shape or dtype
  error,        ///< it answered with an error of its own
  unsupported,  ///< it says that it does not have this operation
  misbehaved,   ///< it used memory that it was not given, or left the process's arithmetic changed
};

/// A line of a subject's source.
struct SourcePlace {
  std::string file;       ///< empty if not known
  std::int64_t line = 0;  ///< from 1 on; 0 if not known
};

/// What is known of how a failure came about, for who has to mend it; each may be empty.
struct FailureTrace {
  SourcePlace place = {};
  std::string traceback = {};  ///< several lines: the calls that led there, or what the process wrote last
  std::string fix = {};        ///< what most likely mends it
};

/// A subject gave no answer. what() is one line for the report.
class SubjectFailure : public std::runtime_error {
 public:
  SubjectFailure(FailureKind kind, const std::string& message, FailureTrace trace = {})
      : std::runtime_error(message), kind_(kind), trace_(std::move(trace)) {}
  FailureKind kind() const { return kind_; }
  const FailureTrace& trace() const { return trace_; }

 private:
  FailureKind kind_;
  FailureTrace trace_;
};

/// The run was interrupted while a subject was at work.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

/// A subject that cannot be opened because of how it was named: a file that is not there, say.
class SubjectNameError : public std::runtime_error, public UserError {
 public:
  using std::runtime_error::runtime_error;
};

/// What a subject says of itself. Empty `operations` or `dtypes`: it does not say.
struct Description {
  std::string name;
  std::string version;
  std::vector<std::string> operations;
  std::vector<std::string> dtypes;
  bool in_place = false;  ///< whether rotations are written over what they are given, on purpose
  bool threads = false;   ///< whether several threads of one process may call it at once
  /// The fields of the spec that its answers depend on, by their names in a spec; none given: it does not say.
  std::optional<std::vector<std::string>> fields = std::nullopt;
  std::map<std::string, SourcePlace> places = {};  ///< of operations: where the function of each is defined
};

/// What one thread of several asks.
struct ThreadCall {
  Spec spec;
  std::string operation;
  Tensors inputs;
  std::int64_t thread;  ///< 0, 1, ...: calls of one thread follow each other in their order
};

/// What came of it.
struct ThreadReply {
  Tensors tensors;
  std::optional<SubjectFailure> failure;  ///< then there are none
};

/// One conversation with a subject about one spec, from a fresh state: it may keep caches from call to call, and is
/// used by one thread.
class Session {
 public:
  virtual ~Session() = default;

  /// @throws SubjectFailure, Interrupted.
  virtual Description describe() = 0;

  /// Performs an operation of the protocol (design: encode, rotate, ...). The reply is what the subject sent:
  /// operations.hpp checks it. After a SubjectFailure of a kind other than `error` and `unsupported` the session is
  /// over.
  /// @throws SubjectFailure, Interrupted.
  virtual Tensors call(std::string_view operation, const Tensors& inputs) = 0;

  /// The protocol's `backward` of operation `of`: `inputs` are that operation's, and `grad`. Unsupported unless a
  /// session says otherwise.
  /// @throws SubjectFailure, Interrupted.
  virtual Tensors backward(std::string_view of, const Tensors& inputs);

  /// Performs calls in the session's process, in threads that begin together, and returns their replies in the calls'
  /// order. For subjects that say `threads`: else unsupported.
  /// @throws SubjectFailure if the process does not answer them all, Interrupted.
  virtual std::vector<ThreadReply> call_at_once(std::span<const ThreadCall> calls);
};

/// An implementation under audit.
class Subject {
 public:
  virtual ~Subject() = default;

  /// As given on the command line: "builtin", "python:file.py".
  virtual std::string name() const = 0;

  /// Whether it computes answers; a recorded one only repeats them.
  virtual bool is_live() const { return true; }

  /// The part of the claim that the subject can be asked about: a recorded table ends somewhere.
  /// @throws SubjectNameError if nothing is left of it.
  virtual Spec within_reach(const Spec& spec) const { return spec; }

  /// A fresh session. Several may be open at once, from several threads.
  /// @throws SubjectFailure if it cannot be started, Interrupted.
  virtual std::unique_ptr<Session> open(const Spec& spec) const = 0;

  /// The same, sharing nothing with other sessions, not even what the subject set up before it was asked anything: a
  /// worker's own interpreter.
  virtual std::unique_ptr<Session> open_anew(const Spec& spec) const { return open(spec); }

  /// A session for each of the specs, in their order, all in one fresh process, as the modules of one program are: what
  /// one of them leaves there the others find. They are used by one thread, which may ask them by turns.
  /// @throws what open throws.
  virtual std::vector<std::unique_ptr<Session>> open_together(std::span<const Spec> specs) const;
};

/// "crashed", "timed out", ... for messages.
std::string_view name_of(FailureKind kind);

}  // namespace sextant
