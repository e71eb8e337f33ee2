#include "lib/spec/relative_bias.hpp"

#include "lib/spec/encoding_entry.hpp"

namespace sextant {

std::int64_t directed_buckets(const RelativeBias& encoding) {
  return encoding.bidirectional ? encoding.num_buckets / 2 : encoding.num_buckets;
}

namespace {

constexpr Names<LaterKeys, 2> places_of_later_keys{
    {{"at_zero", LaterKeys::at_zero}, {"mirrored", LaterKeys::mirrored}}};

RelativeBias read(Fields& fields) {
  RelativeBias encoding;
  encoding.num_buckets = fields.integer("num_buckets").value_or(encoding.num_buckets);
  encoding.max_distance = fields.integer("max_distance").value_or(encoding.max_distance);
  encoding.bidirectional = fields.boolean("bidirectional").value_or(encoding.bidirectional);
  encoding.later_keys = fields.choice("later_keys", places_of_later_keys, encoding.later_keys);
  return encoding;
}

void check(const RelativeBias& encoding) {
  // The encoder computes a border for each.
  check_count("num_buckets", encoding.num_buckets, std::int64_t{1} << 16);
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
  if (encoding.max_distance <= exact || encoding.max_distance > position_limit) {
    refuse_field(
        "max_distance",
        fmt::format("expected an integer above {}, the distances with a bucket of their own, and at most 2^53, got {}",
                    exact, encoding.max_distance));
  }
}

void write(const RelativeBias& encoding, nlohmann::ordered_json& object) {
  object["num_buckets"] = encoding.num_buckets;
  object["max_distance"] = encoding.max_distance;
  object["bidirectional"] = encoding.bidirectional;
  object["later_keys"] = text_of(places_of_later_keys, encoding.later_keys);
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
};

}  // namespace

constinit const EncodingEntry<RelativeBias> RelativeBias::entry{.name = "relative_bias",
                                                                .example = R"({"encoding":"relative_bias"})",
                                                                .fields = listed<field_meanings>,
                                                                .read = read,
                                                                .check = check,
                                                                .write = write,
                                                                .described = described,
                                                                .signature = signature};

}  // namespace sextant
