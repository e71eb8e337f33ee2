#include "lib/spec/alibi.hpp"

#include "lib/spec/encoding_entry.hpp"

namespace sextant {
namespace spec_alibi {
namespace {

constexpr Names<Mask, 2> masks{{{"causal", Mask::causal}, {"symmetric", Mask::symmetric}}};
constexpr Names<AlibiForm, 2> forms{{{"distance", AlibiForm::distance}, {"key_index", AlibiForm::key_index}}};
constexpr Names<AlibiSlopes, 2> slope_rules{
    {{"released", AlibiSlopes::released}, {"geometric", AlibiSlopes::geometric}}};
constexpr Names<Dtype, 4> slope_dtypes{{{"float64", Dtype::float64},
                                        {"float32", Dtype::float32},
                                        {"float16", Dtype::float16},
                                        {"bfloat16", Dtype::bfloat16}}};

// 2^-24 is the least value of float16.
constexpr std::int64_t bias_max_limit = 24;

Alibi read(Fields& fields) {
  Alibi encoding;
  encoding.num_heads = fields.required_integer("num_heads");
  encoding.mask = fields.choice("mask", masks, encoding.mask);
  encoding.form = fields.choice("form", forms, encoding.form);
  encoding.slopes = fields.choice("slopes", slope_rules, encoding.slopes);
  if (const auto bias_max = fields.integer("bias_max")) encoding.bias_max = *bias_max;
  if (const auto name = fields.text_or_null("slope_dtype")) {
    encoding.slope_dtype = dtype_named(*name);
    if (!encoding.slope_dtype || *encoding.slope_dtype == Dtype::int64)
      fields.refuse("slope_dtype",
                    fmt::format("expected null or one of float64, float32, float16, bfloat16, got \"{}\"", *name));
  }
  return encoding;
}

void check(const Alibi& encoding) {
  check_count("num_heads", encoding.num_heads, heads_limit);
  check_count("bias_max", encoding.bias_max, bias_max_limit);
  if (encoding.form == AlibiForm::key_index && encoding.mask == Mask::symmetric) {
    refuse_field("form", "key_index needs mask causal");
  }
}

void write(const Alibi& encoding, nlohmann::ordered_json& object) {
  object["num_heads"] = encoding.num_heads;
  object["mask"] = text_of("mask", masks, encoding.mask);
  object["form"] = text_of("form", forms, encoding.form);
  object["slopes"] = text_of("slopes", slope_rules, encoding.slopes);
  object["bias_max"] = encoding.bias_max;
  if (encoding.slope_dtype) {
    object["slope_dtype"] = text_of("slope_dtype", slope_dtypes, *encoding.slope_dtype);
  } else {
    object["slope_dtype"] = nullptr;
  }
}

void check_within(const Alibi& encoding, const Attention& attention) {
  if (encoding.mask == Mask::causal && !attention.causal) {
    refuse_field("position.mask",
                 "expected symmetric, or causal attention: a causal mask has no bias for keys after the query");
  }
}

Signature signature(const Alibi& encoding) { return {.operation = Operation::bias, .heads = encoding.num_heads}; }

constexpr std::string_view described[] = {"num_heads", "mask", "form"};

constexpr FieldMeaning field_meanings[] = {
    {"num_heads", "heads, each with a slope"},
    {"mask", "causal: keys after the query are not judged; symmetric: the distance either way"},
    {"form", "distance: -slope (query - key); key_index: slope key, which differs by a constant for each query"},
    {"slopes",
     "of n heads, no power of two: released: those of the power below, then others of its double; geometric: one "
     "series"},
    {"bias_max", "B: the last of n heads has slope 2^-B, the first 2^(-B/n)"},
    {"slope_dtype", "the dtype that slopes are rounded to, the rest being exact; null: they are real numbers"},
};

}  // namespace
}  // namespace spec_alibi

constinit const EncodingEntry<Alibi> Alibi::entry{.name = "alibi",
                                                  .example = R"({"encoding":"alibi","num_heads":8})",
                                                  .fields = listed<spec_alibi::field_meanings>,
                                                  .read = spec_alibi::read,
                                                  .check = spec_alibi::check,
                                                  .write = spec_alibi::write,
                                                  .described = spec_alibi::described,
                                                  .signature = spec_alibi::signature,
                                                  .check_within = spec_alibi::check_within};

}  // namespace sextant
