#include "properties/identify/attention/other_turnings.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lib/numeric/index.hpp"
#include "lib/spec/channels.hpp"
#include "lib/spec/of.hpp"
#include "properties/identify/round_numbers.hpp"
#include "properties/model/attention_oracle.hpp"
#include "properties/model/attention_quick.hpp"
#include "properties/model/family.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// In double, so that no rounding is among what explains answers.
Tensor turned_values(TurningOracle& turning, const AttentionCase& request) {
  const Rope& head = turning.head();
  const Tensor& given = request.v;
  Tensor made = Tensor::zeros(Dtype::float64, given.shape);
  const std::int64_t width = given.shape[3];
  const std::vector<std::int64_t> lengths = lengths_of(request, &turning);
  std::vector<QuickTurn> turns(index(pairs(head)));
  for (std::int64_t vector = 0; vector * width < given.elements(); ++vector) {
    const std::int64_t token = vector % request.tokens;
    const std::int64_t row = vector / request.tokens / given.shape[1];
    const std::int64_t first = vector * width;
    turning.turn_quickly(place_of(request, row, token, Role::key, lengths), turns);
    for (const Passthrough& channel : passthrough_channels(head))
      made.set(first + channel.output, given.at(first + channel.input));
    for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
      const QuickTurn& turn = turns[index(pair)];
      const Channels from = channels_of_pair(head, head.pairing, pair);
      const Channels to = channels_of_pair(head, head.output_pairing, pair);
      const double x0 = given.at(first + from.first);
      const double x1 = given.at(first + from.second);
      const auto cosine = static_cast<double>(turn.cosine);
      const auto sine = static_cast<double>(turn.sine);
      made.set(first + to.first, x0 * cosine - x1 * sine);
      made.set(first + to.second, x0 * sine + x1 * cosine);
    }
  }
  return made;
}

// Keys that are turned as claimed to what those come to whose pairs are of the other pairing, in double too.
Tensor keys_of_other_pairs(TurningOracle& turning, const AttentionCase& request) {
  const Rope& head = turning.head();
  const Pairing other = head.pairing == Pairing::half ? Pairing::interleaved : Pairing::half;
  const Tensor& given = request.k;
  Tensor made = Tensor::zeros(Dtype::float64, given.shape);
  const std::int64_t width = given.shape[3];
  const std::vector<std::int64_t> lengths = lengths_of(request, &turning);
  std::vector<QuickTurn> turns(index(pairs(head)));
  std::vector<double> channels(index(width));
  for (std::int64_t vector = 0; vector * width < given.elements(); ++vector) {
    given.read(vector * width, channels);
    turning.turn_quickly(
        place_of(request, vector / request.tokens / given.shape[1], vector % request.tokens, Role::key, lengths),
        turns);
    // By an angle, or back by it.
    const auto turned = [&](Pairing pairing, double sign) {
      for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
        const Channels at = channels_of_pair(head, pairing, pair);
        const auto cosine = static_cast<double>(turns[index(pair)].cosine);
        const double sine = sign * static_cast<double>(turns[index(pair)].sine);
        const double by = sign > 0 ? 1 : cosine * cosine + sine * sine;
        const double x0 = channels[index(at.first)];
        const double x1 = channels[index(at.second)];
        channels[index(at.first)] = (x0 * cosine - x1 * sine) / by;
        channels[index(at.second)] = (x0 * sine + x1 * cosine) / by;
      }
    };
    turned(other, 1);
    turned(head.pairing, -1);
    for (std::int64_t c = 0; c < width; ++c) made.set(vector * width + c, channels[index(c)]);
  }
  return made;
}

class OtherTurnings {
 public:
  OtherTurnings(const AttentionCase& request, std::vector<OtherAttention>& list) : request_(request), list_(list) {}

  void add_none() {
    OtherAttention none{.words = "", .says = OtherAttention::Says::claim};
    none.change = [](Spec& spec, AttentionCase&) { held<Attention>(spec)->position.reset(); };
    list_.push_back(std::move(none));
  }

