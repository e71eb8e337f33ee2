#include <gtest/gtest.h>

#include <vector>

#include "lib/fourier/fourier.hpp"
#include "lib/fourier/specs_test.hpp"
#include "lib/kernels/digest_test.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"

// Many places of each kind, on every instruction set.

namespace sextant::fourier_sweep_test {
namespace {

class FourierSweepOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(FourierSweepOn);

TEST_P(FourierSweepOn, TablesHaveThePublishedDigests) {
  Digests digests;
  for (const NamedFeatures& named : every_kind_of_features()) {
    const Fourier encoding = named.encoding();
    const FourierEncoder encoder(encoding);
    const std::vector<std::int64_t> places = some_places(encoding, 2000);
    for (const Dtype dtype : floating_dtypes) {
      digests[std::string(name_of(dtype)) + " " + named.name] = digest_on_threads([&] {
        return is_given(encoding) ? encoder.encode(places, some_matrix(encoding, dtype))
                                  : encoder.encode(places, dtype);
      });
    }
  }
  expect_published("fourier", digests);
}

}  // namespace
}  // namespace sextant::fourier_sweep_test
