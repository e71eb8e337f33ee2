#include "reports/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "properties/verdict/diagnosis.hpp"
#include "properties/verdict/tally.hpp"
#include "reports/same_run.hpp"

namespace sextant {
namespace {

// Of results without a tally, which no cases were asked for, all shards have the same, unless the subject gave way in
// some of them: then that is what is known of the property.
bool is_kept(const PropertyResult& one, const PropertyResult& other) {
  if (!one.share != !other.share) return !one.share;
  return one.verdict <= other.verdict;
}

PropertyResult joined(PropertyResult one, PropertyResult other) {
  const double seconds = one.seconds + other.seconds;
  PropertyResult result = is_kept(one, other) ? one : other;
  if (one.share && other.share) result.share = std::make_shared<const Tally>(joined(*one.share, *other.share));
  result.seconds = seconds;
  return result;
}

// What is the property's own, whatever its cases came to.
PropertyResult about(const PropertyResult& result) {
  PropertyResult about;
  about.id = result.id;
  about.title = result.title;
  about.statement = result.statement;
  about.level = result.level;
  about.theory = result.theory;
  about.seconds = result.seconds;
  return about;
}

}  // namespace

void Merging::take(Report shard) {
  if (!shard.shard) throw MergeError(fmt::format("the report of {} is of a whole run, not of a shard", shard.subject));
  const auto [index, count] = *shard.shard;
  if (!shard.missing.empty()) throw MergeError(fmt::format("shard {}/{} was cut short", index, count));
  const bool is_first = taken_.empty();
  if (is_first) {
    count_ = count;
    taken_.assign(static_cast<std::size_t>(count), false);
  } else if (const auto difference = difference_of_runs(whole_, shard)) {
    throw MergeError("shards of different " + *difference);
  }
  if (count_ != count) throw MergeError(fmt::format("shards of different counts: {} and {}", count_, count));
  if (taken_[static_cast<std::size_t>(index - 1)])
    throw MergeError(fmt::format("shard {}/{} is given twice", index, count));
  taken_[static_cast<std::size_t>(index - 1)] = true;
  seconds_ += shard.seconds;
  if (is_first) {
    whole_ = std::move(shard);
    return;
  }
  join(shard);
  if (index == 1) {
    whole_.survey = std::move(shard.survey);
    whole_.diagnosis = std::move(shard.diagnosis);
    whole_.environment = std::move(shard.environment);
  }
}

void Merging::join(const Report& shard) {
  for (const std::string& note : shard.notes) {
    if (std::ranges::find(whole_.notes, note) == whole_.notes.end()) whole_.notes.push_back(note);
  }
  if (!whole_.stop) whole_.stop = shard.stop;
  if (!std::ranges::equal(whole_.results, shard.results, {}, &PropertyResult::id, &PropertyResult::id))
    throw MergeError("shards of different properties (--only, --skip)");
  for (std::size_t i = 0; i < whole_.results.size(); ++i)
    whole_.results[i] = joined(std::move(whole_.results[i]), shard.results[i]);
}

Report Merging::whole() && {
  if (taken_.empty()) throw MergeError("no shard given");
  const auto missing = std::ranges::find(taken_, false);
  if (missing != taken_.end())
    throw MergeError(fmt::format("shard {}/{} is missing", missing - taken_.begin() + 1, count_));
  whole_.shard.reset();
  for (PropertyResult& result : whole_.results) {
    if (result.share) result = settled(about(result), *result.share, Extent::whole);
  }
  if (!asks_for_diagnosis(whole_.results)) whole_.diagnosis.reset();
  whole_.seconds = seconds_;
  whole_.exit_status = exit_status(whole_);
  return std::move(whole_);
}

Report merge(std::span<const Report> shards) {
  Merging merging;
  for (const Report& shard : shards) merging.take(shard);
  return std::move(merging).whole();
}

}  // namespace sextant
