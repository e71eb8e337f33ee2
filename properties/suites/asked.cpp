#include "properties/suites/asked.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/mutants/recipe_subject.hpp"
#include "properties/suites/compare.hpp"
#include "properties/suites/suite.hpp"
#include "subjects/builtin.hpp"
#include "subjects/operations.hpp"

namespace sextant::suites {
namespace {

// Whichever is known of a claim.
class Usual final : public Subject {
 public:
  std::string name() const override { return "usual"; }
  std::unique_ptr<Session> open(const Spec& spec) const override {
    const char* recipe = size_of(spec.dtype) == 2 ? "float32-widened" : "float32";
    auto session = mutants::open_recipe(recipe)->open(spec);
    try {
      if (const auto* rope = held<Rope>(spec)) {
        rotate(*session, spec, Tensor::zeros(spec.dtype, {1, 1, 1, rope->head_dim}), Positions{spec.min_position});
      } else {
        encode(*session, spec, Positions{spec.min_position});
      }
      return session;
    } catch (const SubjectFailure&) {
      return builtin_subject()->open(spec);
    }
  }
};

}  // namespace

std::unique_ptr<Subject> usual_implementation() { return std::make_unique<Usual>(); }

Spec in_dtype(Spec spec, Dtype dtype) {
  spec.dtype = dtype;
  spec.evaluation = Evaluation::float32;
  validate(spec);
  return spec;
}

Asked::Asked(const Subject& subject, const Spec& claim, Dtype dtype)
    : subject_(subject),
      spec_(in_dtype(claim, dtype)),
      rope_(*held<Rope>(spec_)),
      session_(subject.open(spec_)),
      usual_(usual_implementation()->open(spec_)) {}

Tensor Asked::values(const Rotated& call) const {
  return normal_values(spec_.dtype, {std::ssize(call.rows), std::ssize(call.rows[0]), call.heads, rope_.head_dim},
                       call.fill);
}

Positions Asked::positions(const Rotated& call) const {
  const std::int64_t width = spec_.max_position - std::max<std::int64_t>(spec_.min_position, 0);
  Positions list;
  for (const Positions& row : call.rows) {
    for (const std::int64_t position : row)
      list.push_back(std::max<std::int64_t>(spec_.min_position, 0) + position % width);
  }
  return list;
}

Tensor Asked::got(const Rotated& call) { return got(values(call), positions(call)); }
Tensor Asked::got(const Tensor& x, const Positions& positions) { return rotate(*session_, spec_, x, positions); }

Tensor Asked::usual(const Rotated& call) {
  thread_local std::string claim;
  thread_local std::vector<std::pair<Rotated, Tensor>> kept;
  if (claim != to_json(spec_)) kept.clear();
  claim = to_json(spec_);
  const auto found = std::ranges::find(kept, call, &std::pair<Rotated, Tensor>::first);
  if (found != kept.end()) return found->second;
  return kept.emplace_back(call, rotate(*usual_, spec_, values(call), positions(call))).second;
}

Tensor Asked::by_own_table(const Rotated& call) {
  const Tensor x = values(call);
  const Spec wide = in_dtype(spec_, Dtype::float32);
  Tensor ones = Tensor::zeros(Dtype::float32, x.shape);
  Tensor expected = x;
  const std::int64_t width = rope_.head_dim;
  for (std::int64_t vector = 0; vector * width < x.elements(); ++vector) {
    for (std::int64_t pair = 0; pair < pairs(rope_); ++pair)
      ones.set(vector * width + channels_of_pair(rope_, rope_.pairing, pair).first, 1);
    for (const Passthrough& channel : passthrough_channels(rope_))
      expected.set(vector * width + channel.output, x.at(vector * width + channel.input));
  }
  const Tensor table = rotate(*subject_.open(wide), wide, ones, positions(call));
  const double direction = turns_back(table, call) ? -1 : 1;
  for (std::int64_t vector = 0; vector * width < x.elements(); ++vector) {
    for (std::int64_t pair = 0; pair < pairs(rope_); ++pair) {
      const Channels from = channels_of_pair(rope_, rope_.pairing, pair);
      const Channels to = channels_of_pair(rope_, rope_.output_pairing, pair);
      const std::int64_t start = vector * width;
      const double cos = table.at(start + to.first);
      const double sin = direction * table.at(start + to.second);
      const double a = x.at(start + from.first);
      const double b = x.at(start + from.second);
      expected.set(start + to.first, a * cos - b * sin);
      expected.set(start + to.second, a * sin + b * cos);
    }
  }
  return expected;
}

// Whether all sines have the other sign than the usual code's, and no more.
bool Asked::turns_back(const Tensor& table, const Rotated& call) const {
  const Spec wide = in_dtype(spec_, Dtype::float32);
  constexpr double near = 1e-2;
  const std::int64_t width = rope_.head_dim;
  const Positions all = positions(call);
  const auto few = static_cast<std::size_t>(std::min<std::int64_t>(64, std::ssize(call.rows[0])));
  Tensor ones = Tensor::zeros(Dtype::float32, {1, static_cast<std::int64_t>(few), 1, width});
  for (std::int64_t i = 0; i < ones.elements(); i += width) {
    for (std::int64_t pair = 0; pair < pairs(rope_); ++pair)
      ones.set(i + channels_of_pair(rope_, rope_.pairing, pair).first, 1);
  }
  const Tensor right = rotate(*usual_implementation()->open(wide), wide, ones, std::span(all).first(few));
  for (std::int64_t token = 0; token < right.shape[1]; ++token) {
    for (std::int64_t pair = 0; pair < pairs(rope_); ++pair) {
      const Channels to = channels_of_pair(rope_, rope_.output_pairing, pair);
      const std::int64_t own = token * call.heads * width;
      if (std::fabs(table.at(own + to.first) - right.at(token * width + to.first)) > near ||
          std::fabs(table.at(own + to.second) + right.at(token * width + to.second)) > near)
        return false;
    }
  }
  return true;
}

}  // namespace sextant::suites
