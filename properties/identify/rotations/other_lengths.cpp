// Above 400 lines, as a list of readings: each is a few lines, and all share what fixes a rule at one length.

#include "properties/identify/rotations/other_lengths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "lib/spec/of.hpp"
#include "reference/rope_scaling.hpp"

namespace sextant::identify {
namespace {

enum class RuleFactor { kept, left_out };
using LengthOf = std::function<double(const VectorInCall& vector)>;

std::int64_t claimed_length(const Spec& claim, const VectorInCall& vector) {
  const Rope* rope = rope_of(claim);
  return rope != nullptr && length_scope(rope->rope_scaling) == LengthScope::row ? vector.row_length(vector.batch)
                                                                                 : vector.call_length();
}

// The base that a rope without a rule has at this stretch of it.
void stretch_base(Rope& rope, double stretch, double power) { rope.rope_theta *= std::pow(stretch, power); }

double power_of(const Rope& rope) {
  const auto n = static_cast<double>(rotary_width(rope));
  return n / (n - 2);
}

// A rule as it is at one length, in calls of every length.
void fix_lengths(Rope& rope, double length, double of_magnitude) {
  if (const auto* dynamic = std::get_if<DynamicScaling>(&rope.rope_scaling)) {
    const auto trained = static_cast<double>(dynamic->original_max_position_embeddings);
    const double stretch = dynamic->factor * length / trained - (dynamic->factor - 1);
    if (length <= trained || stretch <= 1) {
      rope.rope_scaling = DefaultScaling{};
    } else {
      rope.rope_scaling = NtkScaling{.factor = stretch};
    }
    return;
  }
  if (auto* longrope = std::get_if<LongropeScaling>(&rope.rope_scaling)) {
    const auto trained = static_cast<double>(longrope->original_max_position_embeddings);
    const bool is_long = length > trained;
    const bool has_long_magnitude = of_magnitude > trained;
    (is_long ? longrope->short_factor : longrope->long_factor) =
        is_long ? longrope->long_factor : longrope->short_factor;
    (has_long_magnitude ? longrope->short_mscale : longrope->long_mscale) =
        has_long_magnitude ? longrope->long_mscale : longrope->short_mscale;
  }
}

// The greatest position of the vectors whose numbers have the same quotient by `block`, + 1.
double length_of_block(const VectorInCall& vector, std::int64_t block, std::int64_t vectors_of_token) {
  const std::int64_t number =
      (vector.batch * vector.tokens + vector.token) * vectors_of_token + (vectors_of_token > 1 ? vector.head : 0);
  const std::int64_t first = number / block * block;
  const std::int64_t last = std::min(first + block, vector.batches * vector.tokens * vectors_of_token) - 1;
  std::int64_t length = 0;
  for (std::int64_t token = first / vectors_of_token; token <= last / vectors_of_token; ++token) {
    for (std::int64_t axis = 0; axis < vector.axes; ++axis)
      length = std::max(length, vector.coordinate(axis, token / vector.tokens, token % vector.tokens) + 1);
  }
  return static_cast<double>(length);
}

class OtherLengths {
 public:
  explicit OtherLengths(const Spec& claim) : claim_(claim), rope_(*rope_of(claim)) {}

  std::vector<VectorReading> made() && {
    add_applied_by_tokens();
    if (!length_limit(rope_.rope_scaling)) {
      add_applied_by_length();
      return std::move(list_);
    }
    trained_ = static_cast<double>(*length_limit(rope_.rope_scaling));
    add_borders();
    add_whose();
    add_blocks();
    if (const auto* dynamic = std::get_if<DynamicScaling>(&rope_.rope_scaling)) {
      add_formulas(*dynamic);
      add_limits(*dynamic);
    }
    if (const auto* longrope = std::get_if<LongropeScaling>(&rope_.rope_scaling)) add_factors_by_length(*longrope);
    return std::move(list_);
  }

