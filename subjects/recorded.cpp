#include "subjects/recorded.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <utility>

#include "subjects/array_file.hpp"
#include "subjects/kind.hpp"
#include "subjects/preview.hpp"
#include "subjects/recorded_rotary.hpp"

namespace sextant {
namespace {

/// A file's rows as the tensors of a reply.
struct RecordedRows {
  std::string operation;
  std::vector<std::string> names;
  std::vector<StoredRows> tensors;
  std::int64_t first_position = 0;

  std::int64_t rows() const { return tensors[0].rows; }
};

std::string name_text(const std::string& name) { return fmt::format("\"{}\"", preview(name)); }

class Reader {
 public:
  Reader(const ArrayFile& file, std::string name, const Spec& spec, const RecordedOptions& options)
      : file_(file), name_(std::move(name)), spec_(spec), options_(options) {}

  RecordedRows read() const {
    const Signature signature = signature_of(spec_.encoding);
    RecordedRows recording =
        signature.operation == Operation::table ? rotary(signature.dim.value() / 2) : code(signature.dim.value());
    recording.first_position = first_position();
    if (const auto count = positions_count(); count && *count != recording.rows())
      refuse(fmt::format("{} positions, {} rows", *count, recording.rows()));
    return recording;
  }

 private:
  // Somebody may think that all of a file is judged.
  void note_judged(std::initializer_list<std::string> judged) const {
    if (!options_.note || tables().size() == judged.size()) return;
    std::vector<std::string> names;
    for (const std::string& name : judged) names.push_back(name_text(name));
    options_.note(fmt::format("of the {} {} {} judged, as a table; its other tensors are not",
                              file_.is_data_set() ? "test data set" : "file", fmt::join(names, " and "),
                              names.size() == 1 ? "is" : "are"));
  }

  [[noreturn]] void refuse(const std::string& why) const { throw ArrayFileError(fmt::format("{}: {}", name_, why)); }

  StoredArray array(const std::string& member) const {
    StoredArray array = file_.array(member);
    if (!holds(array, spec_.dtype)) {
      refuse(fmt::format("{}elements are {}, the spec says {}", member.empty() ? "" : name_text(member) + ": ",
                         preview(array.type_text), name_of(spec_.dtype)));
    }
    return array;
  }

  // Those that may be the table.
  std::vector<std::string> tables() const {
    std::vector<std::string> names = file_.names();
    std::erase(names, "positions");
    return names;
  }

  std::string text_of_names() const {
    constexpr std::size_t most = 8;
    std::vector<std::string> names = tables();
    const bool are_more = names.size() > most;
    if (are_more) names.resize(most);
    for (std::string& name : names) name = name_text(name);
    return names.empty() ? "no array" : fmt::format("{}{}", fmt::join(names, ", "), are_more ? ", ..." : "");
  }

  // The one of those names that is there, or the only array.
  std::optional<std::string> only(std::span<const std::string_view> known) const {
    const std::vector<std::string> names = tables();
    if (names.size() == 1) return names.front();
    for (const std::string_view name : known) {
      if (file_.contains(std::string(name))) return std::string(name);
    }
    return std::nullopt;
  }

  RecordedRows code(std::int64_t dim) const {
    constexpr std::array<std::string_view, 1> known{"encoding"};
    const auto member = only(known);
    if (!member) refuse(fmt::format("holds {}, expected \"encoding\" or one array", text_of_names()));
    const StoredArray stored = array(*member);
    note_judged({*member});
    const auto rows = rows_of(squeezed(stored), dim);
    const bool is_complex = as_real(stored).shape.size() != stored.shape.size();
    if (is_complex || !rows) {
      const StoredArray plain = squeezed(stored);
      if (plain.shape.size() == 2) refuse(fmt::format("{} columns, the spec says dim {}", plain.shape[1], dim));
      refuse(fmt::format("shape {} is not [positions, dim], dim {}", shape_text(stored.shape), dim));
    }
    return {"encode", {"encoding"}, {*rows}};
  }

  RecordedRows rotary(std::int64_t pairs) const {
    RotaryArrays arrays;
    // As transformers, and earlier versions of it, call them.
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> both{
        {{"cos", "sin"}, {"cos_cached", "sin_cached"}, {"cos_cache", "sin_cache"}}};
    for (const auto& [cosines, sines] : both) {
      if (arrays.cosines || !file_.contains(std::string(cosines)) || !file_.contains(std::string(sines))) continue;
      arrays.cosines = array(std::string(cosines));
      arrays.sines = array(std::string(sines));
      note_judged({std::string(cosines), std::string(sines)});
    }
    if (!arrays.cosines) {
      // vLLM's, torchtune's, Llama's.
      constexpr std::array<std::string_view, 4> known{"table", "cos_sin_cache", "cache", "freqs_cis"};
      const auto member = only(known);
      if (!member)
        refuse(fmt::format("holds {}, expected \"cos\" and \"sin\", \"table\" or one array", text_of_names()));
      arrays.joined = array(*member);
      note_judged({*member});
    }
    const RecordedRotary found = find_rotary(name_, arrays, spec_.dtype, pairs, -first_position(), claimed_order());
    if (found.is_inferred && options_.note)
      options_.note(fmt::format("the table's order is {}, as its shape and values show", found.order->name));
    RecordedRows recording{"table", {}, found.tensors};
    for (const std::string_view tensor : found.order->tensors) recording.names.emplace_back(tensor);
    return recording;
  }

  const TableOrder* claimed_order() const {
    if (options_.order != nullptr) return options_.order;
    const auto said = file_.metadata().find("table_order");
    if (said == file_.metadata().end()) return nullptr;
    const TableOrder* order = table_order_named(said->second);
    if (order == nullptr) {
      refuse(fmt::format("metadata table_order {}: expected one of {}", name_text(said->second), table_order_names()));
    }
    return order;
  }

