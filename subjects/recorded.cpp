#include "subjects/recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "subjects/kind.hpp"
#include "subjects/npy.hpp"

namespace sextant {
namespace {

class RecordedSession final : public Session {
 public:
  explicit RecordedSession(const NpyTable& table) : table_(table) {}

  Description describe() override { return {"recorded table", "", {"encode"}, {}, false}; }

  Tensors call(std::string_view operation, const Tensors& inputs) override {
    if (operation != "encode") throw SubjectFailure(FailureKind::unsupported, "a recorded table answers encode only");
    try {
      return {{"encoding", table_.gather(inputs.at("positions").integers())}};
    } catch (const NpyError& error) {
      throw SubjectFailure(FailureKind::protocol, error.what());
    }
  }

 private:
  const NpyTable& table_;
};

class RecordedSubject final : public Subject {
 public:
  RecordedSubject(std::string name, NpyTable table) : name_(std::move(name)), table_(std::move(table)) {}

  std::string name() const override { return name_; }
  bool is_live() const override { return false; }

  Spec within_reach(const Spec& spec) const override {
    Spec reached = spec;
    reached.min_position = std::max<std::int64_t>(spec.min_position, 0);
    reached.max_position = std::min(spec.max_position, table_.rows());
    if (reached.min_position >= reached.max_position) {
      throw SubjectNameError(fmt::format("{}: its {} rows hold none of the positions {} to {}", name_, table_.rows(),
                                         spec.min_position, spec.max_position - 1));
    }
    return reached;
  }

  std::unique_ptr<Session> open(const Spec&) const override { return std::make_unique<RecordedSession>(table_); }

 private:
  std::string name_;
  NpyTable table_;
};

}  // namespace

std::unique_ptr<Subject> recorded_subject(std::string name, const std::filesystem::path& file, const Spec& spec) {
  const Signature signature = signature_of(spec.encoding);
  if (signature.recording != Recording::rows) {
    throw SubjectNameError(
        fmt::format("{}: a recorded table needs a spec with a table: sinusoidal, not {}", name, encoding_name(spec)));
  }
  try {
    NpyTable table(file, spec.dtype);
    if (table.columns() != signature.dim) {
      throw SubjectNameError(
          fmt::format("{}: {} columns, the spec says dim {}", file.string(), table.columns(), signature.dim.value()));
    }
    return std::make_unique<RecordedSubject>(std::move(name), std::move(table));
  } catch (const NpyError& error) {
    throw SubjectNameError(error.what());
  }
}

/// What some program wrote to a file.
SubjectKind recorded_kind() {
  return {"file", "file:TABLE.npy",
          [](const std::string& name, const std::string& file, const Spec& spec, const OpenOptions&) {
            return recorded_subject(name, file, spec);
          }};
}

}  // namespace sextant