 private:
  static TakenVector taken(const Spec& spec, const VectorInCall& vector) { return {spec, vector.place()}; }

  // Another length for the claimed one, of which the rest of the rule is made.
  void add(std::string words, LengthOf length) {
    const auto* longrope = std::get_if<LongropeScaling>(&rope_.rope_scaling);
    if (longrope != nullptr && longrope->short_mscale)
      list_.push_back({words + "; the magnitude is that of the claimed length", DiagnosedStage::frequency,
                       [claim = claim_, length](const VectorInCall& vector) {
                         const double own = static_cast<double>(claimed_length(claim, vector));
                         return std::optional(taken(
                             with_rope(claim, [&](Rope& rope) { fix_lengths(rope, length(vector), own); }), vector));
                       }});
    list_.push_back(
        {std::move(words), DiagnosedStage::frequency,
         [claim = claim_, length = std::move(length)](const VectorInCall& vector) {
           return std::optional(
               taken(with_rope(claim, [&](Rope& rope) { fix_length(rope, stepped(rope, length(vector))); }), vector));
         }});
  }

  static double stepped(const Rope& rope, double length) {
    const auto* dynamic = std::get_if<DynamicScaling>(&rope.rope_scaling);
    if (dynamic == nullptr || dynamic->length_steps == LengthSteps::every) return length;
    return static_cast<double>(reference::stepped_length(*dynamic, std::llround(length)));
  }

  void add_borders() {
    const LengthOf own_length = [claim = claim_](const VectorInCall& vector) {
      return static_cast<double>(claimed_length(claim, vector));
    };
    if (std::get_if<LongropeScaling>(&rope_.rope_scaling) == nullptr) return;
    add("the short factors are never read: calls of every length have the long ones",
        [](const VectorInCall&) { return HUGE_VAL; });
    add("the long factors are never read: calls of every length have the short ones",
        [](const VectorInCall&) { return 0.0; });
    add(fmt::format("the long factors begin one position early: a call of just the original length, {}, has them",
                    trained_),
        [own_length](const VectorInCall& vector) { return own_length(vector) + 1; });
    add(fmt::format("the long factors begin one position late: a call of length {} has the short ones", trained_ + 1),
        [own_length](const VectorInCall& vector) { return own_length(vector) - 1; });
  }

  void add_whose() {
    const auto as_double = [](std::int64_t length) { return static_cast<double>(length); };
    add("all batch rows take the first one's length",
        [=](const VectorInCall& vector) { return as_double(vector.row_length(0)); });
    add("all batch rows take the last one's length",
        [=](const VectorInCall& vector) { return as_double(vector.row_length(vector.batches - 1)); });
    add("all batch rows take the shortest one's length", [=](const VectorInCall& vector) {
      std::int64_t least = vector.row_length(0);
      for (std::int64_t batch = 1; batch < vector.batches; ++batch) least = std::min(least, vector.row_length(batch));
      return as_double(least);
    });
    add("the number of tokens in a call is taken for its length",
        [=](const VectorInCall& vector) { return as_double(vector.tokens); });
    add_counted_lengths();
    add("a call's first position is taken for its last, which says the length",
        [=](const VectorInCall& vector) { return as_double(vector.coordinate(0, 0, 0) + 1); });
    add("a row's first position is taken for its last, which says the length",
        [=](const VectorInCall& vector) { return as_double(vector.coordinate(0, vector.batch, 0) + 1); });
    add("the position of a call's last token is taken for its greatest, which says the length",
        [=](const VectorInCall& vector) {
          return as_double(vector.coordinate(0, vector.batches - 1, vector.tokens - 1) + 1);
        });
    add("the position of a row's last token is taken for its greatest, which says the length",
        [=](const VectorInCall& vector) {
          return as_double(vector.coordinate(0, vector.batch, vector.tokens - 1) + 1);
        });
    add("each vector takes its own position for the length, where the claim has the greatest of all",
        [=](const VectorInCall& vector) { return as_double(std::ranges::max(vector.place()) + 1); });
    add("vectors beyond the original length take their own position for the length, the others that of the call",
        [=, trained = trained_](const VectorInCall& vector) {
          const double own = as_double(std::ranges::max(vector.place()) + 1);
          return own > trained ? own : as_double(vector.call_length());
        });
    add("each batch row takes its own length, where the claim has the longest one's",
        [=](const VectorInCall& vector) { return as_double(vector.row_length(vector.batch)); });
    add("rows up to the original length take the longest one's length, and longer ones their own",
        [=, trained = trained_](const VectorInCall& vector) {
          const double own = as_double(vector.row_length(vector.batch));
          return own > trained ? own : as_double(vector.call_length());
        });
    add("all batch rows take the longest one's length, where the claim has each its own",
        [=](const VectorInCall& vector) { return as_double(vector.call_length()); });
    for (std::int64_t axis = 0; axis < axes_of(claim_.encoding) && axes_of(claim_.encoding) > 1; ++axis) {
      add(fmt::format("the length is that of axis {} alone, where the claim has the greatest of all axes", axis),
          [=](const VectorInCall& vector) {
            std::int64_t length = 0;
            for (std::int64_t batch = 0; batch < vector.batches; ++batch) {
              for (std::int64_t token = 0; token < vector.tokens; ++token)
                length = std::max(length, vector.coordinate(axis, batch, token) + 1);
            }
            return as_double(length);
          });
    }
  }

