#include "properties/identify/attention/other_query_scales.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "lib/numeric/dtype.hpp"
#include "lib/numeric/index.hpp"
#include "lib/spec/of.hpp"

// The formulas are those of lib/spec/attention.hpp, in double. A query is multiplied by the quotient of the other scale
// and the claimed one, and the claim's own scale and bounds are kept: what an implementation's scale may be off by is
// in them, beside which 2^-52 of a query is nothing.

namespace sextant::identify {
namespace {

// A query, or a key, and where it stands.
struct ScaledVector {
  const AttentionCase& request;
  std::int64_t row;
  std::int64_t head;
  std::int64_t token;
  std::int64_t position;
};

using Factor = std::function<double(const ScaledVector& at)>;

// Of a number that the position and the offset make.
double periods(const QueryScale& scale, double number) {
  return std::floor(number / static_cast<double>(scale.period));
}
double scale_of_periods(const QueryScale& scale, double periods) { return 1 + scale.amount * std::log1p(periods); }
double scale_of_number(const QueryScale& scale, double number) {
  if (scale.rule == QueryScaleRule::log_of_periods) return scale_of_periods(scale, periods(scale, number));
  return std::max(std::log(number) / std::log(static_cast<double>(scale.length)), 1.0);
}
double number_at(const QueryScale& scale, std::int64_t position) {
  return static_cast<double>(position + scale.offset);
}
double scale_at(const QueryScale& scale, std::int64_t position) {
  return scale_of_number(scale, number_at(scale, position));
}

// [batch, heads, tokens, width] times a factor of each vector, in float64, which rounds no product visibly.
Tensor times(const AttentionCase& request, const Tensor& x, const Factor& factor,
             const std::function<std::int64_t(std::int64_t row, std::int64_t token)>& position) {
  Tensor made = Tensor::zeros(Dtype::float64, x.shape);
  const std::int64_t width = x.shape[3];
  for (std::int64_t vector = 0; vector < x.elements() / width; ++vector) {
    const std::int64_t token = vector % x.shape[2];
    const std::int64_t row = vector / x.shape[2] / x.shape[1];
    const double by = factor({request, row, vector / x.shape[2] % x.shape[1], token, position(row, token)});
    for (std::int64_t c = 0; c < width; ++c) made.set(vector * width + c, by * x.at(vector * width + c));
  }
  return made;
}

class OtherQueryScales {
 public:
  OtherQueryScales(const QueryScale& scale, std::vector<OtherAttention>& list) : scale_(scale), list_(list) {}

  void add_index() {
    add_factor("a query's index in its sequence is taken for its position in queries' scales",
               [own = scale_](const ScaledVector& at) { return scale_at(own, at.request.token_of(at.row, at.token)); });
  }

  void add_number_of_keys() {
    add_factor("in a step the number of keys is taken for the position of each query in queries' scales",
               [own = scale_](const ScaledVector& at) { return scale_at(own, at.request.tokens); });
  }

  void add() {
    add_factor("queries are scaled by their positions twice",
               [own = scale_](const ScaledVector& at) { return std::pow(scale_at(own, at.position), 2); });
    add_keys();
    add_factor("heads after the first have queries that are not scaled by their positions",
               [own = scale_](const ScaledVector& at) { return at.head == 0 ? scale_at(own, at.position) : 1; });
    add_factor("every batch row has the scales of the first one's queries", [own = scale_](const ScaledVector& at) {
      return scale_at(own, at.request.query_position(0, at.token));
    });
    add_factor("all queries of a call have the scale of the first",
               [own = scale_](const ScaledVector& at) { return scale_at(own, at.request.query_position(at.row, 0)); });
    add_factor("all queries of a row have the scale of its greatest position", [own = scale_](const ScaledVector& at) {
      std::int64_t greatest = 0;
      for (std::int64_t query = 0; query < at.request.queries(); ++query)
        greatest = std::max(greatest, at.request.query_position(at.row, query));
      return scale_at(own, greatest);
    });
    add_factor(
        "the scale of a query is that of its position less its number in the call: the first one's, of consecutive "
        "ones",
        [own = scale_](const ScaledVector& at) { return scale_at(own, at.position - at.token); });
    for (const std::int64_t offset : {0, 1, 2}) {
      if (offset == scale_.offset) continue;
      OtherAttention counted{
          .words = fmt::format("queries' scales count positions from {}, where the claim counts from {}", offset,
                               scale_.offset),
          .stage = DiagnosedStage::position,
          .says = OtherAttention::Says::claim};
      counted.change = [offset](Spec& spec, AttentionCase&) { held<Attention>(spec)->query_scale->offset = offset; };
      list_.push_back(std::move(counted));
    }
    if (scale_.rule == QueryScaleRule::log_of_periods)
      add_periods();
    else
      add_logarithms();
    for (const Dtype format : {Dtype::bfloat16, Dtype::float16}) {
      add_factor(
          fmt::format("the scales of queries are rounded to {}", name_of(format)),
          [own = scale_, format](const ScaledVector& at) { return round_to(format, scale_at(own, at.position)); });
    }
  }

 private:
  void add_factor(std::string words, const Factor& factor) {
    OtherAttention other{.words = std::move(words)};
    other.change = [factor, own = scale_](Spec&, AttentionCase& request) {
      request.q = times(
          request, request.q, [&](const ScaledVector& at) { return factor(at) / scale_at(own, at.position); },
          [&](std::int64_t row, std::int64_t token) { return request.query_position(row, token); });
    };
    list_.push_back(std::move(other));
  }

