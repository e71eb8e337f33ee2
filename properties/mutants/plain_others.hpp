#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/mutants/plain_rope.hpp"
#include "subjects/function.hpp"
#include "subjects/subject.hpp"

namespace sextant::mutants {

/// ALiBi's slope of a head, Press et al. 2021 as released: powers of two have one series; other numbers of heads the
/// nearest smaller power's, then every other one of twice as many.
double released_slope(std::int64_t head, std::int64_t heads);

/// One series for any number of heads.
double geometric_slope(std::int64_t head, std::int64_t heads);

/// Where the powers of a call of xpos are 1.
std::int64_t plain_centre(const std::variant<std::int64_t, HalfOfCall>& centre, std::int64_t length);

/// The row of a window's two tokens as the released codes have it: differences of coordinates, made positive, times how
/// many the axes behind them have.
std::int64_t plain_window_row(const WindowBias& encoding, std::int64_t query, std::int64_t key);

/// Coordinates of a token of a window, row by row.
std::vector<std::int64_t> window_coordinates(std::span<const std::int64_t> window, std::int64_t token);

/// A query and a key of one head of attention: their indices in the sequence, and their positions on the first axis.
struct Seen {
  std::int64_t head;
  std::int64_t query;
  std::int64_t key;
  std::int64_t tokens;  ///< keys of the batch row
  std::int64_t query_position;
  std::int64_t key_position;
  std::int64_t number = 0;        ///< of the query among those of the call
  std::int64_t in_first_row = 0;  ///< the position of that query of the first batch row
};

/// A query of attention in a call that is a step.
struct StepQuery {
  std::int64_t query;           ///< its number among the queries
  std::int64_t queries;         ///< of the batch row
  std::int64_t keys;            ///< likewise
  std::int64_t position;        ///< on the first axis
  std::int64_t in_first_row;    ///< that of the same query in the first batch row
  std::int64_t first_position;  ///< of the batch row's first key
};

/// Every encoding but sinusoidal and rope as it is commonly written, in float32 or double, one step a member that a
/// mutant may replace. As made it is right within float32-angle. Members that an encoding has no use for are ignored.
struct PlainOther {
  explicit PlainOther(const Spec& spec);

  Dtype dtype;
  RelativeBias relative;  ///< of relative_bias, or of attention with it

  // Codes.
  std::function<std::int64_t(std::int64_t p)> position;                            ///< the position that is coded
  std::function<std::int64_t(std::int64_t channel, std::int64_t dim)> channel_of;  ///< the digit of a channel
  std::function<double(double value)> finish;                                      ///< the last step of a code or bias
  std::int64_t last_position;  ///< what a normalised count is divided by
  bool refuses_beyond = true;  ///< whether positions beyond the end are an error
  bool consecutive = false;    ///< whether a lookup reads on from the first position
  enum class Gradient { added, overwritten, zero };
  Gradient gradient = Gradient::added;
  std::function<std::int64_t(std::int64_t half)> axis_of_half;  ///< of a grid's code: 0 row, 1 column
  std::int64_t exponent_width = 0;                              ///< that frequencies' exponents are divided by

  // Biases.
  std::function<double(std::int64_t head, std::int64_t heads)> slope;  ///< of bias_max 8
  double bias_max = 8;
  std::function<double(double slope)> round_slope;
  std::function<double(std::int64_t query, std::int64_t key)> distance;  ///< that the slope multiplies, negated
  std::function<std::int64_t(const std::vector<std::int64_t>& positions, std::size_t query)> query_position;
  std::function<std::int64_t(std::int64_t relative)> bucket;
  std::function<std::int64_t(std::int64_t head, std::int64_t heads)> head_of;
  bool skip_single_query = false;
  WindowBias window;  ///< of window_bias, or of attention with it
  std::function<std::int64_t(std::int64_t query, std::int64_t key)> window_row;

  // Offsets' coordinates.
  LogCoordinates offsets;
  std::function<double(std::int64_t axis, std::int64_t offset)> log_coordinate;
  std::function<std::int64_t(std::int64_t channel)> axis_of_channel;

  // Rotations.
  RowLengths row_lengths = row_lengths_of(DefaultScaling{});
  std::function<std::int64_t(std::int64_t pair)> axis_of_pair;
  RopeNd axial;     ///< the claim of several axes
  Ladders ladders;  ///< its
  std::function<double(std::span<const std::int64_t> place, std::int64_t axis)> coordinate;  ///< that an axis turns by
  std::function<std::int64_t(std::int64_t pair)> pair_in_exponent;
  double scale_base = 512;
  double scale_sign = 1;
  std::function<std::int64_t(std::int64_t pair, bool is_second)> pair_in_scale;  ///< whose zeta a channel has
  bool scale_from_call = false;
  std::variant<std::int64_t, HalfOfCall> centre = std::int64_t{0};  ///< of xpos
  /// What the scale's exponent counts in a call of that length, negated for a key.
  std::function<double(std::int64_t position, std::int64_t length, double sign)> exponent;
  bool first_batch_positions = false;  ///< whether every batch row has the first row's
  bool one_role = false;               ///< whether attention scales keys as queries