  // Lengths that are counted from a first or least position, as a cache's length and a call's tokens make them.
  void add_counted_lengths() {
    const auto from_first = [](const VectorInCall& vector, std::int64_t batch) {
      return static_cast<double>(vector.coordinate(0, batch, 0) + vector.tokens);
    };
    const auto span = [](const VectorInCall& vector, std::int64_t batch) {
      std::int64_t least = vector.coordinate(0, batch, 0);
      for (std::int64_t token = 1; token < vector.tokens; ++token)
        least = std::min(least, vector.coordinate(0, batch, token));
      return static_cast<double>(vector.row_length(batch) - least);
    };
    const auto longest = [](auto length_of_row) {
      return [=](const VectorInCall& vector) {
        double length = 0;
        for (std::int64_t batch = 0; batch < vector.batches; ++batch)
          length = std::max(length, length_of_row(vector, batch));
        return length;
      };
    };
    const auto by_last = [](const VectorInCall& vector, std::int64_t batch) {
      const std::int64_t length = vector.row_length(batch);
      const bool ends_there = vector.coordinate(0, batch, vector.tokens - 1) + 1 == length;
      return static_cast<double>(ends_there ? length : vector.tokens);
    };
    add("rows whose last token has not their greatest position take the number of tokens for their length",
        [=](const VectorInCall& vector) { return by_last(vector, vector.batch); });
    add("rows whose last token has not their greatest position take the number of tokens for their length, and all "
        "have the longest one's",
        longest(by_last));
    add("the number of tokens in a call that has no position 0 is taken for its length",
        [](const VectorInCall& vector) {
          const bool has_0 = std::ranges::find(vector.call.positions, 0) != vector.call.positions.end();
          return static_cast<double>(has_0 ? vector.call_length() : vector.tokens);
        });
    add("the length is a row's first position plus its number of tokens, whatever the positions of the others; of "
        "several rows the longest",
        longest(from_first));
    add("each row's length is its first position plus its number of tokens, whatever the positions of the others",
        [=](const VectorInCall& vector) { return from_first(vector, vector.batch); });
    add("the length is the first row's first position plus its number of tokens, for all rows",
        [=](const VectorInCall& vector) { return from_first(vector, 0); });
    add("the length is the mean of the rows' lengths", [](const VectorInCall& vector) {
      double sum = 0;
      for (std::int64_t batch = 0; batch < vector.batches; ++batch)
        sum += static_cast<double>(vector.row_length(batch));
      return sum / static_cast<double>(vector.batches);
    });
    add("the call's least position is taken for its greatest, which says the length",
        [](const VectorInCall& vector) { return static_cast<double>(std::ranges::min(vector.call.positions) + 1); });
    add("a row's least position is taken for its greatest, which says the length, and all rows have the longest one's",
        longest([](const VectorInCall& vector, std::int64_t batch) {
          std::int64_t least = vector.coordinate(0, batch, 0);
          for (std::int64_t token = 1; token < vector.tokens; ++token)
            least = std::min(least, vector.coordinate(0, batch, token));
          return static_cast<double>(least + 1);
        }));
    add("the length is the sum of the rows' lengths", [](const VectorInCall& vector) {
      double sum = 0;
      for (std::int64_t batch = 0; batch < vector.batches; ++batch)
        sum += static_cast<double>(vector.row_length(batch));
      return sum;
    });
    add("a row's least position is taken for its greatest, which says the length", [](const VectorInCall& vector) {
      std::int64_t least = vector.coordinate(0, vector.batch, 0);
      for (std::int64_t token = 1; token < vector.tokens; ++token)
        least = std::min(least, vector.coordinate(0, vector.batch, token));
      return static_cast<double>(least + 1);
    });
    add("the length is counted from a row's least position, not from 0; of several rows the longest", longest(span));
    add("each row's length is counted from its least position, not from 0",
        [=](const VectorInCall& vector) { return span(vector, vector.batch); });
    add("the length is counted from the call's least position, not from 0", [](const VectorInCall& vector) {
      return static_cast<double>(vector.call_length() - std::ranges::min(vector.call.positions));
    });
  }

