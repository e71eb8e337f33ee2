#include "lib/spec/relative_bias.hpp"

#include "lib/spec/encoding_entry.hpp"

namespace sextant {

std::int64_t directed_buckets(const RelativeBias& encoding) {
  const bool halves = encoding.bidirectional || encoding.buckets != BucketRule::t5;
  return halves ? encoding.num_buckets / 2 : encoding.num_buckets;
}

namespace spec_relative_bias {
namespace {

constexpr Names<LaterKeys, 2> places_of_later_keys{
    {{"at_zero", LaterKeys::at_zero}, {"mirrored", LaterKeys::mirrored}}};
constexpr Names<BucketRule, 3> rules{
    {{"t5", BucketRule::t5}, {"log", BucketRule::log}, {"clipped", BucketRule::clipped}}};

RelativeBias read(Fields& fields) {
  RelativeBias encoding;
  encoding.buckets = fields.choice("buckets", rules, encoding.buckets);
  encoding.num_buckets = fields.integer("num_buckets").value_or(encoding.num_buckets);
  const bool is_clipped = encoding.buckets == BucketRule::clipped;
  encoding.max_distance =
      fields.integer("max_distance").value_or(is_clipped ? directed_buckets(encoding) : encoding.max_distance);
  encoding.bidirectional = fields.boolean("bidirectional").value_or(encoding.bidirectional);
  encoding.later_keys = fields.choice("later_keys", places_of_later_keys, encoding.later_keys);
  return encoding;
}

void refuse_max_distance(const std::string& above, std::int64_t got) {
  refuse_field("max_distance", fmt::format("expected an integer above {}, and at most 2^53, got {}", above, got));
}

// log and clipped: rows for each direction, and of log half of a direction's with a distance each.
void check_two_directions(const RelativeBias& encoding) {
  const bool is_log = encoding.buckets == BucketRule::log;
  const std::string_view rule = text_of("buckets", rules, encoding.buckets);
  if (!encoding.bidirectional)
    refuse_field("bidirectional", fmt::format("expected true: buckets {} has rows for both directions", rule));
  if (encoding.later_keys == LaterKeys::mirrored)
    refuse_field("later_keys", fmt::format("expected at_zero: buckets {} has rows for both directions", rule));
  const std::int64_t multiple = is_log ? 4 : 2;
  const std::int64_t least = is_log ? 8 : 2;
  if (encoding.num_buckets < least || encoding.num_buckets % multiple != 0) {
    refuse_field("num_buckets", fmt::format("expected a multiple of {} from {} of buckets {}, got {}", multiple, least,
                                            rule, encoding.num_buckets));
  }
  const std::int64_t rows = directed_buckets(encoding);
  if (!is_log && encoding.max_distance != rows) {
    refuse_field("max_distance", fmt::format("expected num_buckets/2 = {}, from which clipped distances share the last "
                                             "bucket, got {}",
                                             rows, encoding.max_distance));
  }
  const std::int64_t exact = rows / 2;
  if (is_log && (encoding.max_distance <= exact + 1 || encoding.max_distance > position_limit))
    refuse_max_distance(fmt::format("{}, one more than the distances with a bucket of their own", exact + 1),
                        encoding.max_distance);
}

void check(const RelativeBias& encoding) {
  // The encoder computes a border for each.
  check_count("num_buckets", encoding.num_buckets, std::int64_t{1} << 16);
  if (encoding.buckets != BucketRule::t5) return check_two_directions(encoding);
  if (encoding.bidirectional && encoding.num_buckets % 2 != 0) {
    refuse_field("num_buckets",
                 fmt::format("expected an even number, half of them for each direction, got {}", encoding.num_buckets));
  }
  if (encoding.bidirectional && encoding.later_keys == LaterKeys::mirrored)
    refuse_field("later_keys",
                 "mirrored needs bidirectional false: else keys after the query have buckets of their own");
  const std::int64_t exact = directed_buckets(encoding) / 2;
  if (exact < 1) {
    refuse_field("num_buckets",
                 fmt::format("expected at least {}, got {}", encoding.bidirectional ? 4 : 2, encoding.num_buckets));
  }
  if (encoding.max_distance <= exact || encoding.max_distance > position_limit)
    refuse_max_distance(fmt::format("{}, the distances with a bucket of their own", exact), encoding.max_distance);
}

void write(const RelativeBias& encoding, nlohmann::ordered_json& object) {
  object["num_buckets"] = encoding.num_buckets;
  object["max_distance"] = encoding.max_distance;
  object["bidirectional"] = encoding.bidirectional;
  object["later_keys"] = text_of("later_keys", places_of_later_keys, encoding.later_keys);
  object["buckets"] = text_of("buckets", rules, encoding.buckets);
}

Signature signature(const RelativeBias& encoding) {
  return {.operation = Operation::bias,
          .buckets = encoding.num_buckets,
          .weight = WeightShape{encoding.num_buckets, std::nullopt}};
}

constexpr std::string_view described[] = {"num_buckets", "max_distance", "bidirectional"};

constexpr FieldMeaning field_meanings[] = {
    {"num_buckets", "rows of the table of weights"},
    {"max_distance", "the distance from which on all share the last bucket"},
    {"bidirectional", "whether keys after the query have buckets of their own"},
    {"later_keys", "where they have none: at_zero, the bucket of distance 0, or mirrored, that of their distance"},
    {"buckets", "which distances share one: t5; log, as DeBERTa-v2's; clipped: none up to the last, as Shaw et al.'s"},
};

}  // namespace
}  // namespace spec_relative_bias

constinit const EncodingEntry<RelativeBias> RelativeBias::entry{.name = "relative_bias",
                                                                .example = R"({"encoding":"relative_bias"})",
                                                                .fields = listed<spec_relative_bias::field_meanings>,
                                                                .read = spec_relative_bias::read,
                                                                .check = spec_relative_bias::check,
                                                                .write = spec_relative_bias::write,
                                                                .described = spec_relative_bias::described,
                                                                .signature = spec_relative_bias::signature};

}  // namespace sextant
