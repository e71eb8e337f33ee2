#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/mutants/plain_rope.hpp"
#include "properties/mutants/plain_sinusoidal.hpp"
#include "subjects/table_order.hpp"

// Tables of cosines and sines as implementations of rope keep them, wrong and honest ones.

namespace sextant::mutants::rotary_table_mutants {
namespace {

constexpr const char* plain_spec = R"({"encoding":"rotary_table","head_dim":64,"rotary_dim":32,"max_position":4096})";
constexpr const char* yarn_spec =
    R"({"encoding":"rotary_table","head_dim":64,"max_position":8192,)"
    R"("rope_scaling":{"rope_type":"yarn","factor":4,"original_max_position_embeddings":2048}})";
constexpr const char* dynamic_spec =
    R"({"encoding":"rotary_table","head_dim":32,"max_position":6000,)"
    R"("rope_scaling":{"rope_type":"dynamic","factor":2,"original_max_position_embeddings":2048}})";
constexpr const char* bfloat16_spec =
    R"({"encoding":"rotary_table","head_dim":64,"dtype":"bfloat16","max_position":4096})";

// A row's values, step by step in float32, each step one that a mutant may replace. As made it is right within
// float32-angle.
struct PlainTable {
  PlainTable(const RotaryTable& table, const Spec& spec)
      : rope(table.rope), dtype(spec.dtype), length(spec.max_position) {
    factor = plain_factor(rope, length);
  }

  Rope rope;
  Dtype dtype;
  std::int64_t length;  ///< that a scaling rule is told
  double factor;
  const TableOrder* order = table_order_named("separate");
  std::function<double(std::int64_t position)> position = [](std::int64_t p) { return static_cast<double>(p); };
  std::function<double(double position, double frequency)> angle = [](double p, double w) {
    return in_float32(in_float32(p) * in_float32(w));
  };
  std::function<double(double angle)> cosine = [](double a) {
    return static_cast<double>(std::cos(static_cast<float>(a)));
  };
  std::function<double(double angle)> sine = [](double a) {
    return static_cast<double>(std::sin(static_cast<float>(a)));
  };
  std::function<void(Tensors& reply, std::span<const std::int64_t> positions)> afterwards =
      [](Tensors&, std::span<const std::int64_t>) {};

  Tensors rows(std::span<const std::int64_t> positions) const {
    const std::vector<double> frequencies = plain_frequencies(rope, length);
    const std::int64_t count = std::ssize(frequencies);
    const std::int64_t columns = columns_of(*order, count);
    Tensors reply;
    for (const std::string_view name : order->tensors)
      reply.emplace(std::string(name), Tensor::zeros(dtype, {std::ssize(positions), columns}));
    const double magnitude = in_float32(factor);
    for (std::int64_t row = 0; row < std::ssize(positions); ++row) {
      const double p = position(positions[static_cast<std::size_t>(row)]);
      for (std::int64_t pair = 0; pair < count; ++pair) {
        const double a = angle(p, frequencies[static_cast<std::size_t>(pair)]);
        for (const std::int64_t component : {0, 1}) {
          const double value = in_float32((component == 0 ? cosine(a) : sine(a)) * magnitude);
          Tensor& tensor = reply.at(
              std::string(order->tensors[order->tensors.size() == 2 ? static_cast<std::size_t>(component) : 0]));
          for (std::int64_t copy = 0; copy < order->copies; ++copy)
            tensor.set(row * columns + order->column(count, pair, component, copy), value);
        }
      }
    }
    afterwards(reply, positions);
    return reply;
  }
};

using Change = std::function<void(PlainTable& plain)>;

FunctionSubject::Make made(Change change) {
  return [change = std::move(change)](const Spec& spec) -> FunctionSubject::Call {
    const auto plain = of<RotaryTable>([&](const Spec& claim, const RotaryTable& table) {
      auto made = std::make_shared<PlainTable>(table, claim);
      change(*made);
      return made;
    })(spec);
    return [plain](std::string_view operation, const Tensors& inputs) -> Tensors {
      if (operation != "table") throw SubjectFailure(FailureKind::unsupported, "table only");
      return plain->rows(inputs.at("positions").integers());
    };
  };
}

struct List {
  std::vector<Mutant> entries;