  void add_blocks() {
    for (const std::int64_t block : {16, 32, 64, 128, 256, 512, 1024}) {
      add(fmt::format("each block of {} vectors takes its own length, where the claim has that of the call", block),
          [block](const VectorInCall& vector) { return length_of_block(vector, block, vector.heads); });
      add(fmt::format("each block of {} tokens takes its own length, where the claim has that of the call", block),
          [block](const VectorInCall& vector) { return length_of_block(vector, block, 1); });
    }
  }

  // What becomes of a length l beyond L, by its quotient.
  void add_steps(const DynamicScaling& rule, std::string words, double (*ratio)(double)) {
    list_.push_back(
        {std::move(words), DiagnosedStage::frequency, [claim = claim_, rule, ratio](const VectorInCall& at) {
           const auto trained = static_cast<double>(rule.original_max_position_embeddings);
           const auto length = static_cast<double>(claimed_length(claim, at));
           const double taken_length = length <= trained ? length : std::round(trained * ratio(length / trained));
           return std::optional(taken(with_rope(claim, [&](Rope& rope) { fix_length(rope, taken_length); }), at));
         }});
  }

  // Lengths between which nothing changes that the claim has change there.
  void add_limits(const DynamicScaling& rule) {
    const auto trained = rule.original_max_position_embeddings;
    const auto own = [claim = claim_](const VectorInCall& vector) {
      return static_cast<double>(claimed_length(claim, vector));
    };
    for (const double times : {2.0, 4.0, 8.0, 16.0, rule.factor}) {
      const auto border = static_cast<std::int64_t>(times * static_cast<double>(trained));
      if (border <= trained) continue;
      const auto limit = static_cast<double>(border);
      const auto least = static_cast<double>(trained);
      add(fmt::format("dynamic scaling begins beyond length {}: calls up to it are not scaled, where the claim begins "
                      "beyond {}",
                      border, trained),
          [=](const VectorInCall& vector) { return own(vector) > limit ? own(vector) : std::min(own(vector), least); });
      add(fmt::format("lengths beyond {} are taken for it", border),
          [=](const VectorInCall& vector) { return std::min(own(vector), limit); });
    }
    for (const double step : {8.0, 16.0, 32.0, 64.0, 100.0, 128.0, 256.0, 512.0, 1000.0, 1024.0}) {
      add(fmt::format("lengths are rounded up to multiples of {}", step),
          [=](const VectorInCall& vector) { return std::ceil(own(vector) / step) * step; });
      add(fmt::format("lengths are rounded down to multiples of {}", step),
          [=](const VectorInCall& vector) { return std::floor(own(vector) / step) * step; });
    }
  }

