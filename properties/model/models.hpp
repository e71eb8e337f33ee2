#pragma once

#include <memory>

#include "properties/model/model.hpp"

namespace sextant {

// Every encoding's model, each in the file of its name: the one list. model_of finds a spec's by overloading, so that
// an encoding without a line here does not compile.
std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Integer& encoding);
std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Binary& encoding);
std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Sinusoidal& encoding);
std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Sinusoidal2d& encoding);
std::unique_ptr<EncodingModel> make_model(const Spec& spec, const SinusoidalNd& encoding);
std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Fourier& encoding);
std::unique_ptr<EncodingModel> make_model(const Spec& spec, const LogCoordinates& encoding);
std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Learned& encoding);
std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Rope& encoding);
std::unique_ptr<EncodingModel> make_model(const Spec& spec, const RopeNd& encoding);
std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Xpos& encoding);
std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Alibi& encoding);
std::unique_ptr<EncodingModel> make_model(const Spec& spec, const RelativeBias& encoding);
std::unique_ptr<EncodingModel> make_model(const Spec& spec, const WindowBias& encoding);
std::unique_ptr<EncodingModel> make_model(const Spec& spec, const RotaryTable& encoding);
std::unique_ptr<EncodingModel> make_model(const Spec& spec, const QkNormRope& encoding);
std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Attention& encoding);

}  // namespace sextant
