// Over 400 lines: a flat list of variants of one plain implementation, each a few lines that are read alone.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <utility>

#include "lib/numeric/ulp.hpp"
#include "lib/spec/of.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/mutants/plain_rope.hpp"
#include "properties/mutants/plain_sinusoidal.hpp"
#include "subjects/operations.hpp"

namespace sextant::mutants::rope_mutants {
namespace {

using Change = std::function<void(PlainRope&)>;
using Gradient = std::function<Tensor(const PlainRope&, const Tensor& grad, std::span<const std::int64_t> positions)>;

constexpr const char* usual = R"({"encoding":"rope","head_dim":64})";
constexpr const char* interleaved = R"({"encoding":"rope","head_dim":64,"pairing":"interleaved"})";
constexpr const char* partial = R"({"encoding":"rope","head_dim":64,"rotary_dim":24})";
constexpr const char* llama3 = R"({"encoding":"rope","head_dim":64,"rope_theta":500000,)"
                               R"("rope_scaling":{"rope_type":"llama3","factor":8,)"
                               R"("original_max_position_embeddings":8192,"low_freq_factor":1,)"
                               R"("high_freq_factor":4}})";
constexpr const char* yarn = R"({"encoding":"rope","head_dim":64,"rope_theta":150000,)"
                             R"("rope_scaling":{"rope_type":"yarn","factor":32,)"
                             R"("original_max_position_embeddings":4096,"truncate":false}})";
constexpr const char* dynamic = R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"dynamic",)"
                                R"("factor":4,"original_max_position_embeddings":2048},"max_position":8192})";
constexpr const char* longrope = R"({"encoding":"rope","head_dim":8,"rope_scaling":{"rope_type":"longrope",)"
                                 R"("original_max_position_embeddings":4096,"factor":32,)"
                                 R"("short_factor":[1,1.1,1.3,2],"long_factor":[1.2,4,18,30]}})";

Tensor own_gradient(const PlainRope& plain, const Tensor& grad, std::span<const std::int64_t> positions) {
  return plain.backward(grad, positions);
}

// A fresh PlainRope for each session, changed once: what the change keeps in a shared_ptr is the session's state.
FunctionSubject::Make variant(const Change& change, const Gradient& gradient = own_gradient) {
  return of<Rope>([change, gradient](const Spec& spec, const Rope& claimed) -> FunctionSubject::Call {
    PlainRope plain(claimed, spec.dtype);
    change(plain);
    return [plain, gradient](std::string_view operation, const Tensors& inputs) -> Tensors {
      const std::vector<std::int64_t> positions = inputs.contains("positions")
                                                      ? counts_of(inputs.at("positions"), plain.encoding.positions)
                                                      : std::vector<std::int64_t>{};
      if (operation == "rotate") return {{"y", plain.rotate(inputs.at("x"), positions)}};
      if (operation == "backward/rotate") return {{"grad_x", gradient(plain, inputs.at("grad"), positions)}};
      throw SubjectFailure(FailureKind::unsupported, "rotate and its gradient only");
    };
  });
}

struct List {
  std::vector<Mutant> entries;

