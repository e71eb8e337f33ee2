#include "reference/relative_bias.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "properties/model/bucket_arithmetic.hpp"
#include "properties/model/looked_up_bias.hpp"
#include "properties/model/models.hpp"
#include "properties/model/variants.hpp"

namespace sextant {
namespace {

// Buckets of distances, each looked for once.
class Buckets {
 public:
  static constexpr std::string_view name = "bucket";

  Buckets(const Spec& spec, const RelativeBias& encoding)
      : encoding_(encoding), arithmetic_(bucket_arithmetic_of(spec)) {}

  std::int64_t of(const BiasPlace& place) { return of(place.key - place.query); }
  std::optional<std::int64_t> beside(const BiasPlace& place) {
    const std::int64_t relative = place.key - place.query;
    const std::int64_t reach = std::min<std::int64_t>(encoding_.max_distance, most_kept);
    if (relative <= -reach || relative >= reach) return reference::bucket_beside(encoding_, relative, arithmetic_);
    if (beside_.empty()) beside_.assign(static_cast<std::size_t>(2 * reach), unknown);
    std::int64_t& other = beside_[static_cast<std::size_t>(relative + reach)];
    if (other == unknown) other = reference::bucket_beside(encoding_, relative, arithmetic_).value_or(none);
    return other == none ? std::nullopt : std::optional(other);
  }

  std::int64_t of(std::int64_t relative) {
    // From max_distance on all share the last one, which is quickly said.
    const std::int64_t reach = std::min<std::int64_t>(encoding_.max_distance, most_kept);
    if (relative <= -reach || relative >= reach) return reference::bucket(encoding_, relative);
    if (known_.empty()) known_.assign(static_cast<std::size_t>(2 * reach), unknown);
    std::int64_t& bucket = known_[static_cast<std::size_t>(relative + reach)];
    if (bucket == unknown) bucket = reference::bucket(encoding_, relative);
    return bucket;
  }

  reference::Enclosure truth(const Tensor& weight, const BiasPlace& place, reference::Precision precision) const {
    return reference::bias(encoding_, weight, place.query, place.key, place.head, precision);
  }

 private:
  static constexpr std::int64_t most_kept = std::int64_t{1} << 16;
  static constexpr std::int64_t unknown = -1;
  static constexpr std::int64_t none = -2;
  RelativeBias encoding_;
  reference::BucketArithmetic arithmetic_;
  std::vector<std::int64_t> known_;
  std::vector<std::int64_t> beside_;
};

class RelativeModel final : public BiasModel {
 public:
  RelativeModel(const Spec& spec, const RelativeBias& encoding) : BiasModel(spec), encoding_(encoding) {}

  std::int64_t judged_values() const override { return 0; }  // no value needs the exact tier

  std::vector<Variant> variants() const override {
    Variants<RelativeBias> list(spec());
    list.with("num_buckets", [](RelativeBias& e) {
      e.num_buckets += 8;
      if (e.buckets == BucketRule::clipped) e.max_distance = e.num_buckets / 2;
    });
    for (const BucketRule rule : {BucketRule::t5, BucketRule::log, BucketRule::clipped}) {
      list.with("buckets", [rule](RelativeBias& e) {
        e.buckets = rule;
        if (rule == BucketRule::clipped) e.max_distance = e.num_buckets / 2;
      });
    }
    list.with("max_distance", [](RelativeBias& e) { e.max_distance *= 3; });
    list.with("bidirectional", [](RelativeBias& e) {
      e.bidirectional = !e.bidirectional;
      e.later_keys = LaterKeys::at_zero;
    });
    list.with("later_keys", [](RelativeBias& e) {
      e.later_keys = e.later_keys == LaterKeys::at_zero ? LaterKeys::mirrored : LaterKeys::at_zero;
    });
    return list.made();
  }

  // Step 8: buckets rise with the distance, so those of the farthest keys tell.
  std::string met_beyond() const override {
    const auto last = [&](std::int64_t end) { return reference::bucket(encoding_, -(end - 1 - range().first)); };
    const std::int64_t met = last(trained_end());
    const std::int64_t reached = last(range().last);
    return reached == met ? std::string("distances beyond the trained ones share the last bucket that was trained")
                          : fmt::format("buckets {} to {} of keys before the query are met that were not trained",
                                        met + 1, reached);
  }

  std::unique_ptr<Judge> judge() const override {
    return std::make_unique<LookedUpJudge<Buckets>>(spec().dtype, Buckets(spec(), encoding_));
  }
  std::unique_ptr<ScoreBiasOracle> score_bias() const override {
    return std::make_unique<LookedUpScoreBias<Buckets>>(Buckets(spec(), encoding_));
  }

 private:
  std::int64_t swept_heads() const override { return 2; }

  std::optional<Tensor> drawn_weight(std::int64_t heads, std::int64_t fill) const override {
    return drawn_table(spec().dtype, encoding_.num_buckets, heads, fill);
  }

  RelativeBias encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const RelativeBias& encoding) {
  return std::make_unique<RelativeModel>(spec, encoding);
}

}  // namespace sextant
