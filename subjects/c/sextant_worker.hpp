// Serves C++ functions to Sextant over the worker protocol (docs/cpp.md). C++17 and POSIX, this file alone:
//
//     #include "sextant_worker.hpp"
//     using namespace sextant_worker;
//
//     Array rotate(const Call& call) { ... }
//
//     int main() {
//       Subject subject;
//       subject.rotate = rotate;
//       return serve(subject);  // in C++20: return serve({.rotate = rotate});
//     }
//
// The program is then audited as exec:./program. It wants a machine of little-endian numbers.

#ifndef SEXTANT_WORKER_HPP
#define SEXTANT_WORKER_HPP

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sextant_worker {

/// Throw it from an operation that cannot do what is asked: a spec, a dtype or an input that it does not have. That is
/// no fault.
class Unsupported : public std::runtime_error {
 public:
  explicit Unsupported(const std::string& why = "unsupported") : std::runtime_error(why) {}
};

/// A value of JSON. Numbers are doubles.
class Json {
 public:
  /// @throws std::runtime_error, saying where, for text that is no JSON.
  static Json parse(const std::string& text) {
    const char* at = text.c_str();
    Json value = read_value(at, 0);
    skip_space(at);
    if (at != text.c_str() + text.size()) fail(at);
    return value;
  }

  bool is_null() const { return kind_ == Kind::null; }
  bool is_text() const { return kind_ == Kind::text; }
  /// NaN unless it is a number, true or false (1 or 0).
  double number() const { return kind_ == Kind::number ? number_ : std::nan(""); }
  /// A text's characters, empty for other values.
  const std::string& text() const { return text_; }
  const std::vector<Json>& list() const { return list_; }
  const std::map<std::string, Json>& members() const { return members_; }

  /// The value at a path of names and indices: "rope_scaling/factor", "sections/0"; null where there is none.
  const Json& at(const std::string& path) const {
    static const Json nothing;
    const Json* value = this;
    for (std::size_t begin = 0; begin <= path.size();) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      const std::string step = path.substr(begin, end - begin);
      begin = end + 1;
      if (value->kind_ == Kind::list) {
        const std::size_t index = static_cast<std::size_t>(std::strtoull(step.c_str(), nullptr, 10));
        if (index >= value->list_.size()) return nothing;
        value = &value->list_[index];
      } else {
        const auto found = value->members_.find(step);
        if (found == value->members_.end()) return nothing;
        value = &found->second;
      }
    }
    return *value;
  }

 private:
  enum class Kind { null, number, text, list, object };

  [[noreturn]] static void fail(const char* at) {
    throw std::runtime_error("no JSON at \"" + std::string(at).substr(0, 20) + "\"");
  }
  static void skip_space(const char*& at) {
    while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r') ++at;
  }
  static bool take(const char*& at, const std::string& word) {
    if (std::string(at).compare(0, word.size(), word) != 0) return false;
    at += word.size();
    return true;
  }
  static void expect(const char*& at, char letter) {
    skip_space(at);
    if (*at++ != letter) fail(at - 1);
  }

  // A code point in UTF-8. Those beyond the basic plane come as two halves, which names and messages do not need.
  static void append(std::string& text, unsigned code) {
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += static_cast<char>(0xC0 | code >> 6);
      text += static_cast<char>(0x80 | (code & 0x3F));
    } else {
      text += static_cast<char>(0xE0 | code >> 12);
      text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
      text += static_cast<char>(0x80 | (code & 0x3F));
    }
  }
  static std::string read_text(const char*& at) {
    expect(at, '"');
    std::string text;
    while (*at != '"') {
      if (*at == '\0') fail(at);
      if (*at != '\\') {
        text += *at++;
        continue;
      }
      const std::string letters = "\"\\/bfnrt";
      const std::string meant = "\"\\/\b\f\n\r\t";
      const std::size_t which = letters.find(at[1]);
      if (at[1] != '\0' && which != std::string::npos) {
        text += meant[which];
        at += 2;
      } else if (at[1] == 'u' && std::string(at + 2).size() >= 4) {
        append(text, static_cast<unsigned>(std::strtoul(std::string(at + 2, 4).c_str(), nullptr, 16)));
        at += 6;
      } else {
        fail(at);
      }
    }
    ++at;
    return text;
  }
  static Json of_number(double number) {
    Json value;
    value.kind_ = Kind::number;
    value.number_ = number;
    return value;
  }
  static Json read_value(const char*& at, int depth) {
    if (depth > 32) fail(at);
    skip_space(at);
    Json value;
    if (*at == '{') {
      value.kind_ = Kind::object;
      ++at;
      skip_space(at);
      while (*at != '}') {
        skip_space(at);
        const std::string name = read_text(at);
        expect(at, ':');
        value.members_[name] = read_value(at, depth + 1);
        skip_space(at);
        if (*at != '}') expect(at, ',');
      }
      ++at;
    } else if (*at == '[') {
      value.kind_ = Kind::list;
      ++at;
      skip_space(at);
      while (*at != ']') {
        value.list_.push_back(read_value(at, depth + 1));
        skip_space(at);
        if (*at != ']') expect(at, ',');
      }
      ++at;
    } else if (*at == '"') {
      value.kind_ = Kind::text;
      value.text_ = read_text(at);
    } else if (take(at, "true")) {
      return of_number(1);
    } else if (take(at, "false")) {
      return of_number(0);
    } else if (!take(at, "null")) {
      char* end = nullptr;
      value = of_number(std::strtod(at, &end));
      if (end == at) fail(at);
      at = end;
    }
    return value;
  }

  Kind kind_ = Kind::null;
  double number_ = 0;
  std::string text_;
  std::vector<Json> list_;
  std::map<std::string, Json> members_;
};