  void defect(std::string name, std::string row, std::string mechanism, std::string spec, const Change& change,
              const Gradient& gradient = own_gradient) {
    entries.push_back({std::move(name), Kind::defect, std::move(row), std::move(mechanism), std::move(spec),
                       variant(change, gradient)});
  }
  void control(
      std::string name, std::string mechanism, std::string spec, const Change& change = [](PlainRope&) {}) {
    entries.push_back({std::move(name), Kind::control, "", std::move(mechanism), std::move(spec), variant(change)});
  }
};

template <class... Arguments>
std::function<double(Arguments...)> rounded(Dtype dtype, std::function<double(Arguments...)> step) {
  return [dtype, step](Arguments... arguments) { return round_to(dtype, step(arguments...)); };
}

// The frequencies, each changed.
void each_frequency(PlainRope& plain, const std::function<void(std::size_t i, double& w)>& change) {
  plain.frequencies = [own = plain.frequencies, change](const RotateCall& call) {
    std::vector<double> list = own(call);
    for (std::size_t i = 0; i < list.size(); ++i) change(i, list[i]);
    return list;
  };
}

// The position, changed knowing the call and the vector.
void each_position(PlainRope& plain, const std::function<double(double p, const RotateCall&, const Place&)>& change) {
  plain.position = [own = plain.position, change](const RotateCall& call, const Place& place) {
    return change(own(call, place), call, place);
  };
}

// The frequencies of another spec.
void other_frequencies(PlainRope& plain, const std::function<void(Rope&)>& change) {
  Rope other = plain.encoding;
  change(other);
  plain.frequencies = [other](const RotateCall& call) { return plain_frequencies(other, call.length); };
}

void precision_mutants(List& list) {
  // Of no row: no rotation that shipped is known to normalise. It stands for whatever only values near the end of the
  // dtype's range bring out.
  list.defect("rope-squares-overflow", "", "pairs are normalised by the root of their squares' sum, which overflows",
              usual, [](PlainRope& plain) {
                plain.apply = [own = plain.apply](double& a, double& b, const Turn& by) {
                  const double norm = in_float32(std::sqrt(in_float32(in_float32(a * a) + in_float32(b * b))));
                  if (norm == 0) return;
                  a = in_float32(a / norm);
                  b = in_float32(b / norm);
                  own(a, b, by);
                  a = in_float32(a * norm);
                  b = in_float32(b * norm);
                };
              });
  list.defect("rope-bfloat16-positions", "A1,A4", "positions are rounded to bfloat16 before the angle is formed", usual,
              [](PlainRope& plain) { plain.position = rounded(Dtype::bfloat16, plain.position); });
  list.defect("rope-float16-positions", "A1,A15", "positions are rounded to float16: infinite from 65520 on", usual,
              [](PlainRope& plain) { plain.position = rounded(Dtype::float16, plain.position); });
  list.defect("rope-bfloat16-frequencies", "A5", "frequencies are rounded to bfloat16, the rest is float32", usual,
              [](PlainRope& plain) {
                each_frequency(plain, [](std::size_t, double& w) { w = round_to(Dtype::bfloat16, w); });
              });
  list.defect("rope-frequency-8-ulps", "A5", "one frequency of the table is 8 ULP of float32 too fast", usual,
              [](PlainRope& plain) {
                each_frequency(plain, [](std::size_t i, double& w) {
                  if (i == 1) w = round_to(Dtype::float32, w) + 8 * ulp(Dtype::float32, w);
                });
              });
  list.defect("rope-float16-angle", "A2", "the angle is a float16 product", usual,
              [](PlainRope& plain) { plain.angle = rounded(Dtype::float16, plain.angle); });
  list.defect("rope-bfloat16-angle", "A3", "the angle is rounded to bfloat16", usual,
              [](PlainRope& plain) { plain.angle = rounded(Dtype::bfloat16, plain.angle); });
  for (const Dtype kept : {Dtype::bfloat16, Dtype::float16}) {
    list.defect(fmt::format("rope-{}-table", name_of(kept)), "A9",
                fmt::format("sin and cos are kept in {} for float32 vectors", name_of(kept)), usual,
                [kept](PlainRope& plain) {
                  plain.turn = [own = plain.turn, kept](double a) {
                    const Turn exact = own(a);
                    return Turn{round_to(kept, exact.sin), round_to(kept, exact.cos)};
                  };
                });
  }
  list.defect("rope-float16-input", "A14", "x goes through float16 on the way", usual,
              [](PlainRope& plain) { plain.receive = [](double value) { return round_to(Dtype::float16, value); }; });
  list.defect("rope-promoted-dtype", "A14", "bfloat16 was asked for, float32 comes back",
              R"({"encoding":"rope","head_dim":64,"dtype":"bfloat16"})", [](PlainRope& plain) {
                plain.afterwards = [](Tensor& y, const Tensor&, const RotateCall&) {
                  Tensor wide = Tensor::zeros(Dtype::float32, y.shape);
                  for (std::int64_t i = 0; i < y.elements(); ++i) wide.set(i, y.at(i));
                  y = wide;
                };
              });
  list.defect("rope-poor-reduction", "B1", "the angle is reduced by a float32 2 pi, as fast intrinsics do", usual,
              [](PlainRope& plain) {
                plain.angle = [own = plain.angle](double p, double w) {
                  const auto a = static_cast<float>(own(p, w));
                  const auto turn = static_cast<float>(2 * std::numbers::pi);
                  return static_cast<double>(a - turn * std::floor(a / turn));
                };
              });
  list.defect("rope-running-product", "B7",
              "angles come from a product that runs over the pairs in float32, claimed to be no worse than direct ones",
              R"({"encoding":"rope","head_dim":256})", [](PlainRope& plain) {
                plain.frequencies = [e = plain.encoding](const RotateCall&) {
                  const double ratio = in_float32(std::pow(e.rope_theta, -2.0 / static_cast<double>(e.rotary_dim)));
                  std::vector<double> result(static_cast<std::size_t>(pairs(e)), 1);
                  for (std::size_t i = 1; i < result.size(); ++i) result[i] = in_float32(result[i - 1] * ratio);
                  return result;
                };
              });
  list.defect("rope-saturated", "B", "values beyond 8 saturate", usual,
              [](PlainRope& plain) { plain.receive = [](double value) { return std::clamp(value, -8.0, 8.0); }; });
}

void pairing_mutants(List& list) {
  list.defect("rope-pairing-ignored", "C2", "halves are paired whatever the spec says", interleaved,
              [](PlainRope& plain) {
                plain.input = plain.output = [half = pairs(plain.encoding)](const RotateCall&, std::int64_t pair) {
                  return Channels{pair, pair + half};
                };
              });
  list.defect("rope-pairing-ignored-in-batches", "C2", "the kernel for batches knows one pairing only", interleaved,
              [](PlainRope& plain) {
                plain.input = plain.output = [own = plain.input, half = pairs(plain.encoding)](const RotateCall& call,
                                                                                               std::int64_t pair) {
                  return call.batch > 1 ? Channels{pair, pair + half} : own(call, pair);
                };
              });
  list.defect("rope-output-pairing-ignored", "C2", "the output is paired as the input",
              R"({"encoding":"rope","head_dim":64,"pairing":"interleaved","output_pairing":"half"})",
              [](PlainRope& plain) { plain.output = plain.input; });
  // The two members of a pair (a, b) are turned by the angles of the channels where they stand in a table of the other
  // kind.
  const auto mixed = [](PlainRope& plain, auto other_pair) {
    plain.afterwards = [inner = plain, other_pair](Tensor& y, const Tensor& x, const RotateCall& call) {
      const std::vector<double> w = inner.frequencies(call);
      const std::int64_t count = pairs(inner.encoding);
      for (std::int64_t vector = 0; vector < call.batch * call.tokens * call.heads; ++vector) {
        const double p = inner.position(
            call, {vector / call.heads / call.tokens, vector / call.heads % call.tokens, vector % call.heads});
        for (std::int64_t pair = 0; pair < count; ++pair) {
          const Channels at = inner.input(call, pair);
          const std::int64_t start = vector * inner.encoding.head_dim;
          const double a = x.at(start + at.first);
          const double b = x.at(start + at.second);
          const Turn first = inner.turn(inner.angle(p, w[static_cast<std::size_t>(other_pair(at.first, count))]));
          const Turn second = inner.turn(inner.angle(p, w[static_cast<std::size_t>(other_pair(at.second, count))]));
          y.set(start + at.first, a * first.cos - b * first.sin);
          y.set(start + at.second, b * second.cos + a * second.sin);
        }
      }
    };
  };
  list.defect("rope-concatenated-table", "C6,C8,C9", "a table of two equal halves is applied to adjacent pairs",
              interleaved, [mixed](PlainRope& plain) {
                mixed(plain, [](std::int64_t channel, std::int64_t count) { return channel % count; });
              });
  list.defect(
      "rope-repeated-table", "C7", "a table of adjacent repeats is applied to halves", usual,
      [mixed](PlainRope& plain) { mixed(plain, [](std::int64_t channel, std::int64_t) { return channel / 2; }); });
  list.defect("rope-wrong-stack", "C11", "(x_even, -x_odd) is stacked for (-x_odd, x_even)", usual,
              [](PlainRope& plain) {
                plain.apply = [](double& a, double& b, const Turn& by) {
                  a = in_float32(a * by.cos + a * by.sin);
                  b = in_float32(b * by.cos - b * by.sin);
                };
              });
  list.defect("rope-transposed", "C13", "the rotation is transposed, which keeps every relative property", usual,
              [](PlainRope& plain) {
                plain.turn = [own = plain.turn](double a) { return Turn{-own(a).sin, own(a).cos}; };
              });
  list.defect("rope-direction-ignored", "C13", "counterclockwise whatever the spec says",
              R"({"encoding":"rope","head_dim":64,"direction":"clockwise"})", [](PlainRope& plain) {
                plain.turn = [own = plain.turn](double a) { return Turn{-own(a).sin, own(a).cos}; };
              });
  list.defect("rope-trigonometry-twice", "C14", "calls of one token take sin and cos of sin and cos", usual,
              [](PlainRope& plain) {
                plain.afterwards = [inner = plain](Tensor& y, const Tensor& x, const RotateCall& call) {
                  if (call.tokens != 1) return;
                  PlainRope twice = inner;
                  twice.turn = [own = inner.turn](double a) {
                    return Turn{std::sin(own(a).sin), std::cos(own(a).cos)};
                  };
                  y = twice.rotate(x, call.positions);
                };
              });
  list.defect("rope-overwritten-before-read", "I4",
              "in place, the first of a pair is written before the second has read it", usual, [](PlainRope& plain) {
                plain.apply = [](double& a, double& b, const Turn& by) {
                  a = in_float32(in_float32(a * by.cos) - in_float32(b * by.sin));
                  b = in_float32(in_float32(a * by.sin) + in_float32(b * by.cos));
                };
              });
  list.defect("rope-swapped-outputs", "I19", "the two members of a pair change places", usual, [](PlainRope& plain) {
    plain.output = [own = plain.output](const RotateCall& call, std::int64_t pair) {
      const Channels at = own(call, pair);
      return Channels{at.second, at.first};
    };
  });
  list.defect("rope-identity", "D11", "nothing is rotated", usual,
              [](PlainRope& plain) { plain.skips = [](const RotateCall&, const Place&) { return true; }; });
}

void parameter_mutants(List& list) {
  list.defect("rope-theta-ignored", "D1,D2,D3", "the base is 10000 whatever the spec says",
              R"({"encoding":"rope","head_dim":64,"rope_theta":500000})",
              [](PlainRope& plain) { other_frequencies(plain, [](Rope& rope) { rope.rope_theta = 10000; }); });
  list.defect("rope-head-dim-in-exponent", "D4", "the exponent is divided by head_dim, not rotary_dim", partial,
              [](PlainRope& plain) {
                plain.frequencies = [e = plain.encoding](const RotateCall&) {
                  return geometric(e.rope_theta, e.head_dim, pairs(e));
                };
              });
  list.defect("rope-partner-by-head-dim", "D4,D6", "the partner under partial rotary stands head_dim/2 further on",
              partial, [](PlainRope& plain) {
                plain.input =
                    plain.output = [half = plain.encoding.head_dim / 2](const RotateCall&, std::int64_t pair) {
                      return Channels{pair, pair + half};
                    };
              });
  list.defect("rope-partner-by-rotary-dim", "D6", "spread pairs are taken for a prefix",
              R"({"encoding":"rope","head_dim":64,"rotary_dim":24,"rotary_layout":"spread"})", [](PlainRope& plain) {
                plain.input = plain.output = [half = pairs(plain.encoding)](const RotateCall&, std::int64_t pair) {
                  return Channels{pair, pair + half};
                };
              });
  // Other specs are asked too: where the whole head turns, the last channels are all of them.
  constexpr const char* suffix = R"({"encoding":"rope","head_dim":64,"rotary_dim":24,"rotary_layout":"suffix"})";
  list.defect("rope-suffix-as-prefix", "", "the first channels turn, not the last ones", suffix, [](PlainRope& plain) {
    plain.input = plain.output = [e = plain.encoding](const RotateCall&, std::int64_t pair) {
      return Channels{pair, pair + e.rotary_dim / 2};
    };
  });
  list.defect("rope-suffix-off-by-a-pair", "", "the part that turns begins two channels early", suffix,
              [](PlainRope& plain) {
                plain.input = plain.output = [e = plain.encoding](const RotateCall&, std::int64_t pair) {
                  const std::int64_t first = std::max<std::int64_t>(first_rotary_channel(e) - 2, 0) + pair;
                  return Channels{first, first + e.rotary_dim / 2};
                };
              });
  list.defect("rope-suffix-partner-by-head-dim", "", "the partner in the last channels stands head_dim/2 before",
              suffix, [](PlainRope& plain) {
                plain.input = plain.output = [e = plain.encoding](const RotateCall&, std::int64_t pair) {
                  const std::int64_t first = first_rotary_channel(e) + pair;
                  return Channels{first, (first + e.head_dim / 2) % e.head_dim};
                };
              });
  list.defect("rope-suffix-head-dim-in-exponent", "", "the exponent of the last channels is divided by head_dim",
              suffix, [](PlainRope& plain) {
                plain.frequencies = [e = plain.encoding](const RotateCall&) {
                  return geometric(e.rope_theta, e.head_dim, pairs(e));
                };
              });
  list.defect("rope-suffix-read-from-the-front", "", "the last channels are written from the first ones", suffix,
              [](PlainRope& plain) {
                plain.input = [e = plain.encoding](const RotateCall&, std::int64_t pair) {
                  return Channels{pair, pair + e.rotary_dim / 2};
                };
              });
  list.defect("rope-tail-rotated", "D7,I9", "channels up to the next power of two are rotated", partial,
              [](PlainRope& plain) {
                plain.afterwards = [](Tensor& y, const Tensor& x, const RotateCall&) {
                  for (std::int64_t start = 0; start < y.elements(); start += 64) {
                    for (std::int64_t channel = 24; channel < 32; ++channel)
                      y.set(start + channel, in_float32(x.at(start + channel) * 0.5));
                  }
                };
              });
  list.defect("rope-tail-zeroed", "D5", "channels that are not rotated come back as zeros", partial,
              [](PlainRope& plain) {
                plain.afterwards = [](Tensor& y, const Tensor&, const RotateCall&) {
                  for (std::int64_t start = 0; start < y.elements(); start += 64) {
                    for (std::int64_t channel = 24; channel < 64; ++channel) y.set(start + channel, 0);
                  }
                };
              });
  list.defect("rope-tail-through-float16", "D7", "channels that are not rotated are copied through float16", partial,
              [](PlainRope& plain) {
                plain.afterwards = [](Tensor& y, const Tensor& x, const RotateCall&) {
                  for (std::int64_t start = 0; start < y.elements(); start += 64) {
                    for (std::int64_t channel = 24; channel < 64; ++channel)
                      y.set(start + channel, round_to(Dtype::float16, x.at(start + channel)));
                  }
                };
              });
  list.defect("rope-last-pair-left", "K1", "the last pair is not rotated", usual, [](PlainRope& plain) {
    plain.frequencies = [own = plain.frequencies](const RotateCall& call) {
      std::vector<double> result = own(call);
      result.pop_back();
      return result;
    };
  });
}

void scaling_mutants(List& list) {
  list.defect("rope-llama3-dropped", "G7,D9", "llama3 scaling is dropped", llama3, [](PlainRope& plain) {
    other_frequencies(plain, [](Rope& rope) { rope.rope_scaling = DefaultScaling{}; });
  });
  const auto banded = [](PlainRope& plain, const std::function<double(double turns, double smooth, double w)>& blend) {
    plain.frequencies = [e = plain.encoding, blend](const RotateCall&) {
      const auto& rule = std::get<Llama3Scaling>(e.rope_scaling);
      std::vector<double> result = geometric(e.rope_theta, e.rotary_dim, pairs(e));
      for (double& w : result) {
        const double turns = static_cast<double>(rule.original_max_position_embeddings) * w / (2 * std::numbers::pi);
        w = blend(turns, (turns - rule.low_freq_factor) / (rule.high_freq_factor - rule.low_freq_factor), w);
      }
      return result;
    };
  };
  list.defect(
      "rope-llama3-blend-reversed", "G9", "smooth and 1 - smooth are swapped in the blend", llama3,
      [banded](PlainRope& plain) {
        banded(plain, [](double, double t, double w) { return t <= 0 ? w / 8 : t >= 1 ? w : t * w / 8 + (1 - t) * w; });
      });
  list.defect(
      "rope-llama3-no-blend", "G10", "the middle band is left unscaled: a jump at its border", llama3,
      [banded](PlainRope& plain) { banded(plain, [](double, double t, double w) { return t <= 0 ? w / 8 : w; }); });
  list.defect("rope-yarn-truncated", "F6", "the ramp's ends are rounded to whole pairs", yarn, [](PlainRope& plain) {
    other_frequencies(plain, [](Rope& rope) { std::get<YarnScaling>(rope.rope_scaling).truncate = Truncate::yes; });
  });
  list.defect("rope-yarn-betas-ignored", "F9", "beta_fast and beta_slow are 32 and 1 whatever the spec says",
              R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"yarn",)"
              R"("factor":8,"original_max_position_embeddings":4096,"beta_fast":16,)"
              R"("beta_slow":2}})",
              [](PlainRope& plain) {
                other_frequencies(plain, [](Rope& rope) {
                  std::get<YarnScaling>(rope.rope_scaling).beta_fast = 32;
                  std::get<YarnScaling>(rope.rope_scaling).beta_slow = 1;
                });
              });
  list.defect("rope-yarn-as-interpolation", "F8", "yarn is taken for positions divided by the factor and clamped", yarn,
              [](PlainRope& plain) {
                plain.frequencies = [e = plain.encoding](const RotateCall&) {
                  return geometric(e.rope_theta, e.rotary_dim, pairs(e));
                };
                each_position(plain,
                              [](double p, const RotateCall&, const Place&) { return std::min(p / 32, 4095.0); });
              });
  list.defect("rope-factor-dropped", "F10,F11", "the attention factor is left out", yarn,
              [](PlainRope& plain) { plain.factor = [](std::int64_t) { return 1.0; }; });
  list.defect("rope-factor-squared", "F9", "the attention factor is applied twice", yarn, [](PlainRope& plain) {
    plain.factor = [own = plain.factor](std::int64_t length) { return own(length) * own(length); };
  });
  list.defect("rope-attention-factor-ignored", "F3", "an explicit attention_factor is ignored",
              R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"yarn",)"
              R"("factor":8,"original_max_position_embeddings":4096,"attention_factor":1}})",
              [](PlainRope& plain) { plain.factor = [](std::int64_t) { return 0.1 * std::log(8.0) + 1; }; });
  list.defect("rope-mscale-ratio-ignored", "F4", "mscale_all_dim is not divided by",
              R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"yarn",)"
              R"("factor":40,"original_max_position_embeddings":4096,"mscale":1,)"
              R"("mscale_all_dim":0.707}})",
              [](PlainRope& plain) { plain.factor = [](std::int64_t) { return 0.1 * std::log(40.0) + 1; }; });
  list.defect("rope-linear-multiplies", "D9", "positions are multiplied by the factor",
              R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"linear","factor":2}})",
              [](PlainRope& plain) { each_frequency(plain, [](std::size_t, double& w) { w *= 4; }); });
  list.defect("rope-factor-one-scales", "E9", "an empirical formula for the base is not 1 at factor 1",
              R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"ntk","factor":1}})",
              [](PlainRope& plain) {
                other_frequencies(plain, [](Rope& rope) {
                  rope.rope_scaling = DefaultScaling{};
                  rope.rope_theta *= 0.96;
                });
              });
  list.defect("rope-ntk-polynomial", "E9", "the factor of ntk's base is an empirical polynomial, 0.96 at 1",
              R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"ntk","factor":1.4}})",
              [](PlainRope& plain) {
                other_frequencies(plain, [](Rope& rope) {
                  if (auto* ntk = std::get_if<NtkScaling>(&rope.rope_scaling))
                    ntk->factor = -0.13436 + 0.80541 * ntk->factor + 0.28833 * ntk->factor * ntk->factor;
                });
              });
  list.defect("rope-linear-twice", "D9,F8", "linear divides positions and frequencies both",
              R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"linear","factor":2}})",
              [](PlainRope& plain) {
                each_frequency(plain, [e = plain.encoding](std::size_t, double& w) {
                  if (const auto* linear = std::get_if<LinearScaling>(&e.rope_scaling)) w /= linear->factor;
                });
              });
  list.entries.push_back(
      {"rope-input-overwritten", Kind::defect, "I4,H10", "the result is written over x, which the caller still has",
       usual, of<Rope>([](const Spec& spec, const Rope& claimed) -> FunctionSubject::Call {
         return [plain = PlainRope(claimed, spec.dtype), claimed](std::string_view operation,
                                                                  const Tensors& inputs) -> Tensors {
           if (operation != "rotate") throw SubjectFailure(FailureKind::unsupported, "rotate only");
           const Tensor y = plain.rotate(inputs.at("x"), counts_of(inputs.at("positions"), claimed.positions));
           return {{"y", y}, {"modified/x", y}};
         };
       })});
  list.entries.push_back(
      {"rope-zeros-cleaned-in-place", Kind::defect, "", "each zero of x is set to +0 where the caller has it", usual,
       of<Rope>([](const Spec& spec, const Rope& claimed) -> FunctionSubject::Call {
         return [plain = PlainRope(claimed, spec.dtype), claimed](std::string_view operation,
                                                                  const Tensors& inputs) -> Tensors {
           if (operation != "rotate") throw SubjectFailure(FailureKind::unsupported, "rotate only");
           const Tensor& x = inputs.at("x");
           Tensor left = x;
           for (std::int64_t i = 0; i < left.elements(); ++i) left.set(i, left.at(i) + 0.0);
           Tensors reply{{"y", plain.rotate(x, counts_of(inputs.at("positions"), claimed.positions))}};
           if (left.data != x.data) reply["modified/x"] = left;
           return reply;
         };
       })});
  list.defect("rope-ntk-exponent", "E", "ntk's base is multiplied by the factor alone",
              R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"ntk","factor":8}})",
              [](PlainRope& plain) {
                other_frequencies(plain, [](Rope& rope) {
                  rope.rope_scaling = DefaultScaling{};
                  rope.rope_theta *= 8;
                });
              });
  const auto at_length = [](PlainRope& plain, const std::function<std::int64_t(std::int64_t)>& length) {
    plain.frequencies = [e = plain.encoding, length](const RotateCall& call) {
      return plain_frequencies(e, length(call.length));
    };
  };
  list.defect("rope-dynamic-frozen", "E3", "dynamic scaling is computed once, from the largest position", dynamic,
              [at_length](PlainRope& plain) { at_length(plain, [](std::int64_t) { return 8192; }); });
  list.defect("rope-dynamic-unclamped", "E5", "calls shorter than the trained length enter the formula too", dynamic,
              [](PlainRope& plain) {
                plain.frequencies = [e = plain.encoding](const RotateCall& call) {
                  const double stretch = std::max(4 * static_cast<double>(call.length) / 2048 - 3, 0.01);
                  return geometric(e.rope_theta * std::pow(stretch, 64.0 / 62), 64, 32);
                };
              });
  list.defect("rope-dynamic-powers-of-two", "E6,E7", "the length is rounded up to a power of two", dynamic,
              [at_length](PlainRope& plain) {
                at_length(plain, [](std::int64_t length) {
                  return static_cast<std::int64_t>(
                      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(length, 1))));
                });
              });
  list.defect("rope-dynamic-never-shrinks", "E2", "the base of the longest call stays for shorter ones", dynamic,
              [at_length](PlainRope& plain) {
                at_length(plain, [longest = std::make_shared<std::int64_t>(0)](std::int64_t length) {
                  return *longest = std::max(*longest, length);
                });
              });
  list.defect("rope-dynamic-first-length", "E1,G8", "the first call's length is kept for all", dynamic,
              [at_length](PlainRope& plain) {
                at_length(plain, [first = std::make_shared<std::int64_t>(-1)](std::int64_t length) {
                  return *first < 0 ? *first = length : *first;
                });
              });
  list.defect("rope-longrope-short-unread", "G6", "short_factor is never read", longrope,
              [at_length](PlainRope& plain) { at_length(plain, [](std::int64_t) { return 131072; }); });
  list.defect("rope-longrope-by-first-position", "G4",
              "the first position, not the last, decides between short and long", longrope, [](PlainRope& plain) {
                plain.frequencies = [e = plain.encoding](const RotateCall& call) {
                  return plain_frequencies(e, call.positions.empty() ? 0 : call.positions.front() + 1);
                };
              });
  list.defect("rope-longrope-by-rows", "G5", "the number of tokens decides between short and long", longrope,
              [](PlainRope& plain) {
                plain.frequencies = [e = plain.encoding](const RotateCall& call) {
                  return plain_frequencies(e, call.tokens);
                };
              });
  list.defect("rope-longrope-strict-border", "G10", "a call of just the original length takes the long factors",
              longrope,
              [at_length](PlainRope& plain) { at_length(plain, [](std::int64_t length) { return length + 1; }); });
  list.defect("rope-prefill-unscaled", "G8", "calls of several tokens are not scaled, single ones are", llama3,
              [](PlainRope& plain) {
                plain.frequencies = [e = plain.encoding, own = plain.frequencies](const RotateCall& call) {
                  return call.tokens > 1 ? geometric(e.rope_theta, e.rotary_dim, pairs(e)) : own(call);
                };
              });
}

