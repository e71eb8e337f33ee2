#include <algorithm>
#include <string>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/mutants/local_fault.hpp"
#include "properties/mutants/plain_others.hpp"

// Rotations as they are deployed: layers without positions (rope_type none), dual caches, each with a magnitude of its
// own (longrope's short_mscale and long_mscale), and xPos with its centre in the middle of the call.

namespace sextant::mutants::deployed_mutants {
namespace {

constexpr const char* standing =
    R"({"encoding":"rope","head_dim":32,"rope_scaling":{"rope_type":"none"},"max_position":16384})";
constexpr const char* standing_moved = R"({"encoding":"rope","head_dim":32,"pairing":"interleaved",)"
                                       R"("output_pairing":"half","rope_scaling":{"rope_type":"none"},)"
                                       R"("max_position":16384})";
constexpr const char* standing_axial = R"({"encoding":"rope_nd","head_dim":32,"sections":[4,6,6],)"
                                       R"("rope_scaling":{"rope_type":"none"},"max_position":4096})";
constexpr const char* standing_attention =
    R"({"encoding":"attention","num_heads":2,"head_dim":16,"causal":true,"max_position":4096,)"
    R"("position":{"encoding":"rope","head_dim":16,"rope_scaling":{"rope_type":"none"}}})";

// By whose length the cache is chosen, call or row.
std::string dual(const std::string& scope) {
  return R"({"encoding":"rope","head_dim":8,"max_position":8192,"rope_scaling":{"rope_type":"longrope",)"
         R"("original_max_position_embeddings":2048,"short_factor":[1,1.1,1.3,2],"long_factor":[1.2,4,18,30],)"
         R"("short_mscale":1.1,"long_mscale":1.25,"length_scope":")" +
         scope + R"("}})";
}
constexpr const char* dual_attention =
    R"({"encoding":"attention","num_heads":2,"head_dim":8,"causal":true,"max_position":8192,"position":)"
    R"({"encoding":"rope","head_dim":8,"rope_scaling":{"rope_type":"longrope",)"
    R"("original_max_position_embeddings":2048,"short_factor":[1,1.1,1.3,2],"long_factor":[1.2,4,18,30],)"
    R"("short_mscale":1.1,"long_mscale":1.25}}})";
constexpr const char* dual_axial =
    R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"max_position":8192,"rope_scaling":{"rope_type":"longrope",)"
    R"("original_max_position_embeddings":2048,"short_factor":[1,1.1,1.3,2],"long_factor":[1.2,4,18,30],)"
    R"("short_mscale":1.1,"long_mscale":1.25}})";

std::string xpos(const std::string& centre, const std::string& rest = "") {
  return R"({"encoding":"xpos","head_dim":32,"pairing":"interleaved","max_position":2048,"centre":)" + centre + rest +
         "}";
}
std::string xpos_attention(const std::string& centre) {
  return R"({"encoding":"attention","num_heads":2,"head_dim":16,"max_position":2048,"position":)"
         R"({"encoding":"xpos","head_dim":16,"pairing":"interleaved","centre":)" +
         centre + "}}";
}

FunctionSubject::Make plain_rope(void (*change)(PlainRope&)) {
  return of<Rope>([change](const Spec& spec, const Rope& encoding) {
    PlainRope plain(encoding, spec.dtype);
    change(plain);
    return rope_call(std::move(plain));
  });
}

// Nothing where a spec has another rule, as those that siblings asks.
const LongropeScaling* rule_of(const PlainRope& plain) {
  const auto* rule = std::get_if<LongropeScaling>(&plain.encoding.rope_scaling);
  return rule != nullptr && rule->short_mscale ? rule : nullptr;
}

