#include "reports/merge.hpp"

#include <fmt/format.h>

#include <vector>

namespace sextant {
namespace {

void need_same(const char* what, const std::string& one, const std::string& other) {
  if (one != other) throw MergeError(fmt::format("shards of different {}: {} and {}", what, one, other));
}

}  // namespace

Report merge(std::span<const Report> shards) {
  if (shards.empty()) throw MergeError("no shard given");
  const Report& any = shards.front();
  if (!any.shard) throw MergeError(fmt::format("the report of {} is of a whole run, not of a shard", any.subject));
  std::vector<const Report*> ordered(static_cast<std::size_t>(any.shard->count), nullptr);
  for (const Report& shard : shards) {
    if (!shard.shard) throw MergeError(fmt::format("the report of {} is of a whole run, not of a shard", shard.subject));
    need_same("versions of Sextant", any.sextant_version, shard.sextant_version);
    need_same("subjects", any.subject, shard.subject);
    need_same("specs", any.spec_json, shard.spec_json);
    need_same("profiles", any.profile, shard.profile);
    need_same("seeds", std::to_string(any.seed), std::to_string(shard.seed));
    need_same("commands", any.command, shard.command);
    need_same("counts", std::to_string(any.shard->count), std::to_string(shard.shard->count));
    const Report*& place = ordered.at(static_cast<std::size_t>(shard.shard->index - 1));
    if (place != nullptr) throw MergeError(fmt::format("shard {}/{} is given twice", shard.shard->index, shard.shard->count));
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
  whole.exit_status = exit_status(whole.results, whole.strictness);
  return whole;
}

}  // namespace sextant
