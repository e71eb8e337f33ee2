#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/mutants/local_fault.hpp"

// Real positions: what becomes of a fraction on its way to an angle. A fault is a function of the position, the same
// for a code and for a rotation; what it keeps in a shared_ptr is the session's state.

namespace sextant::mutants::real_position_mutants {
namespace {

using Change = std::function<double(double position)>;
using MakeChange = std::function<Change(const PositionGrid& grid)>;

constexpr const char* code = R"({"encoding":"sinusoidal","dim":64,"position_dtype":"float32"})";
constexpr const char* rotation = R"({"encoding":"rope","head_dim":64,"position_dtype":"float32"})";
// Angles in float64, and more bits in a position than float32 has.
constexpr const char* precise_code = R"({"encoding":"sinusoidal","dim":64,"position_dtype":"float64",)"
                                     R"("position_step":9.5367431640625e-07,"max_position":4096,)"
                                     R"("accuracy":"exact-angle"})";
constexpr const char* precise_rotation = R"({"encoding":"rope","head_dim":64,"position_dtype":"float64",)"
                                         R"("position_step":9.5367431640625e-07,"max_position":4096,)"
                                         R"("accuracy":"exact-angle"})";

enum class Angles { float32, float64 };

void angles_in_float64(PlainSinusoidal& plain) {
  plain.angle = [scale = plain.encoding.angle_scale](double p, double w) { return scale * (p * w); };
  plain.sine = [](double a) { return std::sin(a); };
  plain.cosine = [](double a) { return std::cos(a); };
}

void angles_in_float64(PlainRope& plain) {
  plain.angle = [](double p, double w) { return p * w; };
  plain.turn = [sense = plain.encoding.direction == Direction::clockwise ? -1.0 : 1.0](double a) {
    return Turn{sense * std::sin(a), std::cos(a)};
  };
}

FunctionSubject::Make encoding_code(const MakeChange& make, Angles angles) {
  return of<Sinusoidal>([make, angles](const Spec& spec, const Sinusoidal& claimed) -> FunctionSubject::Call {
    PlainSinusoidal plain(claimed, spec.dtype);
    if (angles == Angles::float64) angles_in_float64(plain);
    plain.position = [own = plain.position, change = make(claimed.positions)](const Row& row) {
      return change(own(row));
    };
    return sinusoidal_call(plain);
  });
}

FunctionSubject::Make rotating(const MakeChange& make, Angles angles) {
  return of<Rope>([make, angles](const Spec& spec, const Rope& claimed) -> FunctionSubject::Call {
    PlainRope plain(claimed, spec.dtype);
    if (angles == Angles::float64) angles_in_float64(plain);
    plain.position = [own = plain.position, change = make(claimed.positions)](
                         const RotateCall& call, const Place& place) { return change(own(call, place)); };
    return rope_call(plain);
  });
}

MakeChange always(const Change& change) {
  return [change](const PositionGrid&) { return change; };
}

struct List {
  std::vector<Mutant> entries;

  void both(Kind kind, const std::string& name, const std::string& row, const std::string& mechanism,
            const MakeChange& make, Angles angles = Angles::float32) {
    const bool precise = angles == Angles::float64;
    entries.push_back(
        {"sinusoidal-" + name, kind, row, mechanism, precise ? precise_code : code, encoding_code(make, angles)});
    entries.push_back(
        {"rope-" + name, kind, row, mechanism, precise ? precise_rotation : rotation, rotating(make, angles)});
  }
  void defect(const std::string& name, const std::string& row, const std::string& mechanism, const MakeChange& make,
              Angles angles = Angles::float32) {
    both(Kind::defect, name, row, mechanism, make, angles);
  }
  void control(const std::string& name, const std::string& mechanism, const MakeChange& make,
               Angles angles = Angles::float32) {
    both(Kind::control, name, "", mechanism, make, angles);
  }
};

MakeChange rounded_to(Dtype dtype) {
  return always([dtype](double p) { return round_to(dtype, p); });
}

}  // namespace

std::vector<Mutant> all() {
  List list;
  list.defect("real-truncated", "A16", "real positions become whole numbers on the way in: the fraction is cut off",
              always([](double p) { return std::trunc(p); }));
  list.defect("real-nearest-integer", "A16", "real positions are rounded to the nearest whole number",
              always([](double p) { return std::nearbyint(p); }));
  list.defect("real-float16", "A1,A16", "real positions are rounded to float16, which the model computes in",
              rounded_to(Dtype::float16));
  list.defect("real-bfloat16", "A1,A16", "real positions are rounded to bfloat16, which the model computes in",
              rounded_to(Dtype::bfloat16));
  list.defect("real-float32", "A16", "float64 positions are rounded to float32, though exact angles are claimed",
              rounded_to(Dtype::float32), Angles::float64);
  list.defect("real-step-twice", "A16", "the unit of positions is applied twice, by the caller and in the encoding",
              [](const PositionGrid& grid) { return [step = grid.step](double p) { return p * step; }; });
  list.defect("real-step-ignored", "A16", "positions are taken for counts of steps",
              [](const PositionGrid& grid) { return [step = grid.step](double p) { return p / step; }; });
  list.defect("real-far-fraction", "A16", "beyond 4096 a table of whole positions answers: fractions are lost there",
              always([](double p) { return std::fabs(p) > 4096 ? std::trunc(p) : p; }));
  list.defect("real-cache-key", "A16,H1", "a cache is keyed by the whole part: the first fraction answers for all",
              [](const PositionGrid&) {
                return [kept = std::make_shared<std::map<double, double>>()](double p) {
                  return kept->emplace(std::trunc(p), p).first->second;
                };
              });
  list.control("real-plain", "step by step in float32, of positions as given", always([](double p) { return p; }));
  list.control("real-float64", "phases in float64, exact-angle claimed", always([](double p) { return p; }),
               Angles::float64);
  // Exact: a fraction and a whole part of one float32 or float64 add up to it.
  list.control("real-split", "whole part and fraction go by different ways and are added again", always([](double p) {
                 const double whole = std::floor(p);
                 return whole + (p - whole);
               }));
  return std::move(list.entries);
}

}  // namespace sextant::mutants::real_position_mutants
