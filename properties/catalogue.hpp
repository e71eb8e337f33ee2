#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "properties/property.hpp"

namespace sextant {

// Each property is made in the file of its family.
Property accuracy_property();            // accuracy.cpp
Property frequencies_property();         // frequencies.cpp
Property bounds_property();              // sinusoidal_bounds.cpp
Property unit_circle_property();         // sinusoidal_unit_circle.cpp
Property linear_shift_property();        // sinusoidal_linear_shift.cpp
Property similarity_property();          // sinusoidal_similarity.cpp
Property uniqueness_property();          // sinusoidal_uniqueness.cpp
Property isometry_property();            // rope_isometry.cpp
Property identity_property();            // rope_group.cpp
Property composition_property();         // rope_group.cpp
Property relative_offset_property();     // rope_relative_offset.cpp
Property axis_independence_property();   // axial_laws.cpp
Property axis_offset_property();         // axial_laws.cpp
Property decay_property();               // xpos_decay.cpp
Property neutral_scaling_property();     // rope_scaling_laws.cpp
Property linear_scaling_property();      // rope_scaling_laws.cpp
Property band_blend_property();          // rope_bands.cpp
Property linearity_property();           // rope_linearity.cpp
Property adjoint_property();             // rope_adjoint.cpp
Property untouched_channels_property();  // rope_untouched.cpp
Property pair_isolation_property();      // rope_isolation.cpp
Property token_isolation_property();     // rope_isolation.cpp
Property nan_isolation_property();       // rope_isolation.cpp
Property code_bounds_property();         // code_laws.cpp
Property uniform_step_property();        // code_laws.cpp
Property scatter_gradient_property();    // code_laws.cpp
Property out_of_range_property();        // code_laws.cpp
Property bias_translation_property();    // bias_laws.cpp
Property bucket_property();              // bias_buckets.cpp
Property bias_monotone_property();       // bias_laws.cpp
Property permutation_property();         // attention_laws.cpp
Property joint_permutation_property();   // attention_laws.cpp
Property position_shift_property();      // attention_laws.cpp
Property weights_sum_property();         // attention_laws.cpp
Property causal_leak_property();         // attention_laws.cpp
Property prefix_consistency_property();  // prefix_consistency.cpp
Property row_independence_property();    // row_independence.cpp
Property determinism_property();         // call_determinism.cpp
Property history_property();             // call_history.cpp
Property empty_property();               // call_empty.cpp
Property input_unchanged_property();     // call_input.cpp
Property parameter_liveness_property();  // parameter_liveness.cpp

/// Why a property says nothing of a spec whose encoding it has no statement for: "not stated for alibi".
std::string not_stated_for(const Spec& spec);

/// Every property, in the order of reports.
const std::vector<Property>& catalogue();

/// The property of that id, or null.
const Property* property_named(std::string_view id);

}  // namespace sextant