/// A text as JSON writes it.
inline std::string quoted(const std::string& text) {
  std::string line = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') line += '\\';
    line += static_cast<unsigned char>(letter) < 0x20 ? ' ' : letter;
  }
  return line + "\"";
}

/// The element types of the protocol, by their names in safetensors.
enum class Dtype { F64, F32, F16, BF16, I64 };

inline const char* name_of(Dtype dtype) {
  constexpr const char* names[] = {"F64", "F32", "F16", "BF16", "I64"};
  return names[static_cast<int>(dtype)];
}
inline Dtype dtype_named(const std::string& name) {
  for (const Dtype dtype : {Dtype::F64, Dtype::F32, Dtype::F16, Dtype::BF16, Dtype::I64}) {
    if (name == name_of(dtype)) return dtype;
  }
  throw std::runtime_error("no dtype is called " + name);
}
inline std::size_t size_of(Dtype dtype) {
  return dtype == Dtype::F16 || dtype == Dtype::BF16 ? 2 : dtype == Dtype::F32 ? 4 : 8;
}

template <class T>
struct Holds;  // which dtypes the elements of a C++ type are
template <>
struct Holds<double> {
  static bool is(Dtype dtype) { return dtype == Dtype::F64; }
};
template <>
struct Holds<float> {
  static bool is(Dtype dtype) { return dtype == Dtype::F32; }
};
template <>
struct Holds<std::int64_t> {
  static bool is(Dtype dtype) { return dtype == Dtype::I64; }
};
template <>
struct Holds<std::uint16_t> {  // the bits
  static bool is(Dtype dtype) { return dtype == Dtype::F16 || dtype == Dtype::BF16; }
};

/// A dense row-major array.
struct Array {
  Dtype dtype = Dtype::F32;
  std::vector<std::int64_t> shape;
  std::vector<unsigned char> bytes;

  static Array zeros(Dtype dtype, std::vector<std::int64_t> shape) {
    Array array;
    array.dtype = dtype;
    array.shape = std::move(shape);
    array.bytes.resize(static_cast<std::size_t>(array.size()) * size_of(dtype));
    return array;
  }
  /// Of another's dtype and shape.
  static Array like(const Array& other) { return zeros(other.dtype, other.shape); }

