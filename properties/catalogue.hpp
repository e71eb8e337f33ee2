#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "properties/engine/property.hpp"
#include "properties/model/family.hpp"

namespace sextant {

// Each property is made in the file of its family.
Property accuracy_property();            // every/accuracy.cpp
Property frequencies_property();         // every/frequencies.cpp
Property bounds_property();              // sinusoidal/bounds.cpp
Property unit_circle_property();         // sinusoidal/unit_circle.cpp
Property linear_shift_property();        // sinusoidal/linear_shift.cpp
Property similarity_property();          // sinusoidal/similarity.cpp
Property uniqueness_property();          // sinusoidal/uniqueness.cpp
Property isometry_property();            // rope/isometry.cpp
Property identity_property();            // rope/group.cpp
Property composition_property();         // rope/group.cpp
Property relative_offset_property();     // rope/relative_offset.cpp
Property axis_independence_property();   // axial/laws.cpp
Property axis_offset_property();         // axial/laws.cpp
Property decay_property();               // rope/xpos_decay.cpp
Property neutral_scaling_property();     // rope/scaling_laws.cpp
Property linear_scaling_property();      // rope/scaling_laws.cpp
Property band_blend_property();          // rope/bands.cpp
Property linearity_property();           // rope/linearity.cpp
Property adjoint_property();             // rope/adjoint.cpp
Property untouched_channels_property();  // rope/untouched.cpp
Property pair_isolation_property();      // rope/isolation.cpp
Property token_isolation_property();     // rope/isolation.cpp
Property nan_isolation_property();       // rope/isolation.cpp
Property code_bounds_property();         // codes/laws.cpp
Property uniform_step_property();        // codes/laws.cpp
Property scatter_gradient_property();    // codes/laws.cpp
Property out_of_range_property();        // codes/laws.cpp
Property bias_translation_property();    // bias/laws.cpp
Property bucket_property();              // bias/buckets.cpp
Property bias_monotone_property();       // bias/laws.cpp
Property permutation_property();         // attention/laws.cpp
Property joint_permutation_property();   // attention/laws.cpp
Property position_shift_property();      // attention/laws.cpp
Property weights_sum_property();         // attention/laws.cpp
Property causal_leak_property();         // attention/laws.cpp
Property prefix_consistency_property();  // every/prefix_consistency.cpp
Property row_independence_property();    // every/row_independence.cpp
Property determinism_property();         // every/call_determinism.cpp
Property history_property();             // every/call_history.cpp
Property empty_property();               // every/call_empty.cpp
Property input_unchanged_property();     // every/call_input.cpp
Property parameter_liveness_property();  // every/parameter_liveness.cpp

/// Every property, in the order of reports.
const std::vector<Property>& catalogue();

/// The property of that id, or null.
const Property* property_named(std::string_view id);

}  // namespace sextant
