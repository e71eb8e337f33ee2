#include "properties/catalogue.hpp"

namespace sextant {

const std::vector<Property>& catalogue() {
  static const std::vector<Property> properties{
      accuracy_property(),         frequencies_property(),
      bounds_property(),           unit_circle_property(),
      linear_shift_property(),     similarity_property(),
      uniqueness_property(),       isometry_property(),
      identity_property(),         composition_property(),
      relative_offset_property(),  axis_independence_property(),
      axis_offset_property(),      decay_property(),
      neutral_scaling_property(),  linear_scaling_property(),
      band_blend_property(),       linearity_property(),
      adjoint_property(),          untouched_channels_property(),
      pair_isolation_property(),   token_isolation_property(),
      nan_isolation_property(),    code_bounds_property(),
      uniform_step_property(),     scatter_gradient_property(),
      out_of_range_property(),     bias_translation_property(),
      bias_monotone_property(),    bucket_property(),
      permutation_property(),      joint_permutation_property(),
      position_shift_property(),   weights_sum_property(),
      causal_leak_property(),      prefix_consistency_property(),
      row_independence_property(), determinism_property(),
      history_property(),          empty_property(),
      input_unchanged_property(),  parameter_liveness_property(),
  };
  return properties;
}

const Property* property_named(std::string_view id) {
  for (const Property& property : catalogue()) {
    if (property.id == id) return &property;
  }
  return nullptr;
}

}  // namespace sextant
