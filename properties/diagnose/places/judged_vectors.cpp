// Over 400 lines: one class, which asks the calls, judges their vectors and compares wrong ones with right ones.
#include "properties/diagnose/places/judged_vectors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/position_grid.hpp"
#include "properties/diagnose/places/taken_places.hpp"
#include "properties/identify/round_numbers.hpp"
#include "properties/model/cell_questions.hpp"

namespace sextant::identify {
namespace {

// How a call's positions lie: scattered over the first few hundred, over as few from a third of the claim on, or over
// the whole of it.
enum class Spread { near, far, whole };

constexpr std::int64_t ordinary_fill = 7;

struct AskedCall {
  std::int64_t batches;
  std::int64_t tokens;
  std::int64_t heads;
  Spread spread;
  std::int64_t fill = ordinary_fill;
};

constexpr AskedCall ordinary_calls[] = {{1, 1, 3, Spread::near},   {1, 1, 3, Spread::whole},
                                        {2, 1, 2, Spread::near},   {2, 9, 4, Spread::near},
                                        {2, 11, 3, Spread::whole}, {1, 2, 24, Spread::near},
                                        {5, 3, 2, Spread::near},   {1, 32, 2, Spread::near, tokens_of_every_magnitude},
                                        {4, 1, 2, Spread::near},   {3, 2, 2, Spread::near},
                                        {4, 4, 1, Spread::near},   {1, 3, 2, Spread::near},
                                        {1, 4, 2, Spread::near},   {1, 5, 2, Spread::near},
                                        {3, 7, 1, Spread::near},   {1, 8, 2, Spread::near},
                                        {2, 8, 1, Spread::whole},  {1, 9, 2, Spread::near},
                                        {1, 7, 2, Spread::whole},  {1, 67, 2, Spread::near},
                                        {1, 96, 1, Spread::whole}, {1, 260, 1, Spread::near},
                                        {1, 9, 2, Spread::far},    {2, 30, 1, Spread::far}};
// From here on fills are of more than drawn vectors (question.hpp).
constexpr std::int64_t special_fills = whole_numbers;
// More are not judged of one call.
constexpr std::int64_t most_vectors = 20000;
constexpr std::size_t most_compared = 600;
constexpr std::int64_t most_values_of_whole = 1 << 15;

// Token `i` of all of a call's, each axis on its own way. No position is a token's place.
std::int64_t scattered(const gen::PositionRange& range, Spread spread, std::int64_t i, std::int64_t axis) {
  const std::int64_t span = range.last - range.first;
  const std::int64_t number = i + 5 * axis + 1;
  if (spread == Spread::near) return range.first + (number * 211 + 13) % std::min<std::int64_t>(span, 509);
  if (spread == Spread::far)
    return range.first + span / 3 + (number * 211 + 13) % std::min<std::int64_t>(span / 3 + 1, 61);
  // As many in each binade.
  const double part = std::fmod(static_cast<double>(number) * 0.618034, 1);
  const auto far = static_cast<std::int64_t>(std::exp(part * std::log(static_cast<double>(span))));
  return range.first + std::min(far, span - 1);
}

// An answer whose values are taken from another one, which is right, but for those that are judged.
class Mixture {
 public:
  Mixture(Judge& judge, const Call& call, const Tensor& answer, Tensor right)
      : judge_(judge), call_(call), answer_(answer), right_(std::move(right)), width_(size_of(answer.dtype)) {}

  bool is_proposal_right() { return judge_.values(call_, right_).within == reference::Certainty::yes; }

  // Elements [first, last) of the subject's answer.
  bool are_right(std::int64_t first, std::int64_t last) {
    return are_right(first, last, answer_.data.data() + offset(first));
  }

  // These values in their place.
  bool are_right(std::int64_t first, const Tensor& values) {
    return are_right(first, first + values.elements(), values.data.data());
  }

  const Tensor& right() const { return right_; }

 private:
  std::size_t offset(std::int64_t element) const { return static_cast<std::size_t>(element) * width_; }