  void defect(std::string name, std::string row, std::string mechanism, const char* spec, Change change) {
    entries.push_back(
        {std::move(name), Kind::defect, std::move(row), std::move(mechanism), spec, made(std::move(change))});
  }
  void control(std::string name, std::string mechanism, const char* spec, Change change) {
    entries.push_back({std::move(name), Kind::control, "", std::move(mechanism), spec, made(std::move(change))});
  }
};

void in_order(PlainTable& plain, const char* name) { plain.order = table_order_named(name); }

// Columns as one order has them, in the tensors of another.
void mislabelled(PlainTable& plain, const char* made_as, const char* said) {
  in_order(plain, made_as);
  plain.afterwards = [from = table_order_named(made_as), to = table_order_named(said)](Tensors& reply,
                                                                                       std::span<const std::int64_t>) {
    Tensors renamed;
    for (std::size_t i = 0; i < to->tensors.size(); ++i)
      renamed.emplace(std::string(to->tensors[i]), std::move(reply.at(std::string(from->tensors[i]))));
    reply = std::move(renamed);
  };
}

// A value of the row of one position.
void at_position(PlainTable& plain, std::int64_t wrong,
                 const std::function<void(Tensor& tensor, std::int64_t row)>& change, const char* tensor) {
  plain.afterwards = [=](Tensors& reply, std::span<const std::int64_t> positions) {
    for (std::int64_t row = 0; row < std::ssize(positions); ++row) {
      if (positions[static_cast<std::size_t>(row)] == wrong) change(reply.at(tensor), row);
    }
  };
}

}  // namespace

std::vector<Mutant> all() {
  List list;
  list.defect("table-interleaved-as-halves", "C6",
              "cosines and sines alternate in a table that is read as cosines and then sines", plain_spec,
              [](PlainTable& plain) { mislabelled(plain, "interleaved", "cos_sin"); });
  list.defect("table-sines-first", "", "sines come first in a table that is read as cosines and then sines", plain_spec,
              [](PlainTable& plain) { mislabelled(plain, "sin_cos", "cos_sin"); });
  list.defect("table-tiled-as-repeated", "C8", "a row twice over, read as each value twice running", plain_spec,
              [](PlainTable& plain) { mislabelled(plain, "halves", "repeated"); });
  list.defect(
      "table-bfloat16-angles", "A3", "the product of position and frequency is rounded to bfloat16", plain_spec,
      [](PlainTable& plain) { plain.angle = [](double p, double w) { return round_to(Dtype::bfloat16, p * w); }; });
  list.defect("table-float16-positions", "A4", "positions are rounded to float16, which has no odd number above 2048",
              plain_spec, [](PlainTable& plain) {
                plain.position = [](std::int64_t p) { return round_to(Dtype::float16, static_cast<double>(p)); };
              });
  list.defect("table-bfloat16-positions-bfloat16", "A4", "a bfloat16 table whose positions were rounded to bfloat16",
              bfloat16_spec, [](PlainTable& plain) {
                plain.position = [](std::int64_t p) { return round_to(Dtype::bfloat16, static_cast<double>(p)); };
              });
  list.defect("table-bfloat16-frequencies", "A5", "frequencies are rounded to bfloat16", plain_spec,
              [](PlainTable& plain) {
                plain.angle = [](double p, double w) { return in_float32(p * round_to(Dtype::bfloat16, w)); };
              });
  list.defect("table-from-one", "", "row 0 is that of position 1", plain_spec,
              [](PlainTable& plain) { plain.position = [](std::int64_t p) { return static_cast<double>(p + 1); }; });
  list.defect("table-theta-ignored", "D2", "the base is 10000, whatever the model's is",
              R"({"encoding":"rotary_table","head_dim":64,"rope_theta":500000,"max_position":4096})",
              [](PlainTable& plain) { plain.rope.rope_theta = 10000; });
  list.defect("table-whole-head", "D7", "frequencies divide by the head's width, of which half turns", plain_spec,
              [](PlainTable& plain) {
                plain.angle = [own = plain.angle](double p, double w) { return own(p, std::sqrt(w)); };
              });
  list.defect("table-sine-negated", "C13", "the table's sines have the other sign", plain_spec,
              [](PlainTable& plain) { plain.sine = [own = plain.sine](double a) { return -own(a); }; });
  list.defect("table-factor-dropped", "F5", "yarn's attention factor is left out of a table that should have it",
              yarn_spec, [](PlainTable& plain) { plain.factor = 1; });
  list.defect("table-factor-twice", "", "yarn's attention factor is multiplied in twice", yarn_spec,
              [](PlainTable& plain) { plain.factor *= plain.factor; });
  list.defect("table-factor-of-cosines", "", "yarn's attention factor is in the cosines alone", yarn_spec,
              [](PlainTable& plain) {
                plain.sine = [own = plain.sine, factor = plain.factor](double a) { return own(a) / factor; };
              });
  list.defect("table-scaling-dropped", "", "the frequencies are not scaled, though the factor is there", yarn_spec,
              [](PlainTable& plain) { plain.rope.rope_scaling = DefaultScaling{}; });
  list.defect("table-of-another-length", "E3", "the base of dynamic scaling is that of the original length",
              dynamic_spec, [](PlainTable& plain) { plain.length = 2048; });
  list.defect("table-last-row-zero", "I11", "the last row was never written", plain_spec, [](PlainTable& plain) {
    at_position(
        plain, plain.length - 1, [](Tensor& tensor, std::int64_t row) { tensor.set(row * tensor.shape[1], 0); }, "cos");
  });
  list.defect("table-last-row-repeated", "", "the last row is that of the position before", plain_spec,
              [](PlainTable& plain) {
                plain.position = [last = plain.length - 1](std::int64_t p) {
                  return static_cast<double>(p == last ? p - 1 : p);
                };
              });
  list.defect("table-one-value", "", "one sine of one row is a few units in the last place off", plain_spec,
              [](PlainTable& plain) {
                at_position(
                    plain, 1000,
                    [](Tensor& tensor, std::int64_t row) {
                      const std::int64_t at = row * tensor.shape[1] + 15;
                      tensor.set(at, tensor.at(at) * (1 + 0x1p-16));
                    },
                    "sin");
              });
  list.defect("table-second-copy", "", "one value of the second half of a row is not that of the first", plain_spec,
              [](PlainTable& plain) {
                in_order(plain, "halves");
                at_position(
                    plain, 77,
                    [](Tensor& tensor, std::int64_t row) { tensor.set((row + 1) * tensor.shape[1] - 1, 0.5); },
                    "cos_halves");
              });
  list.defect("table-of-one-frequency-off", "", "sines turn at the next pair's frequency", plain_spec,
              [](PlainTable& plain) { plain.sine = [own = plain.sine](double a) { return own(a * 1.001); }; });

  for (const TableOrder& order : table_orders()) {
    list.control("table-" + std::string(order.name), "an order that its tensors name", plain_spec,
                 [name = order.name](PlainTable& plain) { plain.order = table_order_named(name); });
  }
  list.control("table-bfloat16", "float32 throughout, cast once", bfloat16_spec, [](PlainTable&) {});
  list.control("table-yarn", "yarn's factor multiplied in, in float32", yarn_spec, [](PlainTable&) {});
  list.control("table-dynamic", "the base of the claim's length", dynamic_spec, [](PlainTable&) {});
  list.control("table-float64-angles", "angles in float64, cast at the end", plain_spec, [](PlainTable& plain) {
    plain.angle = [](double p, double w) { return p * w; };
    plain.cosine = [](double a) { return std::cos(a); };
    plain.sine = [](double a) { return std::sin(a); };
  });
  return std::move(list.entries);
}

}  // namespace sextant::mutants::rotary_table_mutants