  std::int64_t size() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    return count;
  }

  /// Its elements: double of F64, float of F32, std::int64_t of I64, std::uint16_t of F16 and BF16.
  /// @throws Unsupported for an array of another dtype.
  template <class T>
  T* data() {
    check<T>();
    return reinterpret_cast<T*>(bytes.data());
  }
  template <class T>
  const T* data() const {
    check<T>();
    return reinterpret_cast<const T*>(bytes.data());
  }

 private:
  template <class T>
  void check() const {
    if (!Holds<T>::is(dtype)) throw Unsupported(std::string("no function for arrays of ") + name_of(dtype));
  }
};

using Arrays = std::map<std::string, Array>;

/// What is asked of an operation.
struct Call {
  std::string operation;
  std::string of;  ///< of backward: the operation whose gradient is asked for
  Json spec;       ///< the claim, every field filled in
  Arrays inputs;   ///< by the names of docs/protocol.md

  /// An input. @throws Unsupported if the call has none of that name.
  const Array& operator[](const std::string& name) const {
    const auto found = inputs.find(name);
    if (found == inputs.end()) throw Unsupported("the call has no " + name);
    return found->second;
  }
  bool has(const std::string& name) const { return inputs.count(name) != 0; }
};

/// The operations of docs/protocol.md, each returning its result; those that are left out are unsupported. Of attend's
/// `query_positions`, `starts`, `ends` and `sinks` a call may have any: a function that does not look has to throw
/// Unsupported where it `has` one.
struct Subject {
  using Operation = std::function<Array(const Call& call)>;

  std::string name = {};
  std::string version = {};
  Operation encode = {};
  Operation rotate = {};
  std::function<Arrays(const Call& call)> qk_norm_rope = {};  ///< q and k
  Operation bias = {};
  Operation bucket = {};
  Operation attend = {};
  std::function<Arrays(const Call& call)> backward = {};  ///< grad_x, grad_weight, or grad_q, grad_k and grad_v
  std::function<void()> reset = {};
};

namespace detail {

// Whether all of it came; false where the input ends before the first byte.
inline bool read_all(int descriptor, void* to, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t got = ::read(descriptor, static_cast<char*>(to) + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 && done == 0) return false;
    if (got <= 0) throw std::runtime_error("the input ends within a request");
    done += static_cast<std::size_t>(got);
  }
  return true;
}

inline bool write_all(int descriptor, const void* from, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t put = ::write(descriptor, static_cast<const char*>(from) + done, size - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    done += static_cast<std::size_t>(put);
  }
  return true;
}

struct Request {
  std::map<std::string, std::string> metadata;
  Arrays arrays;
};

inline bool read_request(int descriptor, Request& request) {
  std::uint64_t length = 0;
  if (!read_all(descriptor, &length, sizeof length)) return false;
  if (length > (std::uint64_t{1} << 20)) throw std::runtime_error("the header of a request is too long");
  std::string header(static_cast<std::size_t>(length), ' ');
  if (!read_all(descriptor, &header[0], header.size())) throw std::runtime_error("the input ends within a request");
  const Json tensors = Json::parse(header);
  std::uint64_t size = 0;
  for (const auto& [name, entry] : tensors.members()) {
    if (name != "__metadata__") size = std::max(size, static_cast<std::uint64_t>(entry.at("data_offsets/1").number()));
  }
  std::vector<unsigned char> data(static_cast<std::size_t>(size));
  if (size > 0 && !read_all(descriptor, data.data(), data.size()))
    throw std::runtime_error("the input ends within a request");
  for (const auto& [name, entry] : tensors.members()) {
    if (name == "__metadata__") {
      for (const auto& [key, value] : entry.members()) request.metadata[key] = value.text();
      continue;
    }
    Array& array = request.arrays[name];
    array.dtype = dtype_named(entry.at("dtype").text());
    for (const Json& extent : entry.at("shape").list())
      array.shape.push_back(static_cast<std::int64_t>(extent.number()));
    const auto begin = static_cast<std::ptrdiff_t>(entry.at("data_offsets/0").number());
    const auto end = static_cast<std::ptrdiff_t>(entry.at("data_offsets/1").number());
    array.bytes.assign(data.begin() + begin, data.begin() + end);
  }
  return true;
}