void position_mutants(List& list) {
  list.defect("rope-local-index", "H1,H2,H7", "a token's place in the call is taken for its position", usual,
              [](PlainRope& plain) {
                each_position(plain, [](double, const RotateCall&, const Place& place) {
                  return static_cast<double>(place.token);
                });
              });
  list.defect("rope-decode-from-zero", "H2", "a call of one token starts at 0", usual, [](PlainRope& plain) {
    each_position(plain, [](double p, const RotateCall& call, const Place&) { return call.tokens == 1 ? 0 : p; });
  });
  list.defect("rope-decode-one-too-far", "H4", "a call of one token is one position too far", usual,
              [](PlainRope& plain) {
                each_position(
                    plain, [](double p, const RotateCall& call, const Place&) { return call.tokens == 1 ? p + 1 : p; });
              });
  list.defect("rope-first-row-for-all", "H6,H16", "all rows of a batch have the first row's positions", usual,
              [](PlainRope& plain) {
                plain.position = [](const RotateCall& call, const Place& place) {
                  return static_cast<double>(call.positions[static_cast<std::size_t>(place.token)]);
                };
              });
  list.defect(
      "rope-consecutive-positions", "H9", "positions are taken to be consecutive from the row's first", usual,
      [](PlainRope& plain) {
        plain.position = [](const RotateCall& call, const Place& place) {
          return static_cast<double>(call.positions[static_cast<std::size_t>(place.batch * call.tokens)] + place.token);
        };
      });
  list.defect("rope-call-counter", "H8", "the first call is the prompt, each later one a decoded token further on",
              usual, [](PlainRope& plain) {
                each_position(plain, [calls = std::make_shared<std::int64_t>(0)](double p, const RotateCall& call,
                                                                                 const Place& place) {
                  if (place.batch == 0 && place.token == 0 && place.head == 0) ++*calls;
                  return call.tokens == 1 && *calls > 40 ? p + 1 : p;
                });
              });
  list.defect(
      "rope-rows-run-on", "I2", "rows of a batch continue counting where the last one ended", usual,
      [](PlainRope& plain) {
        plain.position = [](const RotateCall& call, const Place& place) {
          return static_cast<double>(call.positions[static_cast<std::size_t>(place.token)] + place.batch * call.tokens);
        };
      });
  list.defect("rope-axes-swapped", "I20", "positions are read as [tokens, batch]", usual, [](PlainRope& plain) {
    plain.position = [](const RotateCall& call, const Place& place) {
      return static_cast<double>(call.positions[static_cast<std::size_t>(place.token * call.batch + place.batch)]);
    };
  });
  list.defect("rope-clamped", "I10,K15", "positions beyond 4095 get the table's last row", usual, [](PlainRope& plain) {
    each_position(plain, [](double p, const RotateCall&, const Place&) { return std::min(p, 4095.0); });
  });
  list.defect("rope-passed-through", "I10", "positions beyond 4095 are not rotated", usual, [](PlainRope& plain) {
    plain.skips = [own = plain.position](const RotateCall& call, const Place& place) {
      return own(call, place) > 4095;
    };
  });
  list.defect("rope-wrapped", "I10", "positions wrap at 16 bits", usual, [](PlainRope& plain) {
    each_position(plain, [](double p, const RotateCall&, const Place&) { return std::fmod(p, 65536); });
  });
  list.defect("rope-negative-skipped", "H5", "tokens at negative positions are left as they came",
              R"({"encoding":"rope","head_dim":64,"min_position":-512,"max_position":512})", [](PlainRope& plain) {
                plain.skips = [own = plain.position](const RotateCall& call, const Place& place) {
                  return own(call, place) < 0;
                };
              });
  list.defect("rope-shift-by-head-size", "D8",
              "a path for positions beyond 8192 re-rotates with the frequencies of the whole head", partial,
              [](PlainRope& plain) {
                plain.angle = [own = plain.angle, e = plain.encoding, i = std::make_shared<std::int64_t>(0)](double p,
                                                                                                             double w) {
                  if (p < 8192) return own(p, w);
                  const double other = std::pow(w, static_cast<double>(e.rotary_dim) / static_cast<double>(e.head_dim));
                  return in_float32(own(8191, w) + own(p - 8191, other));
                };
              });
}