  void add_sides() {
    const auto moved = [this](const char* words, auto applies, auto position) {
      add(words, [applies, position](VectorPlace place) {
        if (!applies(place.role)) return place;
        for (std::int64_t& coordinate : place.coordinates) coordinate = position(coordinate);
        return place;
      });
    };
    const auto of_keys = [](Role role) { return role == Role::key; };
    const auto of_queries = [](Role role) { return role == Role::query; };
    const auto of_both = [](Role) { return true; };
    const auto none = [](std::int64_t) { return std::int64_t{0}; };
    moved("queries are turned by their positions, and keys are not", of_keys, none);
    moved("keys are turned by their positions, and queries are not", of_queries, none);
    moved("keys are turned by minus their positions: positions are added, where the claim has their difference",
          of_keys, [](std::int64_t position) { return -position; });
    moved("one position off: queries stand one position too far ahead of keys", of_queries,
          [](std::int64_t position) { return position + 1; });
    moved("one position off: queries stand one position too little ahead of keys", of_keys,
          [](std::int64_t position) { return position + 1; });
    moved("positions are halved, and rounded down", of_both, [](std::int64_t position) { return position >> 1; });
    moved("positions are doubled", of_both, [](std::int64_t position) { return 2 * position; });
  }

  // Keys whose pairs are other channels than queries'.
  void add_pairing(const Spec& claim, const Rope& rope) {
    const bool are_halves = rope.pairing == Pairing::half;
    const auto pairs_text = [](bool halves) { return halves ? "half" : "interleaved"; };
    list_.push_back({.words = fmt::format("pairs of keys are {}, where those of queries are {} as claimed",
                                          pairs_text(!are_halves), pairs_text(are_halves)),
                     .stage = DiagnosedStage::rotation,
                     .change = [claim](Spec&, AttentionCase& request) {
                       const auto position = position_model(claim, *held<Attention>(claim));
                       request.k = keys_of_other_pairs(*position->turning(), request);
                     }});
  }

  // Values as keys of their places are.
  void add_values(const Spec& claim) {
    list_.push_back({.words = "values are turned by their positions too",
                     .stage = DiagnosedStage::rotation,
                     .change = [claim](Spec&, AttentionCase& request) {
                       const auto position = position_model(claim, *held<Attention>(claim));
                       request.v = turned_values(*position->turning(), request);
                     }});
  }

  // Of rules that multiply what they turn.
  void add_factor(const Rope& rope) {
    const auto without = [](Rope changed) {
      std::visit(
          [](auto& rule) {
            if constexpr (requires { rule.attention_factor = 1.0; }) rule.attention_factor = 1.0;
          },
          changed.rope_scaling);
      return changed;
    };
    const bool has_factor = std::visit(
        [](const auto& rule) {
          return requires { rule.attention_factor; };
        },
        rope.rope_scaling);
    if (!has_factor) return;
    OtherAttention left_out{.words = "", .stage = DiagnosedStage::table, .says = OtherAttention::Says::claim};
    left_out.change = [without](Spec& spec, AttentionCase&) {
      auto& attention = *held<Attention>(spec);
      attention.position = without(*carried<Rope>(attention));
    };
    list_.push_back(std::move(left_out));
  }

  // Queries and keys that are turned by frequencies apart: one side's are those of another base, or of no rule.
  void add_frequencies_of_sides(const Rope& rope) {
    const auto apart = [&](std::string_view what, const Rope& other) {
      // Some rules turn fewer pairs.
      if (pairs(other) != pairs(rope) || pairs(rope) == 0) return;
      const auto turn_by = [](Spec& spec, const Rope& by) { held<Attention>(spec)->position = by; };
      list_.push_back({.words = fmt::format("keys alone are turned {}, and queries as claimed", what),
                       .stage = DiagnosedStage::frequency,
                       .of_keys = [=](Spec& spec) { turn_by(spec, other); }});
      list_.push_back({.words = fmt::format("queries alone are turned {}, and keys as claimed", what),
                       .stage = DiagnosedStage::frequency,
                       .change = [=](Spec& spec, AttentionCase&) { turn_by(spec, other); },
                       .of_keys = [=](Spec& spec) { turn_by(spec, rope); }});
    };
    if (!std::holds_alternative<DefaultScaling>(rope.rope_scaling)) {
      Rope other = rope;
      other.rope_scaling = DefaultScaling{};
      apart("without the claim's rope_scaling", other);
      return;
    }
    for (const double base : bases_in_use) {
      if (base == rope.rope_theta) continue;
      Rope other = rope;
      other.rope_theta = base;
      apart(fmt::format("by base {:.15g}", base), other);
    }
  }