  bool are_right(std::int64_t first, std::int64_t last, const std::byte* values) {
    const std::size_t bytes = offset(last - first);
    std::byte* place = right_.data.data() + offset(first);
    if (std::memcmp(values, place, bytes) == 0) return true;
    const std::vector<std::byte> kept(place, place + bytes);
    std::memcpy(place, values, bytes);
    const bool within = judge_.values(call_, right_).within == reference::Certainty::yes;
    std::memcpy(place, kept.data(), bytes);
    return within;
  }

  Judge& judge_;
  const Call& call_;
  const Tensor& answer_;
  Tensor right_;
  std::size_t width_;
};

// The multiples of `step` from `first` on below `last` of which what follows is wrong, in halves.
void find_wrong(Mixture& mixture, std::int64_t first, std::int64_t last, std::int64_t step,
                std::vector<std::int64_t>& wrong) {
  if (first >= last || mixture.are_right(first, last)) return;
  if (last - first <= step) {
    wrong.push_back(first);
    return;
  }
  const std::int64_t middle = first + (last - first) / step / 2 * step;
  find_wrong(mixture, first, middle, step, wrong);
  find_wrong(mixture, middle, last, step, wrong);
}

// The elements [first, last) of a vector.
struct Elements {
  std::int64_t first;
  std::int64_t last;
};

// So many channels further on stand the right values that these channels have: those of neighbours and partners.
std::optional<std::int64_t> shift_of(Mixture& mixture, const Tensor& answer, const Elements& vector,
                                     const std::vector<std::int64_t>& channels) {
  const std::int64_t width = vector.last - vector.first;
  for (const std::int64_t size : {std::int64_t{1}, std::int64_t{2}, width / 2}) {
    for (const std::int64_t shift : {-size, size}) {
      const bool has_it = shift != 0 && std::ranges::all_of(channels, [&](std::int64_t channel) {
                            const std::int64_t other = vector.first + channel + shift;
                            if (other < vector.first || other >= vector.last) return false;
                            Tensor value = Tensor::zeros(answer.dtype, {1});
                            value.set(0, answer.at(vector.first + channel));
                            return mixture.are_right(other, value);
                          });
      if (has_it) return shift;
    }
  }
  return std::nullopt;
}

// The narrower format of which these values are, where each is next to the right one. A value is of one by chance once
// in thousands.
std::optional<Dtype> format_of_values(const Tensor& answer, const Tensor& right, const Elements& vector,
                                      const std::vector<std::int64_t>& channels) {
  constexpr std::size_t fewest = 4;
  if (channels.size() < fewest) return std::nullopt;
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    if (format_of(dtype).precision >= format_of(answer.dtype).precision) continue;
    const bool is_it = std::ranges::all_of(channels, [&](std::int64_t channel) {
      const double value = answer.at(vector.first + channel);
      const double apart = std::fabs(value - right.at(vector.first + channel));
      return value == round_to(dtype, value) && apart <= std::ldexp(std::fabs(value), -format_of(dtype).precision);
    });
    if (is_it) return dtype;
  }
  return std::nullopt;
}

// What these channels of the vector at `start` are; `given` is null where nothing is turned.
WrongValues values_of(Mixture& mixture, const Tensor& answer, const Tensor* given, const Elements& vector,
                      const std::vector<std::int64_t>& channels) {
  const std::int64_t start = vector.first;
  const auto all = [&](const auto& is) {
    return std::ranges::all_of(channels, [&](std::int64_t channel) { return is(start + channel); });
  };
  WrongValues values;
  values.are_zero = all([&](std::int64_t i) { return answer.at(i) == 0; });
  values.are_given = given != nullptr && all([&](std::int64_t i) { return answer.at(i) == given->at(i); });
  const Tensor& right = mixture.right();
  const std::int64_t greatest = start + *std::ranges::max_element(channels, {}, [&](std::int64_t channel) {
                                  return std::fabs(right.at(start + channel));
                                });
  values.of_channel = shift_of(mixture, answer, vector, channels);
  values.rounded = format_of_values(answer, right, vector, channels);
  const double ratio = answer.at(greatest) / right.at(greatest);
  // What is off by less is no multiple.
  constexpr double least_told = 0x1p-14;
  if (!std::isfinite(ratio) || ratio == 0 || std::fabs(ratio - 1) < least_told) return values;
  const Range range{std::fabs(ratio) * (1 - 0x1p-7), std::fabs(ratio) * (1 + 0x1p-7)};
  for (const double times : {std::copysign(roundest_in(range).value, ratio), ratio}) {
    if (times == 1) continue;
    const bool divides = all([&](std::int64_t i) {
      Tensor value = Tensor::zeros(answer.dtype, {1});
      value.set(0, answer.at(i) / times);
      return mixture.are_right(i, value);
    });
    if (!divides) continue;
    values.times = times;
    break;
  }
  return values;
}

// A call of one of its tokens and heads alone.
Call alone(const Call& call, std::int64_t token, std::int64_t tokens, const std::optional<Tensor>& x) {
  Call one{.weight = call.weight, .fill = call.fill};
  for (std::int64_t i = token; i < std::ssize(call.positions); i += tokens)
    one.positions.push_back(call.positions[static_cast<std::size_t>(i)]);
  if (x) one.vectors.push_back(*x);
  return one;
}

// Elements of a tensor, the part of number `index` of this shape.
Tensor part_of(const Tensor& whole, std::int64_t index, std::vector<std::int64_t> shape) {
  Tensor part = Tensor::zeros(whole.dtype, std::move(shape));
  const auto bytes = static_cast<std::ptrdiff_t>(part.data.size());
  std::copy_n(whole.data.begin() + index * bytes, bytes, part.data.begin());
  return part;
}

bool is_same(const Tensor& a, const Tensor& b, std::int64_t first, std::int64_t count) {
  const std::size_t bytes = size_of(a.dtype);
  return std::memcmp(a.data.data() + static_cast<std::size_t>(first) * bytes,
                     b.data.data() + static_cast<std::size_t>(first) * bytes,
                     static_cast<std::size_t>(count) * bytes) == 0;
}

// An answer, or a part of it, what was turned, and where a vector of it begins.
struct VectorPart {
  const Tensor& answer;
  const Tensor* given;
  std::int64_t start;
  std::int64_t width;
};

enum class Look { at_all, into };

// Whether the vector is wrong, and, where it is looked into, which channels and how.
void look(JudgedVector& one, Mixture& mixture, const VectorPart& at, Look how) {
  one.is_wrong = !mixture.are_right(at.start, at.start + at.width);
  if (!one.is_wrong || how == Look::at_all || !mixture.is_proposal_right()) return;
  find_wrong(mixture, at.start, at.start + at.width, 1, one.wrong_channels);
  for (std::int64_t& channel : one.wrong_channels) channel -= at.start;
  if (one.wrong_channels.empty()) return;
  const Elements elements{at.start, at.start + at.width};
  one.values = values_of(mixture, at.answer, at.given, elements, one.wrong_channels);
  std::vector<std::int64_t> all(static_cast<std::size_t>(at.width));
  std::iota(all.begin(), all.end(), 0);
  one.whole = values_of(mixture, at.answer, at.given, elements, all);
}

// The number of a vector's neighbour among those of its call; nothing where it has none but itself.
std::optional<std::int64_t> number_of_neighbour(const JudgedVector& vector, Neighbour which) {
  std::int64_t batch = vector.batch;
  std::int64_t token = vector.token;
  std::int64_t head = vector.head;
  switch (which) {
    case Neighbour::token_before: --token; break;
    case Neighbour::token_after: ++token; break;
    case Neighbour::head_before: --head; break;
    case Neighbour::head_after: ++head; break;
    case Neighbour::first_head: head = 0; break;
    case Neighbour::first_token: token = 0; break;
    case Neighbour::first_row: batch = 0; break;
  }
  if (token < 0 || token >= vector.tokens || head < 0 || head >= vector.heads) return std::nullopt;
  const auto number_of = [&](std::int64_t of_batch, std::int64_t of_token, std::int64_t of_head) {
    return (of_batch * vector.tokens + of_token) * vector.heads + of_head;
  };
  const std::int64_t other = number_of(batch, token, head);
  return other == number_of(vector.batch, vector.token, vector.head) ? std::nullopt : std::optional(other);
}

// Whose right answers are a vector's own: taking one of them for the other does not show.
std::bitset<neighbours> like_neighbours(const Tensor& right, const JudgedVector& vector, std::int64_t number,
                                        std::int64_t width) {
  std::bitset<neighbours> alike;
  const std::size_t bytes = static_cast<std::size_t>(width) * size_of(right.dtype);
  for (std::size_t which = 0; which < neighbours; ++which) {
    const auto other = number_of_neighbour(vector, static_cast<Neighbour>(which));
    const auto start = [&](std::int64_t of) { return right.data.data() + static_cast<std::size_t>(of) * bytes; };
    if (other && std::memcmp(start(number), start(*other), bytes) == 0) alike.set(which);
  }
  return alike;
}

bool is_rotation(const Spec& spec) { return operation_of(spec.encoding) == Operation::rotate; }

}  // namespace

