#include "subjects/table_order.hpp"

#include <gtest/gtest.h>

#include <map>

#include "subjects/builtin.hpp"
#include "subjects/function.hpp"
#include "subjects/operations.hpp"

namespace sextant::table_order_test {
namespace {

const Spec spec = parse_spec(R"({"encoding":"rotary_table","head_dim":6,"rope_theta":100})");

Tensor filled(std::vector<std::int64_t> shape, const std::vector<double>& values) {
  Tensor tensor = Tensor::zeros(Dtype::float32, std::move(shape));
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, values[static_cast<std::size_t>(i)]);
  return tensor;
}

Tensor answered(const Tensors& reply) {
  const FunctionSubject subject("f", [reply](const Spec&) {
    return [reply](std::string_view operation, const Tensors&) {
      EXPECT_EQ(operation, "table");
      return reply;
    };
  });
  return table(*subject.open(spec), spec, std::vector<std::int64_t>{7});
}

TEST(TableOrder, EveryOrderIsBroughtToCosinesThenSines) {
  const std::vector<double> once{1, 2, 3, 11, 12, 13};
  const std::vector<std::pair<Tensors, int>> replies{
      {{{"cos", filled({1, 3}, {1, 2, 3})}, {"sin", filled({1, 3}, {11, 12, 13})}}, 1},
      {{{"cos_sin", filled({1, 6}, once)}}, 1},
      {{{"sin_cos", filled({1, 6}, {11, 12, 13, 1, 2, 3})}}, 1},
      {{{"interleaved", filled({1, 6}, {1, 11, 2, 12, 3, 13})}}, 1},
      {{{"cos_halves", filled({1, 6}, {1, 2, 3, 1, 2, 3})}, {"sin_halves", filled({1, 6}, {11, 12, 13, 11, 12, 13})}},
       2},
      {{{"cos_repeated", filled({1, 6}, {1, 1, 2, 2, 3, 3})},
        {"sin_repeated", filled({1, 6}, {11, 11, 12, 12, 13, 13})}},
       2}};
  ASSERT_EQ(replies.size(), table_orders().size());
  for (const auto& [reply, copies] : replies) {
    const Tensor rows = answered(reply);
    ASSERT_EQ(rows.shape, (std::vector<std::int64_t>{1, 6 * copies})) << reply.begin()->first;
    for (std::int64_t i = 0; i < rows.elements(); ++i)
      EXPECT_EQ(rows.at(i), once[static_cast<std::size_t>(i % 6)]) << reply.begin()->first;
  }
}

TEST(TableOrder, OtherTensorsBreakTheProtocol) {
  for (const Tensors& reply :
       {Tensors{}, Tensors{{"cos", filled({1, 3}, {1, 2, 3})}}, Tensors{{"cos_sin", filled({1, 3}, {1, 2, 3})}},
        Tensors{{"interleaved", Tensor::zeros(Dtype::float64, {1, 6})}}}) {
    EXPECT_THROW(answered(reply), SubjectFailure);
  }
}

TEST(TableOrder, OurEncoderAnswersUnderTheClaimsLength) {
  const Spec dynamic =
      parse_spec(R"({"encoding":"rotary_table","head_dim":8,"max_position":6000,)"
                 R"("rope_scaling":{"rope_type":"dynamic","factor":2,"original_max_position_embeddings":2048}})");
  const auto session = builtin_subject()->open(dynamic);
  const Tensor all = table(*session, dynamic, std::vector<std::int64_t>{3, 5999});
  const Tensor one = table(*session, dynamic, std::vector<std::int64_t>{3});
  ASSERT_EQ(one.shape, (std::vector<std::int64_t>{1, 8}));
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(one.at(i), all.at(i)) << i;
  EXPECT_EQ(table(*session, dynamic, {}).shape, (std::vector<std::int64_t>{0, 8}));
  EXPECT_THROW(encode(*session, dynamic, std::vector<std::int64_t>{3}), std::invalid_argument);
}

}  // namespace
}  // namespace sextant::table_order_test