void kernel_mutants(List& list) {
  list.defect("rope-single-token-first-row", "I1", "the kernel for one token leaves out the batch: later rows are zero",
              usual, [](PlainRope& plain) {
                plain.afterwards = [](Tensor& y, const Tensor&, const RotateCall& call) {
                  if (call.tokens != 1) return;
                  for (std::int64_t i = call.heads * y.shape[3]; i < y.elements(); ++i) y.set(i, 0);
                };
              });
  list.defect("rope-first-head-only", "I15", "only head 0 is rotated", interleaved, [](PlainRope& plain) {
    plain.skips = [](const RotateCall&, const Place& place) { return place.head > 0; };
  });
  list.defect("rope-one-head-skipped", "I14", "with one head the kernel returns early", usual, [](PlainRope& plain) {
    plain.skips = [](const RotateCall& call, const Place&) { return call.heads == 1; };
  });
  list.defect("rope-later-heads-corrupt", "I7",
              "under partial rotary the heads after the first read another lane's cosine", partial,
              [](PlainRope& plain) {
                plain.afterwards = [](Tensor& y, const Tensor& x, const RotateCall& call) {
                  for (std::int64_t vector = 0; vector < y.elements() / 64; ++vector) {
                    if (vector % call.heads != 0) y.set(vector * 64, in_float32(x.at(vector * 64 + 1)));
                  }
                };
              });
  list.defect("rope-eighth-head-stale", "I15", "the last of more than four heads is not rotated", usual,
              [](PlainRope& plain) {
                plain.skips = [](const RotateCall& call, const Place& place) {
                  return call.heads > 4 && place.head == call.heads - 1;
                };
              });
  list.defect("rope-neighbour-overwritten", "I9", "the first channel of the next head is overwritten", usual,
              [](PlainRope& plain) {
                plain.afterwards = [](Tensor& y, const Tensor&, const RotateCall&) {
                  for (std::int64_t start = 64; start < y.elements(); start += 64) y.set(start, y.at(start - 1));
                };
              });
  list.defect("rope-nan-spreads", "I", "a NaN in one pair reaches the next one, through a product with 0", usual,
              [](PlainRope& plain) {
                plain.afterwards = [](Tensor& y, const Tensor& x, const RotateCall&) {
                  for (std::int64_t i = 0; i + 1 < y.elements(); ++i) y.set(i, y.at(i) + 0 * x.at(i + 1));
                };
              });
  list.defect("rope-dense-matrix", "I", "the head is multiplied by the whole rotation matrix, zeros and all", usual,
              [](PlainRope& plain) {
                plain.afterwards = [](Tensor& y, const Tensor& x, const RotateCall&) {
                  for (std::int64_t start = 0; start < y.elements(); start += 64) {
                    double zero = 0;
                    for (std::int64_t i = 0; i < 64; ++i) zero += 0 * x.at(start + i);
                    for (std::int64_t i = 0; i < 64; ++i) y.set(start + i, y.at(start + i) + zero);
                  }
                };
              });
  list.defect("rope-scaled-by-block", "I", "a vector is quantised to 12 bits by the largest of its values", usual,
              [](PlainRope& plain) {
                plain.afterwards = [](Tensor& y, const Tensor&, const RotateCall&) {
                  for (std::int64_t start = 0; start < y.elements(); start += 64) {
                    double largest = 0;
                    for (std::int64_t i = 0; i < 64; ++i) largest = std::max(largest, std::fabs(y.at(start + i)));
                    if (!(largest > 0) || !std::isfinite(largest)) continue;
                    const double step = std::ldexp(largest, -12);
                    for (std::int64_t i = 0; i < 64; ++i)
                      y.set(start + i, step * std::nearbyint(y.at(start + i) / step));
                  }
                };
              });
  list.defect("rope-racing", "I5,I6", "now and then a pair is read after its neighbour thread has written half of it",
              usual, [](PlainRope& plain) {
                plain.apply = [own = plain.apply, state = std::make_shared<std::uint64_t>(1)](double& a, double& b,
                                                                                              const Turn& by) {
                  *state = *state * 6364136223846793005U + 1442695040888963407U;
                  if ((*state >> 54) != 0) return own(a, b, by);
                  a = in_float32(a * by.cos - b * by.sin);
                  b = in_float32(a * by.sin + b * by.cos);
                };
              });
  list.defect("rope-uninitialised", "P1,H5", "what a row of several holds at its end is what the last call left", usual,
              [](PlainRope& plain) {
                plain.afterwards = [left = std::make_shared<double>(0)](Tensor& y, const Tensor& x,
                                                                        const RotateCall& call) {
                  if (y.elements() == 0) return;
                  const std::int64_t last = y.elements() - 1;
                  if (call.tokens % 4 == 3) y.set(last, *left);
                  *left = x.at(last);
                };
              });
  list.defect("rope-stale-cosines", "P4", "a table made for an earlier call is used by a later, shorter one", usual,
              [](PlainRope& plain) {
                each_position(
                    plain, [previous = std::make_shared<double>(0)](double p, const RotateCall&, const Place& place) {
                      const double answer = place.token == 1 && *previous > p ? *previous : p;
                      if (place.token == 1) *previous = p;
                      return answer;
                    });
              });
  list.defect("rope-empty-refused", "I18", "a call of nothing is an error", usual, [](PlainRope& plain) {
    plain.afterwards = [](Tensor& y, const Tensor&, const RotateCall&) {
      if (y.elements() == 0) throw SubjectFailure(FailureKind::error, "integer division by zero");
    };
  });
  list.defect("rope-normalised", "I6", "the pair is scaled to length 1, a fused normalisation that was not asked for",
              usual, [](PlainRope& plain) {
                plain.apply = [own = plain.apply](double& a, double& b, const Turn& by) {
                  own(a, b, by);
                  const double norm = std::hypot(a, b);
                  if (norm > 0) a /= norm, b /= norm;
                };
              });
}