  // The attention factor in calls of some lengths alone, of a rule whose own has one in all.
  void add_factors_by_length(const LongropeScaling& rule) {
    if (rule.short_mscale) {
      const auto with_magnitude = [&](std::string words, const LengthOf& length) {
        list_.push_back({std::move(words), DiagnosedStage::table, [claim = claim_, length](const VectorInCall& vector) {
                           const auto own = static_cast<double>(claimed_length(claim, vector));
                           return std::optional(taken(
                               with_rope(claim, [&](Rope& rope) { fix_lengths(rope, own, length(vector)); }), vector));
                         }});
      };
      with_magnitude("long calls have the magnitude of short ones, with the long factors",
                     [](const VectorInCall&) { return 0.0; });
      with_magnitude("short calls have the magnitude of long ones, with the short factors",
                     [](const VectorInCall&) { return HUGE_VAL; });
      with_magnitude("the magnitude is that of the longest row's length, and factors are those of each row's own",
                     [](const VectorInCall& vector) { return static_cast<double>(vector.call_length()); });
      with_magnitude("the magnitude is that of each row's own length, and factors are those of the longest one's",
                     [](const VectorInCall& vector) { return static_cast<double>(vector.row_length(vector.batch)); });
      return;
    }
    const auto without = [&](auto is_without) {
      return [claim = claim_, is_without](const VectorInCall& vector) {
        TakenVector one = as_claimed(claim, vector);
        if (is_without(static_cast<double>(claimed_length(claim, vector))))
          one.spec = with_rope(std::move(one.spec),
                               [](Rope& rope) { std::get<LongropeScaling>(rope.rope_scaling).attention_factor = 1; });
        return std::optional(std::move(one));
      };
    };
    list_.push_back({fmt::format("the attention factor is left out in calls up to the original length, {}, and "
                                 "longer ones have it",
                                 trained_),
                     DiagnosedStage::table, without([limit = trained_](double length) { return length <= limit; })});
    list_.push_back({fmt::format("the attention factor is left out in calls longer than the original length, {}, and "
                                 "others have it",
                                 trained_),
                     DiagnosedStage::table, without([limit = trained_](double length) { return length > limit; })});
  }

  // A prefill and a step that are computed by different code.
  void add_applied_by_tokens() {
    if (std::holds_alternative<DefaultScaling>(rope_.rope_scaling)) return;
    const std::string rule(name_of(rope_.rope_scaling));
    const Spec plain = without_rule(claim_, RuleFactor::left_out);
    const auto where = [&](std::string_view calls, auto is_plain) {
      list_.push_back({fmt::format("calls of {} are turned without rope_scaling {}, and others with it", calls, rule),
                       DiagnosedStage::frequency, [claim = claim_, plain, is_plain](const VectorInCall& vector) {
                         return std::optional(as_claimed(is_plain(vector.tokens) ? plain : claim, vector));
                       }});
    };
    where("one token", [](std::int64_t tokens) { return tokens == 1; });
    where("several tokens", [](std::int64_t tokens) { return tokens > 1; });
  }

  // The base times stretch^power at each length.
  void add_stretch(std::string words, double power, std::function<std::optional<double>(double ratio)> stretch) {
    list_.push_back({std::move(words), DiagnosedStage::frequency,
                     [claim = claim_, trained = trained_, power,
                      stretch = std::move(stretch)](const VectorInCall& vector) -> std::optional<TakenVector> {
                       const auto by = stretch(
                           stepped(*rope_of(claim), static_cast<double>(claimed_length(claim, vector))) / trained);
                       if (!by) return std::nullopt;
                       return taken(with_rope(claim,
                                              [&](Rope& rope) {
                                                rope.rope_scaling = DefaultScaling{};
                                                stretch_base(rope, *by, power);
                                              }),
                                    vector);
                     }});
  }