VectorJudge::VectorJudge(const Subject& subject, const Spec& claim, const Subject& proposer)
    : claim_(claim),
      subject_(subject),
      proposer_(proposer),
      model_(model_of(claim)),
      is_judged_whole_(!model_->not_judged()),
      grid_(grid_of(claim)) {
  const Operation operation = operation_of(claim.encoding);
  is_judged_whole_ = is_judged_whole_ && (operation == Operation::encode || operation == Operation::rotate ||
                                          operation == Operation::table);
  if (!is_judged_whole_) return;
  judge_ = model_->judge();
  session_ = subject.open(claim);
  proposing_ = proposer.open(claim);
}

void VectorJudge::ask_ordinary() {
  for (const AskedCall& shape : ordinary_calls) {
    const bool turns = is_rotation(claim_);
    if (!is_judged_whole_ || (!turns && (shape.batches > 1 || shape.fill != ordinary_fill))) continue;
    const Question question{.position = model_->range().first,
                            .tokens = shape.tokens,
                            .batch = turns ? shape.batches : 1,
                            .heads = turns ? shape.heads : 1,
                            .fill = shape.fill};
    Call call = shape.fill == ordinary_fill ? model_->call_of(question) : model_->accuracy_call(question);
    const std::int64_t tokens = question.tokens * question.batch;
    for (std::int64_t i = 0; i < std::ssize(call.positions); ++i)
      call.positions[static_cast<std::size_t>(i)] = scattered(model_->range(), shape.spread, i % tokens, i / tokens);
    judge(call);
  }
}