  // Attention.
  double score_scale = 1;
  std::function<std::int64_t(std::int64_t head, std::int64_t heads, std::int64_t kv_heads)> kv_head_of;
  bool normalise = true;
  Dtype weight_dtype = Dtype::float64;
  std::function<double(std::span<const double> scores)> subtracted;  ///< from scores before the exponential, in float32
  std::int64_t seen_ahead = 0;                                       ///< keys behind the query that a causal mask shows
  std::optional<double> softcap;                                     ///< of the spec
  std::function<double(const Seen& seen)> query_scale;               ///< that multiplies a score before the softcap
  bool caps_bias = false;                                            ///< whether the bias is added before
  bool use_sinks = true;
  std::function<std::int64_t(const StepQuery& query)> step_position;  ///< that a query of a step is turned by
  /// The index among the keys that a query of a step has; and the keys of a batch row that are no padding.
  std::function<std::int64_t(std::int64_t query, std::int64_t queries, const KeyRange& sequence, std::int64_t keys)>
      step_token;
  std::function<KeyRange(const KeyRange& sequence, std::int64_t keys)> sequence_of;
  std::function<bool(bool is_cached)> turns_key;  ///< whether a key of a claim with rotated keys is turned
  bool use_position = true;
  bool rotate_keys = true;
  bool rotate_values = false;
  std::function<std::int64_t(std::int64_t p, Role role)> turned_by;  ///< where a query or key is taken to stand
  bool places = false;                                               ///< whether a token's place is its position
  double unasked_bias = 0;                                           ///< times the key's place
  double bias_scale = 1;
  bool first_batch_keys = false;
  std::function<double(double score, const Seen& seen)> finish_score;  ///< the last step before the softmax

  /// From now on vectors are turned as this encoding has it.
  void turn_as(const RopeNd& encoding);

  /// The protocol's operations. @throws SubjectFailure for one that the encoding has not, or a position beyond its end.
  Tensors answer(std::string_view operation, const Tensors& inputs) const;

 private:
  double slope_of(std::int64_t head, std::int64_t heads) const;

  using Method = Tensor (PlainOther::*)(const Tensors& inputs) const;

  // A vector that is turned.
  struct Token {
    std::span<const std::int64_t> place;  // its coordinates
    std::int64_t position;                // the one of a single axis
    std::int64_t first;                   // of the call
    std::int64_t length;                  // of the call or its batch row
    double sign;                          // of the scale's exponent, for xpos
  };
  // One query and key of one head.
  struct Score {
    std::int64_t head;
    std::int64_t heads;
    double slope;  // of the head, as ALiBi has one
    std::int64_t query;
    std::int64_t key;
  };

  // Sets up the steps of an encoding, alone or in attention.
  void prepare(const Integer& encoding);
  void prepare(const Binary& encoding);
  void prepare(const Learned& encoding);
  void prepare(const Sinusoidal2d& encoding);
  void prepare(const LogCoordinates& encoding);
  void prepare(const Alibi& encoding);
  void prepare(const RelativeBias& encoding);
  void prepare(const WindowBias& encoding);
  void prepare(const Rope& encoding);
  void prepare(const RopeNd& encoding);
  void prepare(const Xpos& encoding);
  void prepare(const Attention& encoding);
  void prepare(const auto&) {}  // has a plain form of its own, or none
  void prepare_code(std::int64_t dim, std::int64_t end);
  void prepare_turn(const Rope& head);

  Tensor encode(const Tensors& inputs) const;
  Tensor encode_grid(const Tensors& inputs) const;
  Tensor encode_offsets(const Tensors& inputs) const;
  Tensor scatter(const Tensors& inputs) const;
  Tensor bias(const Tensors& inputs) const;
  Tensor buckets(const Tensors& inputs) const;
  Tensor rotate(const Tensors& inputs) const;
  Tensor attend(const Tensors& inputs) const;
  double pair_scale(std::int64_t pair, bool second, const Token& token) const;

  // Operations by their names, with the tensor that each answers.
  struct Answer {
    Method method;
    std::string tensor;
  };
  std::map<std::string, Answer, std::less<>> answers_;

  // A code: its width, the positions it has, its values.
  std::int64_t dim_ = 0;
  std::int64_t end_ = 0;
  std::function<double(const PlainOther&, std::int64_t p, std::int64_t channel, const Tensors& inputs)> value_;
  Sinusoidal2d grid_;

  // A bias: its values, of so many heads where the spec says it, and what it adds to a score.
  std::optional<std::int64_t> heads_;
  std::function<double(const PlainOther&, const Score& score, const Tensors& inputs)> bias_;
  std::function<double(const PlainOther&, const Score& score, const Tensors& inputs)> score_bias_;

  // A rotation: which channels are pairs, and how a vector is turned.
  Rope head_;
  std::int64_t scale_width_ = 0;  // of xpos, 0 for others
  std::function<void(const PlainOther&, std::vector<double>& values, const Token& token)> turn_;

  Attention attention_;
};

/// PlainOther with some of its steps changed.
FunctionSubject::Make plain_other(const std::function<void(PlainOther&)>& change);

/// Mutants and controls that are such, in the making.
struct PlainOthers {
  using Change = std::function<void(PlainOther&)>;

  std::vector<Mutant> entries;

  void add(Kind kind, std::string name, std::string row, std::string mechanism, std::string spec,
           const Change& change) {
    entries.push_back(
        {std::move(name), kind, std::move(row), std::move(mechanism), std::move(spec), plain_other(change)});
  }
  void defect(std::string name, std::string row, std::string mechanism, std::string spec, const Change& change) {
    add(Kind::defect, std::move(name), std::move(row), std::move(mechanism), std::move(spec), change);
  }
  void control(
      std::string name, std::string mechanism, std::string spec, const Change& change = [](PlainOther&) {}) {
    add(Kind::control, std::move(name), "", std::move(mechanism), std::move(spec), change);
  }
};

}  // namespace sextant::mutants