void gradient_mutants(List& list) {
  const Change unchanged = [](PlainRope&) {};
  list.defect("rope-gradient-zero", "J2", "the gradient is zero", usual, unchanged,
              [](const PlainRope&, const Tensor& grad, std::span<const std::int64_t>) {
                return Tensor::zeros(grad.dtype, grad.shape);
              });
  list.defect("rope-gradient-unscaled", "J3", "the gradient does not know the scaling rule", llama3, unchanged,
              [](const PlainRope& plain, const Tensor& grad, std::span<const std::int64_t> positions) {
                PlainRope other = plain;
                other_frequencies(other, [](Rope& rope) { rope.rope_scaling = DefaultScaling{}; });
                return other.backward(grad, positions);
              });
  list.defect("rope-gradient-not-conjugated", "J4", "the gradient is rotated forward", usual, unchanged,
              [](const PlainRope& plain, const Tensor& grad, std::span<const std::int64_t> positions) {
                return plain.rotate(grad, positions);
              });
  list.defect("rope-gradient-without-factor", "J3", "the gradient lacks the attention factor", yarn, unchanged,
              [](const PlainRope& plain, const Tensor& grad, std::span<const std::int64_t> positions) {
                PlainRope other = plain;
                other.factor = [](std::int64_t) { return 1.0; };
                return other.backward(grad, positions);
              });
  list.defect("rope-gradient-sine-outside", "J1",
              "the gradient multiplies by the sine of the partner's channel, of a table whose halves differ",
              interleaved, unchanged,
              [](const PlainRope& plain, const Tensor& grad, std::span<const std::int64_t> positions) {
                PlainRope other = plain;
                other.apply = [](double& a, double& b, const Turn& by) {
                  const double first = in_float32(a * by.cos - b * by.sin);
                  b = in_float32(b * by.cos - a * by.sin);
                  a = first;
                };
                return other.backward(grad, positions);
              });
}