void VectorJudge::ask_around(const Question& failing) {
  if (!is_judged_whole_) return;
  const auto ask = [&](const Question& question) {
    if (question.position >= model_->range().first && question.fill >= 0 && model_->admits(question))
      judge(model_->accuracy_call(question));
  };
  session_ = subject_.open(claim_);
  judge(model_->accuracy_call(failing));
  // At position 1 one position less is none at all, and vectors of (1, 0) are not looked into.
  for (const std::int64_t further : {1, 2, 6, 29, 300}) {
    Question question = failing;
    question.position += further;
    question.fill = ordinary_fill;
    if (failing.fill < special_fills) ask(question);
  }
  for (std::int64_t Question::*field :
       {&Question::fill, &Question::position, &Question::tokens, &Question::batch, &Question::heads}) {
    for (const std::int64_t step : {-1, 1}) {
      Question question = failing;
      question.*field += step;
      ask(question);
    }
  }
}

void VectorJudge::ask_further() {
  if (!is_judged_whole_ || has_asked_further_) return;
  has_asked_further_ = true;
  struct Count {
    std::int64_t right = 0;
    std::int64_t wrong = 0;
  };
  std::map<std::size_t, Count> counts;
  for (const JudgedVector& vector : made_) ++(vector.is_wrong ? counts[vector.call].wrong : counts[vector.call].right);
  const Call* longest = nullptr;
  for (const auto& [call, count] : counts) {
    const Call& asked = kept_[call].call;
    if (count.right == 0 || count.wrong == 0) continue;
    if (longest == nullptr || asked.positions.size() > longest->positions.size()) longest = &asked;
  }
  if (longest == nullptr) return;
  const auto [least, greatest] = std::ranges::minmax(longest->positions);
  const std::int64_t by = greatest + 1 - least;
  if (greatest + by >= model_->range().last) return;
  Call call = *longest;
  for (std::int64_t& position : call.positions) position += by;
  judge(call);
}

