#include "attack/cases/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace sextant::attack {
namespace {

constexpr std::array<std::string_view, 10> operations{"encode_list", "encode_range", "rotate", "backward",    "tables",
                                                      "bias",        "bucket",       "slope",  "grad_weight", "attend"};
constexpr std::array<std::string_view, 3> place_names{"apart", "in_place", "dense"};
constexpr std::array<std::string_view, 5> environments{"nearest", "upward", "downward", "toward_zero", "flush_to_zero"};

template <std::size_t N>
std::string_view name_in(const std::array<std::string_view, N>& names, auto value) {
  return names.at(static_cast<std::size_t>(value));
}

template <class Enum, std::size_t N>
Enum value_in(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  throw std::invalid_argument(fmt::format("token: {} is none of the names known", name));
}

template <class Number>
Number number(std::string_view text, int base = 10) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::invalid_argument(fmt::format("token: {} is no number", text));
  return value;
}

// visit(part) of a text's parts.
template <class Visit>
void split(std::string_view text, char separator, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// Runs of equal distances: first:count:step.
std::string text_of(const std::vector<std::int64_t>& list) {
  std::string text;
  for (std::size_t i = 0; i < list.size();) {
    std::size_t end = i + 1;
    const auto step =
        end < list.size() ? static_cast<std::uint64_t>(list[end]) - static_cast<std::uint64_t>(list[i]) : 0;
    while (end < list.size() &&
           static_cast<std::uint64_t>(list[end]) - static_cast<std::uint64_t>(list[end - 1]) == step)
      ++end;
    if (end - i < 3) end = i + 1;
    if (!text.empty()) text += ',';
    text += end - i == 1 ? fmt::format("{}", list[i])
                         : fmt::format("{}:{}:{}", list[i], end - i, static_cast<std::int64_t>(step));
    i = end;
  }
  return text;
}

std::vector<std::int64_t> integers_of(std::string_view text) {
  std::vector<std::int64_t> list;
  split(text, ',', [&](std::string_view run) {
    std::vector<std::int64_t> parts;
    split(run, ':', [&](std::string_view part) { parts.push_back(number<std::int64_t>(part)); });
    if (parts.size() != 1 && parts.size() != 3)
      throw std::invalid_argument(fmt::format("token: {} is no run of integers", run));
    const std::int64_t count = parts.size() == 1 ? 1 : parts[1];
    const std::uint64_t step = parts.size() == 1 ? 0 : static_cast<std::uint64_t>(parts[2]);
    for (std::int64_t i = 0; i < count; ++i)
      list.push_back(
          static_cast<std::int64_t>(static_cast<std::uint64_t>(parts[0]) + static_cast<std::uint64_t>(i) * step));
  });
  return list;
}

// Hexadecimal, with a count where an element repeats.
std::string text_of_elements(const std::vector<Bits>& list) {
  std::string text;
  for (std::size_t i = 0; i < list.size();) {
    std::size_t end = i + 1;
    while (end < list.size() && list[end] == list[i]) ++end;
    if (!text.empty()) text += ',';
    fmt::format_to(std::back_inserter(text), "{:x}", list[i]);
    if (end - i > 1) fmt::format_to(std::back_inserter(text), "*{}", end - i);
    i = end;
  }
  return text;
}

std::vector<Bits> elements_of_text(std::string_view text) {
  std::vector<Bits> list;
  split(text, ',', [&](std::string_view run) {
    const std::size_t star = std::min(run.find('*'), run.size());
    const std::size_t count = star == run.size() ? 1 : number<std::size_t>(run.substr(star + 1));
    list.insert(list.end(), count, number<Bits>(run.substr(0, star), 16));
  });
  return list;
}

}  // namespace

std::string token_of(const Case& example) {
  const Case plain;
  std::string token = fmt::format("operation={}", name_in(operations, example.operation));
  const auto add = [&](std::string_view name, std::int64_t value, std::int64_t usual) {
    if (value != usual) token += fmt::format(";{}={}", name, value);
  };
  add("threads", example.threads, plain.threads);
  if (example.environment != plain.environment)
    token += fmt::format(";environment={}", name_in(environments, example.environment));
  if (example.place != plain.place) token += fmt::format(";place={}", name_in(place_names, example.place));
  add("offset", example.offset, plain.offset);
  add("gap", example.gap, plain.gap);
  add("stride_order", example.stride_order, plain.stride_order);
  add("batch", example.batch, plain.batch);
  add("tokens", example.tokens, plain.tokens);
  add("heads", example.heads, plain.heads);
  if (example.operation == Operation::encode_range) {
    token += fmt::format(";range={}:{}:{}", example.range.first, example.range.count, example.range.step);
  }
  if (!example.positions.empty()) token += ";positions=" + text_of(example.positions);
  if (!example.keys.empty()) token += ";keys=" + text_of(example.keys);
  if (!example.elements.empty()) token += ";elements=" + text_of_elements(example.elements);
  return token + ";spec=" + to_json(example.spec);
}

Case case_of(std::string_view token) {
  Case example;
  const std::size_t spec = token.find(";spec=");
  if (spec == std::string_view::npos) throw std::invalid_argument("token: it has no spec");
  example.spec = parse_spec(token.substr(spec + 6));
  split(token.substr(0, spec), ';', [&](std::string_view field) {
    const std::size_t equals = field.find('=');
    const std::string_view name = field.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : field.substr(equals + 1);
    if (name == "operation") {
      example.operation = value_in<Operation>(operations, value);
    } else if (name == "threads") {
      example.threads = number<int>(value);
    } else if (name == "environment") {
      example.environment = value_in<Environment>(environments, value);
    } else if (name == "place") {
      example.place = value_in<Place>(place_names, value);
    } else if (name == "offset") {
      example.offset = number<std::int64_t>(value);
    } else if (name == "gap") {
      example.gap = number<std::int64_t>(value);
    } else if (name == "stride_order") {
      example.stride_order = number<int>(value);
    } else if (name == "batch") {
      example.batch = number<std::int64_t>(value);
    } else if (name == "tokens") {
      example.tokens = number<std::int64_t>(value);
    } else if (name == "heads") {
      example.heads = number<std::int64_t>(value);
    } else if (name == "range") {
      std::vector<std::int64_t> parts;
      split(value, ':', [&](std::string_view part) { parts.push_back(number<std::int64_t>(part)); });
      if (parts.size() != 3) throw std::invalid_argument(fmt::format("token: {} is no range", value));
      example.range = {parts[0], parts[1], parts[2]};
    } else if (name == "positions") {
      example.positions = integers_of(value);
    } else if (name == "keys") {
      example.keys = integers_of(value);
    } else if (name == "elements") {
      example.elements = elements_of_text(value);
    } else {
      throw std::invalid_argument(fmt::format("token: {} is none of its fields", name));
    }
  });
  return example;
}

std::int64_t key_heads_of(const Case& example) { return std::max<std::int64_t>(1, example.heads / 2); }

std::vector<std::int64_t> positions_of(const Case& example) {
  if (example.operation != Operation::encode_range) return example.positions;
  std::vector<std::int64_t> list;
  for (std::int64_t i = 0; i < example.range.count; ++i) list.push_back(example.range.first + i * example.range.step);
  return list;
}

}  // namespace sextant::attack
