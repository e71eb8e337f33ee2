#include "subjects/operations.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace sextant::operations_test {
namespace {

// Replies with what it is told, and remembers what it was asked.
class Told final : public Session {
 public:
  explicit Told(Tensors reply) : reply_(std::move(reply)) {}
  Description describe() override { return {}; }
  Tensors call(std::string_view operation, const Tensors& inputs) override {
    asked = operation;
    given = inputs;
    return reply_;
  }
  Tensors backward(std::string_view of, const Tensors& inputs) override {
    return call("backward of " + std::string(of), inputs);
  }

  std::string asked;
  Tensors given;

 private:
  Tensors reply_;
};

void expect_protocol(const std::function<void()>& act) {
  try {
    act();
    ADD_FAILURE() << "taken";
  } catch (const SubjectFailure& failure) {
    EXPECT_EQ(failure.kind(), FailureKind::protocol) << failure.what();
  }
}

// Each operation takes the one reply that fits, and no other name, shape or dtype.
void expect_checked(const char* name, const Tensor& good, const std::function<void(Session&)>& ask) {
  Told fitting({{name, good}});
  EXPECT_NO_THROW(ask(fitting)) << name;
  std::vector<std::int64_t> longer = good.shape;
  longer.back() += 1;
  const Tensors bad[] = {{},
                         {{"other", good}},
                         {{name, Tensor::zeros(good.dtype, longer)}},
                         {{name, Tensor::zeros(Dtype::float64, good.shape)}}};
  for (const Tensors& reply : bad) {
    Told session(reply);
    expect_protocol([&] { ask(session); });
  }
}

const std::vector<std::int64_t> three{0, 1, 5};
const std::vector<std::int64_t> six{0, 1, 5, 2, 2, 2};

Tensor zeros(std::vector<std::int64_t> shape) { return Tensor::zeros(Dtype::float32, std::move(shape)); }

TEST(Operations, EachReplyIsChecked) {
  const Spec binary = parse_spec(R"({"encoding":"binary","dim":4})");
  expect_checked("encoding", zeros({3, 4}), [&](Session& session) { encode(session, binary, three); });
  const Spec grid = parse_spec(R"({"encoding":"sinusoidal_2d","dim":8,"height":7,"width":7})");
  expect_checked("encoding", zeros({3, 8}), [&](Session& session) { encode(session, grid, six); });
  const Spec learned = parse_spec(R"({"encoding":"learned","dim":4,"max_positions":9})");
  expect_checked("encoding", zeros({3, 4}), [&](Session& session) { encode(session, learned, three, zeros({9, 4})); });
  const Spec rope_nd = parse_spec(R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2]})");
  expect_checked("y", zeros({1, 3, 2, 8}), [&](Session& session) {
    rotate(session, rope_nd, zeros({1, 3, 2, 8}), six);
  });
  const Spec alibi = parse_spec(R"({"encoding":"alibi","num_heads":2})");
  expect_checked("bias", zeros({2, 3, 6}), [&](Session& session) { bias(session, alibi, three, six); });
  const Spec t5 = parse_spec(R"({"encoding":"relative_bias"})");
  expect_checked("bias", zeros({5, 3, 6}), [&](Session& session) { bias(session, t5, three, six, zeros({32, 5})); });
  expect_checked("bucket", Tensor::zeros(Dtype::int64, {3}), [&](Session& session) { bucket(session, t5, three); });
  const Spec attention = parse_spec(R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":8})");
  const Tensor q = zeros({1, 4, 3, 8});
  const Tensor k = zeros({1, 2, 3, 8});
  expect_checked("out", q, [&](Session& session) { attend(session, attention, {q, k, k, three}); });
  expect_checked("grad_x", zeros({1, 3, 2, 8}), [&](Session& session) {
    backward(session, rope_nd, "rotate", {{"x", zeros({1, 3, 2, 8})}}, zeros({1, 3, 2, 8}));
  });
  expect_checked("grad_weight", zeros({9, 4}), [&](Session& session) {
    backward(session, learned, "encode", {{"weight", zeros({9, 4})}}, zeros({3, 4}));
  });
}

TEST(Operations, PositionsTravelWithTheirAxes) {
  Told session({{"y", zeros({1, 3, 2, 8})}});
  rotate(session, parse_spec(R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2]})"), zeros({1, 3, 2, 8}), six);
  EXPECT_EQ(session.asked, "rotate");
  EXPECT_EQ(session.given.at("positions").shape, (std::vector<std::int64_t>{2, 1, 3}));
  Told single({{"y", zeros({1, 3, 2, 8})}});
  rotate(single, parse_spec(R"({"encoding":"rope_nd","head_dim":8,"sections":[4]})"), zeros({1, 3, 2, 8}), three);
  EXPECT_EQ(single.given.at("positions").shape, (std::vector<std::int64_t>{1, 1, 3})) << "one axis is an axis";
  Told other({{"y", zeros({1, 3, 2, 8})}});
  rotate(other, parse_spec(R"({"encoding":"xpos","head_dim":8})"), zeros({1, 3, 2, 8}), three);
  EXPECT_EQ(other.given.at("positions").shape, (std::vector<std::int64_t>{1, 3}));
}

