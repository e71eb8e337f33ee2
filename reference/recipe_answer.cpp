#include "reference/recipe_answer.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "lib/spec/without_field.hpp"
#include "reference/rope.hpp"

namespace sextant::reference {
namespace {

class Codes final : public RecipeAnswer {
 public:
  Codes(SinusoidalEmulation emulation, std::int64_t dim, Dtype dtype)
      : emulation_(std::move(emulation)), dim_(dim), dtype_(dtype) {}

  std::string_view operation() const override { return "encode"; }

  Tensor at(std::span<const std::int64_t> positions, const Tensor*) override {
    Tensor table = Tensor::zeros(dtype_, {std::ssize(positions), dim_});
    std::int64_t next = 0;
    for (const std::int64_t position : positions) {
      for (const double value : emulation_.encode(position)) table.set(next++, value);
    }
    return table;
  }

 private:
  SinusoidalEmulation emulation_;
  std::int64_t dim_;
  Dtype dtype_;
};

class Rotations final : public RecipeAnswer {
 public:
  Rotations(RopeEmulation emulation, Rope encoding)
      : emulation_(std::move(emulation)),
        encoding_(std::move(encoding)),
        kept_(passthrough_channels(encoding_)),
        vector_(static_cast<std::size_t>(encoding_.head_dim)) {
    for (std::int64_t pair = 0; pair < pairs(encoding_); ++pair) {
      inputs_.push_back(channels_of_pair(encoding_, encoding_.pairing, pair));
      outputs_.push_back(channels_of_pair(encoding_, encoding_.output_pairing, pair));
    }
  }

  std::string_view operation() const override { return "rotate"; }

  Tensor at(std::span<const std::int64_t> positions, const Tensor* x) override {
    const std::vector<std::int64_t> lengths = row_lengths(length_scope(encoding_.rope_scaling), positions, x->shape[0]);
    const std::int64_t heads = x->shape[2];
    Tensor y = *x;
    for (std::size_t token = 0; token < positions.size(); ++token) {
      const std::vector<Intermediates>& row =
          emulation_.at(positions[token], lengths[token / static_cast<std::size_t>(x->shape[1])]);
      for (std::int64_t head = 0; head < heads; ++head)
        turn(row, *x, y, (static_cast<std::int64_t>(token) * heads + head) * encoding_.head_dim);
    }
    return y;
  }

 private:
  void turn(const std::vector<Intermediates>& row, const Tensor& x, Tensor& y, std::int64_t start) {
    x.read(start, vector_);
    const auto value = [&](std::int64_t channel) { return vector_[static_cast<std::size_t>(channel)]; };
    for (const Passthrough& channel : kept_) y.set(start + channel.output, value(channel.input));
    for (std::size_t pair = 0; pair < inputs_.size(); ++pair) {
      const auto turned = emulation_.rotate(row[pair], value(inputs_[pair].first), value(inputs_[pair].second));
      y.set(start + outputs_[pair].first, turned.first);
      y.set(start + outputs_[pair].second, turned.second);
    }
  }

  RopeEmulation emulation_;
  Rope encoding_;
  std::vector<Passthrough> kept_;
  std::vector<Channels> inputs_;
  std::vector<Channels> outputs_;
  std::vector<double> vector_;
};

struct AnswerOf {
  const Recipe& recipe;
  Dtype dtype;

  using Answer = std::unique_ptr<RecipeAnswer>;

  Answer operator()(const Sinusoidal& encoding) const {
    auto emulation = SinusoidalEmulation::of(recipe, encoding, dtype);
    return emulation ? std::make_unique<Codes>(std::move(*emulation), encoding.dim, dtype) : nullptr;
  }
  Answer operator()(const Rope& encoding) const {
    auto emulation = RopeEmulation::of(recipe, encoding, dtype);
    return emulation ? std::make_unique<Rotations>(std::move(*emulation), encoding) : nullptr;
  }
  Answer operator()(const auto&) const { return nullptr; }
};

struct HasRecipes {
  bool operator()(const Sinusoidal&) const { return true; }
  bool operator()(const Rope&) const { return true; }
  bool operator()(const auto&) const { return false; }
};

}  // namespace

std::unique_ptr<RecipeAnswer> recipe_answer(const Recipe& recipe, const Spec& spec) {
  return of_each(spec, AnswerOf{recipe, spec.dtype});
}

std::optional<std::string> recipe_not_known(const Recipe& recipe, const Spec& spec) {
  if (recipe_answer(recipe, spec)) return std::nullopt;
  const std::string unknown = fmt::format("the recipe {} is not known", recipe.name);
  const std::string_view encoding = encoding_name(spec);
  if (!of_each(spec, HasRecipes()))
    return fmt::format("{} for {}: recipes are of sinusoidal and rope", unknown, encoding);
  for (const ChangedClaim& other : without_each_field(spec)) {
    if (recipe_answer(recipe, other.spec))
      return fmt::format("{} for this {} of {}: it is known without that field", unknown, other.field, encoding);
  }
  return fmt::format("{} for this {}", unknown, encoding);
}

}  // namespace sextant::reference
