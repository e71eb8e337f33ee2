#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "properties/mutants/local_fault.hpp"

// Biases that are wrong in calls of some shape, in tiles, in later heads, or at some distance alone. A spot's token is
// a query, its channel a key, its second position the key's.

namespace sextant::mutants::shaped_bias_mutants {
namespace {

constexpr const char* alibi = R"({"encoding":"alibi","num_heads":8,"max_position":16384})";
constexpr const char* symmetric = R"({"encoding":"alibi","num_heads":8,"mask":"symmetric","max_position":16384})";
constexpr const char* key_index = R"({"encoding":"alibi","num_heads":8,"form":"key_index","max_position":16384})";
constexpr const char* many_heads = R"({"encoding":"alibi","num_heads":112,"max_position":4096})";
constexpr const char* t5 = R"({"encoding":"relative_bias","max_position":8192})";
constexpr const char* t5_decoder = R"({"encoding":"relative_bias","bidirectional":false,"max_position":8192})";
constexpr const char* t5_wide =
    R"({"encoding":"relative_bias","num_buckets":48,"max_distance":1000,"max_position":8192})";

std::int64_t distance(const Spot& at) { return at.second - at.position; }

// Tiles of 64 queries and 64 keys that are written by columns.
Wrong transposed_tiles() {
  return [](const Asked& asked) {
    Tensor wrong = asked.answer;
    asked.each([&](const Spot& at, std::int64_t index) {
      const std::int64_t query = at.token / 64 * 64 + at.channel % 64;
      const std::int64_t key = at.channel / 64 * 64 + at.token % 64;
      if (query < at.tokens && key < at.channels)
        wrong.set(index, asked.answer.at((at.head * at.tokens + query) * at.channels + key));
    });
    return wrong;
  };
}

void alibi_faults(LocalFaults& list) {
  list.defect(
      "alibi-keys-from-64", "keys from the 65th on have no bias", alibi,
      [](const Spot& at) { return at.channel >= 64; }, zeros());
  list.defect(
      "alibi-distance-4097", "one distance is that before it", alibi,
      [](const Spot& at) { return distance(at) == -4097; }, at_distances([](std::int64_t d) { return d + 1; }));
  list.defect(
      "alibi-distance-256", "distances are counted in 8 bits at one place: 256 is 0", alibi,
      [](const Spot& at) { return distance(at) == -256; }, zeros());
  list.defect(
      "alibi-clamped-late", "distances beyond 2047 count as that for the second query", alibi,
      [](const Spot& at) { return at.token >= 1 && distance(at) < -2047; },
      at_distances([](std::int64_t) { return -2047; }));
  list.defect(
      "alibi-next-key", "the key just after the query is taken for the one just before its neighbour", symmetric,
      [](const Spot& at) { return distance(at) == 1; }, at_distances([](std::int64_t) { return 2; }));
  list.defect(
      "alibi-far-ahead", "keys more than 10000 ahead are clamped", symmetric,
      [](const Spot& at) { return distance(at) > 10000; }, at_distances([](std::int64_t) { return 10000; }));
  list.defect(
      "alibi-key-tail", "keys after the last block of 8 have the bias of the one before", alibi,
      [](const Spot& at) { return at.channels > 56 && at.channel >= at.channels / 8 * 8; }, from_channel(-1));
  list.defect(
      "alibi-head-100", "head 100 of 112 has its neighbour's slope", many_heads,
      [](const Spot& at) { return at.head == 100; }, from_head(-1));
  list.defect(
      "alibi-heads-from-64", "heads beyond a power of two have the slopes that follow it", many_heads,
      [](const Spot& at) { return at.head >= 64; }, from_head(-64));
  list.defect(
      "alibi-float16-far", "biases of distances from 1024 on are kept in float16", alibi,
      [](const Spot& at) { return distance(at) <= -1024; }, held_in(Dtype::float16));
  list.defect(
      "alibi-key-5000", "one key of the row is that before it", key_index,
      [](const Spot& at) { return at.second == 5000; },
      [](const Asked& asked) {
        Tensors inputs = asked.inputs;
        std::vector<std::int64_t> keys = inputs.at("key_positions").integers();
        for (std::int64_t& key : keys) --key;
        inputs.at("key_positions") = Tensor::of_integers(inputs.at("key_positions").shape, keys);
        return asked.again(inputs);
      });
  list.defect(
      "alibi-one-query-long", "decoding with more than 64 keys counts from the key before", alibi,
      [](const Spot& at) { return at.tokens == 1 && at.channels > 64; },
      at_distances([](std::int64_t d) { return d - 1; }));
  list.defect(
      "alibi-more-queries", "of more queries than keys the later ones are not written", alibi,
      [](const Spot& at) { return at.tokens > at.channels && at.token >= at.channels; }, zeros());
  list.defect(
      "alibi-query-tile", "the second tile of 16 queries has the first one's distances", alibi,
      [](const Spot& at) { return at.token >= 16; }, from_token(-16));
  list.defect(
      "alibi-one-query", "one query position has no bias", alibi, [](const Spot& at) { return at.position == 3000; },
      zeros());
  list.defect(
      "alibi-beyond-1024", "of more than 1024 queries and keys the last value is that of the key before", alibi,
      [](const Spot& at) {
        return at.tokens > 1024 && at.channels > 1024 && at.token == at.tokens - 1 && at.channel == at.channels - 1;
      },
      from_channel(-1));
  list.defect(
      "alibi-tile-transposed", "tiles of 64 by 64 are written by columns", symmetric,
      [](const Spot& at) { return at.tokens >= 64 && at.channels >= 64; }, transposed_tiles());
}

void relative_faults(LocalFaults& list) {
  const auto nearer = at_distances([](std::int64_t d) { return d < 0 ? d + 1 : d - 1; });
  list.defect(
      "t5-border-8", "the first distance of the logarithmic buckets falls into the last exact one", t5,
      [](const Spot& at) { return distance(at) == -8; }, nearer);
  list.defect(
      "t5-border-64", "a power of two is rounded down, at 64", t5_decoder,
      [](const Spot& at) { return distance(at) == -64; }, at_distances([](std::int64_t) { return -40; }));
  list.defect(
      "t5-ahead-16", "the border at 16 is that of the other direction", t5,
      [](const Spot& at) { return distance(at) == 16; }, at_distances([](std::int64_t) { return -16; }));
  list.defect(
      "t5-distance-one", "the next key has the query's own bucket in the second query", t5,
      [](const Spot& at) { return distance(at) == -1 && at.token == 1; }, nearer);
  list.defect(
      "t5-max-distance", "the last distance before the last bucket is already in it", t5_wide,
      [](const Spot& at) { return std::abs(distance(at)) >= 850 && std::abs(distance(at)) < 1000; },
      at_distances([](std::int64_t d) { return d < 0 ? -2000 : 2000; }));
  list.defect(
      "t5-far-4096", "distances from 4096 on wrap", t5, [](const Spot& at) { return std::abs(distance(at)) >= 4096; },
      at_distances([](std::int64_t d) { return d % 4096; }));
  list.defect(
      "t5-keys-from-64", "keys from the 65th on are not written", t5, [](const Spot& at) { return at.channel >= 64; },
      zeros());
  list.defect(
      "t5-keys-tail-of-4", "keys after the last four are not written", t5,
      [](const Spot& at) { return at.channels > 8 && at.channel >= at.channels / 4 * 4; }, zeros());
  list.defect(
      "t5-heads-from-16", "heads from 16 on have the weights of the one before", t5,
      [](const Spot& at) { return at.head >= 16; }, from_head(-1));
  list.defect(
      "t5-last-head-of-odd", "the last of an odd number of heads has the weights of the one before", t5,
      [](const Spot& at) { return at.heads > 2 && at.heads % 2 == 1 && at.head == at.heads - 1; }, from_head(-1));
  list.defect(
      "t5-one-query-long", "decoding with more than 64 keys counts from the key before", t5,
      [](const Spot& at) { return at.tokens == 1 && at.channels > 64; },
      at_distances([](std::int64_t d) { return d - 1; }));
  list.defect(
      "t5-more-queries", "of more queries than keys the later ones are not written", t5,
      [](const Spot& at) { return at.tokens > at.channels && at.token >= at.channels; }, zeros());
  list.defect(
      "t5-query-block", "queries after the first block of 32 have the bias of the one before", t5,
      [](const Spot& at) { return at.token >= 32; }, from_token(-1));
  list.defect(
      "t5-tile-transposed", "tiles of 64 by 64 are written by columns", t5,
      [](const Spot& at) { return at.tokens >= 64 && at.channels >= 64; }, transposed_tiles());
}

// The answer to one list of positions for queries and keys.
Wrong keys_from(std::function<std::vector<std::int64_t>(const std::vector<std::int64_t>& queries,
                                                        const std::vector<std::int64_t>& keys)>
                    change) {
  return [change = std::move(change)](const Asked& asked) {
    Tensors inputs = asked.inputs;
    Tensor& keys = inputs.at("key_positions");
    keys = Tensor::of_integers(keys.shape, change(inputs.at("query_positions").integers(), keys.integers()));
    return asked.again(inputs);
  };
}

// One by one from the first on.
std::vector<std::int64_t> one_by_one(std::vector<std::int64_t> positions) {
  for (std::size_t i = 1; i < positions.size(); ++i) positions[i] = positions[0] + static_cast<std::int64_t>(i);
  return positions;
}

void lists_of_positions(LocalFaults& list) {
  const auto everywhere = [](const Spot&) { return true; };
  list.defect("t5-queries-as-keys", "as many queries as keys, 16 or more, are taken for the same", t5, everywhere,
              keys_from([](const auto& queries, const auto& keys) {
                return queries.size() == keys.size() && keys.size() >= 16 ? queries : keys;
              }));
  list.defect("alibi-one-gap", "rising keys whose first two are neighbours are taken for consecutive", alibi,
              everywhere, keys_from([](const auto&, const auto& keys) {
                const bool rise = std::ranges::is_sorted(keys) && keys.size() >= 16 && keys[1] == keys[0] + 1;
                return rise ? one_by_one(keys) : keys;
              }));
  list.defect("alibi-ends-and-middle", "keys whose ends and middle fit are taken for consecutive", alibi, everywhere,
              keys_from([](const auto&, const auto& keys) {
                const std::vector<std::int64_t> consecutive = one_by_one(keys);
                const bool fit = keys.size() >= 16 && keys[keys.size() / 2] == consecutive[keys.size() / 2] &&
                                 keys.back() == consecutive.back();
                return fit ? consecutive : keys;
              }));
  list.defect(
      "t5-twelve-heads", "of 12 heads the last has the first one's weights", t5,
      [](const Spot& at) { return at.heads == 12 && at.head == 11; }, from_head(-11));
  list.defect("t5-weights-clipped", "weights beyond the range of float16 are clipped", t5, everywhere,
              clamped_to(65504));
}

}  // namespace

std::vector<Mutant> all() {
  LocalFaults list;
  alibi_faults(list);
  relative_faults(list);
  lists_of_positions(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::shaped_bias_mutants
