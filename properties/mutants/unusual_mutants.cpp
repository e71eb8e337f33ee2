#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <numeric>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/mutants/local_fault.hpp"
#include "properties/mutants/plain_attention.hpp"
#include "properties/mutants/plain_others.hpp"
#include "reference/relative_bias.hpp"

// Implementations that are right, and go about it in an unusual way: every one must be accepted.

namespace sextant::mutants::unusual_mutants {
namespace {

constexpr const char* rope = R"({"encoding":"rope","head_dim":16,"max_position":16384})";
constexpr const char* rope_interleaved =
    R"({"encoding":"rope","head_dim":16,"pairing":"interleaved","max_position":16384})";
constexpr const char* rope_bfloat16 = R"({"encoding":"rope","head_dim":16,"dtype":"bfloat16","max_position":16384})";
constexpr const char* sinusoidal = R"({"encoding":"sinusoidal","dim":16,"max_position":16384})";
constexpr const char* grid = R"({"encoding":"sinusoidal_2d","dim":16,"height":60,"width":100})";
constexpr const char* binary = R"({"encoding":"binary","dim":14})";
constexpr const char* integer = R"({"encoding":"integer","dim":2,"max_position":16384})";
constexpr const char* learned = R"({"encoding":"learned","dim":6,"max_positions":2000})";
constexpr const char* alibi = R"({"encoding":"alibi","num_heads":12,"max_position":2048})";
constexpr const char* t5 = R"({"encoding":"relative_bias","max_position":1024})";
constexpr const char* axial = R"({"encoding":"rope_nd","head_dim":12,"sections":[2,2,2],"max_position":1024})";
constexpr const char* xpos = R"({"encoding":"xpos","head_dim":16,"pairing":"interleaved","max_position":1024})";
constexpr const char* attention =
    R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":8,"max_position":4096})";
constexpr const char* causal_attention =
    R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":8,"causal":true,"max_position":4096})";
constexpr const char* rope_attention = R"({"encoding":"attention","num_heads":2,"head_dim":8,"max_position":4096,)"
                                       R"("position":{"encoding":"rope","head_dim":8}})";

const Where everywhere = [](const Spot&) { return true; };

// Ways through a call: the numbers of vectors that are asked for together, in turn.
using Parts = std::vector<std::vector<std::int64_t>>;
using Way = std::function<Parts(const Asked& asked)>;

std::int64_t vectors_of(const Asked& asked) { return asked.answer.elements() / asked.answer.shape.back(); }

std::vector<std::int64_t> all_of(const Asked& asked) {
  std::vector<std::int64_t> vectors(static_cast<std::size_t>(vectors_of(asked)));
  std::iota(vectors.begin(), vectors.end(), 0);
  return vectors;
}

// Every vector of a code or rotation from a call that has other ones beside it.
Wrong by(Way way) {
  return [way = std::move(way)](const Asked& asked) {
    Tensor answer = asked.answer;
    const std::int64_t width = answer.shape.back();
    for (const std::vector<std::int64_t>& part : way(asked)) {
      const Tensor alone = vectors_alone(asked, part);
      for (std::int64_t i = 0; i < alone.elements(); ++i)
        answer.set(part[static_cast<std::size_t>(i / width)] * width + i % width, alone.at(i));
    }
    return answer;
  };
}

Way in_parts_of(std::int64_t size) {
  return [size](const Asked& asked) {
    Parts parts;
    for (const std::int64_t vector : all_of(asked)) {
      if (vector % size == 0) parts.emplace_back();
      parts.back().push_back(vector);
    }
    return parts;
  };
}

Way from_the_end() {
  return [](const Asked& asked) {
    std::vector<std::int64_t> vectors = all_of(asked);
    std::ranges::reverse(vectors);
    return Parts{std::move(vectors)};
  };
}

Way head_by_head() {
  return [](const Asked& asked) {
    const std::int64_t heads = asked.answer.shape[2];
    Parts parts(static_cast<std::size_t>(heads));
    for (const std::int64_t vector : all_of(asked)) parts[static_cast<std::size_t>(vector % heads)].push_back(vector);
    return parts;
  };
}

// All vectors of a position together, positions in rising order.
Way by_position() {
  return [](const Asked& asked) {
    const std::vector<std::int64_t> positions = asked.inputs.at("positions").integers();
    const std::int64_t heads = asked.operation == "rotate" ? asked.answer.shape[2] : 1;
    std::vector<std::int64_t> vectors = all_of(asked);
    std::ranges::stable_sort(vectors, {},
                             [&](std::int64_t vector) { return positions[static_cast<std::size_t>(vector / heads)]; });
    return Parts{std::move(vectors)};
  };
}

// One query at a time, its keys in tiles of 64 from the last one on.
Wrong by_tiles() {
  return [](const Asked& asked) {
    const std::vector<std::int64_t> queries = asked.inputs.at("query_positions").integers();
    const std::vector<std::int64_t> keys = asked.inputs.at("key_positions").integers();
    const std::int64_t heads = asked.answer.shape[0];
    Tensor answer = asked.answer;
    Tensors inputs = asked.inputs;
    for (std::int64_t query = 0; query < std::ssize(queries); ++query) {
      inputs.at("query_positions") = Tensor::of_integers({1}, std::span(&queries[static_cast<std::size_t>(query)], 1));
      for (std::int64_t first = (std::ssize(keys) - 1) / 64 * 64; first >= 0; first -= 64) {
        const std::int64_t count = std::min<std::int64_t>(64, std::ssize(keys) - first);
        const auto tile = std::span(keys).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
        inputs.at("key_positions") = Tensor::of_integers({count}, tile);
        const Tensor part = asked.again(inputs);
        for (std::int64_t i = 0; i < heads * count; ++i) {
          const std::int64_t row = i / count * std::ssize(queries) + query;
          answer.set(row * std::ssize(keys) + first + i % count, part.at(i));
        }
      }
    }
    return answer;
  };
}

// The sine and cosine of a position times a frequency, found in some way.
using TurnOf = std::function<Turn(std::int64_t position, double w)>;

// Of every position in float32, a table for each frequency, which is made twice as long when it is short.
TurnOf from_table(std::int64_t rows) {
  return [rows, tables = std::make_shared<std::map<double, std::vector<Turn>>>()](std::int64_t position, double w) {
    if (position < 0) throw SubjectFailure(FailureKind::error, "index out of range");
    std::vector<Turn>& table = (*tables)[w];
    while (std::ssize(table) <= position) {
      for (std::int64_t p = std::ssize(table), end = std::max(2 * p, rows); p < end; ++p) {
        const auto angle = static_cast<float>(in_float32(in_float32(static_cast<double>(p)) * in_float32(w)));
        table.push_back({static_cast<double>(std::sin(angle)), static_cast<double>(std::cos(angle))});
      }
    }
    return table[static_cast<std::size_t>(position)];
  };
}

// The plain rotation with a pair's turn found in that way. Each session makes its own.
FunctionSubject::Make rope_by(const std::function<TurnOf()>& way) {
  return of<Rope>([way](const Spec& spec, const Rope& claimed) -> FunctionSubject::Call {
    PlainRope plain(claimed, spec.dtype);
    const auto turn = std::make_shared<Turn>();
    plain.angle = [turn, turn_of = way()](double p, double w) {
      *turn = turn_of(static_cast<std::int64_t>(p), w);
      return 0.0;
    };
    plain.turn = [turn, sign = claimed.direction == Direction::clockwise ? -1 : 1](double) {
      return Turn{sign * in_float32(turn->sin), in_float32(turn->cos)};
    };
    return rope_call(plain);
  });
}

// sin and cos of 256 h w + l w, from those of both parts in double.
Turn by_addition(std::int64_t position, double w) {
  const double high = static_cast<double>(position / 256 * 256) * w;
  const double low = static_cast<double>(position % 256) * w;
  return {std::sin(high) * std::cos(low) + std::cos(high) * std::sin(low),
          std::cos(high) * std::cos(low) - std::sin(high) * std::sin(low)};
}

// The phase in 2^-64 of a turn, by integers, which wrap as turns do.
Turn by_turns(std::int64_t position, double w) {
  const auto step = static_cast<std::uint64_t>(std::ldexp(w / (2 * std::numbers::pi), 64));
  const auto phase = static_cast<std::int64_t>(step * static_cast<std::uint64_t>(position));
  const double angle = std::ldexp(static_cast<double>(phase), -64) * 2 * std::numbers::pi;
  return {std::sin(angle), std::cos(angle)};
}

void rotations(LocalFaults& list) {
  const auto control = [&](std::string name, std::string mechanism, std::string spec, FunctionSubject::Make make) {
    list.add(Kind::control, std::move(name), std::move(mechanism), std::move(spec), std::move(make));
  };
  const auto in_its_way = [&](std::string name, std::string mechanism, std::string spec, Way way) {
    control(std::move(name), std::move(mechanism), std::move(spec), wrong_where(everywhere, by(std::move(way))));
  };
  in_its_way("rope-in-parts-of-17", "17 vectors at a time", rope, in_parts_of(17));
  in_its_way("rope-from-the-end", "the last vector first", rope_interleaved, from_the_end());
  in_its_way("rope-head-by-head", "each head by itself, as under tensor parallelism", rope, head_by_head());
  in_its_way("rope-by-position", "sorted by position, turned and put back", rope, by_position());
  in_its_way("rope-one-by-one", "each vector in a call of its own", rope_bfloat16, in_parts_of(1));
  in_its_way("axial-in-parts-of-17", "17 vectors at a time", axial, in_parts_of(17));
  in_its_way("axial-head-by-head", "each head by itself", axial, head_by_head());
  in_its_way("xpos-from-the-end", "the last vector first", xpos, from_the_end());
  control("rope-doubled-table", "a float32 table that is made twice as long when it is short, from 16 rows on", rope,
          rope_by([] { return from_table(16); }));
  control("rope-whole-table", "a float32 table of every position, made at the first call", rope,
          rope_by([] { return from_table(16384); }));
  control("rope-by-addition", "the turn by a multiple of 256 and the rest are composed in double", rope_interleaved,
          rope_by([] { return by_addition; }));
  control("rope-by-turns", "phases are 64-bit fractions of a turn", rope, rope_by([] { return by_turns; }));
  control("rope-fused", "each channel is one product and one fused multiply-add", rope,
          of<Rope>([](const Spec& spec, const Rope& claimed) {
            PlainRope plain(claimed, spec.dtype);
            plain.apply = [](double& a, double& b, const Turn& by) {
              const auto [x, y] = std::pair(static_cast<float>(a), static_cast<float>(b));
              const auto [sine, cosine] = std::pair(static_cast<float>(by.sin), static_cast<float>(by.cos));
              a = static_cast<double>(std::fma(x, cosine, -(y * sine)));
              b = static_cast<double>(std::fma(x, sine, y * cosine));
            };
            return rope_call(plain);
          }));
  control("rope-decoding-in-double", "one token alone is turned by a double angle, several by a float32 one", rope,
          of<Rope>([](const Spec& spec, const Rope& claimed) {
            PlainRope plain(claimed, spec.dtype);
            const auto tokens = std::make_shared<std::int64_t>(0);
            plain.position = [tokens, own = plain.position](const RotateCall& call, const Place& place) {
              *tokens = call.tokens;
              return own(call, place);
            };
            plain.angle = [tokens, own = plain.angle](double p, double w) { return *tokens == 1 ? p * w : own(p, w); };
            plain.turn = [sign = claimed.direction == Direction::clockwise ? -1 : 1](double angle) {
              return Turn{sign * in_float32(std::sin(angle)), in_float32(std::cos(angle))};
            };
            return rope_call(plain);
          }));
}

void codes(LocalFaults& list) {
  const auto in_its_way = [&](std::string name, std::string mechanism, std::string spec, Way way) {
    list.add(Kind::control, std::move(name), std::move(mechanism), std::move(spec),
             wrong_where(everywhere, by(std::move(way))));
  };
  in_its_way("sinusoidal-in-parts-of-17", "17 rows at a time", sinusoidal, in_parts_of(17));
  in_its_way("sinusoidal-by-position", "sorted by position and put back", sinusoidal, by_position());
  in_its_way("grid-from-the-end", "the last cell first", grid, from_the_end());
  in_its_way("binary-one-by-one", "each row in a call of its own", binary, in_parts_of(1));
  in_its_way("integer-from-the-end", "the last row first", integer, from_the_end());
  in_its_way("learned-by-position", "rows are gathered in their order in the table and put back", learned,
             by_position());
  const auto sinusoidal_by = [&](std::string name, std::string mechanism, Turn (*turn_of)(std::int64_t, double)) {
    list.add(Kind::control, std::move(name), std::move(mechanism), sinusoidal,
             of<Sinusoidal>([turn_of](const Spec& spec, const Sinusoidal& claimed) -> FunctionSubject::Call {
               // The steps of the plain one, with the turn of the position and frequency in place of the angle.
               const auto turn = std::make_shared<Turn>();
               PlainSinusoidal plain(claimed, spec.dtype);
               plain.angle = [turn, turn_of, scale = claimed.angle_scale](double p, double w) {
                 *turn = turn_of(static_cast<std::int64_t>(p), scale * w);
                 return 0.0;
               };
               plain.sine = [turn](double) { return in_float32(turn->sin); };
               plain.cosine = [turn](double) { return in_float32(turn->cos); };
               return sinusoidal_call(plain);
             }));
  };
  sinusoidal_by("sinusoidal-by-addition", "rows of blocks of 256 by the addition theorem, in double", by_addition);
  sinusoidal_by("sinusoidal-by-turns", "phases are 64-bit fractions of a turn", by_turns);
}

void biases(LocalFaults& list) {
  list.add(Kind::control, "alibi-by-tiles", "a query at a time, its keys in tiles of 64 from the last on", alibi,
           wrong_where(everywhere, by_tiles()));
  list.add(Kind::control, "t5-by-tiles", "a query at a time, its keys in tiles of 64 from the last on", t5,
           wrong_where(everywhere, by_tiles()));
  list.add(Kind::control, "t5-remembered", "the bucket of a distance is looked for once", t5,
           [](const Spec& spec) -> FunctionSubject::Call {
             PlainOther plain(spec);
             plain.bucket = [encoding = plain.relative,
                             known = std::make_shared<std::map<std::int64_t, std::int64_t>>()](std::int64_t relative) {
               const auto [place, is_new] = known->try_emplace(relative, 0);
               if (is_new) place->second = reference::bucket(encoding, relative);
               return place->second;
             };
             return
                 [plain](std::string_view operation, const Tensors& inputs) { return plain.answer(operation, inputs); };
           });
}

// Dao et al. 2022, algorithm 1: keys in tiles, the running maximum and sum rescaled by each.
FunctionSubject::Make attention_in_tiles(std::int64_t tile) {
  const PlainAttention in_float64{
      .operations = Dtype::float64, .weights = Dtype::float64, .sums = Dtype::float64, .tile = tile};
  return [in_float64](const Spec& spec) { return in_float64.call(spec); };
}

void attentions(LocalFaults& list) {
  list.add(Kind::control, "attention-in-tiles-of-64", "an online softmax over tiles of 64 keys", attention,
           attention_in_tiles(64));
  list.add(Kind::control, "attention-in-tiles-of-3", "an online softmax over tiles of 3 keys, causal", causal_attention,
           attention_in_tiles(3));
  const auto reversed = [](Tensor tensor, std::int64_t width, std::int64_t run) {
    const Tensor given = tensor;
    for (std::int64_t i = 0; i < given.elements(); ++i) {
      const std::int64_t token = i / width % run;
      tensor.set(i + (run - 1 - 2 * token) * width, given.at(i));
    }
    return tensor;
  };
  list.add(Kind::control, "attention-tokens-reversed", "the last token first: sums run the other way", rope_attention,
           of<Attention>([reversed](const Spec& spec, const Attention& encoding) {
             if (encoding.causal || encoding.window) return plain_call(spec);  // the order of tokens is the mask's
             return wrong_where(everywhere, [reversed](const Asked& asked) {
               if (asked.inputs.contains("query_positions") || asked.inputs.contains("starts") ||
                   asked.inputs.contains("ends"))
                 return asked.answer;
               const std::int64_t tokens = asked.answer.shape[2];
               const std::int64_t width = asked.answer.shape[3];
               Tensors inputs = asked.inputs;
               for (const char* name : {"q", "k", "v"}) inputs.at(name) = reversed(inputs.at(name), width, tokens);
               std::vector<std::int64_t> positions = inputs.at("positions").integers();
               for (auto row = positions.begin(); row < positions.end(); row += tokens) std::reverse(row, row + tokens);
               inputs.at("positions") = Tensor::of_integers(inputs.at("positions").shape, positions);
               return reversed(asked.again(inputs), width, tokens);
             })(spec);
           }));
}

}  // namespace

std::vector<Mutant> all() {
  LocalFaults list;
  rotations(list);
  codes(list);
  biases(list);
  attentions(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::unusual_mutants