void VectorJudge::ask_first() {
  if (!is_judged_whole_) return;
  // Enough for a call of each kind; what is found in longer ones alone is told of the failing ones.
  constexpr std::int64_t most_of_call = 1200;
  std::int64_t left = 120000;
  for (const Question& question : model_->first_questions()) {
    const std::int64_t vectors = question.tokens * question.batch * (is_rotation(claim_) ? question.heads : 1);
    if (vectors > most_of_call || vectors > left) continue;
    left -= vectors;
    judge(model_->accuracy_call(question));
  }
}

void VectorJudge::ask_sizes(double around) {
  if (!is_judged_whole_ || !is_rotation(claim_)) return;
  constexpr std::int64_t tokens = 16;
  const gen::PositionRange range = model_->range();
  Call call = model_->call_of({.position = range.first, .tokens = tokens, .fill = ordinary_fill});
  for (std::size_t i = 0; i < call.positions.size(); ++i)
    call.positions[i] = scattered(range, Spread::near, static_cast<std::int64_t>(i) % tokens, 0);
  Tensor& x = call.vectors.front();
  const std::int64_t width = x.elements() / tokens;
  for (std::int64_t token = 0; token < tokens; ++token) {
    double greatest = 0;
    for (std::int64_t i = token * width; i < (token + 1) * width; ++i)
      greatest = std::max(greatest, std::fabs(x.at(i)));
    // From an eighth to eight times as large.
    const double scale = around * std::ldexp(1, static_cast<int>(token % 7) - 3) / greatest;
    for (std::int64_t i = token * width; i < (token + 1) * width; ++i) x.set(i, x.at(i) * scale);
  }
  judge(call);
}

void VectorJudge::ask_times(const Call& call, double times) {
  Call scaled = call;
  for (Tensor& x : scaled.vectors) {
    for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, x.at(i) * times);
  }
  judge(scaled);
}

void VectorJudge::ask_scaled(double around) {
  if (!is_judged_whole_ || !is_rotation(claim_)) return;
  constexpr std::size_t few = 4;
  constexpr std::int64_t most_of_call = 2000;
  const double most = std::ldexp(1, format_of(claim_.dtype).max_exponent - 3);
  std::set<std::size_t> wrong;
  std::set<std::size_t> right;
  for (const JudgedVector& vector : made_) {
    if (kept_[vector.call].call.vectors.front().elements() > most_of_call * kept_[vector.call].answer.shape.back())
      continue;
    std::set<std::size_t>& calls = vector.is_wrong ? wrong : right;
    if (calls.size() < few && vector.position != 0 && vector.size > 0) calls.insert(vector.call);
  }
  wrong.merge(right);
  for (const std::size_t number : wrong) {
    const Call call = kept_[number].call;
    double greatest = 0;
    for (std::int64_t i = 0; i < call.vectors.front().elements(); ++i)
      greatest = std::max(greatest, std::fabs(call.vectors.front().at(i)));
    if (!(greatest > 0) || !std::isfinite(greatest)) continue;
    // A power of two, which adds no rounding: all vectors are below a quarter of the size, or a drawn one above it.
    const int to_size = std::ilogb(around / greatest);
    for (const int power : {to_size - 3, to_size + 5}) {
      if (greatest * std::ldexp(1, power) < most) ask_times(call, std::ldexp(1, power));
    }
  }
}

void VectorJudge::ask_at(const std::vector<std::int64_t>& positions) {
  if (!is_judged_whole_) return;
  const gen::PositionRange range = model_->range();
  std::vector<std::int64_t> claimed;
  std::ranges::copy_if(positions, std::back_inserter(claimed),
                       [&](std::int64_t position) { return position >= range.first && position < range.last; });
  if (claimed.empty()) return;
  Call call = model_->call_of({.position = range.first, .tokens = std::ssize(claimed), .fill = ordinary_fill});
  for (std::size_t i = 0; i < call.positions.size(); ++i) call.positions[i] = claimed[i % claimed.size()];
  judge(call);
}