void standing_mutants(LocalFaults& list) {
  const auto defect = [&](const char* name, const char* mechanism, std::string claim, void (*change)(PlainRope&)) {
    list.entries.push_back({name, Kind::defect, "D12", mechanism, std::move(claim), plain_rope(change)});
  };
  defect("rope-none-rotated", "a layer without positions is rotated all the same", standing, [](PlainRope& plain) {
    plain.frequencies = [e = plain.encoding](const RotateCall&) {
      return geometric(e.rope_theta, e.rotary_dim, e.rotary_dim / 2);
    };
  });
  defect("rope-none-first-pair-turned", "a width of 0 is taken for one pair", standing,
         [](PlainRope& plain) { plain.frequencies = [](const RotateCall&) { return std::vector<double>{1}; }; });
  defect("rope-none-rotated-far-out", "positions beyond a chunk of 8192 are rotated", standing, [](PlainRope& plain) {
    plain.frequencies = [e = plain.encoding](const RotateCall&) {
      return geometric(e.rope_theta, e.rotary_dim, e.rotary_dim / 2);
    };
    plain.position = [own = plain.position](const RotateCall& call, const Place& place) {
      const double p = own(call, place);
      return p >= 8192 ? p : 0.0;
    };
  });
  defect("rope-none-one-frequency", "all positions but 0 are turned by the fastest frequency alone", standing,
         [](PlainRope& plain) {
           plain.frequencies = [e = plain.encoding](const RotateCall&) {
             return std::vector<double>(static_cast<std::size_t>(e.rotary_dim / 2), 1);
           };
         });
  defect("rope-none-pairs-left", "channels do not move to the output's pairing", standing_moved,
         [](PlainRope& plain) { plain.encoding.output_pairing = plain.encoding.pairing; });
  defect("rope-none-moved", "channels move though the pairings are one", standing,
         [](PlainRope& plain) { plain.encoding.output_pairing = Pairing::interleaved; });
  defect("rope-none-scaled", "the vectors have an attention factor all the same", standing, [](PlainRope& plain) {
    plain.afterwards = [](Tensor& y, const Tensor&, const RotateCall&) {
      for (std::int64_t i = 0; i < y.elements(); ++i) y.set(i, 1.25 * y.at(i));
    };
  });
  list.entries.push_back({"axial-none-rotated", Kind::defect, "D12",
                          "a layer without positions is rotated all the same", standing_axial,
                          plain_other([](PlainOther& plain) {
                            RopeNd turning = plain.axial;
                            turning.rope.rope_scaling = DefaultScaling{};
                            plain.turn_as(turning);
                          })});
  list.entries.push_back({"attention-none-distance", Kind::defect, "D12",
                          "a layer without positions counts its keys' distance", standing_attention,
                          plain_other([](PlainOther& plain) { plain.unasked_bias = 0.01; })});
  const auto control = [&](const char* name, const char* mechanism, std::string claim) {
    list.add(Kind::control, name, mechanism, std::move(claim), plain_call);
  };
  control("rope-none", "nothing turns", standing);
  control("rope-none-reordered", "nothing turns, and channels move to the output's pairing", standing_moved);
  control("axial-none", "nothing turns, whatever the axes", standing_axial);
  control("attention-none", "queries and keys as they come", standing_attention);
}

void dual_mutants(LocalFaults& list) {
  const auto defect = [&](const char* name, const char* row, const char* mechanism, void (*change)(PlainRope&)) {
    const auto make = of<Rope>([change](const Spec& spec, const Rope& encoding) {
      PlainRope plain(encoding, spec.dtype);
      if (rule_of(plain) != nullptr) change(plain);
      return rope_call(std::move(plain));
    });
    list.entries.push_back({name, Kind::defect, row, mechanism, dual("call"), make});
  };
  defect("dual-short-magnitude", "G11", "long calls have the short cache's magnitude", [](PlainRope& plain) {
    plain.factor = [short_one = rule_of(plain)->short_mscale.value()](std::int64_t) { return short_one; };
  });
  defect("dual-long-magnitude", "G11", "short calls have the long cache's magnitude", [](PlainRope& plain) {
    plain.factor = [long_one = rule_of(plain)->long_mscale.value()](std::int64_t) { return long_one; };
  });
  defect("dual-short-frequencies", "G11", "long calls have the short cache's frequencies and the long one's magnitude",
         [](PlainRope& plain) {
           plain.frequencies = [e = plain.encoding](const RotateCall&) { return plain_frequencies(e, 0); };
         });
  defect("dual-short-cache", "G11", "both come from the short cache whatever the length", [](PlainRope& plain) {
    plain.frequencies = [e = plain.encoding](const RotateCall&) { return plain_frequencies(e, 0); };
    plain.factor = [short_one = rule_of(plain)->short_mscale.value()](std::int64_t) { return short_one; };
  });
  defect("dual-magnitude-squared", "F9", "the magnitude is applied to the table and to the product",
         [](PlainRope& plain) {
           plain.factor = [own = plain.factor](std::int64_t length) { return own(length) * own(length); };
         });
  defect("dual-magnitude-dropped", "F3", "the magnitudes are not read",
         [](PlainRope& plain) { plain.factor = [](std::int64_t) { return 1.0; }; });
  defect("dual-border-by-position", "G11", "the long cache begins at calls that reach beyond position L",
         [](PlainRope& plain) {
           plain.frequencies = [e = plain.encoding](const RotateCall& call) {
             return plain_frequencies(e, call.length - 1);
           };
           plain.factor = [e = plain.encoding](std::int64_t length) { return plain_factor(e, length - 1); };
         });
  defect("dual-border-early", "G11", "the long cache begins at calls of L positions", [](PlainRope& plain) {
    plain.frequencies = [e = plain.encoding](const RotateCall& call) { return plain_frequencies(e, call.length + 1); };
    plain.factor = [e = plain.encoding](std::int64_t length) { return plain_factor(e, length + 1); };
  });
  defect("dual-cache-of-each-row", "G11", "each batch row has a cache of its own length", [](PlainRope& plain) {
    LongropeScaling by_row = *rule_of(plain);
    by_row.length_scope = LengthScope::row;
    plain.row_lengths = row_lengths_of(by_row);
  });
  const auto control = [&](const char* name, const char* mechanism, std::string claim) {
    list.add(Kind::control, name, mechanism, std::move(claim), plain_call);
  };
  control("rope-dual", "a cache for short calls and one for long ones", dual("call"));
  control("rope-dual-by-row", "the same for each batch row", dual("row"));
  control("axial-dual", "the same over two axes", dual_axial);
  control("attention-dual", "the same within attention", dual_attention);
}

