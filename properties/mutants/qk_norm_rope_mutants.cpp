// Over 400 lines: one plain implementation, and each change of it that is a mutant.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/mutants/plain_rope.hpp"
#include "properties/mutants/plain_sinusoidal.hpp"

// Norms of queries and keys, and their rotation, as fused kernels and models write them, wrong and honest ones.

namespace sextant::mutants::qk_norm_rope_mutants {
namespace {

constexpr const char* plain_spec = R"({"encoding":"qk_norm_rope","head_dim":64,"max_position":4096})";
constexpr const char* partial_spec =
    R"({"encoding":"qk_norm_rope","head_dim":64,"rotary_dim":32,"pairing":"interleaved","max_position":4096})";
constexpr const char* gemma_spec = R"({"encoding":"qk_norm_rope","head_dim":64,"weight_offset":1,"max_position":4096})";
constexpr const char* yarn_spec =
    R"({"encoding":"qk_norm_rope","head_dim":64,"max_position":8192,)"
    R"("rope_scaling":{"rope_type":"yarn","factor":4,"original_max_position_embeddings":2048}})";
constexpr const char* bfloat16_spec =
    R"({"encoding":"qk_norm_rope","head_dim":128,"dtype":"bfloat16","max_position":4096})";
constexpr const char* float16_spec =
    R"({"encoding":"qk_norm_rope","head_dim":64,"dtype":"float16","max_position":4096})";
constexpr const char* bfloat16_dtype_spec =
    R"({"encoding":"qk_norm_rope","head_dim":64,"dtype":"bfloat16","evaluation":"dtype","max_position":4096})";
constexpr const char* bfloat16_table_spec =
    R"({"encoding":"qk_norm_rope","head_dim":64,"dtype":"bfloat16","evaluation":"table","max_position":4096})";
constexpr const char* gemma_dtype_spec =
    R"({"encoding":"qk_norm_rope","head_dim":64,"weight_offset":1,"dtype":"bfloat16","evaluation":"dtype",)"
    R"("max_position":4096})";

double sum_of_squares(std::span<const double> x) {
  double sum = 0;
  for (const double value : x) sum = in_float32(sum + in_float32(value * value));
  return sum;
}

// A side's values, step by step in float32, each step one that a mutant may replace. As made it is right within
// float32-angle.
struct PlainNorm {
  PlainNorm(const QkNormRope& claimed, Dtype of_values)
      : encoding(claimed), dtype(of_values), rope(claimed.rope, of_values) {}

  // Where a head stands.
  struct At {
    bool is_key;
    std::int64_t token;
    std::int64_t head;
    std::int64_t heads;
  };

  QkNormRope encoding;
  Dtype dtype;
  PlainRope rope;
  Dtype between = Dtype::float32;  ///< what is turned
  std::function<double(std::span<const double> x)> sum = sum_of_squares;
  std::function<double(double sum, double count)> root = [this](double s, double count) {
    return in_float32(1 / std::sqrt(in_float32(in_float32(s / count) + in_float32(encoding.epsilon))));
  };
  std::function<double(double weight)> gain = [this](double w) { return in_float32(encoding.weight_offset + w); };
  std::function<double(double x, double root, double gain)> product = [](double x, double r, double g) {
    return in_float32(in_float32(x * r) * g);
  };
  std::function<bool(const At& at)> skips = [](const At&) { return false; };
  /// What the sum is of: the head, unless a mutant takes other channels of the side's x.
  std::function<std::vector<double>(const Tensor& x, const At& at)> summed = [this](const Tensor& x, const At& at) {
    return head_of(x, at.token * at.heads + at.head);
  };
  std::function<void(Tensors& inputs)> before = [](Tensors&) {};
  std::function<void(Tensors& reply, const Tensors& inputs)> afterwards = [](Tensors&, const Tensors&) {};
  std::function<Tensor(const Tensor& normalized, bool is_key, std::span<const std::int64_t> positions)> turned =
      [this](const Tensor& normalized, bool, std::span<const std::int64_t> positions) {
        return rope.rotate(normalized, positions);
      };

  std::vector<double> head_of(const Tensor& x, std::int64_t number) const {
    std::vector<double> head(static_cast<std::size_t>(encoding.rope.head_dim));
    x.read(number * std::ssize(head), head);
    return head;
  }

