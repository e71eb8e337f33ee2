#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"

namespace sextant {

/// Swin's relative position bias, Liu et al. 2021, section 3.2, as lib/spec/window_bias.hpp states it; the caller keeps
/// the weight. Const: one encoder may serve any number of threads.
class WindowBiasEncoder {
 public:
  /// @throws SpecError if `encoding` is outside its domain, TargetError if SEXTANT_FORCE_TARGET names no target of this
  /// machine.
  explicit WindowBiasEncoder(const WindowBias& encoding);

  /// The row of the weight for a query and a key. @throws std::out_of_range unless both are tokens of the window.
  std::int64_t index(std::int64_t query, std::int64_t key) const;

  /// weight[index(query, key), h] into `out`, [heads, queries, keys], row-major and dense, of the weight's floating
  /// dtype, bit for bit; `weight` is [rows, heads].
  /// @throws std::invalid_argument for a weight of another shape or an `out` of another size, std::out_of_range for a
  /// position that is no token of the window.
  void bias(std::span<const std::int64_t> query_positions, std::span<const std::int64_t> key_positions,
            const Tensor& weight, std::span<std::byte> out) const;

  /// The same as a tensor.
  Tensor bias(std::span<const std::int64_t> query_positions, std::span<const std::int64_t> key_positions,
              const Tensor& weight) const;

  /// The gradient by the weight of the loss whose gradient by the bias is `grad`, [heads, queries, keys]: each element
  /// of the result, [rows, heads] of grad's dtype, is the nearest value of the dtype to the exact sum of grad over the
  /// pairs of its row, ties to even; so the number of threads changes no bit. A sum of zero is +0. @throws likewise.
  Tensor grad_weight(std::span<const std::int64_t> query_positions, std::span<const std::int64_t> key_positions,
                     const Tensor& grad) const;

  /// In the name of `function` and its argument `name`: @throws std::out_of_range unless all are tokens of the window.
  void check(const char* function, const char* name, std::span<const std::int64_t> positions) const;

  /// index(query, key) of tokens that `check` took.
  std::int64_t row_of(std::int64_t query, std::int64_t key) const {
    const std::int64_t q = query - class_tokens_;
    const std::int64_t k = key - class_tokens_;
    if (q >= 0 && k >= 0) return code_[static_cast<std::size_t>(q)] - code_[static_cast<std::size_t>(k)] + centre_;
    if (k >= 0) return places_;
    return q >= 0 ? places_ + 1 : places_ + 2;
  }

  const WindowBias& encoding() const { return encoding_; }

 private:
  /// Keys of a call that follow one another in a row of the window, whose codes then count up; or one class token.
  struct Run {
    std::int64_t first;  // key
    std::int64_t count;
    std::optional<std::int64_t> code;  // of the first; none for a class token
  };
  std::vector<Run> runs_of(std::span<const std::int64_t> key_positions) const;

  WindowBias encoding_;
  std::int64_t tokens_ = 0;
  std::int64_t class_tokens_ = 0;   // before those of the window
  std::int64_t places_ = 0;         // rows of offsets
  std::int64_t centre_ = 0;         // the row of offset 0
  std::vector<std::int64_t> code_;  // of each token of the window: codes of query and key differ by their row - centre
};

}  // namespace sextant
