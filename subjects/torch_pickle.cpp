#include "subjects/torch_pickle.hpp"

#include <fmt/format.h>

#include <array>
#include <deque>
#include <limits>
#include <string_view>
#include <utility>

#include "subjects/preview.hpp"

namespace sextant {
namespace {

// What is pickled: texts refer to the pickle's bytes, and sequences to those that the machine keeps, so that nothing
// that it holds twice is copied.
struct Value {
  enum class Kind { none, integer, text, sequence, dict, global, storage, tensor, mark };
  Kind kind = Kind::none;
  std::int64_t integer = 0;             // also a tensor's number
  std::string_view text = {};           // of a global "module\nname"; of a storage its key
  std::string_view of = {};             // a storage's type
  std::vector<Value>* items = nullptr;  // of a dict keys and values by turns
};

constexpr std::array<std::pair<std::string_view, ElementType>, 7> storages{
    {{"DoubleStorage", ElementType::float64},
     {"FloatStorage", ElementType::float32},
     {"HalfStorage", ElementType::float16},
     {"BFloat16Storage", ElementType::bfloat16},
     {"LongStorage", ElementType::int64},
     {"ComplexFloatStorage", ElementType::complex64},
     {"ComplexDoubleStorage", ElementType::complex128}}};

constexpr std::string_view rebuild_tensor = "torch._utils\n_rebuild_tensor_v2";
constexpr std::string_view rebuild_parameter = "torch._utils\n_rebuild_parameter";
constexpr std::string_view ordered_dict = "collections\nOrderedDict";

bool is_storage(std::string_view global) { return global.starts_with("torch\n") && global.ends_with("Storage"); }

// Pickle's stack machine (Python's pickletools), of protocols 2 to 4, without what makes objects.
class Machine {
 public:
  Machine(std::span<const std::byte> bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  std::map<std::string, PickledTensor> run() {
    while (!is_done_) step(static_cast<unsigned char>(take(1)[0]));
    std::map<std::string, PickledTensor> named;
    const Value result = pop();
    if (result.kind == Value::Kind::tensor) {
      named.emplace("", tensors_[static_cast<std::size_t>(result.integer)]);
    } else if (result.kind == Value::Kind::dict) {
      for (std::size_t i = 0; i + 1 < result.items->size(); i += 2) {
        const Value& key = (*result.items)[i];
        const Value& value = (*result.items)[i + 1];
        if (key.kind == Value::Kind::text && value.kind == Value::Kind::tensor)
          named.insert_or_assign(std::string(key.text), tensors_[static_cast<std::size_t>(value.integer)]);
      }
    }
    if (named.empty()) refuse("holds no tensor and no dict of tensors");
    return named;
  }

 private:
  using Kind = Value::Kind;

  [[noreturn]] void refuse(std::string_view why) const {
    throw ArrayFileError(fmt::format("{}: data.pkl, offset {}: {}", name_, at_ == 0 ? 0 : at_ - 1, why));
  }

  std::string_view take(std::uint64_t count) {
    if (bytes_.size() - at_ < count) refuse("the pickle ends too early");
    const std::string_view taken(reinterpret_cast<const char*>(bytes_.data()) + at_, count);
    at_ += count;
    return taken;
  }
  std::uint64_t number(int count) {
    const std::string_view taken = take(static_cast<std::uint64_t>(count));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < taken.size(); ++i)
      value |= std::uint64_t{static_cast<unsigned char>(taken[i])} << (8 * i);
    return value;
  }
  std::string_view line() {
    const std::size_t start = at_;
    while (take(1)[0] != '\n') {
    }
    return {reinterpret_cast<const char*>(bytes_.data()) + start, at_ - start - 1};
  }

