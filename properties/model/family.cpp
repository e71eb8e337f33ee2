#include "properties/model/family.hpp"

#include "properties/model/row_agreement.hpp"

namespace sextant {
namespace {

struct JudgedValues {
  const Spec& spec;
  std::int64_t operator()(const Attention& attention) const { return 9 * attention.head_dim; }
  std::int64_t operator()(const Alibi& alibi) const { return 48 * alibi.num_heads; }
  std::int64_t operator()(const RelativeBias&) const { return 0; }  // a lookup
  std::int64_t operator()(const auto&) const { return row_width(spec); }
};

}  // namespace

std::string not_stated_for(const Spec& spec) { return fmt::format("not stated for {}", encoding_name(spec)); }

std::optional<std::string> one_position_only(const Spec& spec) {
  if (spec.max_position - spec.min_position < 2) return "the claim has one position only";
  return std::nullopt;
}

std::int64_t judged_values(const Spec& spec) { return std::visit(JudgedValues{spec}, spec.encoding); }

}  // namespace sextant
