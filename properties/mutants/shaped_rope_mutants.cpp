// Over 400 lines: a flat list of faults of one plain implementation, each a few lines that are read alone.

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "lib/numeric/ulp.hpp"
#include "lib/spec/of.hpp"
#include "properties/mutants/local_fault.hpp"

// Rotations that are wrong in calls of some shape or order, or at some position alone.

namespace sextant::mutants::shaped_rope_mutants {
namespace {

constexpr const char* usual = R"({"encoding":"rope","head_dim":16})";
constexpr const char* short_claim = R"({"encoding":"rope","head_dim":16,"max_position":16384})";
constexpr const char* interleaved = R"({"encoding":"rope","head_dim":16,"pairing":"interleaved","max_position":16384})";
constexpr const char* wide = R"({"encoding":"rope","head_dim":128,"max_position":8192})";
constexpr const char* odd_pairs = R"({"encoding":"rope","head_dim":20,"max_position":16384})";
constexpr const char* partial = R"({"encoding":"rope","head_dim":32,"rotary_dim":12,"max_position":16384})";
constexpr const char* negative = R"({"encoding":"rope","head_dim":16,"min_position":-70000,"max_position":1000})";
constexpr const char* far = R"({"encoding":"rope","head_dim":16,"accuracy":"exact-angle","max_position":2147483648})";
constexpr const char* dynamic = R"({"encoding":"rope","head_dim":16,"rope_scaling":{"rope_type":"dynamic",)"
                                R"("factor":4,"original_max_position_embeddings":2048},"max_position":8192})";
constexpr const char* longrope = R"({"encoding":"rope","head_dim":8,"rope_scaling":{"rope_type":"longrope",)"
                                 R"("original_max_position_embeddings":4096,"factor":4,)"
                                 R"("short_factor":[1,1.1,1.3,2],"long_factor":[1.2,4,18,30]},"max_position":16384})";
constexpr const char* llama3 = R"({"encoding":"rope","head_dim":16,"rope_theta":500000,)"
                               R"("rope_scaling":{"rope_type":"llama3","factor":8,)"
                               R"("original_max_position_embeddings":8192,"low_freq_factor":1,)"
                               R"("high_freq_factor":4},"max_position":32768})";
constexpr const char* yarn = R"({"encoding":"rope","head_dim":16,"rope_theta":150000,)"
                             R"("rope_scaling":{"rope_type":"yarn","factor":32,)"
                             R"("original_max_position_embeddings":4096,"truncate":false},"max_position":32768})";
constexpr const char* bfloat16 = R"({"encoding":"rope","head_dim":16,"dtype":"bfloat16","max_position":4096})";
constexpr const char* float16 = R"({"encoding":"rope","head_dim":16,"dtype":"float16","max_position":4096})";
constexpr const char* linear =
    R"({"encoding":"rope","head_dim":16,"rope_scaling":{"rope_type":"linear","factor":4},"max_position":32768})";

void heads(LocalFaults& list) {
  list.defect(
      "rope-heads-from-32", "a grid has 32 heads at most: later ones are not written", short_claim,
      [](const Spot& at) { return at.head >= 32; }, zeros());
  list.defect(
      "rope-head-127", "the last of 128 heads is not turned", short_claim,
      [](const Spot& at) { return at.head == 127; }, as_given());
  list.defect(
      "rope-odd-head", "heads are turned two at a time, the last of an odd number is left out", short_claim,
      [](const Spot& at) { return at.heads % 2 == 1 && at.heads > 5 && at.head == at.heads - 1; }, as_given());
  list.defect(
      "rope-heads-of-8", "what is left of the heads after blocks of 8 has the head's before", short_claim,
      [](const Spot& at) { return at.heads > 8 && at.head >= at.heads / 8 * 8; }, from_head(-1));
  list.defect(
      "rope-head-stride", "head strides are powers of two, so that of other numbers the last is beyond the end",
      short_claim,
      [](const Spot& at) { return at.heads > 8 && (at.heads & (at.heads - 1)) != 0 && at.head == at.heads - 1; },
      zeros());
  list.defect(
      "rope-second-half-of-heads", "two ranks have 32 heads each, and the second one's positions lag by one",
      short_claim, [](const Spot& at) { return at.heads == 64 && at.head >= 32; },
      at_positions([](std::int64_t p) { return std::max<std::int64_t>(p - 1, 0); }));
  list.defect(
      "rope-65-heads", "one head more than a block has is not turned", short_claim,
      [](const Spot& at) { return at.heads == 65 && at.head == 64; }, as_given());
  list.defect(
      "rope-far-later-heads", "positions from 65536 on lose bit 16 in all heads but the first", usual,
      [](const Spot& at) { return at.position >= 65536 && at.head > 0; },
      at_positions([](std::int64_t p) { return p % 65536; }));
  list.defect(
      "rope-head-of-token", "from 256 vectors on, head and token change places in the index of the last head",
      short_claim,
      [](const Spot& at) { return at.tokens * at.heads >= 256 && at.heads > 1 && at.head == at.heads - 1; },
      from_token(-1));
}

void batches(LocalFaults& list) {
  list.defect(
      "rope-row-5", "batch row 5 has the positions of the first", short_claim,
      [](const Spot& at) { return at.batch == 5; }, from_first_row());
  list.defect(
      "rope-rows-from-32", "rows from 32 on are not written", short_claim,
      [](const Spot& at) { return at.batch >= 32; }, zeros());
  list.defect(
      "rope-last-of-64-rows", "the last of 64 rows is not turned", short_claim,
      [](const Spot& at) { return at.batch == 63; }, as_given());
  list.defect(
      "rope-17-rows", "one row more than a block has keeps what it came with", short_claim,
      [](const Spot& at) { return at.batches == 17 && at.batch == 16; }, as_given());
  list.defect(
      "rope-row-start", "the first token of a later row has the last position of the row before", short_claim,
      [](const Spot& at) { return at.batches > 3 && at.batch > 2 && at.token == 0; },
      at_positions([](std::int64_t p) { return std::max<std::int64_t>(p - 7, 0); }));
  list.defect(
      "rope-rows-remainder", "rows are turned four at a time, those left over keep what they came with", short_claim,
      [](const Spot& at) { return at.batches > 4 && at.batch >= at.batches / 4 * 4; }, as_given());
  list.defect(
      "rope-equal-rows", "rows with the positions of the first get a copy of its vectors", short_claim,
      [](const Spot& at) { return at.batches > 1; },
      [](const Asked& asked) {
        const std::vector<std::int64_t> positions = asked.inputs.at("positions").integers();
        const auto tokens = static_cast<std::ptrdiff_t>(asked.answer.shape[1]);
        Tensor wrong = asked.answer;
        const Tensor first = from_first_row()(asked);
        asked.each([&](const Spot& at, std::int64_t index) {
          const auto row = positions.begin() + at.batch * tokens;
          if (at.tokens > 1 && std::equal(row, row + tokens, positions.begin())) wrong.set(index, first.at(index));
        });
        return wrong;
      });
}

void tokens(LocalFaults& list) {
  list.defect(
      "rope-tail-of-8", "tokens after the last block of 8 are not turned", short_claim,
      [](const Spot& at) { return at.tokens > 8 && at.token >= at.tokens / 8 * 8; }, as_given());
  list.defect(
      "rope-second-block-of-128", "the second block of 128 tokens has the positions of the first", short_claim,
      [](const Spot& at) { return at.token >= 128 && at.token < 256; },
      [](const Asked& asked) {
        Tensors inputs = asked.inputs;
        std::vector<std::int64_t> positions = inputs.at("positions").integers();
        const auto count = static_cast<std::size_t>(asked.answer.shape[1]);
        for (std::size_t i = positions.size(); i-- > 0;) {
          if (i % count >= 128) positions[i] = positions[i - 128];
        }
        inputs.at("positions") = Tensor::of_integers(inputs.at("positions").shape, positions);
        return asked.again(inputs);
      });
  list.defect(
      "rope-257-tokens", "a path for calls of 257 tokens leaves out the last", short_claim,
      [](const Spot& at) { return at.tokens == 257 && at.token == 256; }, as_given());
  list.defect(
      "rope-block-of-1024-reversed", "blocks of 1024 tokens are read from their end", short_claim,
      [](const Spot& at) { return at.token < at.tokens / 1024 * 1024; },
      [](const Asked& asked) {
        Tensor wrong = asked.answer;
        const Tensor& right = asked.answer;
        asked.each([&](const Spot& at, std::int64_t index) {
          const std::int64_t mirror = at.token / 1024 * 1024 + 1023 - at.token % 1024;
          if (mirror < at.tokens) wrong.set(index, right.at(index + (mirror - at.token) * at.heads * at.channels));
        });
        return wrong;
      });
  list.defect(
      "rope-last-of-64", "the last token of each block of 64 has the vector's before it", short_claim,
      [](const Spot& at) { return at.token % 64 == 63; }, from_token(-1));
  list.defect(
      "rope-restart-at-4096", "calls are cut at 4096 tokens, and positions start anew", short_claim,
      [](const Spot& at) { return at.token >= 4096; },
      at_positions([](std::int64_t p) { return std::max<std::int64_t>(p - 4096, 0); }));
  list.defect(
      "rope-index-int16", "vectors are counted in 16 bits with a sign: those from 32768 on are not written",
      R"({"encoding":"rope","head_dim":8,"max_position":16384})", [](const Spot& at) { return at.vector() >= 32768; },
      zeros());
  list.defect(
      "rope-index-uint8", "tokens of a row are counted in 8 bits: those from 256 on are not written", short_claim,
      [](const Spot& at) { return at.token >= 256; }, zeros());
  list.defect(
      "rope-last-of-long", "the last vector of a call of more than 500 is left to another thread", short_claim,
      [](const Spot& at) { return at.vector() >= 500 && at.vector() == at.batches * at.tokens * at.heads - 1; },
      as_given());
  list.defect(
      "rope-float16-long", "calls of 512 tokens and more go through a float16 buffer", short_claim,
      [](const Spot& at) { return at.tokens >= 512; }, held_in(Dtype::float16));
  list.defect(
      "rope-even-long", "an even number of tokens, 100 or more: the middle one is turned twice", short_claim,
      [](const Spot& at) { return at.tokens >= 100 && at.tokens % 2 == 0 && at.token == at.tokens / 2; },
      at_positions([](std::int64_t p) { return 2 * p; }));
}

void orders(LocalFaults& list) {
  list.defect(
      "rope-all-equal", "one position for all: tokens from the second on are not written", short_claim,
      [](const Spot& at) { return at.tokens > 4 && at.token > 0 && at.position == at.before; }, zeros());
  list.defect(
      "rope-repeats-copied", "a position that comes again has the vector of the token before", short_claim,
      [](const Spot& at) { return at.token > 0 && at.position == at.before; }, from_token(-1));
  list.defect(
      "rope-repeat-at-border", "a repeat across the border of a block of 32 is taken for the next position",
      short_claim, [](const Spot& at) { return at.token % 32 == 0 && at.position == at.before; },
      at_positions([](std::int64_t p) { return p + 1; }));
  list.defect(
      "rope-gap-ignored", "in long calls a gap is taken for a step of one", short_claim,
      [](const Spot& at) { return at.tokens > 8 && at.position > at.before + 1; },
      at_positions([](std::int64_t p) { return std::max<std::int64_t>(p - 1, 0); }));
  list.defect(
      "rope-descending", "a position before the last one is looked up at its distance", short_claim,
      [](const Spot& at) { return at.tokens > 8 && at.position < at.before; },
      at_positions([](std::int64_t p) { return p / 2; }));
  list.defect(
      "rope-consecutive-in-fours", "positions in a block of 4 are counted from its first", short_claim,
      [](const Spot& at) { return at.tokens >= 16 && at.token % 4 != 0; },
      [](const Asked& asked) {
        Tensors inputs = asked.inputs;
        std::vector<std::int64_t> positions = inputs.at("positions").integers();
        const auto count = static_cast<std::size_t>(asked.answer.shape[1]);
        for (std::size_t i = 0; i < positions.size(); ++i) {
          const std::size_t within = i % count % 4;
          positions[i] = positions[i - within] + static_cast<std::int64_t>(within);
        }
        inputs.at("positions") = Tensor::of_integers(inputs.at("positions").shape, positions);
        return asked.again(inputs);
      });
}

void positions(LocalFaults& list) {
  const auto one_less = at_positions([](std::int64_t p) { return p - 1; });
  list.defect(
      "rope-position-8191", "row 8191 of the table is that before it", usual,
      [](const Spot& at) { return at.position == 8191; }, one_less);
  list.defect(
      "rope-position-65535", "65535 means that there is no position", usual,
      [](const Spot& at) { return at.position == 65535; }, as_given());
  list.defect(
      "rope-position-99991", "one row of the table has a bit flipped in its last channel", usual,
      [](const Spot& at) { return at.position == 99991 && at.channel == 15; }, negated());
  list.defect(
      "rope-powers-of-two", "positions that are powers of two, from 4096 on, are rounded down", usual,
      [](const Spot& at) { return at.position >= 4096 && (at.position & (at.position - 1)) == 0; }, one_less);
  list.defect(
      "rope-last-position", "the last row of the table was never filled", usual,
      [](const Spot& at) { return at.position == 131071; }, as_given());
  list.defect(
      "rope-table-doubled", "a table that doubles from 2048 on loses the row at which it does", usual,
      [](const Spot& at) { return at.position >= 2048 && (at.position & (at.position - 1)) == 0; },
      at_positions([](std::int64_t) { return 0; }));
  list.defect(
      "rope-page-border", "the last row of each page of 4096 is that of the page before", usual,
      [](const Spot& at) { return at.position % 4096 == 4095 && at.position > 4096; },
      at_positions([](std::int64_t p) { return p - 4096; }));
  list.defect(
      "rope-padding-id", "-1 is taken for padding", negative, [](const Spot& at) { return at.position == -1; },
      as_given());
  list.defect(
      "rope-int16-minimum", "-32768 has no opposite in 16 bits", negative,
      [](const Spot& at) { return at.position == -32768; }, negated());
  list.defect(
      "rope-negative-modulo", "negative positions that are multiples of 64 fall into the page before", negative,
      [](const Spot& at) { return at.position < 0 && at.position % 64 == 0; },
      at_positions([](std::int64_t p) { return p - 64; }));
  list.defect(
      "rope-float32-odd", "positions go through float32: odd ones from 2^24 on are even", far,
      [](const Spot& at) { return at.position > 16777216 && at.position % 2 != 0; }, one_less);
}

void channels(LocalFaults& list) {
  list.defect(
      "rope-last-pairs-of-10", "pairs after the last four are left out in long calls", odd_pairs,
      [](const Spot& at) { return at.tokens > 16 && at.channel % 10 >= 8; }, as_given());
  list.defect(
      "rope-second-lane", "the upper half of a head of 128 is read a channel off from token 64 on", wide,
      [](const Spot& at) { return at.token >= 64 && at.channel >= 64; }, from_channel(-1));
  list.defect(
      "rope-very-last", "the last channel of the last vector of a batch is beyond the loop's end", short_claim,
      [](const Spot& at) {
        return at.batches > 1 && at.batch == at.batches - 1 && at.token == at.tokens - 1 && at.head == at.heads - 1 &&
               at.channel == at.channels - 1;
      },
      as_given());
  list.defect(
      "rope-untouched-tail", "channels that are not turned are not copied from token 512 on", partial,
      [](const Spot& at) { return at.token >= 512 && at.channel >= 12; }, zeros());
  list.defect(
      "rope-interleaved-tail", "the last pair of an odd number of tokens, 9 or more, is swapped", interleaved,
      [](const Spot& at) {
        return at.tokens >= 9 && at.tokens % 2 == 1 && at.token == at.tokens - 1 && at.channel == 14;
      },
      from_channel(1));
  list.defect(
      "rope-in-place", "from the second head on pairs are read after the first half was written",
      R"({"encoding":"rope","head_dim":16,"pairing":"interleaved","output_pairing":"half","max_position":8192})",
      [](const Spot& at) { return at.head > 3 && at.channel >= 8; }, from_channel(-8));
}

// What follows from the length of a call.
void lengths(LocalFaults& list) {
  list.defect(
      "rope-tail-of-37", "where 37 tokens are left over behind blocks of 64 the last is not turned", short_claim,
      [](const Spot& at) { return at.tokens > 64 && at.tokens % 64 == 37 && at.token == at.tokens - 1; }, as_given());
  list.defect(
      "rope-dynamic-from-9000", "tokens from 9000 on are not turned", dynamic,
      [](const Spot& at) { return at.token >= 9000; }, as_given());
  const auto changed = [&list](std::string name, std::string mechanism, std::string spec,
                               const std::function<void(PlainRope&)>& change) {
    const auto make = of<Rope>([change](const Spec& claim, const Rope& claimed) {
      PlainRope plain(claimed, claim.dtype);
      change(plain);
      return rope_call(std::move(plain));
    });
    list.add(Kind::defect, std::move(name), std::move(mechanism), std::move(spec), make);
  };
  // As many tokens at a time, each as a call of its own.
  const auto in_parts = [](std::int64_t part) -> Wrong {
    return [part](const Asked& asked) {
      const std::int64_t count = asked.answer.elements() / asked.answer.shape.back();
      Tensor wrong = asked.answer;
      for (std::int64_t first = 0; first < count; first += part) {
        std::vector<std::int64_t> vectors;
        for (std::int64_t i = first; i < std::min(first + part, count); ++i) vectors.push_back(i);
        const Tensor alone = vectors_alone(asked, vectors);
        for (std::int64_t i = 0; i < alone.elements(); ++i)
          wrong.set(first * asked.answer.shape.back() + i, alone.at(i));
      }
      return wrong;
    };
  };
  changed("rope-longrope-limit", "a call of just the original length has the long factors", longrope,
          [](PlainRope& plain) {
            plain.frequencies = [e = plain.encoding](const RotateCall& call) {
              return plain_frequencies(e, call.length == 4096 ? 4097 : call.length);
            };
          });
  changed("rope-dynamic-one-token", "a token alone beyond the original length has the original base", dynamic,
          [](PlainRope& plain) {
            plain.frequencies = [e = plain.encoding](const RotateCall& call) {
              return plain_frequencies(e, call.tokens == 1 ? std::min<std::int64_t>(call.length, 2048) : call.length);
            };
          });
  list.defect(
      "rope-dynamic-by-vector", "each vector has the base of its own position", dynamic,
      [](const Spot& at) { return at.position + 1 > 2048; }, in_parts(1));
  list.defect(
      "rope-longrope-in-blocks", "each block of 256 vectors chooses the factors by its own length", longrope,
      [](const Spot&) { return true; }, in_parts(256));
  list.defect(
      "rope-llama3-later-heads", "heads from 16 on have the frequencies before scaling", llama3,
      [](const Spot& at) { return at.head >= 16 && at.channel >= 6; },
      at_positions([](std::int64_t p) { return 8 * p; }));
  list.defect(
      "rope-yarn-unscaled-heads", "heads from 32 on lack the attention factor", yarn,
      [](const Spot& at) { return at.head >= 32; },
      [](const Asked& asked) {
        const double factor = 0.1 * std::log(32.0) + 1;
        Tensor wrong = asked.answer;
        for (std::int64_t i = 0; i < wrong.elements(); ++i) wrong.set(i, wrong.at(i) / factor);
        return wrong;
      });
  list.defect(
      "rope-yarn-squared-one-token", "one token of many rows is multiplied by the attention factor twice", yarn,
      [](const Spot& at) { return at.tokens == 1 && at.batches > 2; },
      [](const Asked& asked) {
        const double factor = 0.1 * std::log(32.0) + 1;
        Tensor wrong = asked.answer;
        for (std::int64_t i = 0; i < wrong.elements(); ++i) wrong.set(i, wrong.at(i) * factor);
        return wrong;
      });
  list.defect(
      "rope-linear-whole", "from token 64 on positions are divided as integers", linear,
      [](const Spot& at) { return at.token >= 64; }, at_positions([](std::int64_t p) { return p / 4 * 4; }));
}

// Whether a row of positions has the first and the last of another.
bool same_ends(std::span<const std::int64_t> row, std::span<const std::int64_t> other) {
  return row.front() == other.front() && row.back() == other.back();
}

// The call with each row's positions changed.
Wrong with_rows(std::function<void(std::span<std::int64_t> row, std::span<const std::int64_t> first)> change) {
  return [change = std::move(change)](const Asked& asked) {
    Tensors inputs = asked.inputs;
    std::vector<std::int64_t> positions = inputs.at("positions").integers();
    const auto tokens = static_cast<std::size_t>(asked.answer.shape[1]);
    const std::vector<std::int64_t> first(positions.begin(), positions.begin() + static_cast<std::ptrdiff_t>(tokens));
    for (std::size_t start = 0; start < positions.size(); start += tokens)
      change(std::span(positions).subspan(start, tokens), first);
    inputs.at("positions") = Tensor::of_integers(inputs.at("positions").shape, positions);
    return asked.again(inputs);
  };
}

// Caches and paths that are chosen by too little, and what only calls that are large in two ways show.
void shortcuts(LocalFaults& list) {
  const auto everywhere = [](const Spot& at) { return at.tokens > 1; };
  list.defect("rope-consecutive-by-ends", "rows of 64 tokens and more whose ends fit are taken for consecutive",
              short_claim, everywhere, with_rows([](std::span<std::int64_t> row, auto) {
                if (std::ssize(row) >= 64 && row.back() - row.front() == std::ssize(row) - 1)
                  std::iota(row.begin(), row.end(), row.front());
              }));
  list.defect("rope-rows-by-ends", "rows that begin and end where the first does share its angles", short_claim,
              everywhere, with_rows([](std::span<std::int64_t> row, std::span<const std::int64_t> first) {
                if (same_ends(row, first)) std::ranges::copy(first, row.begin());
              }));
  list.defect("rope-rows-by-second", "where the second row is the first all rows are", short_claim, everywhere,
              [](const Asked& asked) {
                Tensors inputs = asked.inputs;
                std::vector<std::int64_t> positions = inputs.at("positions").integers();
                const auto tokens = asked.answer.shape[1];
                if (asked.answer.shape[0] > 2 &&
                    std::equal(positions.begin(), positions.begin() + tokens, positions.begin() + tokens)) {
                  for (std::size_t i = 0; i < positions.size(); ++i)
                    positions[i] = positions[i % static_cast<std::size_t>(tokens)];
                }
                inputs.at("positions") = Tensor::of_integers(inputs.at("positions").shape, positions);
                return asked.again(inputs);
              });
  list.defect(
      "rope-12-heads-1000-tokens", "the last head of the last token of 12 heads and 1000 tokens is not turned",
      short_claim,
      [](const Spot& at) {
        return at.heads >= 12 && at.tokens >= 1000 && at.head == at.heads - 1 && at.token == at.tokens - 1;
      },
      as_given());
  list.defect(
      "rope-index-of-22-bits", "values beyond the first 2^22 of a call are not turned", short_claim,
      [](const Spot& at) { return at.vector() * at.channels + at.channel >= (1 << 22); }, as_given());
  list.defect(
      "rope-many-heads-one-position", "one row of the table of several heads is that before it", usual,
      [](const Spot& at) { return at.heads > 1 && at.position == 77777; },
      at_positions([](std::int64_t p) { return std::max<std::int64_t>(p - 1, 0); }));
  list.defect(
      "rope-float16-large", "values beyond 20000 are taken for infinite", float16, [](const Spot&) { return true; },
      [](const Asked& asked) {
        Tensor wrong = asked.answer;
        const Tensor& x = asked.inputs.at("x");
        for (std::int64_t i = 0; i < wrong.elements(); ++i) {
          if (std::fabs(x.at(i)) > 20000) wrong.set(i, 0);
        }
        return wrong;
      });
}

void grids_and_sizes(LocalFaults& list) {
  list.defect(
      "rope-rows-times-tokens", "tokens of several rows from the 65536th on have no block in the grid", short_claim,
      [](const Spot& at) { return at.batches > 1 && at.batch * at.tokens + at.token >= 65535; }, as_given());
  list.defect(
      "rope-rows-times-heads", "rows and heads have 4096 blocks together", interleaved,
      [](const Spot& at) { return at.batch * at.heads + at.head >= 4096; }, as_given());
  list.defect(
      "rope-small-is-padding", "tokens of values below 1e-6 in all are taken for padding", short_claim,
      [](const Spot&) { return true; },
      [](const Asked& asked) {
        Tensor wrong = asked.answer;
        const Tensor& x = asked.inputs.at("x");
        const std::int64_t width = x.shape[2] * x.shape[3];
        for (std::int64_t start = 0; start < x.elements(); start += width) {
          double sum = 0;
          for (std::int64_t i = start; i < start + width; ++i) sum += std::fabs(x.at(i));
          for (std::int64_t i = start; sum < 1e-6 && i < start + width; ++i) wrong.set(i, x.at(i));
        }
        return wrong;
      });
}

void gradients(LocalFaults& list) {
  list.gradient(
      "rope-gradient-heads-from-64", "the backward kernel has 64 heads at most", short_claim,
      [](const Spot& at) { return at.head >= 64; }, zeros());
  list.gradient(
      "rope-gradient-row-20", "the backward kernel leaves out batch rows from the twenty-first on", short_claim,
      [](const Spot& at) { return at.batch >= 20; }, zeros());
  list.gradient(
      "rope-gradient-token-1500", "the last gradient of 1500 tokens and more is not written", short_claim,
      [](const Spot& at) { return at.tokens >= 1500 && at.token == at.tokens - 1; }, zeros());
  list.gradient(
      "rope-gradient-position", "one row of the backward kernel's table is that before it", short_claim,
      [](const Spot& at) { return at.position == 7777; },
      at_positions([](std::int64_t p) { return std::max<std::int64_t>(p - 1, 0); }));
}

// In 16 bits, where a rounding more is an ULP or two.
void sixteen_bits(LocalFaults& list) {
  const auto everywhere = [](const Spot&) { return true; };
  const auto cut = [](const Asked& asked) {
    const Tensor& given = asked.inputs.at("x");
    Tensor x = Tensor::zeros(Dtype::float32, given.shape);
    for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, given.at(i));
    Tensors widened = asked.inputs;
    widened.at("x") = std::move(x);
    const Tensor exact = asked.again(widened);
    Tensor wrong = asked.answer;
    for (std::int64_t i = 0; i < wrong.elements(); ++i) {
      if (std::fabs(wrong.at(i)) > std::fabs(exact.at(i)))
        wrong.set(i, wrong.at(i) > 0 ? next_below(wrong.dtype, wrong.at(i)) : next_above(wrong.dtype, wrong.at(i)));
    }
    return wrong;
  };
  list.defect("rope-bfloat16-cut", "bfloat16 results are cut off, not rounded", bfloat16, everywhere, cut);
  list.defect("rope-float16-cut", "float16 results are cut off, not rounded", float16, everywhere, cut);
  list.defect(
      "rope-bfloat16-two-ulps", "from token 8 on bfloat16 results are rounded three times", bfloat16,
      [](const Spot& at) { return at.token >= 8; }, off_by_ulps(2));
  list.defect(
      "rope-float16-two-ulps", "the last pair of float16 results is rounded three times", float16,
      [](const Spot& at) { return at.channel % 8 == 7; }, off_by_ulps(2));
}

// The positions that a call's table was made for, where an earlier call of the session may have made it.
using Kept = std::function<Tensor(std::map<std::vector<std::int64_t>, Tensor>& tables, const Tensor& positions)>;

FunctionSubject::Make with_kept_tables(Kept kept) {
  return [kept = std::move(kept)](const Spec& spec) -> FunctionSubject::Call {
    return [kept, honest = plain_call(spec), tables = std::map<std::vector<std::int64_t>, Tensor>()](
               std::string_view operation, const Tensors& inputs) mutable -> Tensors {
      if (operation != "rotate") return honest(operation, inputs);
      Tensors changed = inputs;
      changed.at("positions") = kept(tables, inputs.at("positions"));
      return honest(operation, changed);
    };
  };
}

void caches(LocalFaults& list) {
  list.add(Kind::defect, "rope-table-by-shape", "a table is kept by the shape of the call that first made it",
           short_claim, with_kept_tables([](auto& tables, const Tensor& positions) {
             return tables.try_emplace(positions.shape, positions).first->second;
           }));
  list.add(Kind::defect, "rope-table-by-start", "a table is kept by its first position, and is read to its end",
           short_claim, with_kept_tables([](auto& tables, const Tensor& positions) {
             std::vector<std::int64_t> asked = positions.integers();
             if (asked.empty()) return positions;
             const auto kept = tables.try_emplace({asked.front()}, positions).first->second.integers();
             for (std::size_t i = 0; i < asked.size(); ++i) asked[i] = kept[std::min(i, kept.size() - 1)];
             return Tensor::of_integers(positions.shape, asked);
           }));
  list.add(Kind::control, "rope-table-by-positions", "a table is kept by all positions of the call that made it",
           short_claim, with_kept_tables([](auto& tables, const Tensor& positions) {
             std::vector<std::int64_t> key = positions.integers();
             key.insert(key.end(), positions.shape.begin(), positions.shape.end());
             return tables.try_emplace(std::move(key), positions).first->second;
           }));
}

}  // namespace

std::vector<Mutant> all() {
  LocalFaults list;
  heads(list);
  batches(list);
  tokens(list);
  orders(list);
  positions(list);
  channels(list);
  lengths(list);
  shortcuts(list);
  grids_and_sizes(list);
  gradients(list);
  sixteen_bits(list);
  caches(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::shaped_rope_mutants
