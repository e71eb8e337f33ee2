#include "lib/spec/log_coordinates.hpp"

#include <algorithm>

#include "lib/spec/encoding_entry.hpp"

namespace sextant {

std::int64_t axes(const LogCoordinates& encoding) { return std::ssize(encoding.window); }

std::int64_t divisor(const LogCoordinates& encoding, std::int64_t axis) {
  const auto& extents = encoding.pretrained_window.empty() ? encoding.window : encoding.pretrained_window;
  return extents[static_cast<std::size_t>(axis)] - 1;
}

namespace spec_log_coordinates {
namespace {

LogCoordinates read(Fields& fields) {
  LogCoordinates encoding;
  const auto window = fields.integers("window");
  if (!window) fields.refuse("window", "required: 1 to 3 extents");
  encoding.window = *window;
  if (auto extents = fields.integers_or_null("pretrained_window")) {
    if (extents->empty()) fields.refuse("pretrained_window", "expected null or as many extents as in window, got none");
    encoding.pretrained_window = std::move(*extents);
  }
  return encoding;
}

void check(const LogCoordinates& encoding) {
  if (encoding.window.empty() || encoding.window.size() > 3)
    refuse_field("window", fmt::format("expected a list of 1 to 3 extents, got {}", encoding.window.size()));
  if (!encoding.pretrained_window.empty() && encoding.pretrained_window.size() != encoding.window.size()) {
    refuse_field("pretrained_window", fmt::format("expected null or {} extents as in window, got {}",
                                                  encoding.window.size(), encoding.pretrained_window.size()));
  }
  for (const std::int64_t extent : encoding.window) check_count("window", extent, width_limit);
  for (const std::int64_t extent : encoding.pretrained_window) check_count("pretrained_window", extent, width_limit);
  for (std::int64_t axis = 0; axis < axes(encoding); ++axis) {
    if (divisor(encoding, axis) < 1) {
      refuse_field(encoding.pretrained_window.empty() ? "window" : "pretrained_window",
                   "expected extents of at least 2, since what is below divides by 0, got 1");
    }
  }
}

void write(const LogCoordinates& encoding, nlohmann::ordered_json& object) {
  object["window"] = encoding.window;
  if (encoding.pretrained_window.empty()) {
    object["pretrained_window"] = nullptr;
  } else {
    object["pretrained_window"] = encoding.pretrained_window;
  }
}

Signature signature(const LogCoordinates& encoding) {
  return {.axes = axes(encoding), .dim = axes(encoding), .axes_lead = true};
}

std::optional<PositionBounds> usual_positions(const LogCoordinates& encoding) {
  const std::int64_t longest = std::ranges::max(encoding.window);
  return PositionBounds{.first = 1 - longest, .end = longest};
}

constexpr std::string_view described[] = {"window"};

constexpr FieldMeaning field_meanings[] = {
    {"window", "extents of the window, 1 to 3 of them: an axis' offset is divided by its extent - 1"},
    {"pretrained_window", "extents of the window in pretraining, which divide in place of window's; null: window's"},
};

}  // namespace
}  // namespace spec_log_coordinates

constinit const EncodingEntry<LogCoordinates> LogCoordinates::entry{
    .name = "log_coordinates",
    .example = R"({"encoding":"log_coordinates","window":[8,8]})",
    .fields = listed<spec_log_coordinates::field_meanings>,
    .read = spec_log_coordinates::read,
    .check = spec_log_coordinates::check,
    .write = spec_log_coordinates::write,
    .described = spec_log_coordinates::described,
    .signature = spec_log_coordinates::signature,
    .usual_positions = spec_log_coordinates::usual_positions};

}  // namespace sextant