inline bool write_reply(int descriptor, const std::map<std::string, std::string>& metadata, const Arrays& arrays) {
  std::string header = "{\"__metadata__\":{";
  for (const auto& [key, value] : metadata)
    header += (header.back() == '{' ? "" : ",") + quoted(key) + ":" + quoted(value);
  header += "}";
  std::uint64_t offset = 0;
  for (const auto& [name, array] : arrays) {
    std::string shape;
    for (const std::int64_t extent : array.shape) shape += (shape.empty() ? "" : ",") + std::to_string(extent);
    header += "," + quoted(name) + ":{\"dtype\":\"" + name_of(array.dtype) + "\",\"shape\":[" + shape +
              "],\"data_offsets\":[" + std::to_string(offset) + "," + std::to_string(offset + array.bytes.size()) +
              "]}";
    offset += array.bytes.size();
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  const std::uint64_t length = header.size();
  if (!write_all(descriptor, &length, sizeof length) || !write_all(descriptor, header.data(), header.size()))
    return false;
  for (const auto& [name, array] : arrays) {
    if (!write_all(descriptor, array.bytes.data(), array.bytes.size())) return false;
  }
  return true;
}

struct Named {
  const char* operation;
  const char* result;
  Subject::Operation Subject::*function;
};

// Those with one result of a fixed name.
inline const std::vector<Named>& operations() {
  static const std::vector<Named> list{{"encode", "encoding", &Subject::encode},
                                       {"rotate", "y", &Subject::rotate},
                                       {"bias", "bias", &Subject::bias},
                                       {"bucket", "bucket", &Subject::bucket},
                                       {"attend", "out", &Subject::attend}};
  return list;
}

inline Arrays answer(const Subject& subject, const Call& call) {
  if (call.operation == "reset") {
    if (subject.reset) subject.reset();
    return {};
  }
  if (call.operation == "backward" && subject.backward) return subject.backward(call);
  if (call.operation == "qk_norm_rope" && subject.qk_norm_rope) return subject.qk_norm_rope(call);
  for (const Named& named : operations()) {
    if (call.operation == named.operation && subject.*named.function)
      return {{named.result, (subject.*named.function)(call)}};
  }
  throw Unsupported("the subject has no " + call.operation);
}

inline std::string operations_of(const Subject& subject) {
  std::string list;
  for (const Named& named : operations()) {
    if (subject.*named.function) list += (list.empty() ? "" : ",") + std::string(named.operation);
  }
  if (subject.qk_norm_rope) list += (list.empty() ? "" : ",") + std::string("qk_norm_rope");
  if (subject.backward) list += (list.empty() ? "" : ",") + std::string("backward");
  return list;
}

}  // namespace detail

/// Answers the requests of one descriptor on another until they end. @returns the exit status of a program that does
/// nothing else.
inline int serve(const Subject& subject, int requests, int replies) {
  try {
    for (detail::Request request; detail::read_request(requests, request); request = {}) {
      std::map<std::string, std::string>& asked = request.metadata;
      std::map<std::string, std::string> reply{{"id", asked["id"]}, {"status", "ok"}};
      Arrays results;
      try {
        if (asked["op"] == "describe") {
          reply.insert({{"name", subject.name}, {"version", subject.version}, {"ops", detail::operations_of(subject)}});
        } else {
          const Call call{asked["op"], asked["of"], Json::parse(asked["spec"]), std::move(request.arrays)};
          results = detail::answer(subject, call);
        }
      } catch (const Unsupported& why) {
        reply["status"] = "unsupported";
        reply["message"] = why.what();
      } catch (const std::exception& error) {
        reply["status"] = "error";
        reply["message"] = error.what();
      }
      if (!detail::write_reply(replies, reply, results)) return 1;
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sextant_worker: %s\n", error.what());
    return 1;
  }
}

/// The same on standard input and output, which a program's main returns. What the functions print goes to standard
/// error from now on.
inline int serve(const Subject& subject) {
  const int replies = ::dup(STDOUT_FILENO);
  if (replies < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 1;
  return serve(subject, STDIN_FILENO, replies);
}

}  // namespace sextant_worker

#endif