TEST(Operations, RealPositionsTravelInTheirDtypeExactly) {
  const std::vector<std::int64_t> counts{0, 257, -1};
  const Spec code = parse_spec(R"({"encoding":"sinusoidal","dim":4,"position_dtype":"float32"})");
  Told session({{"encoding", zeros({3, 4})}});
  encode(session, code, counts);
  const Tensor& given = session.given.at("positions");
  EXPECT_EQ(given.dtype, Dtype::float32);
  EXPECT_EQ(given.at(1), 2.0078125);
  EXPECT_EQ(given.at(2), -0.0078125);
  EXPECT_EQ(counts_of(given, position_grid_of(code.encoding)), counts);
  // Beyond 2^24 steps not every one is a float32.
  EXPECT_THROW(encode(session, code, std::vector<std::int64_t>{(1 << 24) + 1, 0, 0}), std::invalid_argument);
  Told rotation({{"y", zeros({1, 3, 2, 8})}});
  rotate(rotation, parse_spec(R"({"encoding":"rope","head_dim":8,"position_dtype":"float64"})"), zeros({1, 3, 2, 8}),
         counts);
  EXPECT_EQ(rotation.given.at("positions").dtype, Dtype::float64);
  EXPECT_EQ(rotation.given.at("positions").shape, (std::vector<std::int64_t>{1, 3}));
}

TEST(Operations, CountsAreOfMultiplesOfTheStepAlone) {
  const PositionGrid grid{0x1p-7, Dtype::float64};
  Tensor positions = Tensor::zeros(Dtype::float64, {1});
  positions.set(0, 0.3);
  EXPECT_THROW(counts_of(positions, grid), SubjectFailure);
  EXPECT_THROW(counts_of(Tensor::zeros(Dtype::float32, {1}), grid), SubjectFailure);
  EXPECT_THROW(counts_of(positions, PositionGrid{}), SubjectFailure);
}

TEST(Operations, BackwardNamesItsOperationAndCarriesItsInputs) {
  Told session({{"grad_x", zeros({1, 3, 2, 8})}});
  backward(session, parse_spec(R"({"encoding":"xpos","head_dim":8})"), "rotate", {{"x", zeros({1, 3, 2, 8})}},
           zeros({1, 3, 2, 8}));
  EXPECT_EQ(session.asked, "backward of rotate");
  EXPECT_TRUE(session.given.contains("x") && session.given.contains("grad"));
}

TEST(Operations, BackwardOfAttendBringsThreeGradients) {
  const Spec spec = parse_spec(R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":8})");
  const Tensor q = zeros({1, 4, 3, 8});
  const Tensor k = zeros({1, 2, 3, 8});
  Told session({{"grad_q", q}, {"grad_k", k}, {"grad_v", k}});
  EXPECT_EQ(backward(session, spec, {q, k, k, three}, q).k.shape, k.shape);
  EXPECT_EQ(session.asked, "backward of attend");
  EXPECT_TRUE(session.given.contains("q") && session.given.contains("positions") && session.given.contains("grad"));
  EXPECT_THROW(backward(session, spec, {q, k, k, three}, k), std::invalid_argument);
  Told other({{"grad_q", q}, {"grad_k", q}, {"grad_v", k}});
  EXPECT_THROW(backward(other, spec, {q, k, k, three}, q), SubjectFailure);
}

TEST(Operations, ArgumentsThatDoNotFitAreNotSent) {
  const Spec learned = parse_spec(R"({"encoding":"learned","dim":4,"max_positions":9})");
  const Spec alibi = parse_spec(R"({"encoding":"alibi","num_heads":2})");
  const Spec grid = parse_spec(R"({"encoding":"sinusoidal_2d","dim":8,"height":7,"width":7})");
  const Spec xpos = parse_spec(R"({"encoding":"xpos","head_dim":8})");
  const Spec attention = parse_spec(R"({"encoding":"attention","num_heads":4,"head_dim":8})");
  Told session({});
  EXPECT_THROW(encode(session, learned, three), std::invalid_argument);
  EXPECT_THROW(encode(session, learned, three, zeros({4, 9})), std::invalid_argument);
  EXPECT_THROW(encode(session, alibi, three), std::invalid_argument);
  EXPECT_THROW(encode(session, grid, three), std::invalid_argument);
  EXPECT_THROW(rotate(session, learned, zeros({1, 3, 1, 4}), three), std::invalid_argument);
  EXPECT_THROW(rotate(session, xpos, zeros({1, 3, 1, 4}), three), std::invalid_argument);
  EXPECT_THROW(rotate(session, xpos, zeros({3, 1, 8}), three), std::invalid_argument);
  EXPECT_THROW(rotate(session, xpos, zeros({1, 3, 1, 8}), six), std::invalid_argument);
  EXPECT_THROW(rotate(session, xpos, Tensor::zeros(Dtype::float16, {1, 3, 1, 8}), three), std::invalid_argument);
  EXPECT_THROW(bias(session, learned, three, three), std::invalid_argument);
  EXPECT_THROW(bias(session, alibi, three, three, zeros({32, 2})), std::invalid_argument);
  EXPECT_THROW(bucket(session, alibi, three), std::invalid_argument);
  EXPECT_THROW(attend(session, attention, {zeros({1, 4, 3, 8}), zeros({1, 2, 3, 8}), zeros({1, 2, 3, 8}), three}),
               std::invalid_argument);
  EXPECT_THROW(backward(session, alibi, "bias", {}, zeros({2, 3, 3})), std::invalid_argument);
  EXPECT_EQ(session.asked, "");
}

TEST(Operations, ResetIsOptional) {
  class Without final : public Session {
   public:
    Description describe() override { return {}; }
    Tensors call(std::string_view, const Tensors&) override { throw SubjectFailure(FailureKind::unsupported, "no"); }
  };
  Without session;
  EXPECT_NO_THROW(reset(session));
  EXPECT_THROW(session.backward("rotate", {}), SubjectFailure);
}

}  // namespace
}  // namespace sextant::operations_test
