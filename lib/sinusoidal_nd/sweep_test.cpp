#include <gtest/gtest.h>

#include <vector>

#include "lib/kernels/digest_test.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/sinusoidal_nd/sinusoidal_nd.hpp"
#include "lib/sinusoidal_nd/specs_test.hpp"

// Every value of a grid of each kind, on every instruction set.

namespace sextant::sinusoidal_nd_sweep_test {
namespace {

class SinusoidalNdSweepOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(SinusoidalNdSweepOn);

TEST_P(SinusoidalNdSweepOn, TablesHaveThePublishedDigests) {
  Digests digests;
  for (const NamedPlaces& named : every_kind_of_places()) {
    const SinusoidalNdEncoder encoder(named.encoding());
    const std::vector<std::int64_t> places = all_places(named.encoding());
    for (const Dtype dtype : floating_dtypes) {
      digests[std::string(name_of(dtype)) + " " + named.name] =
          digest_on_threads([&] { return encoder.encode(places, dtype); });
    }
  }
  expect_published("sinusoidal_nd", digests);
}

}  // namespace
}  // namespace sextant::sinusoidal_nd_sweep_test
