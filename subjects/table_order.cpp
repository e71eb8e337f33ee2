#include "subjects/table_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace sextant {
namespace {

using Index = std::int64_t;

const std::vector<TableOrder>& orders() {
  static const std::vector<TableOrder> list{
      {"separate", {"cos", "sin"}, 1, [](Index, Index pair, Index, Index) { return pair; }},
      {"cos_sin",
       {"cos_sin"},
       1,
       [](Index pairs, Index pair, Index component, Index) { return component * pairs + pair; }},
      {"sin_cos",
       {"sin_cos"},
       1,
       [](Index pairs, Index pair, Index component, Index) { return (1 - component) * pairs + pair; }},
      {"interleaved",
       {"interleaved"},
       1,
       [](Index, Index pair, Index component, Index) { return 2 * pair + component; }},
      {"halves",
       {"cos_halves", "sin_halves"},
       2,
       [](Index pairs, Index pair, Index, Index copy) { return copy * pairs + pair; }},
      {"repeated",
       {"cos_repeated", "sin_repeated"},
       2,
       [](Index, Index pair, Index, Index copy) { return 2 * pair + copy; }},
  };
  return list;
}

}  // namespace

std::span<const TableOrder> table_orders() { return orders(); }

const TableOrder* table_order_named(std::string_view name) {
  const auto found = std::ranges::find(orders(), name, &TableOrder::name);
  return found == orders().end() ? nullptr : &*found;
}

std::string table_order_names() {
  std::string text;
  for (const TableOrder& order : orders()) text += fmt::format("{}{}", text.empty() ? "" : ", ", order.name);
  return text;
}

Index columns_of(const TableOrder& order, Index pairs) {
  return 2 * pairs * order.copies / static_cast<Index>(order.tensors.size());
}

const TableOrder& order_of_reply(const Tensors& reply) {
  for (const TableOrder& order : orders()) {
    if (std::ranges::all_of(order.tensors, [&](std::string_view name) { return reply.contains(std::string(name)); }))
      return order;
  }
  throw SubjectFailure(FailureKind::protocol,
                       "the reply has neither \"cos\" and \"sin\" nor a table of another order (docs/protocol.md)");
}

Tensor cosines_then_sines(const TableOrder& order, std::span<const Tensor> parts, Index pairs) {
  const Index rows = parts[0].shape[0];
  const Index columns = columns_of(order, pairs);
  const std::size_t width = size_of(parts[0].dtype);
  Tensor all = Tensor::zeros(parts[0].dtype, {rows, order.copies * 2 * pairs});
  struct From {
    const std::byte* data;
    std::size_t column;
  };
  std::vector<From> from;
  for (Index copy = 0; copy < order.copies; ++copy) {
    for (const Index component : {0, 1}) {
      const Tensor& part = parts[parts.size() == 2 ? static_cast<std::size_t>(component) : 0];
      for (Index pair = 0; pair < pairs; ++pair)
        from.push_back({part.data.data(), static_cast<std::size_t>(order.column(pairs, pair, component, copy))});
    }
  }
  std::byte* to = all.data.data();
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
    for (const From& value : from) {
      std::memcpy(to, value.data + (row * static_cast<std::size_t>(columns) + value.column) * width, width);
      to += width;
    }
  }
  return all;
}

}  // namespace sextant