  Tensor normalized(const Tensor& x, const Tensor& weight, bool is_key) const {
    const std::int64_t width = encoding.rope.head_dim;
    Tensor y = Tensor::zeros(between, x.shape);
    std::vector<double> gains;
    for (std::int64_t i = 0; i < width; ++i) gains.push_back(gain(weight.at(i)));
    for (std::int64_t vector = 0; vector < x.shape[0] * x.shape[1] * x.shape[2]; ++vector) {
      const At at{is_key, vector / x.shape[2], vector % x.shape[2], x.shape[2]};
      const std::vector<double> of_sum = summed(x, at);
      const double r = root(sum(of_sum), static_cast<double>(of_sum.size()));
      const std::vector<double> values = head_of(x, vector);
      const bool is_skipped = skips(at);
      for (std::int64_t i = 0; i < width; ++i) {
        const auto channel = static_cast<std::size_t>(i);
        y.set(vector * width + i, is_skipped ? values[channel] : product(values[channel], r, gains[channel]));
      }
    }
    return y;
  }

  Tensor side(const Tensors& inputs, bool is_key) const {
    const std::string name = is_key ? "k" : "q";
    const Tensor y = turned(normalized(inputs.at(name), inputs.at(name + "_weight"), is_key), is_key,
                            inputs.at("positions").integers());
    Tensor cast = Tensor::zeros(dtype, y.shape);
    for (std::int64_t i = 0; i < y.elements(); ++i) cast.set(i, y.at(i));
    return cast;
  }

  Tensors call(const Tensors& given) const {
    Tensors inputs = given;
    before(inputs);
    Tensors reply;
    reply.emplace("q", side(inputs, false));
    reply.emplace("k", side(inputs, true));
    afterwards(reply, given);
    return reply;
  }
};

using Change = std::function<void(PlainNorm& plain)>;

FunctionSubject::Make made(Change change) {
  return [change = std::move(change)](const Spec& spec) -> FunctionSubject::Call {
    const auto plain = of<QkNormRope>([&](const Spec& claim, const QkNormRope& encoding) {
      auto norm = std::make_shared<PlainNorm>(encoding, claim.dtype);
      change(*norm);
      return norm;
    })(spec);
    return [plain](std::string_view operation, const Tensors& inputs) -> Tensors {
      if (operation != "qk_norm_rope") throw SubjectFailure(FailureKind::unsupported, "qk_norm_rope only");
      return plain->call(inputs);
    };
  };
}

struct List {
  std::vector<Mutant> entries;