VectorJudge::Wider* VectorJudge::wider() {
  if (wider_ || has_no_wider_) return wider_ ? &*wider_ : nullptr;
  has_no_wider_ = true;
  Spec spec = claim_;
  spec.min_position = -spec.max_position;
  try {
    validate(spec);
  } catch (const SpecError&) {
    return nullptr;
  }
  Wider made{.model = model_of(spec), .judge = nullptr, .proposing = proposer_.open(spec)};
  if (made.model->not_judged() || axes_of(spec.encoding) > 1) return nullptr;
  made.judge = made.model->judge();
  return &wider_.emplace(std::move(made));
}

// Whether a vector that is right of another position is right of a third one too, which no rule leads to: so far from 0
// a class may admit nearly any angle. Third ones are a little nearer to 0, where it admits nearly as much.
bool VectorJudge::is_right_of_a_third(Judge& judge, const Call& taken, const JudgedVector& vector,
                                      const Tensor& got) const {
  if (taken.positions.size() != 1) return false;
  constexpr std::int64_t near_0 = 1 << 16;
  const std::int64_t position = taken.positions.front();
  if (std::abs(position) < near_0) return false;
  return std::ranges::any_of(std::array{8, 11, 17, 29}, [&](std::int64_t part) {
    Call third = taken;
    third.positions.front() = position - position / part;
    return third.positions.front() != vector.position && judge.values(third, got).within == reference::Certainty::yes;
  });
}

// Which other places' right vector this one is.
Others VectorJudge::others_of(const Call& alone, const Tensor& got, const AskedPlaces& asked,
                              const JudgedVector& vector) {
  const gen::PositionRange range = model_->range();
  const auto is_claimed = [&](const Place& place) {
    for (std::size_t axis = 0; axis < place.size(); ++axis) {
      const std::int64_t first = grid_.is_known() ? grid_.first[axis] : range.first;
      const std::int64_t last = grid_.is_known() ? first + grid_.sides[axis] : range.last;
      if (place[axis] < std::max(first, claim_.min_position) || place[axis] >= std::min(last, claim_.max_position))
        return false;
    }
    return true;
  };
  Others others;
  for (std::size_t i = 0; i < taken_places().size(); ++i) {
    if (refuted_[i]) continue;
    const auto place = taken_places()[i].at(asked, vector.batch, vector.token);
    if (!place || *place == alone.positions) continue;
    const bool is_before_0 = place->size() == 1 && place->front() < 0 && -place->front() < claim_.max_position;
    Wider* const wide = is_before_0 && claim_.min_position >= 0 ? wider() : nullptr;
    if (!is_claimed(*place) && wide == nullptr) {
      others.unclaimed.set(i);
      continue;
    }
    Call other = alone;
    other.positions = *place;
    Tensor right;
    try {
      right = wide != nullptr ? as_wide_as(got, wide->model->ask(*wide->proposing, other)) : proposed(other, got);
    } catch (const SubjectFailure&) {
      // No position of its format.
      others.unclaimed.set(i);
      continue;
    }
    Mixture mixture(wide != nullptr ? *wide->judge : *judge_, other, got, std::move(right));
    if (!mixture.is_proposal_right() || !mixture.are_right(0, got.elements())) continue;
    // What is right of any position says nothing of this one, and refutes it neither.
    Judge& judge = wide != nullptr ? *wide->judge : *judge_;
    (is_right_of_a_third(judge, other, vector, got) ? others.unclaimed : others.right).set(i);
  }
  refuted_ |= ~(others.right | others.unclaimed);
  return others;
}