  std::optional<StoredArray> positions() const {
    if (!file_.contains("positions") || file_.names().size() == 1) return std::nullopt;
    StoredArray array = squeezed(file_.array("positions"));
    if (array.type != ElementType::int64 || array.shape.size() > 1) refuse("\"positions\": expected int64 of one axis");
    return array;
  }
  std::optional<std::int64_t> positions_count() const {
    const auto array = positions();
    return array ? std::optional(elements_of(array->shape)) : std::nullopt;
  }

  std::int64_t first_position() const {
    const auto array = positions();
    if (!array) return 0;
    const std::vector<std::int64_t> list = integers_of(*array);
    if (list.empty()) return 0;
    constexpr std::int64_t limit = std::int64_t{1} << 53;
    const bool follow = std::ranges::adjacent_find(list, [](std::int64_t a, std::int64_t b) {
                          return static_cast<std::uint64_t>(b) != static_cast<std::uint64_t>(a) + 1;
                        }) == list.end();
    if (!follow || list.front() < -limit || list.back() > limit)
      refuse("\"positions\": expected each one more than the one before, within 2^53");
    return list.front();
  }

  const ArrayFile& file_;
  std::string name_;
  const Spec& spec_;
  const RecordedOptions& options_;
};

class RecordedSession final : public Session {
 public:
  RecordedSession(const ArrayFile& file, const RecordedRows& recording, Dtype dtype)
      : file_(file), recording_(recording), dtype_(dtype) {}

  Description describe() override { return {"recorded table", "", {recording_.operation}, {}, false}; }

  Tensors call(std::string_view operation, const Tensors& inputs) override {
    if (operation != recording_.operation) {
      throw SubjectFailure(FailureKind::unsupported,
                           fmt::format("this recorded table answers {} only", recording_.operation));
    }
    std::vector<std::int64_t> rows = inputs.at("positions").integers();
    for (std::int64_t& row : rows) {
      const std::int64_t position = row;
      row -= recording_.first_position;
      if (row < 0 || row >= recording_.rows())
        throw SubjectFailure(FailureKind::protocol, fmt::format("the file has no row of position {}", position));
    }
    Tensors reply;
    try {
      file_.check_whole();
    } catch (const ArrayFileError& error) {
      throw SubjectFailure(FailureKind::protocol, error.what());
    }
    for (std::size_t i = 0; i < recording_.names.size(); ++i)
      reply.emplace(recording_.names[i], gather(recording_.tensors[i], dtype_, rows));
    return reply;
  }

 private:
  const ArrayFile& file_;
  const RecordedRows& recording_;
  Dtype dtype_;
};

class RecordedSubject final : public Subject {
 public:
  RecordedSubject(std::string name, std::unique_ptr<ArrayFile> file, RecordedRows recording, Dtype dtype)
      : name_(std::move(name)), file_(std::move(file)), recording_(std::move(recording)), dtype_(dtype) {}

  std::string name() const override { return name_; }
  bool is_live() const override { return false; }

  Spec within_reach(const Spec& spec) const override {
    const std::int64_t first = recording_.first_position;
    Spec reached = recorded_claim(spec).value();
    reached.min_position = std::max(spec.min_position, first);
    reached.max_position = std::min(spec.max_position, first + recording_.rows());
    if (reached.min_position >= reached.max_position) {
      throw SubjectNameError(fmt::format("{}: its {} rows hold none of the positions {} to {}", name_,
                                         recording_.rows(), spec.min_position, spec.max_position - 1));
    }
    if (reached.trained_positions && *reached.trained_positions <= reached.min_position)
      reached.trained_positions.reset();
    return reached;
  }

  std::unique_ptr<Session> open(const Spec&) const override {
    return std::make_unique<RecordedSession>(*file_, recording_, dtype_);
  }

 private:
  std::string name_;
  std::unique_ptr<ArrayFile> file_;
  RecordedRows recording_;
  Dtype dtype_;
};

}  // namespace

std::unique_ptr<Subject> recorded_subject(std::string name, const std::filesystem::path& file, const Spec& spec,
                                          const RecordedOptions& options) {
  const std::optional<Spec> claim = recorded_claim(spec);
  if (!claim) {
    const std::string_view positions =
        position_grid_of(spec.encoding).dtype == Dtype::int64 ? "" : " of real positions (position_dtype)";
    throw SubjectNameError(
        fmt::format("{}: a recorded table's rows are whole positions of sinusoidal, rope or rotary_table, got {}{}",
                    name, encoding_name(spec), positions));
  }
  try {
    auto arrays = std::make_unique<ArrayFile>(file);
    RecordedRows recording = Reader(*arrays, file.string(), *claim, options).read();
    const std::int64_t end = recording.first_position + recording.rows();
    if (options.note && (recording.first_position > spec.min_position || end < spec.max_position))
      options.note(fmt::format("the file has positions {} to {} of the claim's {} to {}", recording.first_position,
                               end - 1, spec.min_position, spec.max_position - 1));
    return std::make_unique<RecordedSubject>(std::move(name), std::move(arrays), std::move(recording), spec.dtype);
  } catch (const ArrayFileError& error) {
    throw SubjectNameError(error.what());
  }
}

/// What some program wrote to a file, or to the files of a test data set of ONNX.
SubjectKind recorded_kind() {
  return {"file", "file:TABLE.npy|.npz|.safetensors|.pt|.pb",
          [](const std::string& name, const std::string& file, const Spec& spec, const OpenOptions& options) {
            return recorded_subject(name, file, spec, {.order = options.table_order, .note = options.limits.note});
          }};
}

}  // namespace sextant