  // A file of weights has some tens of values for each tensor; values of a byte each would take a hundred times as much
  // memory as the file.
  void push(Value value) {
    constexpr std::int64_t most_values = std::int64_t{1} << 20;
    if (++pushed_ > most_values) refuse(fmt::format("more than {} values", most_values));
    stack_.push_back(value);
  }
  Value pop() {
    if (stack_.empty()) refuse("the pickle takes more than it has");
    const Value value = stack_.back();
    stack_.pop_back();
    return value;
  }
  Value pop(Kind kind, std::string_view expected) {
    const Value value = pop();
    if (value.kind != kind) refuse(fmt::format("expected {}", expected));
    return value;
  }
  std::vector<Value>& top_of(Kind kind, std::string_view expected) {
    if (stack_.empty() || stack_.back().kind != kind) refuse(fmt::format("expected {}", expected));
    return *stack_.back().items;
  }
  // Those above the last mark, which goes too.
  std::vector<Value> pop_to_mark() {
    std::size_t first = stack_.size();
    while (first > 0 && stack_[first - 1].kind != Kind::mark) --first;
    if (first == 0) refuse("the pickle has no such mark");
    std::vector<Value> values(stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
    stack_.resize(first - 1);
    return values;
  }
  void push_items(Kind kind, std::vector<Value> items) {
    push({.kind = kind, .items = &kept_.emplace_back(std::move(items))});
  }
  void push_last(std::size_t count) {
    std::vector<Value> items(count);
    for (std::size_t i = count; i-- > 0;) items[i] = pop();
    push_items(Kind::sequence, std::move(items));
  }
  void push_integer(std::int64_t value) { push({.kind = Kind::integer, .integer = value}); }
  void push_text(std::string_view text) { push({.kind = Kind::text, .text = text}); }

  void remember(std::uint64_t slot) {
    if (stack_.empty()) refuse("the pickle takes more than it has");
    memo_[slot] = stack_.back();
  }
  void recall(std::uint64_t slot) {
    const auto found = memo_.find(slot);
    if (found == memo_.end()) refuse("the pickle recalls what it has not kept");
    push(found->second);
  }

  void add_to(std::vector<Value>& items, const std::vector<Value>& more) {
    items.insert(items.end(), more.begin(), more.end());
  }

  void push_global() {
    const std::size_t start = at_;
    const std::string_view module = line();
    const std::string_view function = line();
    const std::string_view global(reinterpret_cast<const char*>(bytes_.data()) + start,
                                  module.size() + 1 + function.size());
    if (global != rebuild_tensor && global != rebuild_parameter && global != ordered_dict && !is_storage(global)) {
      refuse(fmt::format("calls {}.{}, which no file of weights alone needs", preview(module), preview(function)));
    }
    push({.kind = Kind::global, .text = global});
  }

  // ('storage', torch.FloatStorage, '0', 'cpu', 8).
  void push_storage() {
    const std::vector<Value>& id = *pop(Kind::sequence, "a storage's tuple").items;
    if (id.size() != 5 || id[0].text != "storage" || id[1].kind != Kind::global || !is_storage(id[1].text) ||
        id[2].kind != Kind::text) {
      refuse("expected ('storage', its type, its key, its place, its size)");
    }
    constexpr std::size_t module = 6;  // "torch\n"
    push({.kind = Kind::storage, .text = id[2].text, .of = id[1].text.substr(module)});
  }

  std::vector<std::int64_t> integers(const Value& value, std::string_view what) const {
    if (value.kind != Kind::sequence) refuse(fmt::format("expected a tensor's {}", what));
    std::vector<std::int64_t> list;
    for (const Value& item : *value.items) {
      if (item.kind != Kind::integer || item.integer < 0) refuse(fmt::format("expected a tensor's {}", what));
      list.push_back(item.integer);
    }
    return list;
  }

  void push_tensor(const std::vector<Value>& arguments) {
    if (arguments.size() < 4 || arguments[0].kind != Kind::storage || arguments[1].kind != Kind::integer ||
        arguments[1].integer < 0)
      refuse("expected a tensor's storage, offset, size and strides");
    PickledTensor tensor{.type_text = std::string(arguments[0].of),
                         .storage = std::string(arguments[0].text),
                         .offset = arguments[1].integer,
                         .shape = integers(arguments[2], "size"),
                         .strides = integers(arguments[3], "strides")};
    if (tensor.shape.size() != tensor.strides.size() || tensor.shape.size() > 64)
      refuse("expected as many strides as extents, at most 64");
    for (const auto& [type_name, type] : storages) {
      if (type_name == tensor.type_text) tensor.type = type;
    }
    tensors_.push_back(std::move(tensor));
    push({.kind = Kind::tensor, .integer = std::ssize(tensors_) - 1});
  }

  void reduce() {
    const std::vector<Value>& arguments = *pop(Kind::sequence, "arguments").items;
    const Value function = pop(Kind::global, "a function");
    if (function.text == rebuild_tensor) {
      push_tensor(arguments);
    } else if (function.text == rebuild_parameter) {
      if (arguments.empty() || arguments[0].kind != Kind::tensor) refuse("expected a parameter's tensor");
      push(arguments[0]);
    } else if (function.text == ordered_dict && arguments.empty()) {
      push_items(Kind::dict, {});
    } else {
      refuse("calls what is no function of tensors");
    }
  }

  void step(unsigned char operation) {
    switch (operation) {
      case 0x80: take(1); break;         // PROTO
      case 0x95: take(8); break;         // FRAME
      case '.': is_done_ = true; break;  // STOP
      case '(': push({.kind = Kind::mark}); break;
      case 'N':  // NONE, and what is no tensor: NEWTRUE, NEWFALSE, BINFLOAT
      case 0x88:
      case 0x89: push({}); break;
      case 'G': take(8), push({}); break;
      case 'K': push_integer(static_cast<std::int64_t>(number(1))); break;
      case 'M': push_integer(static_cast<std::int64_t>(number(2))); break;
      case 'J': push_integer(static_cast<std::int32_t>(number(4))); break;
      case 0x8A: push_long(number(1)); break;  // LONG1
      case 'X': push_text(take(number(4))); break;
      case 0x8C: push_text(take(number(1))); break;
      case ')': push_items(Kind::sequence, {}); break;
      case ']': push_items(Kind::sequence, {}); break;
      case '}': push_items(Kind::dict, {}); break;
      case 't': push_items(Kind::sequence, pop_to_mark()); break;
      case 0x85: push_last(1); break;  // TUPLE1 to TUPLE3
      case 0x86: push_last(2); break;
      case 0x87: push_last(3); break;
      case 'q': remember(number(1)); break;
      case 'r': remember(number(4)); break;
      case 0x94: remember(memo_.size()); break;  // MEMOIZE
      case 'h': recall(number(1)); break;
      case 'j': recall(number(4)); break;
      case 'c': push_global(); break;
      case 'Q': push_storage(); break;
      case 'R': reduce(); break;
      case 's': {
        const Value value = pop();
        const Value key = pop();
        add_to(top_of(Kind::dict, "a dict"), {key, value});
        break;
      }
      case 'u': {
        const std::vector<Value> more = pop_to_mark();
        if (more.size() % 2 != 0) refuse("expected keys and values");
        add_to(top_of(Kind::dict, "a dict"), more);
        break;
      }
      case 'a': {
        const Value value = pop();
        add_to(top_of(Kind::sequence, "a list"), {value});
        break;
      }
      case 'e': {
        const std::vector<Value> more = pop_to_mark();
        add_to(top_of(Kind::sequence, "a list"), more);
        break;
      }
      case 'b': {  // BUILD: a state_dict's own attributes
        pop(Kind::dict, "attributes");
        top_of(Kind::dict, "a dict");
        break;
      }
      default: refuse(fmt::format("operation 0x{:02x} is none that a file of weights alone needs", operation));
    }
  }

  void push_long(std::uint64_t count) {
    const std::string_view digits = take(count);
    if (digits.size() > 8) refuse("an integer beyond 64 bits");
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < digits.size(); ++i)
      value |= std::uint64_t{static_cast<unsigned char>(digits[i])} << (8 * i);
    const auto unused = static_cast<int>(64 - 8 * digits.size());
    push_integer(digits.empty() ? 0 : static_cast<std::int64_t>(value << unused) >> unused);
  }

