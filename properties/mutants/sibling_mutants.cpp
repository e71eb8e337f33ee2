#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "lib/numeric/ulp.hpp"
#include "lib/spec/of.hpp"
#include "properties/mutants/local_fault.hpp"
#include "properties/mutants/plain_fourier.hpp"

// Implementations that are right alone and wrong beside others: what a module, a class or a decorator keeps for all
// that is computed in its process, under a key that lacks something.

namespace sextant::mutants::sibling_mutants {
namespace {

constexpr const char* rope = R"({"encoding":"rope","head_dim":16,"rope_theta":500000,"max_position":4096})";
constexpr const char* float32 = R"({"encoding":"rope","head_dim":16,"max_position":4096})";
constexpr const char* float16 = R"({"encoding":"rope","head_dim":16,"dtype":"float16","max_position":4096})";
constexpr const char* sinusoidal = R"({"encoding":"sinusoidal","dim":32,"max_position":4096})";
constexpr const char* t5 = R"({"encoding":"relative_bias","max_position":4096})";
constexpr const char* alibi = R"({"encoding":"alibi","num_heads":8,"max_position":4096})";
constexpr const char* attention = R"({"encoding":"attention","num_heads":2,"head_dim":8,"causal":true,)"
                                  R"("max_position":4096,"position":{"encoding":"rope","head_dim":8}})";

constexpr const char* shifted = R"({"encoding":"rope_nd","head_dim":16,"sections":[4,4],"frequencies":"per_axis",)"
                                R"("rope_theta":100,"coordinates":"normalized","extents":[12,17],)"
                                R"("coordinate_shifts":[0.25,0.125],"coordinate_scales":[1.5,1.25]})";
constexpr const char* cells = R"({"encoding":"fourier","axes":2,"bands":4,"ladder":"linear","highest":4,)"
                              R"("angle_unit":"half_turn","channel_order":"function_axis_frequency",)"
                              R"("coordinates":"centres","extents":[12,17]})";

// What a table is kept under.
using Key = std::function<std::string(const Spec& spec)>;

// Of specs with one key the first that is asked answers for all.
FunctionSubject::Begin first_decides(const Key& key_of, const FunctionSubject::Make& make = plain_call) {
  return [key_of, make] {
    const auto kept = std::make_shared<std::map<std::string, FunctionSubject::Call>>();
    return [kept, key_of, make](const Spec& spec) -> FunctionSubject::Call {
      return [kept, spec, make, key = key_of(spec)](std::string_view operation, const Tensors& inputs) {
        const auto found = kept->find(key);
        return (found == kept->end() ? kept->emplace(key, make(spec)).first : found)->second(operation, inputs);
      };
    };
  };
}

// The spec as it is after `forget`.
template <class Encoding>
Key key_without(void (*forget)(Encoding& encoding)) {
  return of<Encoding>([forget](const Spec& spec, Encoding encoding) {
    forget(encoding);
    Spec key = spec;
    key.encoding = std::move(encoding);
    return to_json(key);
  });
}

// The table is as exact as the dtype of the first call of all.
FunctionSubject::Call in_first_dtype(const std::shared_ptr<std::optional<Dtype>>& first, const Spec& spec) {
  return [first, dtype = spec.dtype, right = plain_call(spec)](std::string_view operation, const Tensors& inputs) {
    if (!*first) *first = dtype;
    Tensors reply = right(operation, inputs);
    Tensor& answer = reply.begin()->second;
    if (**first == dtype || answer.dtype != dtype) return reply;
    for (std::int64_t i = 0; i < answer.elements(); ++i) answer.set(i, round_to(**first, answer.at(i)));
    return reply;
  };
}

// A table as it was last asked for.
struct LastTable {
  std::string encoding;
  std::vector<std::int64_t> positions;
  Tensors reply;
};

// The last table serves the next call of its encoding and positions too, whose dtype may be another.
FunctionSubject::Call with_last_table(const std::shared_ptr<LastTable>& last, const Spec& spec) {
  Spec without_dtype;
  without_dtype.encoding = spec.encoding;
  return [last, dtype = spec.dtype, encoding = to_json(without_dtype), right = plain_call(spec)](
             std::string_view operation, const Tensors& inputs) {
    const std::vector<std::int64_t> positions = inputs.at("positions").integers();
    if (last->encoding != encoding || last->positions != positions)
      *last = {encoding, positions, right(operation, inputs)};
    Tensors reply = last->reply;
    Tensor& answer = reply.begin()->second;
    Tensor cast = Tensor::zeros(dtype, answer.shape);
    for (std::int64_t i = 0; i < answer.elements(); ++i) cast.set(i, round_to(dtype, answer.at(i)));
    answer = std::move(cast);
    return reply;
  };
}

// A call that is refused leaves the base it was refused for.
FunctionSubject::Call after_refusals(const std::shared_ptr<double>& base, const Spec& spec) {
  return [base, spec](std::string_view operation, const Tensors& inputs) {
    const auto used = of<Rope>([&](const Spec& asked, Rope encoding) {
      if (!std::holds_alternative<DefaultScaling>(encoding.rope_scaling)) {
        *base = 10000;
        throw SubjectFailure(FailureKind::unsupported, "no scaling rules");
      }
      if (*base > 0) encoding.rope_theta = *base;
      Spec changed = asked;
      changed.encoding = std::move(encoding);
      return changed;
    });
    return plain_call(used(spec))(operation, inputs);
  };
}

// Sequences are told apart by their beginnings: a single token is taken to follow what was asked last, wherever it
// stands.
FunctionSubject::Make continued() {
  return [](const Spec& spec) -> FunctionSubject::Call {
    return [right = plain_call(spec), end = std::make_shared<std::int64_t>(0)](std::string_view operation,
                                                                               const Tensors& inputs) {
      Tensors changed = inputs;
      Tensor& positions = changed.at("positions");
      std::vector<std::int64_t> list = positions.integers();
      // The first call of a process may begin anywhere, and so may one of several tokens.
      if (list.size() == 1 && *end > 0) list[0] = *end;
      if (!list.empty()) *end = list.back() + 1;
      positions = Tensor::of_integers(positions.shape, list);
      return right(operation, changed);
    };
  };
}

// What each call writes for itself and reads a little later, in one place for all threads.
template <class Value>
class SharedByThreads {
 public:
  Value after_a_while(const Value& own) {
    write(own);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    const std::lock_guard lock(mutex_);
    return value_;
  }

