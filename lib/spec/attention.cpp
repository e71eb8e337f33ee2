#include "lib/spec/attention.hpp"

#include <algorithm>
#include <cmath>

#include "lib/spec/encoding_entry.hpp"

namespace sextant {
namespace spec_attention {
namespace {

constexpr Names<CachedKeys, 2> cached_keys{{{"plain", CachedKeys::plain}, {"rotated", CachedKeys::rotated}}};
constexpr Names<QueryScaleRule, 2> query_scale_rules{
    {{"log_of_periods", QueryScaleRule::log_of_periods}, {"log_n", QueryScaleRule::log_n}}};
constexpr std::int64_t window_limit = std::int64_t{1} << 53;

void check_size(std::string_view field, std::optional<std::int64_t> own, std::int64_t of_attention) {
  if (own.value_or(of_attention) != of_attention)
    refuse_field(fmt::format("position.{}", field),
                 fmt::format("{} contradicts {} = {} of attention", *own, field, of_attention));
}

// A rotation turns heads of attention's width, a bias has as many heads; what is added to the embeddings comes before.
void check_sizes(const Signature& position, const Attention& attention) {
  if (position.operation == Operation::rotate) check_size("head_dim", position.head_dim, attention.head_dim);
  if (position.operation == Operation::bias) check_size("num_heads", position.heads, attention.num_heads);
}

}  // namespace
}  // namespace spec_attention

bool acts_within(const Attention& encoding) {
  if (!encoding.position) return false;
  const Operation operation = signature_of(*encoding.position).operation;
  const bool turns = std::visit(
      [](const auto& position) {
        if constexpr (requires { pairs(position.rope); }) return pairs(position.rope) > 0;
        if constexpr (std::is_same_v<std::decay_t<decltype(position)>, Rope>) return pairs(position) > 0;
        return true;
      },
      *encoding.position);
  return (operation == Operation::rotate && turns) || operation == Operation::bias;
}

bool sees_positions(const Attention& encoding) { return acts_within(encoding) || encoding.query_scale.has_value(); }

double score_scale(const Attention& encoding) {
  return encoding.softmax_scale.value_or(1 / std::sqrt(static_cast<double>(encoding.head_dim)));
}

std::int64_t kv_head(const Attention& encoding, std::int64_t head) {
  return head / (encoding.num_heads / encoding.num_kv_heads);
}

KeyRange keys_seen(const Attention& encoding, std::int64_t token, const KeyRange& sequence) {
  KeyRange seen = sequence;
  if (encoding.window) {
    seen.first = std::max(seen.first, token - *encoding.window + 1);
    seen.end = std::min(seen.end, token + *encoding.window);
  }
  if (encoding.causal) seen.end = std::min(seen.end, token + 1);
  return seen.first < seen.end ? seen : KeyRange{token, token};
}

namespace spec_attention {
namespace {

void check_positive(std::string_view field, std::optional<double> value) {
  if (value && !(*value > 0 && std::isfinite(*value)))
    refuse_field(field, fmt::format("expected a positive number, got {}", *value));
}

constexpr double amount_limit = 16;
constexpr std::int64_t period_limit = std::int64_t{1} << 53;
constexpr std::int64_t offset_limit = std::int64_t{1} << 20;

std::optional<QueryScale> read_query_scale(Fields& fields) {
  const nlohmann::json* object = fields.object("query_scale");
  if (object == nullptr) return std::nullopt;
  Fields inner(*object, "query_scale.");
  QueryScale scale;
  scale.rule = inner.choice("rule", query_scale_rules, scale.rule);
  if (scale.rule == QueryScaleRule::log_n) {
    scale.length = inner.required_integer("length");
  } else {
    const auto amount = inner.number("amount");
    if (!amount) inner.refuse("amount", "required");
    scale.amount = *amount;
    scale.period = inner.required_integer("period");
  }
  scale.offset = inner.integer("offset").value_or(scale.offset);
  inner.finish();
  return scale;
}

void check_query_scale(const Attention& encoding) {
  const QueryScale& scale = *encoding.query_scale;
  if (scale.rule == QueryScaleRule::log_n) {
    if (scale.length < 2 || scale.length > period_limit)
      refuse_field("query_scale.length", fmt::format("expected an integer from 2 to 2^53, got {}", scale.length));
  } else {
    if (!(scale.amount > 0 && scale.amount <= amount_limit))
      refuse_field("query_scale.amount",
                   fmt::format("expected a number above 0, at most {}, got {}", amount_limit, scale.amount));
    check_count("query_scale.period", scale.period, period_limit);
  }
  if (scale.offset < 0 || scale.offset > offset_limit)
    refuse_field("query_scale.offset",
                 fmt::format("expected an integer from 0 to {}, got {}", offset_limit, scale.offset));
  const std::int64_t axes = encoding.position ? signature_of(*encoding.position).axes : 1;
  if (axes > 1)
    refuse_field("query_scale",
                 fmt::format("expected positions of one axis, {} has {}", encoding_name(*encoding.position), axes));
}

Attention read(Fields& fields) {
  Attention encoding;
  encoding.num_heads = fields.required_integer("num_heads");
  encoding.num_kv_heads = fields.integer("num_kv_heads").value_or(encoding.num_heads);
  encoding.head_dim = fields.required_integer("head_dim");
  encoding.causal = fields.boolean("causal").value_or(encoding.causal);
  if (const nlohmann::json* position = fields.object("position"); position != nullptr) {
    Fields inner(*position, "position.");
    encoding.position = read_position_encoding(inner);
    inner.finish();
  }
  encoding.window = fields.integer_or_null("window");
  encoding.softmax_scale = fields.number_or_null("softmax_scale");
  encoding.logit_softcap = fields.number_or_null("logit_softcap");
  encoding.sinks = fields.boolean("sinks").value_or(encoding.sinks);
  encoding.cached_keys = fields.choice("cached_keys", cached_keys, encoding.cached_keys);
  encoding.query_scale = read_query_scale(fields);
  return encoding;
}

// What `body` says of fields of the position, which names its own, not knowing where they stand.
template <class Body>
void of_position(Body body) {
  try {
    body();
  } catch (const SpecError& error) {
    constexpr std::string_view start = "spec: ";
    throw SpecError(fmt::format("{}position.{}", start, std::string_view(error.what()).substr(start.size())));
  }
}

void check(const Attention& encoding) {
  check_count("num_heads", encoding.num_heads, heads_limit);
  check_count("num_kv_heads", encoding.num_kv_heads, encoding.num_heads);
  if (encoding.num_heads % encoding.num_kv_heads != 0) {
    refuse_field("num_kv_heads", fmt::format("expected a divisor of num_heads = {}, got {}", encoding.num_heads,
                                             encoding.num_kv_heads));
  }
  check_count("head_dim", encoding.head_dim, width_limit);
  if (encoding.window) check_count("window", *encoding.window, window_limit);
  check_positive("softmax_scale", encoding.softmax_scale);
  check_positive("logit_softcap", encoding.logit_softcap);
  const bool turns = encoding.position && signature_of(*encoding.position).operation == Operation::rotate;
  if (encoding.cached_keys == CachedKeys::rotated && !turns)
    refuse_field("cached_keys", "expected plain where no position rotates keys, got rotated");
  if (encoding.query_scale) check_query_scale(encoding);
  if (!encoding.position) return;
  of_position(
      [&] { std::visit([](const auto& position) { entry_of(position).check(position); }, *encoding.position); });
  check_sizes(signature_of(*encoding.position), encoding);
  std::visit([&](const auto& position) { entry_of(position).check_within(position, encoding); }, *encoding.position);
}

nlohmann::ordered_json written(const QueryScale& scale) {
  nlohmann::ordered_json object;
  object["rule"] = text_of("query_scale.rule", query_scale_rules, scale.rule);
  if (scale.rule == QueryScaleRule::log_n) {
    object["length"] = scale.length;
  } else {
    object["amount"] = scale.amount;
    object["period"] = scale.period;
  }
  object["offset"] = scale.offset;
  return object;
}

void write(const Attention& encoding, nlohmann::ordered_json& object) {
  object["num_heads"] = encoding.num_heads;
  object["num_kv_heads"] = encoding.num_kv_heads;
  object["head_dim"] = encoding.head_dim;
  object["causal"] = encoding.causal;
  object["position"] = nullptr;
  if (encoding.position) of_position([&] { object["position"] = written(*encoding.position); });
  object["window"] = nullptr;
  if (encoding.window) object["window"] = *encoding.window;
  object["softmax_scale"] = nullptr;
  if (encoding.softmax_scale) object["softmax_scale"] = *encoding.softmax_scale;
  object["logit_softcap"] = nullptr;
  if (encoding.logit_softcap) object["logit_softcap"] = *encoding.logit_softcap;
  object["sinks"] = encoding.sinks;
  object["cached_keys"] = text_of("cached_keys", cached_keys, encoding.cached_keys);
  object["query_scale"] = nullptr;
  if (encoding.query_scale) object["query_scale"] = written(*encoding.query_scale);
}

Signature signature(const Attention& encoding) {
  Signature own{.operation = Operation::attend,
                .head_dim = encoding.head_dim,
                .heads = encoding.num_heads,
                .kv_heads = encoding.num_kv_heads,
                .sinks = encoding.sinks};
  if (!encoding.position) return own;
  // Vectors are turned by positions of so many coordinates, and a bias may be trained. What is added to the embeddings
  // comes before attention, and its weight with it.
  const Signature inner = signature_of(*encoding.position);
  own.axes = inner.axes;
  own.axes_lead = inner.axes_lead;
  if (inner.operation == Operation::bias && inner.weight) own.weight = {inner.weight->rows, encoding.num_heads};
  return own;
}

std::optional<PositionBounds> position_bounds(const Attention& encoding) {
  if (!encoding.position) return std::nullopt;
  return std::visit([](const auto& position) { return entry_of(position).position_bounds(position); },
                    *encoding.position);
}

void check_claim(const Attention& encoding, const Spec& spec) {
  if (encoding.query_scale && spec.min_position + encoding.query_scale->offset < 0)
    refuse_field("min_position", fmt::format("expected {} or more, where queries are scaled from, got {}",
                                             -encoding.query_scale->offset, spec.min_position));
  if (!encoding.position) return;
  std::visit([&](const auto& position) { entry_of(position).check_claim(position, spec); }, *encoding.position);
}

constexpr std::string_view described[] = {"num_heads", "num_kv_heads", "head_dim", "causal"};

constexpr FieldMeaning field_meanings[] = {
    {"num_heads", "heads of queries"},
    {"num_kv_heads", "heads of keys and values, each for as many query heads"},
    {"head_dim", "channels of a head"},
    {"causal", "whether a token sees itself and earlier ones alone"},
    {"position",
     "the encoding that turns queries and keys or gives the bias: null, or an object with encoding and its fields"},
    {"window", "null, or how far a token sees, itself included"},
    {"softmax_scale", "what scores are multiplied by; null: 1/sqrt(head_dim)"},
    {"logit_softcap", "null, or c: scores become c tanh(score/c)"},
    {"sinks", "whether each head has a number whose exponential is added to the sum that softmax divides by"},
    {"cached_keys", "whether the keys of earlier tokens, in a decode step, are given plain or already rotated"},
    {"query_scale",
     "null, or the query's factor: 1 + amount ln(1 + floor((p + offset)/period)); of log_n max(1, log_length(p + "
     "offset))"},
};

}  // namespace
}  // namespace spec_attention

constinit const EncodingEntry<Attention> Attention::entry{
    .name = "attention",
    .example = R"({"encoding":"attention","num_heads":8,"head_dim":64})",
    .fields = listed<spec_attention::field_meanings>,
    .read = spec_attention::read,
    .check = spec_attention::check,
    .write = spec_attention::write,
    .described = spec_attention::described,
    .signature = spec_attention::signature,
    .position_bounds = spec_attention::position_bounds,
    .check_claim = spec_attention::check_claim};

}  // namespace sextant
