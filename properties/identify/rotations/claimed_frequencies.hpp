#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/numeric/dtype.hpp"
#include "properties/identify/rotations/measured_turns.hpp"
#include "properties/identify/rotations/rotation_probe.hpp"

namespace sextant::identify {

/// The frequencies of a rope in calls of `length`, in radians per step, rounded to double.
std::vector<double> frequencies_of(const Rope& rope, std::int64_t length);

/// How measured frequencies of no known rule differ from a claim's, in words: "every frequency is 4 times the one asked
/// for", "the blend of llama3's middle band is reversed", "1 of 32 frequencies are not those asked for: ...". Nothing
/// where they do not, or where there are not as many.
std::optional<std::string> different_frequencies(const std::vector<MeasuredTurn>& turns, const Rope& claim,
                                                 std::int64_t length);

/// "every frequency is 2 pi times the one asked for", where some are then above half a turn a position, and are seen as
/// lower ones, or as of the other sign: `turns` have their signs. Nothing where none are, or they are not that.
std::optional<std::string> multiplied_beyond_half_turns(const std::vector<MeasuredTurn>& turns,
                                                        const std::vector<double>& claimed);

/// Whether measured frequencies are these, but for the roundings of float32.
bool have_frequencies(const std::vector<MeasuredTurn>& turns, const std::vector<double>& frequencies);

/// "wavelengths are rounded to float16", where frequencies are those of 2 pi / w rounded and not the claimed w.
std::optional<std::string> rounded_wavelengths(const std::vector<MeasuredTurn>& turns,
                                               const std::vector<double>& claimed);

/// Whether each frequency is as many times the claimed one in one call as in another of another length.
bool are_off_alike(const std::vector<MeasuredTurn>& turns, const std::vector<double>& claimed,
                   const std::vector<MeasuredTurn>& others, const std::vector<double>& claimed_of_others);

/// The last sentence of different_frequencies, for any list of claimed frequencies.
std::optional<std::string> odd_frequencies(const std::vector<MeasuredTurn>& turns, const std::vector<double>& claimed);

/// Where angles lose whole turns of a length that is not 2 pi: "angles are reduced by 6.28318, not by 2 pi".
/// `frequencies` are the right ones, in radians a position; `noise` is what phases are off by.
std::optional<std::string> reduced_angles(const std::vector<std::int64_t>& positions, const Rows& rows,
                                          const std::vector<double>& frequencies, double noise);

/// Where all phases are whole multiples of a turn over a power of two, from 64 to 65536, as those of a table are that
/// is read at the nearest entry: "angles are rounded to 4096 steps a turn". `noise` is what phases are off by.
std::optional<std::string> stepped_angles(const Rows& rows, double noise);

/// Where the two members of a pair are turned by different angles, as tables make them that are laid out for the other
/// pairing: which table it is, in words. `rows` are in the order of the claim's frequencies. Nothing where the members
/// have no frequencies of the claim.
std::optional<std::string> table_of_members(const TurnedRows& rows, Dtype dtype, const Rope& claim);

/// The 16-bit format that claimed angles are rounded to once whole turns are taken off them, so that errors do not grow
/// with positions; nothing where that does not explain each row. Positions are counted as frequencies are.
std::optional<Dtype> rounded_less_turns(const std::vector<std::int64_t>& positions, const Rows& rows,
                                        const std::vector<double>& frequencies, double noise);

}  // namespace sextant::identify