  std::span<const std::byte> bytes_;
  std::string name_;
  std::size_t at_ = 0;
  std::int64_t pushed_ = 0;
  bool is_done_ = false;
  std::vector<Value> stack_;
  std::map<std::uint64_t, Value> memo_;
  std::deque<std::vector<Value>> kept_;
  std::vector<PickledTensor> tensors_;
};

}  // namespace

std::map<std::string, PickledTensor> read_torch_pickle(std::span<const std::byte> bytes, const std::string& name) {
  return Machine(bytes, name).run();
}

StoredArray array_of(const PickledTensor& tensor, std::span<const std::byte> storage, std::endian order,
                     const std::string& name) {
  StoredArray array{.type = tensor.type,
                    .type_text = tensor.type_text,
                    .order = order,
                    .shape = tensor.shape,
                    .strides = tensor.strides,
                    .data = storage};
  const auto refuse = [&](std::string_view why) { throw ArrayFileError(fmt::format("{}: {}", name, why)); };
  std::int64_t elements = 0;
  try {
    elements = elements_of(tensor.shape);
  } catch (const std::invalid_argument& failure) {
    refuse(failure.what());
  }
  if (elements == 0 || tensor.type == ElementType::other) return array;
  const auto count = static_cast<std::int64_t>(storage.size() / size_of(tensor.type));
  // How many elements are left behind the last one, subtracted one axis at a time so that nothing overflows.
  std::int64_t left = count - 1;
  const auto use = [&](std::int64_t times, std::int64_t stride) {
    if (times > 0 && stride > left / times) refuse("a tensor reaches beyond its storage");
    left -= times * stride;
  };
  if (left < 0) refuse("a tensor reaches beyond its storage");
  use(1, tensor.offset);
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) use(tensor.shape[axis] - 1, tensor.strides[axis]);
  array.data = storage.subspan(static_cast<std::size_t>(tensor.offset) * size_of(tensor.type));
  return array;
}

}  // namespace sextant