  void add_formulas(const DynamicScaling& rule) {
    add_steps(rule, "lengths are rounded down to the original one times a power of 2",
              [](double ratio) { return std::exp2(std::floor(std::log2(ratio))); });
    add_steps(rule, "lengths are rounded up to the original one times a power of 2",
              [](double ratio) { return std::exp2(std::ceil(std::log2(ratio))); });
    add_steps(rule, "lengths are rounded to the nearest of the original one times a power of 2",
              [](double ratio) { return std::exp2(std::round(std::log2(ratio))); });
    add_steps(rule, "a length that is the original one times a power of 2 takes the next one",
              [](double ratio) { return std::exp2(std::floor(std::log2(ratio)) + 1); });
    add_steps(rule, "lengths are rounded up to multiples of the original one",
              [](double ratio) { return std::ceil(ratio); });
    add_steps(
        rule,
        "lengths less than a thousandth of a doubling beyond the original one times a power of 2 are taken for it",
        [](double ratio) { return std::exp2(std::ceil(std::log2(ratio) - 1e-3)); });
    add_steps(rule, "lengths are rounded down to multiples of the original one",
              [](double ratio) { return std::floor(ratio); });
    list_.push_back(
        {"lengths are rounded up to powers of 2", DiagnosedStage::frequency,
         [claim = claim_](const VectorInCall& vector) {
           const double length = std::exp2(std::ceil(std::log2(static_cast<double>(claimed_length(claim, vector)))));
           return std::optional(taken(with_rope(claim, [&](Rope& rope) { fix_length(rope, length); }), vector));
         }});
    const double s = rule.factor;
    const double power = power_of(rope_);
    // Of a stretch near 0 and below nothing is said: what there is of it is each implementation's own.
    const auto above_0 = [](double stretch) { return stretch > 0.01 ? std::optional(stretch) : std::nullopt; };
    add_stretch("calls shorter than the original length are stretched by the formula of longer ones, to less than 1",
                power, [=](double ratio) { return above_0(s * ratio - (s - 1)); });
    add_stretch("the base is stretched by factor l / L beyond L, where the claim has factor l / L - (factor - 1)",
                power, [=](double ratio) { return std::optional(ratio > 1 ? s * ratio : 1); });
    add_stretch(
        "the base is stretched by factor l / L at every length, where the claim has factor l / L - (factor - 1)", power,
        [=](double ratio) { return above_0(s * ratio); });
    add_stretch("the base is stretched by l / L, and factor is not read", power,
                [=](double ratio) { return std::optional(ratio > 1 ? ratio : 1); });
    add_stretch("the exponent n / (n - 2) of the base's stretch is left out", 1,
                [=](double ratio) { return std::optional(ratio > 1 ? s * ratio - (s - 1) : 1); });
  }

