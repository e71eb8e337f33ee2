#include "reports/merge.hpp"

#include <fmt/format.h>

#include <vector>

#include "reports/same_run.hpp"

namespace sextant {

Report merge(std::span<const Report> shards) {
  if (shards.empty()) throw MergeError("no shard given");
  const Report& any = shards.front();
  if (!any.shard) throw MergeError(fmt::format("the report of {} is of a whole run, not of a shard", any.subject));
  std::vector<const Report*> ordered(static_cast<std::size_t>(any.shard->count), nullptr);
  for (const Report& shard : shards) {
    if (!shard.shard)
      throw MergeError(fmt::format("the report of {} is of a whole run, not of a shard", shard.subject));
    if (!shard.missing.empty())
      throw MergeError(fmt::format("shard {}/{} was cut short", shard.shard->index, shard.shard->count));
    if (const auto difference = difference_of_runs(any, shard)) throw MergeError("shards of different " + *difference);
    if (any.shard->count != shard.shard->count)
      throw MergeError(fmt::format("shards of different counts: {} and {}", any.shard->count, shard.shard->count));
    const Report*& place = ordered.at(static_cast<std::size_t>(shard.shard->index - 1));
    if (place != nullptr)
      throw MergeError(fmt::format("shard {}/{} is given twice", shard.shard->index, shard.shard->count));
    place = &shard;
  }
  std::size_t most = 0;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    if (ordered[i] == nullptr) throw MergeError(fmt::format("shard {}/{} is missing", i + 1, ordered.size()));
    most = std::max(most, ordered[i]->results.size());
  }
  Report whole = *ordered.front();
  whole.shard.reset();
  whole.results.clear();
  whole.seconds = 0;
  for (const Report* shard : ordered) whole.seconds += shard->seconds;
  for (std::size_t round = 0; round < most; ++round) {
    for (const Report* shard : ordered) {
      if (round < shard->results.size()) whole.results.push_back(shard->results[round]);
    }
  }
  whole.exit_status = exit_status(whole);
  return whole;
}

}  // namespace sextant