  void defect(std::string name, std::string mechanism, const char* spec, Change change) {
    entries.push_back({std::move(name), Kind::defect, "", std::move(mechanism), spec, made(std::move(change))});
  }
  void control(std::string name, std::string mechanism, const char* spec, Change change) {
    entries.push_back({std::move(name), Kind::control, "", std::move(mechanism), spec, made(std::move(change))});
  }
};

// The root of another mean.
void with_mean(PlainNorm& plain, std::function<double(double sum, double count)> mean) {
  plain.root = [mean = std::move(mean)](double sum, double count) {
    return in_float32(1 / std::sqrt(in_float32(mean(sum, count))));
  };
}

// Sines, cosines and every product and sum of the rotation rounded to the dtype, as x cos + rotate_half(x) sin of
// tensors of it.
void turn_in_dtype(PlainNorm& plain) {
  plain.between = plain.dtype;
  const auto rounded = [dtype = plain.dtype](double value) { return round_to(dtype, value); };
  plain.rope.turn = [own = plain.rope.turn, rounded](double angle) {
    const Turn by = own(angle);
    return Turn{rounded(by.sin), rounded(by.cos)};
  };
  plain.rope.apply = [rounded](double& a, double& b, const Turn& by) {
    const double first = rounded(rounded(a * by.cos) - rounded(b * by.sin));
    b = rounded(rounded(a * by.sin) + rounded(b * by.cos));
    a = first;
  };
}

std::vector<double> first_half_of(std::vector<double> values) {
  values.resize(values.size() / 2);
  return values;
}

void add_norms(List& list) {
  list.defect("qk-norm-epsilon-outside", "epsilon is added to the root, not under it", plain_spec,
              [](PlainNorm& plain) {
                plain.root = [epsilon = plain.encoding.epsilon](double sum, double count) {
                  return in_float32(1 / in_float32(in_float32(std::sqrt(in_float32(sum / count))) + epsilon));
                };
              });
  list.defect("qk-norm-no-epsilon", "the root is that of the mean alone", plain_spec,
              [](PlainNorm& plain) { with_mean(plain, [](double sum, double count) { return sum / count; }); });
  list.defect("qk-norm-epsilon-of-sum", "epsilon is added to the sum, so that it counts for little", plain_spec,
              [](PlainNorm& plain) {
                with_mean(plain, [epsilon = plain.encoding.epsilon](double sum, double count) {
                  return (sum + epsilon) / count;
                });
              });
  list.defect("qk-norm-epsilon-1e-5", "epsilon is 1e-5, whatever the model's is", plain_spec,
              [](PlainNorm& plain) { with_mean(plain, [](double sum, double count) { return sum / count + 1e-5; }); });
  list.defect("qk-norm-sum-for-mean", "the root is that of the sum", plain_spec, [](PlainNorm& plain) {
    with_mean(plain, [epsilon = plain.encoding.epsilon](double sum, double) { return sum + epsilon; });
  });
  list.defect("qk-norm-centred", "the head's mean is subtracted before its squares are summed, as LayerNorm does",
              plain_spec, [](PlainNorm& plain) {
                plain.sum = [](std::span<const double> x) {
                  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
                  std::vector<double> centred(x.begin(), x.end());
                  for (double& value : centred) value -= mean;
                  return sum_of_squares(centred);
                };
              });
  list.defect("qk-norm-bfloat16-sum", "squares are summed in bfloat16, which loses all beyond a few", bfloat16_spec,
              [](PlainNorm& plain) {
                plain.sum = [](std::span<const double> x) {
                  double sum = 0;
                  for (const double value : x)
                    sum = round_to(Dtype::bfloat16, sum + round_to(Dtype::bfloat16, value * value));
                  return sum;
                };
              });
  list.defect("qk-norm-bfloat16-root", "the inverse root is kept in bfloat16", plain_spec, [](PlainNorm& plain) {
    plain.root = [own = plain.root](double sum, double count) { return round_to(Dtype::bfloat16, own(sum, count)); };
  });
  list.defect("qk-norm-approximate-root", "the inverse root is that of one step of Newton's from a guess by the bits",
              plain_spec, [](PlainNorm& plain) {
                plain.root = [epsilon = plain.encoding.epsilon](double sum, double count) {
                  const double mean = in_float32(sum / count + epsilon);
                  // An exponent of -1/2 of the mean's, from one and a half times that of 1.
                  constexpr auto of_one = std::bit_cast<std::uint32_t>(1.0F);
                  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(mean));
                  const auto guess = static_cast<double>(std::bit_cast<float>(of_one / 2 * 3 - bits / 2));
                  return in_float32(guess * (1.5 - mean / 2 * guess * guess));
                };
              });
  list.defect("qk-norm-rounded-between", "normalized heads are rounded to bfloat16, though float32 is claimed",
              bfloat16_spec, [](PlainNorm& plain) { plain.between = Dtype::bfloat16; });
}

void add_extents(List& list) {
  list.defect("qk-norm-over-all-heads", "one mean over all heads of a token", plain_spec, [](PlainNorm& plain) {
    plain.summed = [&plain](const Tensor& x, const PlainNorm::At& at) {
      std::vector<double> token;
      for (std::int64_t head = 0; head < at.heads; ++head) {
        const std::vector<double> own = plain.head_of(x, at.token * at.heads + head);
        token.insert(token.end(), own.begin(), own.end());
      }
      return token;
    };
  });
  list.defect("qk-norm-first-head-for-all", "the mean is that of a token's first head", plain_spec,
              [](PlainNorm& plain) {
                plain.summed = [&plain](const Tensor& x, const PlainNorm::At& at) {
                  return plain.head_of(x, at.token * at.heads);
                };
              });
  list.defect("qk-norm-mean-of-rotary-channels", "the mean is over the channels that turn", partial_spec,
              [](PlainNorm& plain) {
                plain.summed = [own = plain.summed](const Tensor& x, const PlainNorm::At& at) {
                  return first_half_of(own(x, at));
                };
              });
  list.defect("qk-norm-rotary-channels-alone", "channels that do not turn are not normalized either", partial_spec,
              [](PlainNorm& plain) {
                plain.afterwards = [rope = plain.encoding.rope](Tensors& reply, const Tensors& inputs) {
                  for (auto& [name, y] : reply) {
                    const Tensor& x = inputs.at(name);
                    for (std::int64_t i = 0; i < y.elements(); ++i)
                      if (i % rope.head_dim >= rope.rotary_dim) y.set(i, x.at(i));
                  }
                };
              });
  list.defect("qk-norm-last-head-left-out", "the last query head is turned and not normalized", plain_spec,
              [](PlainNorm& plain) {
                plain.skips = [](const PlainNorm::At& at) { return !at.is_key && at.head == at.heads - 1; };
              });
  list.defect("qk-norm-keys-left-out", "keys are turned and not normalized", plain_spec,
              [](PlainNorm& plain) { plain.skips = [](const PlainNorm::At& at) { return at.is_key; }; });
  list.defect("qk-norm-fewer-than-256-tokens", "tokens from the 257th of a call on are turned and not normalized",
              plain_spec,
              [](PlainNorm& plain) { plain.skips = [](const PlainNorm::At& at) { return at.token >= 256; }; });
  list.defect("qk-norm-keys-by-query-heads", "a key's mean is found by the stride of queries, which have more heads",
              plain_spec, [](PlainNorm& plain) {
                plain.summed = [&plain](const Tensor& x, const PlainNorm::At& at) {
                  const std::int64_t vectors = x.elements() / plain.encoding.rope.head_dim;
                  const std::int64_t stride = at.is_key ? 4 * at.heads : at.heads;
                  return plain.head_of(x, std::min(at.token * stride + at.head, vectors - 1));
                };
              });
}

void add_weights(List& list) {
  list.defect("qk-norm-query-weight-for-keys", "keys have the weight of queries", plain_spec, [](PlainNorm& plain) {
    plain.before = [](Tensors& inputs) { inputs.at("k_weight") = inputs.at("q_weight"); };
  });
  list.defect("qk-norm-weights-exchanged", "each has the other's weight", plain_spec, [](PlainNorm& plain) {
    plain.before = [](Tensors& inputs) { std::swap(inputs.at("k_weight"), inputs.at("q_weight")); };
  });
  list.defect("qk-norm-offset-dropped", "1 is not added to a weight that is stored without it", gemma_spec,
              [](PlainNorm& plain) { plain.gain = [](double weight) { return weight; }; });
  list.defect("qk-norm-offset-always", "1 is added to every model's weight", plain_spec,
              [](PlainNorm& plain) { plain.gain = [](double weight) { return in_float32(1 + weight); }; });
  list.defect("qk-norm-no-weight", "the weights are left out", plain_spec,
              [](PlainNorm& plain) { plain.gain = [](double) { return 1.0; }; });
  list.defect("qk-norm-weight-of-first-call", "the weights of a session's first call are kept", plain_spec,
              [](PlainNorm& plain) {
                plain.before = [kept = std::make_shared<Tensors>()](Tensors& inputs) {
                  for (const char* name : {"q_weight", "k_weight"})
                    inputs.at(name) = kept->emplace(name, inputs.at(name)).first->second;
                };
              });
}

void add_orders(List& list) {
  list.defect("qk-norm-after-rotation", "heads are normalized, and multiplied by the weight, after they have turned",
              plain_spec, [](PlainNorm& plain) {
                plain.before = [&plain](Tensors& inputs) {
                  for (const char* name : {"q", "k"})
                    inputs.at(name) = plain.rope.rotate(inputs.at(name), inputs.at("positions").integers());
                };
                plain.turned = [](const Tensor& normalized, bool, std::span<const std::int64_t>) { return normalized; };
              });
  list.defect("qk-norm-keys-not-turned", "keys are normalized and not turned", plain_spec, [](PlainNorm& plain) {
    plain.turned = [&plain](const Tensor& normalized, bool is_key, std::span<const std::int64_t> positions) {
      return is_key ? normalized : plain.rope.rotate(normalized, positions);
    };
  });
  list.defect("qk-norm-keys-not-written", "in place of the queries; the keys stay as they came", plain_spec,
              [](PlainNorm& plain) {
                plain.afterwards = [](Tensors& reply, const Tensors& inputs) { reply.at("k") = inputs.at("k"); };
              });
  list.defect(
      "qk-norm-pairs-exchanged", "half pairing is taken for interleaved pairs", plain_spec, [](PlainNorm& plain) {
        plain.rope.input = [](const RotateCall&, std::int64_t pair) { return Channels{2 * pair, 2 * pair + 1}; };
        plain.rope.output = plain.rope.input;
      });
  list.defect("qk-norm-positions-from-zero", "tokens count from 0 in every call", plain_spec, [](PlainNorm& plain) {
    plain.rope.position = [](const RotateCall&, const Place& place) { return static_cast<double>(place.token); };
  });
  list.defect("qk-norm-factor-dropped", "yarn's attention factor is left out: the norm is taken to undo it", yarn_spec,
              [](PlainNorm& plain) { plain.rope.factor = [](std::int64_t) { return 1.0; }; });
  list.defect("qk-norm-factor-before-norm", "yarn's attention factor is multiplied in, and normalized away", yarn_spec,
              [](PlainNorm& plain) {
                plain.rope.factor = [](std::int64_t) { return 1.0; };
                plain.before = [factor = plain_factor(plain.encoding.rope, 0)](Tensors& inputs) {
                  for (const char* name : {"q", "k"}) {
                    Tensor& x = inputs.at(name);
                    for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, x.at(i) * factor);
                  }
                };
              });
}

