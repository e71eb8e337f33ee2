#include "lib/spec/window_bias.hpp"

#include "lib/spec/encoding_entry.hpp"

namespace sextant {
namespace spec_window_bias {
namespace {

constexpr Names<ClassToken, 2> class_tokens{{{"none", ClassToken::none}, {"first", ClassToken::first}}};

// As of relative_bias' table; extents are below it, so that products of three cannot overflow.
constexpr std::int64_t rows_limit = std::int64_t{1} << 16;
constexpr std::int64_t rows_of_class_token = 3;

std::int64_t places(const WindowBias& encoding) {
  std::int64_t count = 1;
  for (const std::int64_t extent : encoding.window) count *= 2 * extent - 1;
  return count;
}

WindowBias read(Fields& fields) {
  WindowBias encoding;
  const auto window = fields.integers("window");
  if (!window) fields.refuse("window", "required: 1 to 3 extents");
  encoding.window = *window;
  encoding.class_token = fields.choice("class_token", class_tokens, encoding.class_token);
  return encoding;
}

void check(const WindowBias& encoding) {
  if (encoding.window.empty() || encoding.window.size() > 3)
    refuse_field("window", fmt::format("expected a list of 1 to 3 extents, got {}", encoding.window.size()));
  for (const std::int64_t extent : encoding.window) check_count("window", extent, rows_limit);
  if (places(encoding) > rows_limit) {
    refuse_field("window", fmt::format("expected at most {} pairs of offsets, got {}", rows_limit, places(encoding)));
  }
}

void write(const WindowBias& encoding, nlohmann::ordered_json& object) {
  object["window"] = encoding.window;
  object["class_token"] = text_of("class_token", class_tokens, encoding.class_token);
}

Signature signature(const WindowBias& encoding) {
  return {.operation = Operation::bias, .weight = WeightShape{weight_rows(encoding), std::nullopt}};
}

constexpr std::string_view described[] = {"window"};

constexpr FieldMeaning field_meanings[] = {
    {"window", "extents of the window, 1 to 3 of them: height and width, or depth before them"},
    {"class_token", "none; first: token 0 is one, and has the last three rows of the weight"},
};

}  // namespace
}  // namespace spec_window_bias

std::int64_t position_count(const WindowBias& encoding) {
  std::int64_t count = 1;
  for (const std::int64_t extent : encoding.window) count *= extent;
  return count + (encoding.class_token == ClassToken::first ? 1 : 0);
}

std::int64_t weight_rows(const WindowBias& encoding) {
  return spec_window_bias::places(encoding) +
         (encoding.class_token == ClassToken::first ? spec_window_bias::rows_of_class_token : 0);
}

constinit const EncodingEntry<WindowBias> WindowBias::entry{
    .name = "window_bias",
    .example = R"({"encoding":"window_bias","window":[7,7]})",
    .fields = listed<spec_window_bias::field_meanings>,
    .read = spec_window_bias::read,
    .check = spec_window_bias::check,
    .write = spec_window_bias::write,
    .described = spec_window_bias::described,
    .signature = spec_window_bias::signature,
    .position_bounds = [](const WindowBias& encoding) {
      return std::optional(PositionBounds{.end = position_count(encoding)});
    }};

}  // namespace sextant