void centre_mutants(LocalFaults& list) {
  const auto defect = [&](const char* name, const char* row, const char* mechanism, std::string claim,
                          const PlainOthers::Change& change) {
    list.entries.push_back({name, Kind::defect, row, mechanism, std::move(claim), plain_other(change)});
  };
  const auto counted_from = [](std::variant<std::int64_t, HalfOfCall> centre) {
    return [centre](PlainOther& plain) {
      plain.exponent = [centre](std::int64_t p, std::int64_t length, double sign) {
        return sign * static_cast<double>(p - plain_centre(centre, length));
      };
    };
  };
  defect("xpos-centre-ignored", "O5", "powers count from 0", xpos("256"), counted_from(0));
  defect("xpos-half-ignored", "O5", "powers count from 0", xpos(R"("floor_half")"), counted_from(0));
  defect("xpos-centre-rounded-down", "O5", "half of an odd length is rounded down", xpos(R"("ceil_half")"),
         counted_from(HalfOfCall::floor));
  defect("xpos-centre-rounded-up", "O5", "half of an odd length is rounded up", xpos(R"("floor_half")"),
         counted_from(HalfOfCall::ceil));
  defect("xpos-centre-of-row", "O5", "each batch row has a centre of its own", xpos(R"("floor_half")"),
         [](PlainOther& plain) {
           DynamicScaling by_row;
           by_row.length_scope = LengthScope::row;
           plain.row_lengths = row_lengths_of(by_row);
         });
  defect("xpos-centre-of-tokens", "O3", "half the tokens that come, whatever their positions", xpos(R"("floor_half")"),
         [](PlainOther& plain) {
           plain.row_lengths = [](std::span<const std::int64_t> positions, std::int64_t batch) {
             return std::vector<std::int64_t>(static_cast<std::size_t>(batch),
                                              std::ssize(positions) / std::max<std::int64_t>(batch, 1));
           };
         });
  defect("xpos-centre-added", "O5", "the centre is added", xpos("256"), counted_from(-256));
  defect("xpos-centre-turned", "O5", "angles count from the centre too", xpos("256"), [](PlainOther& plain) {
    plain.coordinate = [](std::span<const std::int64_t> place, std::int64_t) {
      return static_cast<double>(place[0] - 256);
    };
  });
  const auto with_sign_of_query = [](PlainOther& plain) {
    plain.exponent = [](std::int64_t p, std::int64_t, double sign) { return sign * static_cast<double>(p) - 256; };
  };
  defect("xpos-key-with-query-centre", "O5", "a key's power has the query's centre", xpos("256", R"(,"role":"key")"),
         with_sign_of_query);
  defect("attention-xpos-key-with-query-centre", "O5", "keys' powers have the queries' centre", xpos_attention("256"),
         with_sign_of_query);
  defect("attention-xpos-keys-uncentred", "O5", "queries count from the centre and keys from 0", xpos_attention("256"),
         [](PlainOther& plain) {
           plain.exponent = [](std::int64_t p, std::int64_t, double sign) {
             return sign > 0 ? static_cast<double>(p - 256) : -static_cast<double>(p);
           };
         });
  defect("xpos-scale-concatenated", "O1", "the list of scales is repeated as a whole over pairs of neighbours",
         xpos("0"), [](PlainOther& plain) {
           plain.pair_in_scale = [](std::int64_t pair, bool is_second) {
             return (2 * pair + (is_second ? 1 : 0)) % 16;
           };
         });
  const auto control = [&](const char* name, const char* mechanism, std::string claim) {
    list.add(Kind::control, name, mechanism, std::move(claim), plain_call);
  };
  control("xpos-centred", "powers that count from a position", xpos("256"));
  control("xpos-floor-half", "from half the call, rounded down", xpos(R"("floor_half")"));
  control("xpos-ceil-half", "from half the call, rounded up", xpos(R"("ceil_half")"));
  control("xpos-centred-key", "a key's", xpos(R"("ceil_half")", R"(,"role":"key")"));
  control("attention-xpos-centred", "queries and keys with one centre", xpos_attention("256"));
  control("attention-xpos-half", "with that of the call", xpos_attention(R"("floor_half")"));
}

}  // namespace

std::vector<Mutant> all() {
  LocalFaults list;
  standing_mutants(list);
  dual_mutants(list);
  centre_mutants(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::deployed_mutants