double by_halves(std::span<const double> x) {
  if (x.size() == 1) return in_float32(x[0] * x[0]);
  const std::size_t half = x.size() / 2;
  return in_float32(by_halves(x.first(half)) + by_halves(x.subspan(half)));
}

void add_controls(List& list) {
  list.control("qk-norm-float32", "step by step in float32", plain_spec, [](PlainNorm&) {});
  list.control("qk-norm-partial", "a head of which half turns", partial_spec, [](PlainNorm&) {});
  list.control("qk-norm-offset", "the weight stored less 1", gemma_spec, [](PlainNorm&) {});
  list.control("qk-norm-yarn", "yarn's factor in the table, after the norm", yarn_spec, [](PlainNorm&) {});
  list.control("qk-norm-fused-bfloat16", "float32 throughout, cast once, as fused kernels do", bfloat16_spec,
               [](PlainNorm&) {});
  list.control("qk-norm-fused-float16", "the same in float16", float16_spec, [](PlainNorm&) {});
  list.control("qk-norm-transformers", "cast before the weight and after it, turned in bfloat16: transformers' order",
               bfloat16_dtype_spec, [](PlainNorm& plain) {
                 turn_in_dtype(plain);
                 plain.product = [](double x, double r, double g) {
                   return round_to(Dtype::bfloat16, round_to(Dtype::bfloat16, in_float32(x * r)) * g);
                 };
               });
  list.control("qk-norm-gemma", "times 1 + weight in float32, then cast, turned in bfloat16: Gemma's order",
               gemma_dtype_spec, [](PlainNorm& plain) { turn_in_dtype(plain); });
  list.control("qk-norm-cached-table", "a bfloat16 cache of cosines and sines, the rest float32: vLLM's order",
               bfloat16_table_spec, [](PlainNorm& plain) {
                 plain.rope.turn = [own = plain.rope.turn](double angle) {
                   const Turn by = own(angle);
                   return Turn{round_to(Dtype::bfloat16, by.sin), round_to(Dtype::bfloat16, by.cos)};
                 };
               });
  list.control("qk-norm-pairwise-sum", "squares are summed by halves", plain_spec,
               [](PlainNorm& plain) { plain.sum = by_halves; });
  list.control("qk-norm-sum-from-the-end", "squares are summed from the last channel", plain_spec,
               [](PlainNorm& plain) {
                 plain.sum = [](std::span<const double> x) {
                   const std::vector<double> reversed(x.rbegin(), x.rend());
                   return sum_of_squares(reversed);
                 };
               });
  list.control("qk-norm-weight-first", "the inverse root times the weight, then times x", plain_spec,
               [](PlainNorm& plain) {
                 plain.product = [](double x, double r, double g) { return in_float32(x * in_float32(r * g)); };
               });
  list.control("qk-norm-root-off-by-2-ulp", "an inverse root that is two ULP off, as CUDA's rsqrtf may be", plain_spec,
               [](PlainNorm& plain) {
                 plain.root = [own = plain.root](double sum, double count) {
                   return in_float32(own(sum, count) * (1 - 0x1p-23));
                 };
               });
  list.control("qk-norm-float64", "the norm in float64, cast before it is turned", plain_spec, [](PlainNorm& plain) {
    plain.sum = [](std::span<const double> x) { return std::inner_product(x.begin(), x.end(), x.begin(), 0.0); };
    plain.root = [epsilon = plain.encoding.epsilon](double sum, double count) {
      return 1 / std::sqrt(sum / count + epsilon);
    };
    plain.product = [](double x, double r, double g) { return x * r * g; };
  });
}

}  // namespace

std::vector<Mutant> all() {
  List list;
  add_norms(list);
  add_extents(list);
  add_weights(list);
  add_orders(list);
  add_controls(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::qk_norm_rope_mutants
