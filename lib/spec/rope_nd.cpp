#include "lib/spec/rope_nd.hpp"

#include <utility>

#include "lib/spec/encoding_entry.hpp"

namespace sextant {
namespace {

constexpr Names<SectionOrder, 2> section_orders{
    {{"blocked", SectionOrder::blocked}, {"interleaved", SectionOrder::interleaved}}};
constexpr Names<Pairing, 2> pairings{{{"interleaved", Pairing::interleaved}, {"half", Pairing::half}}};

}  // namespace

std::int64_t pairs(const RopeNd& encoding) { return encoding.head_dim / 2; }

std::int64_t axes(const RopeNd& encoding) { return std::ssize(encoding.sections); }

std::vector<std::int64_t> axis_of_pairs(const RopeNd& encoding) {
  std::vector<std::int64_t> axis(static_cast<std::size_t>(pairs(encoding)), 0);
  std::size_t next = 0;
  for (std::int64_t a = 0; a < axes(encoding); ++a) {
    const std::int64_t count = encoding.sections[static_cast<std::size_t>(a)];
    for (std::int64_t i = 0; i < count; ++i) {
      if (encoding.section_order == SectionOrder::blocked) {
        axis.at(next++) = a;
      } else if (a > 0) {
        axis.at(static_cast<std::size_t>(a + i * axes(encoding))) = a;
      }
    }
  }
  return axis;
}

Rope along_diagonal(const RopeNd& encoding) {
  Rope rope;
  rope.head_dim = encoding.head_dim;
  rope.rotary_dim = encoding.head_dim;
  rope.rope_theta = encoding.rope_theta;
  rope.pairing = encoding.pairing;
  rope.output_pairing = encoding.pairing;
  return rope;
}

namespace {

RopeNd read(Fields& fields) {
  RopeNd encoding;
  encoding.head_dim = fields.required_integer("head_dim");
  auto sections = fields.integers("sections");
  if (!sections) fields.refuse("sections", "required: the number of pairs of each axis");
  encoding.sections = std::move(*sections);
  encoding.section_order = fields.choice("section_order", section_orders, encoding.section_order);
  encoding.rope_theta = fields.number("rope_theta").value_or(encoding.rope_theta);
  encoding.pairing = fields.choice("pairing", pairings, encoding.pairing);
  return encoding;
}

void check(const RopeNd& encoding) {
  check_even_width("head_dim", encoding.head_dim);
  if (encoding.sections.empty())
    refuse_field("sections", "expected the number of pairs of each axis, got an empty list");
  const std::int64_t all = pairs(encoding);
  std::int64_t sum = 0;
  for (const std::int64_t section : encoding.sections) {
    if (section < 1 || section > all) {
      refuse_field("sections", fmt::format("expected numbers from 1 to head_dim/2 = {}, got {}", all, section));
    }
    sum += section;
    if (sum > all) break;
  }
  if (sum != all) {
    refuse_field("sections",
                 fmt::format("expected the sum head_dim/2 = {}, got {}", all, fmt::join(encoding.sections, " + ")));
  }
  if (encoding.section_order == SectionOrder::interleaved) {
    for (std::int64_t a = 1; a < axes(encoding); ++a) {
      const std::int64_t section = encoding.sections[static_cast<std::size_t>(a)];
      const std::int64_t places = (all - a + axes(encoding) - 1) / axes(encoding);
      if (section > places) {
        refuse_field("sections",
                     fmt::format("expected at most {} of the {} pairs for axis {}, which is all it gets where "
                                 "sections are interleaved, got {}",
                                 places, all, a, section));
      }
    }
  }
  check_base("rope_theta", encoding.rope_theta);
}

void write(const RopeNd& encoding, nlohmann::ordered_json& object) {
  object["head_dim"] = encoding.head_dim;
  object["sections"] = encoding.sections;
  object["section_order"] = text_of(section_orders, encoding.section_order);
  object["rope_theta"] = encoding.rope_theta;
  object["pairing"] = text_of(pairings, encoding.pairing);
}

std::string size_text(const RopeNd& encoding) {
  return fmt::format("head_dim {} sections {}", encoding.head_dim, fmt::join(encoding.sections, "+"));
}

Signature signature(const RopeNd& encoding) {
  return {.operation = Operation::rotate, .axes = axes(encoding), .head_dim = encoding.head_dim};
}

constexpr FieldMeaning field_meanings[] = {
    {"head_dim", "channels of a head, all of which turn"},
    {"sections", "pairs of each axis, together head_dim/2"},
    {"section_order", "blocked: axis by axis; interleaved: axes by turns while they have pairs left"},
    {"rope_theta", "the base: what the frequencies are powers of, rope_theta^(-2i/head_dim)"},
    {"pairing", "channels of pair i: half: (i, i + head_dim/2); interleaved: (2i, 2i + 1)"},
};

}  // namespace

constinit const EncodingEntry<RopeNd> RopeNd::entry{
    .name = "rope_nd",
    .example = R"({"encoding":"rope_nd","head_dim":128,"sections":[16,24,24]})",
    .fields = listed<field_meanings>,
    .read = read,
    .check = check,
    .write = write,
    .size_text = size_text,
    .signature = signature};

}  // namespace sextant
