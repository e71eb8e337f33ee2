#include <cmath>
#include <utility>

#include "properties/mutants/local_fault.hpp"

// Timestep embeddings of diffusion models, as codes that copy them from one another go wrong.

namespace sextant::mutants::timestep_mutants {
namespace {

constexpr const char* scaled = R"({"encoding":"sinusoidal","dim":64,"layout":"concatenated","angle_scale":1000,)"
                               R"("position_dtype":"float32","max_position":64})";
constexpr const char* shifted = R"({"encoding":"sinusoidal","dim":64,"layout":"concatenated",)"
                                R"("downscale_freq_shift":2,"max_position":1000})";
constexpr const char* flipped = R"({"encoding":"sinusoidal","dim":64,"layout":"concatenated","first":"cos",)"
                                R"("max_position":1000})";
constexpr const char* odd = R"({"encoding":"sinusoidal","dim":33,"layout":"concatenated","max_position":1000})";
constexpr const char* odd_flipped = R"({"encoding":"sinusoidal","dim":33,"layout":"concatenated","first":"cos",)"
                                    R"("max_position":1000})";

void other_frequencies(PlainSinusoidal& plain, double divisor) {
  plain.frequencies = [e = plain.encoding, divisor] {
    std::vector<double> list;
    for (std::int64_t i = 0; i < pairs(e); ++i) list.push_back(std::pow(e.base, -static_cast<double>(i) / divisor));
    return list;
  };
  plain.cosine_frequencies = plain.frequencies;
}

void without_angle_scale(PlainSinusoidal& plain) {
  plain.angle = [](double p, double w) { return in_float32(in_float32(p) * in_float32(w)); };
}

// The row's last channel, wherever the pairs are.
void pad_with(PlainSinusoidal& plain, const std::function<double(const Tensor& table, std::int64_t row)>& value) {
  plain.afterwards = [value, dim = plain.encoding.dim](Tensor& table, std::span<const std::int64_t>) {
    for (std::int64_t row = 0; row < table.shape[0]; ++row) table.set((row + 1) * dim - 1, value(table, row));
  };
}

}  // namespace

std::vector<Mutant> all() {
  ChangedSinusoids list;
  list.defect("timestep-scale-of-values", "K16", "the angle scale multiplies sines and cosines", scaled,
              [](PlainSinusoidal& plain) {
                without_angle_scale(plain);
                plain.finish = [own = plain.finish, s = plain.encoding.angle_scale](double value) {
                  return in_float32(own(value) * s);
                };
              });
  list.defect("timestep-scale-ignored", "K16", "the angle scale is left out: timesteps in [0, 1] hardly turn", scaled,
              without_angle_scale);
  list.defect("timestep-scale-twice", "K16", "the caller has scaled the timesteps, and the embedding does so again",
              scaled, [](PlainSinusoidal& plain) {
                plain.position = [own = plain.position, s = plain.encoding.angle_scale](const Row& row) {
                  return own(row) * s;
                };
              });
  list.defect("timestep-shift-ignored", "K7", "the frequency shift is left out", shifted,
              [](PlainSinusoidal& plain) { other_frequencies(plain, static_cast<double>(pairs(plain.encoding))); });
  list.defect("timestep-shift-one", "K7", "the frequency shift is 1, whatever was asked for", shifted,
              [](PlainSinusoidal& plain) { other_frequencies(plain, static_cast<double>(pairs(plain.encoding) - 1)); });
  list.defect("timestep-shift-added", "K7", "the frequency shift is added to the half width", shifted,
              [](PlainSinusoidal& plain) {
                other_frequencies(plain,
                                  static_cast<double>(pairs(plain.encoding) + plain.encoding.downscale_freq_shift));
              });
  list.defect(
      "timestep-flip-ignored", "C2", "sines come first whatever was asked for", flipped, [](PlainSinusoidal& plain) {
        plain.channels = [count = pairs(plain.encoding)](std::int64_t pair) { return Channels{pair, count + pair}; };
      });
  list.defect("timestep-padding-cosine", "K17", "the channel that pads an odd width is 1, a cosine of no frequency",
              odd, [](PlainSinusoidal& plain) { pad_with(plain, [](const Tensor&, std::int64_t) { return 1; }); });
  list.defect("timestep-padding-repeated", "K17", "the channel that pads an odd width repeats the one before", odd,
              [](PlainSinusoidal& plain) {
                pad_with(plain, [dim = plain.encoding.dim](const Tensor& table, std::int64_t row) {
                  return table.at((row + 1) * dim - 2);
                });
              });
  list.defect("timestep-padding-in-front", "K17", "the channel that pads an odd width comes first", odd,
              [](PlainSinusoidal& plain) {
                plain.channels = [own = plain.channels](std::int64_t pair) {
                  const Channels at = own(pair);
                  return Channels{at.first + 1, at.second + 1};
                };
              });
  // What a flip after the padding does, halves being cut at the half of the padded width.
  list.defect("timestep-padded-before-flip", "K17", "an odd width is padded before its halves change places",
              odd_flipped, [](PlainSinusoidal& plain) {
                plain.channels = [count = pairs(plain.encoding)](std::int64_t pair) {
                  return Channels{count + 1 + pair, pair};
                };
              });
  list.control("timestep-ddpm", "shift 1, an odd width",
               R"({"encoding":"sinusoidal","dim":129,)"
               R"("layout":"concatenated","downscale_freq_shift":1,)"
               R"("max_position":1000})");
  list.control("timestep-scaled", "angles times 1000, in float32", scaled);
  list.control("timestep-scaled-frequencies", "the angle scale is in the frequencies", scaled,
               [](PlainSinusoidal& plain) {
                 plain.frequencies = [own = plain.frequencies, s = plain.encoding.angle_scale] {
                   std::vector<double> result = own();
                   for (double& w : result) w *= s;
                   return result;
                 };
                 plain.cosine_frequencies = plain.frequencies;
                 without_angle_scale(plain);
               });
  list.control("timestep-odd-flipped", "cosines, sines, and a zero behind both", odd_flipped);
  list.control("timestep-wide-shift", "shift 2", shifted);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::timestep_mutants