  // Of a number n = position + offset, or of its periods.
  void add_of_number(std::string words, const std::function<double(double number)>& scale) {
    add_factor(std::move(words),
               [scale, own = scale_](const ScaledVector& at) { return scale(number_at(own, at.position)); });
  }

  void add_keys() {
    const auto scaled_keys = [own = scale_](AttentionCase& request) {
      request.k = times(
          request, request.k, [&](const ScaledVector& at) { return scale_at(own, at.position); },
          [&](std::int64_t row, std::int64_t token) { return request.positions[index(row * request.tokens + token)]; });
    };
    OtherAttention too{.words = "keys are scaled by their positions too"};
    too.change = [scaled_keys](Spec&, AttentionCase& request) { scaled_keys(request); };
    list_.push_back(std::move(too));
    add_factor("keys are scaled by their positions in the queries' place", [](const ScaledVector&) { return 1; });
    list_.back().change = [queries = list_.back().change, scaled_keys](Spec& spec, AttentionCase& request) {
      scaled_keys(request);
      queries(spec, request);
    };
  }

  void add_periods() {
    const auto of_quotient = [&](std::string words, const std::function<double(double quotient)>& count) {
      add_of_number(std::move(words), [count, own = scale_](double number) {
        return scale_of_periods(own, count(number / static_cast<double>(own.period)));
      });
    };
    of_quotient("parts of a period count in queries' scales", [](double quotient) { return quotient; });
    of_quotient("periods that have begun count in queries' scales",
                [](double quotient) { return std::ceil(quotient); });
    of_quotient("periods are rounded to the nearest in queries' scales",
                [](double quotient) { return std::round(quotient); });
    of_quotient("no more than one period counts in queries' scales",
                [](double quotient) { return std::min(std::floor(quotient), 1.0); });
    for (const int most : {2, 3, 4})
      of_quotient(fmt::format("no more than {} periods count in queries' scales", most),
                  [most](double quotient) { return std::min(std::floor(quotient), static_cast<double>(most)); });
    for (const int border : {1, 2, 3})
      of_quotient(fmt::format("period {} of queries' scales begins one position late", border),
                  [border](double quotient) { return std::floor(quotient) - (quotient == border ? 1 : 0); });
    const auto of_count = [&](std::string words, const std::function<double(double amount, double count)>& scale) {
      add_of_number(std::move(words),
                    [scale, own = scale_](double number) { return scale(own.amount, periods(own, number)); });
    };
    of_count("the logarithm in queries' scales is to base 2",
             [](double amount, double count) { return 1 + amount * std::log2(1 + count); });
    of_count("the logarithm in queries' scales is to base 10",
             [](double amount, double count) { return 1 + amount * std::log10(1 + count); });
    of_count("the logarithm in queries' scales is of the periods, not of one more",
             [](double amount, double count) { return 1 + amount * std::log(std::max(count, 1.0)); });
    of_count("the logarithm alone scales queries, without the 1 that it is added to",
             [](double amount, double count) { return count == 0 ? 1 : amount * std::log1p(count); });
    of_count("queries' scales grow with the periods, not with their logarithm",
             [](double amount, double count) { return 1 + amount * count; });
  }

  void add_logarithms() {
    const auto length = static_cast<double>(scale_.length);
    add_of_number("queries before the length are scaled down",
                  [length](double number) { return std::log(number) / std::log(length); });
    add_of_number("the logarithm in queries' scales is natural, not to the base of the length",
                  [length](double number) { return number > length ? std::log(number) : 1; });
    add_of_number("queries' scales are a root of the number by the length, not a logarithm",
                  [length](double number) { return std::max(std::pow(number / length, 1 / std::log(length)), 1.0); });
    add_of_number("queries' scales are the number by the length, not a logarithm",
                  [length](double number) { return std::max(number / length, 1.0); });
  }

  QueryScale scale_;
  std::vector<OtherAttention>& list_;
};

}  // namespace

std::vector<std::int64_t> positions_about_scale(const QueryScale& scale, std::int64_t end) {
  const std::int64_t unit = unit_of(scale);
  std::vector<std::int64_t> list{3, unit / 2};
  for (const std::int64_t border : {unit, 2 * unit, 3 * unit}) {
    for (const std::int64_t beside : {-1, 0, 1}) list.push_back(border - scale.offset + beside);
  }
  list.push_back(2 * unit + unit / 3);
  list.push_back(5 * unit + 7);
  list.push_back(9 * unit + unit / 3);
  std::erase_if(list, [&](std::int64_t position) { return position < 0 || position >= end; });
  std::ranges::sort(list);
  list.erase(std::ranges::unique(list).begin(), list.end());
  return list;
}

std::int64_t unit_of(const QueryScale& scale) {
  return scale.rule == QueryScaleRule::log_of_periods ? scale.period : scale.length;
}

double query_scale_at(const QueryScale& scale, std::int64_t position) { return scale_at(scale, position); }

OtherAttention scaled_by_index(const QueryScale& scale) {
  std::vector<OtherAttention> list;
  OtherQueryScales(scale, list).add_index();
  return list.front();
}

OtherAttention scaled_by_keys(const QueryScale& scale) {
  std::vector<OtherAttention> list;
  OtherQueryScales(scale, list).add_number_of_keys();
  return list.front();
}

void add_other_query_scales(const Attention& claimed, std::vector<OtherAttention>& list) {
  if (claimed.query_scale) OtherQueryScales(*claimed.query_scale, list).add();
}

}  // namespace sextant::identify