// Whose right answer this vector of a rotation is.
std::bitset<neighbours> VectorJudge::neighbours_of(const Call& call, const Tensor& got, const Tensor& right,
                                                   const JudgedVector& vector) {
  const std::int64_t width = got.elements();
  std::bitset<neighbours> found;
  for (std::size_t which = 0; which < neighbours; ++which) {
    const auto other = number_of_neighbour(vector, static_cast<Neighbour>(which));
    if (!other) continue;
    const Tensor x = part_of(call.vectors.front(), *other, {1, 1, 1, width});
    const Call part = alone(call, *other / vector.heads, vector.batches * vector.tokens, x);
    Mixture mixture(*judge_, part, got, part_of(right, *other, {1, 1, 1, width}));
    if (mixture.is_proposal_right() && mixture.are_right(0, width)) found.set(which);
  }
  return found;
}

Tensor VectorJudge::proposed(const Call& call, const Tensor& answer) {
  return as_wide_as(answer, model_->ask(*proposing_, call));
}

Tensor VectorJudge::as_wide_as(const Tensor& answer, Tensor right) const {
  // A rotary table whose order has each value twice stands there twice over.
  const bool is_wider = answer.shape.back() > right.shape.back() && answer.shape.back() % right.shape.back() == 0;
  if (operation_of(claim_.encoding) != Operation::table || !is_wider) return right;
  Tensor wide = Tensor::zeros(answer.dtype, answer.shape);
  const std::int64_t width = right.shape.back();
  const std::int64_t wide_width = wide.shape.back();
  for (std::int64_t i = 0; i < wide.elements(); ++i)
    wide.set(i, right.at(i / wide_width * width + i % wide_width % width));
  return wide;
}

std::optional<Tensor> VectorJudge::answer_to(const Call& call) {
  try {
    return model_->ask(*session_, call);
  } catch (const SubjectFailure& failure) {
    if (failure.kind() != FailureKind::unsupported && failure.kind() != FailureKind::error) throw;
    return std::nullopt;
  }
}