  // Of rules that look at no length, but say one.
  void add_applied_by_length() {
    const auto trained = original_length(rope_.rope_scaling);
    if (!trained) return;
    const auto conditional = [&](std::string words, auto is_plain, RuleFactor factor) {
      list_.push_back({std::move(words), DiagnosedStage::frequency,
                       [claim = claim_, plain = without_rule(claim_, factor), is_plain](const VectorInCall& vector) {
                         return std::optional(taken(is_plain(vector) ? plain : claim, vector));
                       }});
    };
    const std::string rule(name_of(rope_.rope_scaling));
    const bool has_factor = std::get_if<YarnScaling>(&rope_.rope_scaling) != nullptr;
    for (const RuleFactor factor : {RuleFactor::left_out, RuleFactor::kept}) {
      if (factor == RuleFactor::kept && !has_factor) continue;
      const std::string_view but = factor == RuleFactor::kept ? ", whose attention factor they have" : "";
      conditional(
          fmt::format("calls up to the original length, {}, are turned without rope_scaling {}{}", *trained, rule, but),
          [=](const VectorInCall& vector) { return vector.call_length() <= *trained; }, factor);
      conditional(
          fmt::format("calls longer than the original length, {}, are turned without rope_scaling {}{}", *trained, rule,
                      but),
          [=](const VectorInCall& vector) { return vector.call_length() > *trained; }, factor);
      conditional(
          fmt::format("positions below the original length, {}, are turned without rope_scaling {}{}", *trained, rule,
                      but),
          [=](const VectorInCall& vector) { return vector.coordinate(0, vector.batch, vector.token) < *trained; },
          factor);
    }
  }

  // A yarn of factor 1 keeps every frequency.
  static Spec without_rule(const Spec& claim, RuleFactor factor) {
    return with_rope(claim, [&](Rope& rope) {
      auto* yarn = std::get_if<YarnScaling>(&rope.rope_scaling);
      if (factor == RuleFactor::left_out || yarn == nullptr) {
        rope.rope_scaling = DefaultScaling{};
        return;
      }
      const auto of = [&](double mscale) { return 0.1 * mscale * std::log(yarn->factor) + 1; };
      if (!yarn->attention_factor)
        yarn->attention_factor = yarn->mscale ? of(*yarn->mscale) / of(*yarn->mscale_all_dim) : of(1);
      yarn->mscale.reset();
      yarn->mscale_all_dim.reset();
      yarn->factor = 1;
    });
  }

