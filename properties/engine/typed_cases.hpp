#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "properties/engine/property.hpp"
#include "properties/gen/draw.hpp"

namespace sextant {

// A property's cases are values of a struct of its own, so that its checks and generators read members by their names.
// The engine and tokens see each as a row of integers (case.hpp); the fields below say which member is which.

/// One integer of a property's cases under one spec: its name in tokens, what it means, where it is kept, where it
/// lies.
template <class Values>
struct FieldOf {
  std::string name;
  FieldRole role;
  std::int64_t Values::*member;
  FieldRange range;
};

/// The positions of the claim, but for the last `left_out`.
inline FieldRange claimed(const Spec& spec, std::int64_t left_out = 0) {
  return {spec.min_position, spec.max_position - 1 - left_out};
}

/// Where a fill lies: any number from 0 on is a drawing, and small multiples of it are no overflow.
inline constexpr FieldRange any_fill{0, std::numeric_limits<std::int32_t>::max()};

/// The cases of a property. All functions need a spec that it applies to.
template <class Values>
struct CasesOf {
  /// In the order of tokens. Members that have no field under a spec keep the struct's default.
  std::function<std::vector<FieldOf<Values>>(const Spec& spec)> fields;

  /// What must hold between fields beside the range of each.
  std::function<bool(const Spec& spec, const Values& values)> related = [](const Spec&, const Values&) { return true; };

  /// Cases that are always judged first: the ends of the claim.
  std::function<std::vector<Values>(const Spec& spec)> first;

  /// Draws cases. They need no shrinking of their own.
  std::function<rc::Gen<Values>(const Spec& spec)> drawn;

  /// As Property::sweep says.
  std::function<SweepOf<Values>(const Spec& spec, std::int64_t most_values)> sweep = [](const Spec&, std::int64_t) {
    return SweepOf<Values>{};
  };
};

/// Judges one case by asking the session. @throws what Session::call throws.
template <class Values>
using CheckOf = std::function<Judgement(Session& session, const Values& values)>;

/// Judges one case by opening sessions, for Sessions::own. @throws what Subject::open and Session::call throw.
template <class Values>
using SubjectCheckOf = std::function<Judgement(const Subject& subject, const Values& values)>;

/// The struct's row of integers, and back.
template <class Values>
Case case_of(const std::vector<FieldOf<Values>>& fields, const Values& values) {
  Case row;
  for (const FieldOf<Values>& field : fields) row.push_back(values.*field.member);
  return row;
}
template <class Values>
Values values_of(const std::vector<FieldOf<Values>>& fields, const Case& row) {
  Values values{};
  for (std::size_t i = 0; i < fields.size(); ++i) values.*fields[i].member = row[i];
  return values;
}

/// Gives a property its cases. Its checks are still to be given.
template <class Values>
void use_only_cases(Property& property, const CasesOf<Values>& cases) {
  const auto rows = [fields = cases.fields](const Spec& spec, const std::vector<Values>& list) {
    std::vector<Case> result;
    const std::vector<FieldOf<Values>> layout = list.empty() ? std::vector<FieldOf<Values>>{} : fields(spec);
    for (const Values& values : list) result.push_back(case_of(layout, values));
    return result;
  };
  property.fields = [fields = cases.fields](const Spec& spec) {
    CaseFields result;
    for (FieldOf<Values>& field : fields(spec)) result.push_back({std::move(field.name), field.role, field.range});
    return result;
  };
  property.related = [fields = cases.fields, related = cases.related](const Spec& spec, const Case& row) {
    return related(spec, values_of(fields(spec), row));
  };
  property.first_cases = [rows, first = cases.first](const Spec& spec) { return rows(spec, first(spec)); };
  property.sweep = [fields = cases.fields, sweep = cases.sweep](const Spec& spec, std::int64_t most_values) {
    const SweepOf<Values> typed = sweep(spec, most_values);
    SweepOf<Case> result{{}, typed.claimed, typed.values_of_position, typed.of};
    const std::vector<FieldOf<Values>> layout = fields(spec);
    for (const BlockOf<Values>& block : typed.blocks)
      result.blocks.push_back({case_of(layout, block.values), block.positions});
    return result;
  };
  property.cases = [cases](const Spec& spec) {
    return gen::map(cases.drawn(spec),
                    [fields = cases.fields(spec)](const Values& values) { return case_of(fields, values); });
  };
}

/// A check of values as one of rows. `Asked` is what it asks: a Session, or a Subject.
template <class Asked, class Values>
std::function<std::function<Judgement(Asked& asked, const Case& row)>(const Spec& spec)> check_of_rows(
    const CasesOf<Values>& cases,
    std::function<std::function<Judgement(Asked& asked, const Values& values)>(const Spec& spec)> make_check) {
  return [fields = cases.fields, make_check = std::move(make_check)](const Spec& spec) {
    return [fields = fields(spec), check = make_check(spec)](Asked& asked, const Case& row) {
      return check(asked, values_of(fields, row));
    };
  };
}

/// Gives a property its cases, and the check that `make_check(spec)` returns for them: a CheckOf or, for Sessions::own,
/// a SubjectCheckOf. What does not depend on the type of `make_check` stands above, so that it is compiled once.
template <class Values, class MakeCheck>
void use_cases(Property& property, const CasesOf<Values>& cases, MakeCheck make_check) {
  use_only_cases(property, cases);
  using Made = std::invoke_result_t<MakeCheck, const Spec&>;
  if constexpr (std::is_invocable_r_v<Judgement, Made&, Session&, const Values&>) {
    property.make_check = check_of_rows<Session, Values>(cases, std::move(make_check));
  } else {
    property.make_subject_check = check_of_rows<const Subject, Values>(cases, std::move(make_check));
  }
}

}  // namespace sextant
