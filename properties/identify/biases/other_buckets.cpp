#include "properties/identify/biases/other_buckets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "properties/model/bucket_arithmetic.hpp"
#include "reference/relative_bias.hpp"

namespace sextant::identify {
namespace {

struct OtherBuckets {
  std::string words;
  std::function<double(std::int64_t relative)> bucket;
};

double own(const RelativeBias& claimed, std::int64_t relative) {
  return static_cast<double>(reference::bucket(claimed, relative));
}

// Where the logarithmic buckets begin on a side.
std::int64_t exact_distances(const RelativeBias& claimed) { return directed_buckets(claimed) / 2; }

// DeBERTa's rows, as lib/spec/relative_bias.hpp states them, with other steps: e + rounded(steps), of a distance n
// beyond e. Double precision leaves a step open that lies on a border, which formulas of no claim may round either way.
// Code takes distances from max_distance on for the last row by themselves, or by what the formula comes to.
enum class BeyondMost { formula, last };

std::vector<OtherBuckets> other_logarithms(const RelativeBias& claimed, BeyondMost beyond) {
  const auto span = static_cast<double>(directed_buckets(claimed));
  const auto furthest = static_cast<double>(claimed.max_distance);
  const auto rows = [span, furthest, beyond](double exact, auto steps) {
    return [span, furthest, beyond, exact, steps](std::int64_t relative) {
      const double n = std::fabs(static_cast<double>(relative));
      const bool is_last = beyond == BeyondMost::last && n >= furthest;
      const double size = n <= exact ? n : is_last ? span : exact + steps(n);
      const double signed_rows = std::copysign(size, static_cast<double>(-relative));
      return std::clamp(span + signed_rows, 0.0, 2 * span - 1);
    };
  };
  const auto steps = [](double exact, double last, double count) {
    return [exact, last, count](double n) { return std::log(n / exact) / std::log(last / exact) * count; };
  };
  const double exact = std::floor(span / 2);
  const auto released = steps(exact, furthest - 1, exact - 1);
  const auto rounded_up = [](auto of) { return [of](double n) { return std::ceil(of(n)); }; };
  return {
      {"logarithmic steps are rounded down, not up",
       rows(exact, [released](double n) { return std::floor(released(n)); })},
      {"logarithmic steps are rounded to the nearest, not up",
       rows(exact, [released](double n) { return std::round(released(n)); })},
      {"logarithms are divided by that of max_distance, not of one less",
       rows(exact, rounded_up(steps(exact, furthest, exact - 1)))},
      {"logarithms make one step more than the claim's", rows(exact, rounded_up(steps(exact, furthest - 1, exact)))},
      {"a quarter of a direction's rows have one distance each, where the claim has half of them",
       rows(exact / 2, rounded_up(steps(exact / 2, furthest - 1, exact / 2 - 1)))},
      {"logarithms are rounded to bfloat16",
       rows(exact,
            [exact, furthest](double n) {
              const double part = round_to(Dtype::bfloat16, std::log(n / exact));
              return std::ceil(part / round_to(Dtype::bfloat16, std::log((furthest - 1) / exact)) * (exact - 1));
            })},
  };
}

// T5's: min(e + rounded(steps), last) of a distance n from e on, in each direction that has buckets of its own.
std::vector<OtherBuckets> other_logarithms_of_t5(const RelativeBias& claimed) {
  const auto count = static_cast<double>(directed_buckets(claimed));
  const auto furthest = static_cast<double>(claimed.max_distance);
  const auto rows = [claimed, count](double exact, auto steps) {
    return [claimed, count, exact, steps](std::int64_t relative) {
      const double next = own(claimed, relative < 0 ? -1 : 1);
      // The query itself, and a direction without buckets.
      if (relative == 0 || next == own(claimed, 0)) return own(claimed, relative);
      const double n = std::fabs(static_cast<double>(relative));
      return next - 1 + (n < exact ? n : std::min(exact + steps(n), count - 1));
    };
  };
  const auto steps = [](double exact, double last, double number) {
    return [exact, last, number](double n) { return std::log(n / exact) / std::log(last / exact) * number; };
  };
  const auto rounded_down = [](auto of) { return [of](double n) { return std::floor(of(n)); }; };
  const double exact = std::floor(count / 2);
  const auto released = steps(exact, furthest, count - exact);
  const double quarter = std::floor(count / 4);
  std::vector<OtherBuckets> list{
      {"logarithmic steps are rounded to the nearest, not down",
       rows(exact, [released](double n) { return std::floor(released(n) + 0.5); })},
      {"logarithmic steps are rounded up, not down",
       rows(exact, [released](double n) { return std::ceil(released(n)); })},
      {"logarithms are divided by that of one less than max_distance, not of max_distance",
       rows(exact, rounded_down(steps(exact, furthest - 1, count - exact)))},
      {"logarithms make one step less than the claim's",
       rows(exact, rounded_down(steps(exact, furthest, count - exact - 1)))},
  };
  if (quarter >= 1)
    list.push_back({"a quarter of a direction's buckets have one distance each, where the claim has half of them",
                    rows(quarter, rounded_down(steps(quarter, furthest, count - quarter)))});
  for (double other = 1; other < count; ++other) {
    if (other == exact || other == quarter || other >= furthest) continue;
    list.push_back({fmt::format("the first {} distances of a direction have one bucket each, where the claim has {}",
                                other, exact),
                    rows(other, rounded_down(steps(other, furthest, count - other)))});
  }
  return list;
}

std::vector<OtherBuckets> other_buckets(const RelativeBias& claimed) {
  const std::int64_t span = directed_buckets(claimed);
  const std::int64_t exact = exact_distances(claimed);
  std::vector<OtherBuckets> list{
      {"the number of buckets is halved once more: each bucket is half the claimed one, rounded down",
       [=](std::int64_t relative) { return std::floor(own(claimed, relative) / 2); }}};
  list.push_back({"distances are numbers of 8 bits with a sign: they wrap beyond 127",
                  [=](std::int64_t relative) { return own(claimed, static_cast<std::int8_t>(relative)); }});
  if (claimed.buckets == BucketRule::t5) {
    list.push_back(
        {"a distance at the border of two logarithmic buckets is in the nearer one", [=](std::int64_t relative) {
           if (std::abs(relative) <= exact) return own(claimed, relative);
           return own(claimed, relative < 0 ? relative + 1 : relative - 1);
         }});
    list.push_back({"distances beyond max_distance are not clamped to the last bucket: they have the one before",
                    [=](std::int64_t relative) {
                      const bool is_beyond = std::abs(relative) > claimed.max_distance;
                      return own(claimed, relative) - (is_beyond ? 1 : 0);
                    }});
    if (exact >= 1) {
      for (OtherBuckets& other : other_logarithms_of_t5(claimed)) list.push_back(std::move(other));
    }
    return list;
  }
  list.push_back({"keys behind the query end at row 1, where the claim has row 0",
                  [=](std::int64_t relative) { return std::max(own(claimed, relative), 1.0); }});
  if (claimed.buckets == BucketRule::clipped) {
    list.push_back({"distances are clipped at half of those that have a row",
                    [=](std::int64_t relative) { return own(claimed, std::clamp(relative, -exact, exact)); }});
    list.push_back({"distances beyond the last are counted from the table's other end", [=](std::int64_t relative) {
                      const std::int64_t row = (span - relative) % claimed.num_buckets;
                      return static_cast<double>(row < 0 ? row + claimed.num_buckets : row);
                    }});
    return list;
  }
  for (const BeyondMost beyond : {BeyondMost::formula, BeyondMost::last}) {
    for (OtherBuckets& other : other_logarithms(claimed, beyond)) list.push_back(std::move(other));
  }
  return list;
}

// How many distances may lie on a border of a formula's, where arithmetic decides.
constexpr std::int64_t most_on_borders = 2;

}  // namespace

BucketWords words_of_buckets(const Spec& claim, const RelativeBias& claimed, std::int64_t far,
                             const std::function<double(std::int64_t relative)>& seen) {
  std::int64_t count = 0;
  std::int64_t nearest = far + 1;
  for (std::int64_t relative = -far; relative <= far; ++relative) {
    if (seen(relative) == own(claimed, relative)) continue;
    const auto beside = reference::bucket_beside(claimed, relative, bucket_arithmetic_of(claim));
    if (beside && seen(relative) == static_cast<double>(*beside)) continue;
    ++count;
    if (std::abs(relative) < std::abs(nearest)) nearest = relative;
  }
  if (count == 0) return {};
  for (const OtherBuckets& other : other_buckets(claimed)) {
    std::int64_t apart = 0;
    for (std::int64_t relative = -far; relative <= far && apart <= most_on_borders; ++relative)
      apart += seen(relative) == other.bucket(relative) ? 0 : 1;
    // Few exceptions say nothing of a formula that differs from the claim's in few distances.
    if (apart == 0 || (apart <= most_on_borders && count > 8 * most_on_borders))
      return {other.words, BucketWords::Are::formula};
  }
  return {fmt::format("of key - query = {} to {} {} of {} have other buckets than claimed: {} has {:g}, not {:g}", -far,
                      far, count, 2 * far + 1, nearest, seen(nearest), own(claimed, nearest)),
          BucketWords::Are::count};
}

}  // namespace sextant::identify