void VectorJudge::judge(const Call& call) {
  const bool turns = is_rotation(claim_);
  const std::vector<std::int64_t> shape =
      turns ? call.vectors.front().shape
            : std::vector<std::int64_t>{1, std::ssize(call.positions) / axes_of(claim_.encoding), 1};
  const std::int64_t tokens = shape[0] * shape[1];
  const std::int64_t vectors = tokens * shape[2];
  if (vectors == 0 || vectors > most_vectors) return;
  const auto given = answer_to(call);
  if (!given) return;
  const Tensor& answer = *given;
  const std::int64_t width = answer.elements() / vectors;
  const bool by_itself = !model_->depends_on_length();
  if (!by_itself && answer.elements() > most_values_of_whole) return;
  const Tensor right = proposed(call, answer);
  if (right.elements() != answer.elements()) return;
  std::optional<Mixture> whole;
  if (!by_itself) whole.emplace(*judge_, call, answer, right);
  if (whole && !whole->is_proposal_right()) return;
  const AskedPlaces& asked = asked_.emplace_back(AskedPlaces{.positions = call.positions,
                                                             .axes = axes_of(claim_.encoding),
                                                             .batches = shape[0],
                                                             .tokens = shape[1],
                                                             .grid = grid_,
                                                             .last = model_->range().last - 1,
                                                             .one_step = one_step_of(claim_)});
  const PositionGrid steps = position_grid_of(claim_.encoding);
  const bool are_whole = steps.step < 1 && std::ranges::all_of(call.positions, [&](std::int64_t count) {
                           return steps.at(count) == std::floor(steps.at(count));
                         });
  const std::vector<Traits> traits = traits_of(asked, are_whole);
  std::vector<std::int64_t> falls;
  std::vector<std::int64_t> grid_rows;
  std::vector<std::int64_t> least_of_rows;
  std::vector<std::int64_t> spans;
  for (std::int64_t batch = 0; batch < asked.batches; ++batch) {
    const auto row = call.positions.begin() + batch * asked.tokens;
    const auto [least, most] = std::minmax_element(row, row + asked.tokens);
    least_of_rows.push_back(asked.axes == 1 ? *least : -1);
    spans.push_back(asked.axes == 1 ? *most - *least : -1);
    falls.push_back(least_fall(asked, batch));
    grid_rows.push_back(rows_before_first_again(asked, batch));
  }
  // Those about cells and placements have drawn vectors.
  const bool are_drawn = (call.fill >= placed && call.fill < constant_vectors) || drawing_of(call.fill) != call.fill;
  const std::int64_t greatest = std::ranges::max(call.positions);
  std::int64_t looked_into = 0;
  double sum_of_token = 0;
  for (std::int64_t vector = 0; vector < vectors; ++vector) {
    const std::int64_t token = vector / shape[2];
    JudgedVector& one = made_.emplace_back();
    one.call = asked_.size() - 1;
    one.batch = token / shape[1];
    one.batches = shape[0];
    one.token = token % shape[1];
    one.tokens = shape[1];
    one.head = vector % shape[2];
    one.heads = shape[2];
    // The first drawing of rotations is (1, 0) in every pair, where small turns do not show in the first member.
    one.is_ordinary = !turns || (call.fill > 0 && call.fill < special_fills) || are_drawn;
    one.position = call.positions[static_cast<std::size_t>(token)];
    for (std::int64_t i = token; i < std::ssize(call.positions); i += tokens)
      one.position = std::max(one.position, call.positions[static_cast<std::size_t>(i)]);
    one.row_first = asked.axes == 1 ? asked.coordinate(0, one.batch, 0) : -1;
    one.row_least = least_of_rows[static_cast<std::size_t>(one.batch)];
    one.row_span = spans[static_cast<std::size_t>(one.batch)];
    one.call_greatest = greatest;
    one.traits = traits[static_cast<std::size_t>(token)];
    one.fall = falls[static_cast<std::size_t>(one.batch)];
    one.grid_rows = grid_rows[static_cast<std::size_t>(one.batch)];
    for (std::size_t axis = 0; asked.axes > 1 && axis < one.coordinates.size(); ++axis) {
      if (static_cast<std::int64_t>(axis) < asked.axes)
        one.coordinates[axis] = asked.coordinate(static_cast<std::int64_t>(axis), one.batch, one.token);
    }
    for (std::int64_t i = 0; i < width && turns; ++i) {
      const double value = std::fabs(call.vectors.front().at(vector * width + i));
      one.size = std::max(one.size, value);
      one.sum += value;
    }
    if (one.head == 0) sum_of_token = 0;
    sum_of_token += one.sum;
    // Known once its last head is.
    for (std::int64_t head = 0; one.head + 1 == one.heads && head < one.heads; ++head)
      made_[made_.size() - 1 - static_cast<std::size_t>(head)].token_sum = sum_of_token;
    if (turns) one.like_neighbours = like_neighbours(right, one, vector, width);
    const std::int64_t enough = whole ? 3 : 24;
    const Look how = looked_into < enough ? Look::into : Look::at_all;
    if (is_same(answer, right, vector * width, width)) continue;
    if (whole) {
      look(one, *whole, {answer, turns ? &call.vectors.front() : nullptr, vector * width, width}, how);
    } else {
      const std::vector<std::int64_t> alone_shape =
          turns ? std::vector<std::int64_t>{1, 1, 1, width} : std::vector<std::int64_t>{1, width};
      const auto x = turns ? std::optional(part_of(call.vectors.front(), vector, alone_shape)) : std::nullopt;
      const Call part = alone(call, token, tokens, x);
      const Tensor got = part_of(answer, vector, alone_shape);
      Mixture mixture(*judge_, part, got, part_of(right, vector, alone_shape));
      look(one, mixture, {got, x ? &*x : nullptr, 0, width}, how);
      // A few of the first, and of the last, where other places lie apart.
      constexpr std::int64_t few = 3;
      const bool is_telling = looked_into < few || (one.token >= one.tokens - few && one.head == 0);
      if (one.is_wrong && is_telling && one.is_ordinary) {
        one.is_compared = true;
        one.others = others_of(part, got, asked, one);
        if (compared_.size() < most_compared) compared_.push_back({part, got});
        if (turns) one.of_neighbours = neighbours_of(call, got, right, one);
      }
    }
    if (one.is_wrong && how == Look::into) ++looked_into;
  }
  kept_.push_back({call, answer});
}

}  // namespace sextant::identify
