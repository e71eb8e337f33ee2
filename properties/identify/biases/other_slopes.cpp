#include "properties/identify/biases/other_slopes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "lib/numeric/index.hpp"
#include "lib/numeric/ulp.hpp"
#include "reference/alibi.hpp"

namespace sextant::identify {
namespace {

struct OtherSlopes {
  std::string words;
  std::vector<double> slopes;
};

std::vector<double> slopes_of(const Alibi& alibi) {
  reference::AlibiReference truth(alibi);
  std::vector<double> list;
  for (std::int64_t head = 0; head < alibi.num_heads; ++head)
    list.push_back(truth.slope(head, reference::first_precision).upper());
  return list;
}

std::vector<double> each_of(std::vector<double> slopes, const std::function<double(double)>& change) {
  std::ranges::transform(slopes, slopes.begin(), change);
  return slopes;
}

double toward_zero(Dtype dtype, double slope) {
  const double nearest = round_to(dtype, slope);
  return nearest == slope ? slope : round_to(dtype, slope - ulp(dtype, slope) / 2);
}

// Of slopes that a spec has in a format.
std::vector<OtherSlopes> other_roundings(const Alibi& claimed, Dtype format) {
  Alibi exact = claimed;
  exact.slope_dtype.reset();
  const std::vector<double> real = slopes_of(exact);
  std::vector<OtherSlopes> list;
  for (const Dtype first : {Dtype::float16, Dtype::bfloat16}) {
    if (first == format) continue;
    list.push_back({fmt::format("slopes are rounded to {} before {}", name_of(first), name_of(format)),
                    each_of(real, [&](double slope) { return round_to(format, round_to(first, slope)); })});
  }
  list.push_back({fmt::format("slopes are cut off to {}, not rounded", name_of(format)),
                  each_of(real, [&](double slope) { return toward_zero(format, slope); })});
  const double first = round_to(format, real.front());
  std::vector<double> powers;
  for (std::size_t head = 0; head < real.size(); ++head)
    powers.push_back(std::pow(first, static_cast<double>(head + 1)));
  const std::string of_first =
      fmt::format("slopes are powers of the first one's {}, where the claim rounds each by itself", name_of(format));
  list.push_back({of_first, powers});
  list.push_back({of_first, each_of(powers, [&](double slope) { return round_to(format, slope); })});
  return list;
}

std::vector<OtherSlopes> others_of(const Alibi& claimed, const std::vector<double>& own) {
  std::vector<OtherSlopes> list;
  const std::int64_t heads = claimed.num_heads;
  for (std::int64_t ranks = 2; ranks <= 16; ranks *= 2) {
    if (heads % ranks != 0) break;
    Alibi local = claimed;
    local.num_heads = heads / ranks;
    const std::vector<double> of_rank = slopes_of(local);
    std::vector<double> repeated;
    for (std::int64_t head = 0; head < heads; ++head) repeated.push_back(of_rank[index(head % local.num_heads)]);
    list.push_back({fmt::format("slopes are those of {} heads, {} times over, as on each of {} ranks that count their "
                                "own heads alone",
                                local.num_heads, ranks, ranks),
                    std::move(repeated)});
  }
  for (std::int64_t block = 1; block < heads; block *= 2) {
    std::vector<double> again = own;
    for (std::int64_t head = block; head < heads; ++head) again[index(head)] = own[index(head - block)];
    list.push_back({fmt::format("heads from {} on have the slopes of the first ones", block), std::move(again)});
  }
  for (std::int64_t head = 0; head < heads; ++head) {
    for (const std::int64_t other : {head - 1, head + 1}) {
      if (other < 0 || other >= heads) continue;
      std::vector<double> one = own;
      one[index(head)] = own[index(other)];
      list.push_back({fmt::format("head {} has the slope of head {}", head, other), std::move(one)});
    }
  }
  if (!claimed.slope_dtype) return list;
  for (OtherSlopes& other : other_roundings(claimed, *claimed.slope_dtype)) list.push_back(std::move(other));
  return list;
}

}  // namespace

std::string other_slopes(const Alibi& claimed, const std::vector<double>& claimed_slopes,
                         const std::function<bool(const std::vector<double>& tried)>& are) {
  for (const OtherSlopes& other : others_of(claimed, claimed_slopes)) {
    if (are(other.slopes)) return other.words;
  }
  return {};
}

}  // namespace sextant::identify