 private:
  void write(const Value& own) {
    const std::lock_guard lock(mutex_);
    value_ = own;
  }

  std::mutex mutex_;
  Value value_{};
};

FunctionSubject::Make shared_base() {
  return [shared = std::make_shared<SharedByThreads<double>>()](const Spec& spec) -> FunctionSubject::Call {
    return [shared, spec](std::string_view operation, const Tensors& inputs) {
      Spec used = spec;
      Rope& encoding = *held<Rope>(used);
      encoding.rope_theta = shared->after_a_while(encoding.rope_theta);
      return plain_call(used)(operation, inputs);
    };
  };
}

FunctionSubject::Make shared_positions() {
  return [shared = std::make_shared<SharedByThreads<std::vector<std::int64_t>>>()](
             const Spec& spec) -> FunctionSubject::Call {
    return [shared, right = plain_call(spec)](std::string_view operation, const Tensors& inputs) {
      if (!inputs.contains("positions")) return right(operation, inputs);
      Tensors changed = inputs;
      Tensor& positions = changed.at("positions");
      std::vector<std::int64_t> used = shared->after_a_while(positions.integers());
      used.resize(static_cast<std::size_t>(positions.elements()));
      positions = Tensor::of_integers(positions.shape, used);
      return right(operation, changed);
    };
  };
}

void add(std::vector<Mutant>& list, Kind kind, std::string name, std::string mechanism, std::string spec,
         FunctionSubject::Begin begin, FunctionSubject::Threads threads = FunctionSubject::Threads::one) {
  list.push_back({.name = std::move(name),
                  .kind = kind,
                  .row = "",
                  .mechanism = std::move(mechanism),
                  .spec = std::move(spec),
                  .make = nullptr,
                  .begin = std::move(begin),
                  .threads = threads});
}

}  // namespace

std::vector<Mutant> all() {
  std::vector<Mutant> list;
  const auto defect = [&](std::string name, std::string mechanism, std::string spec, FunctionSubject::Begin begin) {
    add(list, Kind::defect, std::move(name), std::move(mechanism), std::move(spec), std::move(begin));
  };
  defect("rope-cache-without-base", "the table of all modules lacks the base in its key", rope,
         first_decides(key_without<Rope>([](Rope& e) { e.rope_theta = 1; })));
  defect("rope-cache-of-whole-base", "the table of all modules has the base as a whole number in its key", float32,
         first_decides(key_without<Rope>([](Rope& e) { e.rope_theta = std::floor(e.rope_theta); })));
  defect("rope-cache-without-scaling", "the table of all modules lacks the scaling rule in its key", rope,
         first_decides(key_without<Rope>([](Rope& e) { e.rope_scaling = DefaultScaling{}; })));
  defect("rope-cache-without-pairing", "the first module's pairing is that of all", rope,
         first_decides(key_without<Rope>([](Rope& e) { e.pairing = e.output_pairing = Pairing::half; })));
  const auto first_dtype = [] {
    const auto first = std::make_shared<std::optional<Dtype>>();
    return [first](const Spec& spec) { return in_first_dtype(first, spec); };
  };
  defect("rope-cache-without-dtype", "the table of all modules has the dtype of the first call", rope, first_dtype);
  defect("rope-cache-without-dtype-float16", "the same in a model of float16", float16, first_dtype);
  defect("sinusoidal-last-table-in-its-dtype", "the last table is kept for the next call, whatever its dtype",
         sinusoidal, [] {
           const auto last = std::make_shared<LastTable>();
           return [last](const Spec& spec) { return with_last_table(last, spec); };
         });
  defect("rope-base-of-refused-call", "a call that is refused leaves its base", rope, [] {
    const auto base = std::make_shared<double>(0);
    return [base](const Spec& spec) { return after_refusals(base, spec); };
  });
  defect("sinusoidal-cache-without-base", "the table of all modules lacks the base in its key", sinusoidal,
         first_decides(key_without<Sinusoidal>([](Sinusoidal& e) { e.base = 1; })));
  defect("sinusoidal-cache-without-layout", "the table of all modules lacks the layout in its key", sinusoidal,
         first_decides(key_without<Sinusoidal>([](Sinusoidal& e) { e.layout = Layout::interleaved; })));
  defect("t5-buckets-of-first", "buckets are kept for encoder and decoder together", t5,
         first_decides(key_without<RelativeBias>([](RelativeBias& e) { e.bidirectional = true; })));
  defect("alibi-mask-of-first", "the first module's mask is that of all", alibi,
         first_decides(key_without<Alibi>([](Alibi& e) { e.mask = Mask::causal; })));
  defect("attention-position-of-first", "all layers have the first layer's position encoding", attention,
         first_decides(key_without<Attention>([](Attention& e) { e.position.reset(); })));
  defect("attention-mask-of-first", "the mask is kept without whether it is causal", attention,
         first_decides(key_without<Attention>([](Attention& e) { e.causal = true; })));
  defect("rope-continues-last-call", "a single token stands behind the last call's tokens, whatever its position", rope,
         [] {
           const auto end = std::make_shared<FunctionSubject::Call>();
           return [end](const Spec& spec) -> FunctionSubject::Call {
             if (!*end) *end = continued()(spec);
             return *end;
           };
         });
  defect("rope-nd-cache-by-first-shift", "the table lacks the shifts of all axes but the first in its key", shifted,
         first_decides(key_without<RopeNd>([](RopeNd& e) {
           for (std::size_t i = 1; i < e.coordinate_shifts.size(); ++i) e.coordinate_shifts[i] = 0;
         })));
  defect("rope-nd-cache-by-sum-of-shifts", "the table has the sum of the shifts in its key", shifted,
         first_decides(key_without<RopeNd>([](RopeNd& e) {
           if (e.coordinate_shifts.empty()) return;
           const double sum = std::accumulate(e.coordinate_shifts.begin(), e.coordinate_shifts.end(), 0.0);
           std::ranges::fill(e.coordinate_shifts, 0);
           e.coordinate_shifts.front() = sum;
         })));
  defect("rope-nd-cache-by-first-scale", "the table lacks the scales of all axes but the first in its key", shifted,
         first_decides(key_without<RopeNd>([](RopeNd& e) {
           for (std::size_t i = 1; i < e.coordinate_scales.size(); ++i) e.coordinate_scales[i] = 1;
         })));
  defect("rope-nd-cache-of-two-decimals", "the table has shifts to two decimals in its key", shifted,
         first_decides(key_without<RopeNd>([](RopeNd& e) {
           for (double& shift : e.coordinate_shifts) shift = std::round(shift * 100) / 100;
         })));
  defect("attention-cache-without-scale-offset", "factors of queries are kept without the offset of their scale",
         R"({"encoding":"attention","num_heads":2,"head_dim":8,"causal":true,"max_position":8192,)"
         R"("query_scale":{"amount":0.5,"period":1024}})",
         first_decides(key_without<Attention>([](Attention& e) {
           if (e.query_scale) e.query_scale->offset = 0;
         })));
  const auto fourier = [](Key key) { return first_decides(std::move(key), fourier_subject([](PlainFourier&) {})); };
  defect("fourier-cache-without-extents", "the table of all modules lacks the grid's sides in its key", cells,
         fourier(key_without<Fourier>([](Fourier& e) { std::ranges::fill(e.extents, 8); })));
  defect("fourier-cache-without-coordinates", "the table of all modules lacks where cells lie in its key", cells,
         fourier(key_without<Fourier>([](Fourier& e) {
           e.coordinates = FourierCoordinates::index;
           e.extents.clear();
         })));
  const auto of_threads = [&](Kind kind, std::string name, std::string mechanism, std::string spec,
                              FunctionSubject::Begin begin) {
    add(list, kind, std::move(name), std::move(mechanism), std::move(spec), std::move(begin),
        FunctionSubject::Threads::several);
  };
  of_threads(Kind::defect, "rope-threads-share-base", "each call sets the module's base before it reads it", rope,
             shared_base);
  of_threads(Kind::defect, "rope-threads-share-positions", "each call keeps its positions in the module", rope,
             shared_positions);
  of_threads(Kind::defect, "sinusoidal-threads-share-positions", "each call keeps its positions in the module",
             sinusoidal, shared_positions);
  of_threads(Kind::control, "rope-of-threads", "nothing is shared by threads that call at once", rope,
             [] { return FunctionSubject::Make(plain_call); });
  add(list, Kind::control, "rope-cache-of-all-modules", "a table for each spec, kept for all modules", rope,
      first_decides([](const Spec& spec) { return to_json(spec); }));
  return list;
}

}  // namespace sextant::mutants::sibling_mutants