  Spec claim_;
  Rope rope_;
  double trained_ = 0;
  std::vector<VectorReading> list_;
};

}  // namespace

std::int64_t centre_at(HalfOfCall half, std::int64_t length) {
  return half == HalfOfCall::floor ? length / 2 : (length + 1) / 2;
}

const Rope* rope_of(const Spec& spec) {
  if (const auto* rope = held<Rope>(spec)) return rope;
  if (const auto* xpos = held<Xpos>(spec)) return &xpos->rope;
  if (const auto* normed = held<QkNormRope>(spec)) return &normed->rope;
  if (const auto* axial = held<RopeNd>(spec)) return &axial->rope;
  return nullptr;
}

void fix_length(Rope& rope, double length) { fix_lengths(rope, length, length); }

Spec with_rope(Spec spec, const std::function<void(Rope& rope)>& change) {
  if (auto* rope = held<Rope>(spec)) change(*rope);
  if (auto* xpos = held<Xpos>(spec)) change(xpos->rope);
  if (auto* normed = held<QkNormRope>(spec)) change(normed->rope);
  if (auto* axial = held<RopeNd>(spec)) change(axial->rope);
  return spec;
}

TakenVector as_claimed(const Spec& claim, const VectorInCall& vector) {
  Spec spec = with_rope(claim, [&](Rope& rope) {
    const std::int64_t length = claimed_length(claim, vector);
    const auto* dynamic = std::get_if<DynamicScaling>(&rope.rope_scaling);
    fix_length(rope, static_cast<double>(dynamic == nullptr ? length : reference::stepped_length(*dynamic, length)));
  });
  if (auto* xpos = held<Xpos>(spec)) {
    if (const auto* half = std::get_if<HalfOfCall>(&xpos->centre))
      xpos->centre = centre_at(*half, vector.call_length());
  }
  return {std::move(spec), vector.place()};
}

std::vector<VectorReading> other_lengths(const Spec& claim) {
  if (rope_of(claim) == nullptr) return {};
  return OtherLengths(claim).made();
}

std::vector<CallPlaces> calls_about_lengths(const Spec& claim) {
  const Rope* rope = rope_of(claim);
  const auto limit = rope == nullptr ? std::nullopt : original_length(rope->rope_scaling);
  const std::int64_t axes = axes_of(claim.encoding);
  if (!limit || *limit < 16) return {};
  std::vector<CallPlaces> calls;
  const auto add = [&](std::int64_t batches, std::int64_t heads, const std::vector<std::int64_t>& of_axis) {
    CallPlaces places{batches, heads, of_axis};
    // On other axes tokens lie nearer to 0, each in turn having the greatest of a call.
    for (std::int64_t axis = 1; axis < axes; ++axis) {
      for (const std::int64_t position : of_axis) places.positions.push_back(position / (1 + axis));
    }
    calls.push_back(places);
    if (axes == 1) return;
    const auto per_axis = static_cast<std::ptrdiff_t>(of_axis.size());
    std::ranges::rotate(places.positions, places.positions.begin() + per_axis);
    calls.push_back(std::move(places));
  };
  const std::int64_t l = *limit;
  // Just beyond doublings, where a logarithm with an epsilon is another one.
  for (std::int64_t doubled = 4 * l; doubled <= 256 * l; doubled *= 2) add(1, 2, {7, doubled, 1});
  // The longest token is neither the first nor the last.
  for (const std::int64_t length :
       {l / 2, l - 1, l, l + 1, l + 2, l + l / 4, 3 * l / 2, 2 * l, 2 * l + 1, 3 * l - 1, 3 * l, 4 * l, 5 * l})
    add(1, 2, {7, length - 1, 1, std::min<std::int64_t>(101, length - 1)});
  for (const std::int64_t length : {l - 1, l, l + 1, 3 * l}) add(1, 2, {length - 1});
  // Rows of lengths on either side of it, in several orders.
  const std::vector<std::int64_t> low{3, l / 3, 5, 2};
  const std::vector<std::int64_t> high{5, 3 * l, 11, 1};
  const std::vector<std::int64_t> middle{9, l + l / 2, 4, 13};
  const auto joined = [](std::initializer_list<std::vector<std::int64_t>> rows) {
    std::vector<std::int64_t> all;
    for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
    return all;
  };
  // Rows that end on either side of it, all longer.
  const std::vector<std::int64_t> ends_low{5, 3 * l, 11, 7};
  const std::vector<std::int64_t> ends_high{5, 2 * l, 11, 3 * l};
  // From 0 on with gaps, and from elsewhere.
  add(1, 1, {0, 3 * l, 5});
  add(2, 1, {0, 7, 3 * l, 2 * l, 5, l + 9});
  add(2, 1, joined({ends_low, ends_high}));
  add(2, 1, joined({ends_high, ends_low}));
  // Of one row all tokens are beyond it, of the other some.
  add(2, 1, {2 * l, 3 * l, l + 5, 3, 2 * l + 1, 7});
  add(2, 1, {9, 2 * l + 3, 1, 2 * l + 5, 3 * l + 1, l + 7});
  // All tokens beyond it.
  add(2, 1, {2 * l, 3 * l, l + 5, l + 11, 2 * l + 7, 3 * l + 1, 2 * l + 3, l + 9});
  add(3, 1, joined({low, high, middle}));
  add(3, 1, joined({high, low, middle}));
  add(3, 1, joined({middle, high, low}));
  // Short tokens before long ones and after them, in blocks of any size.
  std::vector<std::int64_t> ascending;
  for (std::int64_t token = 0; token < 1100; ++token)
    ascending.push_back(token < 1017 ? (token * 13) % (l / 2) + 1 : l + token);
  add(1, 2, ascending);
  add(1, 1, ascending);
  std::ranges::reverse(ascending);
  add(1, 3, ascending);
  constexpr std::int64_t most_tokens = 8192;
  if (l <= most_tokens) {
    std::vector<std::int64_t> many(static_cast<std::size_t>(l + 2), 1);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<std::int64_t>(i * 7 % 300) + 1;
    add(1, 1, many);
  }
  return calls;
}

}  // namespace sextant::identify