void controls(List& list) {
  list.control("rope-plain", "float32 throughout", usual);
  list.control("rope-interleaved", "GPT-J's pairing, declared", interleaved);
  list.control("rope-partial", "24 of 64 channels", partial);
  list.control("rope-clockwise", "the transposed rotation, declared",
               R"({"encoding":"rope","head_dim":64,"direction":"clockwise"})");
  list.control("rope-two-pairings", "interleaved in, halves out, declared",
               R"({"encoding":"rope","head_dim":64,"pairing":"interleaved","output_pairing":"half"})");
  list.control("rope-spread", "pairs of the full head, the later ones standing still",
               R"({"encoding":"rope","head_dim":64,"rotary_dim":24,"rotary_layout":"spread"})");
  list.control("rope-suffix", "the last 24 channels of 64, declared",
               R"({"encoding":"rope","head_dim":64,"rotary_dim":24,"rotary_layout":"suffix"})");
  list.control("rope-suffix-latent", "a head of DeepSeek-V3: 64 of 192 channels, interleaved in, halves out",
               R"({"encoding":"rope","head_dim":192,"rotary_dim":64,"rotary_layout":"suffix",)"
               R"("pairing":"interleaved","output_pairing":"half"})");
  list.control("rope-proportional", "the same with a factor",
               R"({"encoding":"rope","head_dim":64,"rotary_dim":24,"rotary_layout":"spread",)"
               R"("rope_scaling":{"rope_type":"proportional","factor":8}})");
  list.control("rope-linear", "position interpolation",
               R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"linear","factor":4}})");
  list.control("rope-ntk", "another base",
               R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"ntk","factor":8}})");
  list.control("rope-dynamic", "a base for each call's length", dynamic);
  list.control("rope-yarn", "a ramp with exact ends", yarn);
  list.control("rope-longrope", "two lists of factors", longrope);
  list.control("rope-llama3", "three bands", llama3);
  list.control("rope-negative-positions", "positions on both sides of 0",
               R"({"encoding":"rope","head_dim":64,"min_position":-70000,"max_position":70000})");
  list.control("rope-bfloat16-values", "float32 to the rotated pair, then cast",
               R"({"encoding":"rope","head_dim":64,"dtype":"bfloat16"})");
  list.control("rope-float16-values", "float32 to the rotated pair, then cast",
               R"({"encoding":"rope","head_dim":64,"dtype":"float16"})");
  list.control("rope-one-pair", "the smallest head", R"({"encoding":"rope","head_dim":2})");
  list.control("rope-float64-angle", "angles in float64, exact-angle claimed up to 2^31",
               R"({"encoding":"rope","head_dim":64,"accuracy":"exact-angle","max_position":2147483648})",
               [](PlainRope& plain) {
                 plain.angle = [](double p, double w) { return p * w; };
                 plain.turn = [clockwise = plain.encoding.direction == Direction::clockwise](double a) {
                   return Turn{in_float32(clockwise ? -std::sin(a) : std::sin(a)), in_float32(std::cos(a))};
                 };
               });
}

}  // namespace

std::vector<Mutant> all() {
  List list;
  precision_mutants(list);
  pairing_mutants(list);
  parameter_mutants(list);
  scaling_mutants(list);
  position_mutants(list);
  kernel_mutants(list);
  gradient_mutants(list);
  controls(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::rope_mutants