  // Of rules that look at a length: which one is taken.
  void add_lengths(const Rope& rope) {
    const bool of_row = length_scope(rope.rope_scaling) == LengthScope::row;
    OtherAttention scope{.words = of_row ? "each batch row takes the longest one's length, where the claim has its own"
                                         : "each batch row takes its own length, where the claim has the longest one's",
                         .stage = DiagnosedStage::frequency,
                         .says = OtherAttention::Says::claim};
    scope.change = [](Spec& spec, AttentionCase&) {
      auto& attention = *held<Attention>(spec);
      Rope changed = *carried<Rope>(attention);
      const auto exchange = [](auto& rule) {
        if constexpr (requires { rule.length_scope; })
          rule.length_scope = rule.length_scope == LengthScope::row ? LengthScope::call : LengthScope::row;
      };
      std::visit(exchange, changed.rope_scaling);
      attention.position = changed;
    };
    list_.push_back(std::move(scope));
    const auto of_all = [this](const char* words, std::int64_t length) {
      list_.push_back({.words = words, .stage = DiagnosedStage::frequency, .place = [length](VectorPlace place) {
                         place.length = length;
                         return place;
                       }});
    };
    const std::vector<std::int64_t> lengths = request_.lengths(LengthScope::row);
    of_all("all batch rows take the first one's length", lengths.front());
    of_all("all batch rows take the last one's length", lengths.back());
    of_all("the number of tokens is taken for the length", request_.tokens);
  }

  void add_xpos(const Xpos& xpos) {
    add("keys are scaled as queries are", [](VectorPlace place) {
      place.role = Role::query;
      return place;
    });
    add("queries are scaled as keys are", [](VectorPlace place) {
      place.role = Role::key;
      return place;
    });
    add("queries and keys have each other's scales", [](VectorPlace place) {
      place.role = place.role == Role::key ? Role::query : Role::key;
      return place;
    });
    const auto* centre = std::get_if<std::int64_t>(&xpos.centre);
    if (centre == nullptr || *centre == 0) return;
    const auto centred = [this](const char* words, std::int64_t other) {
      list_.push_back({.words = words, .of_keys = [other](Spec& spec) {
                         auto& attention = *held<Attention>(spec);
                         Xpos changed = *carried<Xpos>(attention);
                         changed.centre = other;
                         attention.position = changed;
                       }});
    };
    centred("keys' scales count from position 0, and queries' from the claimed centre", 0);
    centred("keys' scales have the centre with the other sign: minus the claimed one", -*centre);
  }

 private:
  template <class Place>
  void add(const char* words, Place place) {
    list_.push_back({.words = words, .stage = DiagnosedStage::position, .place = std::move(place)});
  }

  const AttentionCase& request_;
  std::vector<OtherAttention>& list_;
};

}  // namespace

void add_other_turnings(const Spec& claim, const AttentionCase& request, std::vector<OtherAttention>& list) {
  const auto& attention = *held<Attention>(claim);
  const auto position = position_model(claim, attention);
  if (!position || !position->turning()) return;
  OtherTurnings others(request, list);
  others.add_none();
  others.add_sides();
  if (!is_16_bit(claim.dtype)) others.add_values(claim);
  const auto* rope = carried<Rope>(attention);
  if (rope != nullptr) others.add_factor(*rope);
  // Cached keys have the frequencies that the cache's have.
  if (rope != nullptr && !(request.is_step() && attention.cached_keys == CachedKeys::rotated))
    others.add_frequencies_of_sides(*rope);
  const bool has_pairs = rope != nullptr && rope->pairing == rope->output_pairing && pairs(*rope) > 1;
  if (has_pairs && attention.cached_keys == CachedKeys::plain && !is_16_bit(claim.dtype))
    others.add_pairing(claim, *rope);
  if (rope != nullptr && depends_on_length(claim) && request.batch > 1) others.add_lengths(*rope);
  if (const auto* xpos = carried<Xpos>(attention)) others.add_xpos(*xpos);
}

}  // namespace sextant::identify
