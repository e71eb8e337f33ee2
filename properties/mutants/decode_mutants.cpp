#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/mutants/local_fault.hpp"
#include "properties/mutants/plain_attention.hpp"
#include "properties/mutants/plain_others.hpp"

// What goes wrong where the last tokens of a sequence ask alone, where rows have padding, and in what models have
// beside plain attention: windows, scales, softcaps, sinks. Each in float32 and, under its widest claim, in bfloat16.

namespace sextant::mutants::decode_mutants {
namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

using Change = std::function<void(PlainOther&)>;

// A claim of attention, but for its dtype: fields in JSON.
std::string causal(const std::string& fields) {
  return R"("encoding":"attention","num_heads":2,"num_kv_heads":1,"head_dim":16,"causal":true,"max_position":4096,)" +
         fields;
}
const std::string rope = causal(R"("position":{"encoding":"rope","head_dim":16},)");
const std::string rotated_cache = causal(R"("position":{"encoding":"rope","head_dim":16},"cached_keys":"rotated",)");
const std::string alibi = causal(R"("position":{"encoding":"alibi","num_heads":2},)");
const std::string relative = causal(R"("position":{"encoding":"relative_bias","bidirectional":false},)");
const std::string no_position = causal("");
const std::string window = causal(R"("window":24,)");
const std::string softcap = causal(R"("logit_softcap":2,)");
const std::string alibi_softcap = causal(R"("position":{"encoding":"alibi","num_heads":2},"logit_softcap":2,)");
const std::string scaled = causal(R"("softmax_scale":0.4,)");
const std::string sinks = causal(R"("sinks":true,)");

std::string spec_text(const std::string& claim, const std::string& dtype, const std::string& evaluation) {
  return fmt::format(R"({{{}"dtype":"{}","evaluation":"{}"}})", claim, dtype, evaluation);
}

// A defect's name, the rows of the list of real bugs that it is, and what it does.
struct Named {
  std::string name;
  std::string rows;
  std::string mechanism;
};

class Defects {
 public:
  explicit Defects(LocalFaults& list) : list_(list) {}

  void add(const Named& named, const std::string& claim, const FunctionSubject::Make& make) {
    list_.entries.push_back(
        {named.name, Kind::defect, named.rows, named.mechanism, spec_text(claim, "float32", "float32"), make});
    list_.add(Kind::defect, named.name + "-bfloat16", named.mechanism, spec_text(claim, "bfloat16", "dtype"), make);
  }
  void change(const Named& named, const std::string& claim, const Change& change) {
    add(named, claim, plain_other(change));
  }

 private:
  LocalFaults& list_;
};

void positions(Defects& list) {
  const auto moved = [&](const Named& named, const std::string& claim,
                         const std::function<std::int64_t(const StepQuery&)>& position) {
    list.change(named, claim, [position](PlainOther& plain) { plain.step_position = position; });
  };
  // What moves all queries of a row alike changes nothing under alibi: its scores change by a constant.
  const auto moved_both = [&](const Named& named, const std::function<std::int64_t(const StepQuery&)>& position) {
    moved(named, rope, position);
    moved({named.name + "-t5", "", named.mechanism}, relative, position);
  };
  moved_both({"decode-from-zero", "H1,H2,H7", "queries of a step stand at 0, 1, 2, ..."},
             [](const StepQuery& query) { return query.query; });
  moved_both({"decode-one-too-far", "H4", "queries of a step stand one further on"},
             [](const StepQuery& query) { return query.position + 1; });
  moved_both({"decode-rows-alike", "H6", "queries of a step have the first batch row's positions"},
             [](const StepQuery& query) { return query.in_first_row; });
  moved({"decode-by-index", "H9", "queries of a step stand at their indices among the keys"}, rope,
        [](const StepQuery& query) { return query.keys - query.queries + query.query; });
  moved({"decode-chunk-at-once", "", "all queries of a step stand where the last does"}, rope,
        [](const StepQuery& query) { return query.position + query.queries - 1 - query.query; });
  list.change({"decode-alibi-from-top", "L10", "distances of a step count from the first key, either way"}, alibi,
              [](PlainOther& plain) {
                plain.step_position = [](const StepQuery& query) { return query.first_position + query.query; };
                plain.distance = [](std::int64_t query, std::int64_t key) {
                  return static_cast<double>(std::abs(query - key));
                };
              });
}

void caches(Defects& list) {
  list.change({"cache-turned-twice", "", "keys that a cache keeps rotated are rotated again"}, rotated_cache,
              [](PlainOther& plain) { plain.turns_key = [](bool) { return true; }; });
  list.change({"cache-takes-all", "", "the step's own keys are not rotated"}, rotated_cache,
              [](PlainOther& plain) { plain.turns_key = [](bool) { return false; }; });
  list.change({"cache-page-tail", "", "keys after the last page of 16 are not seen in steps of one token"}, no_position,
              [](PlainOther& plain) {
                plain.finish_score = [](double score, const Seen& seen) {
                  const bool is_last = seen.query == seen.tokens - 1;
                  return is_last && seen.tokens > 16 && seen.key >= seen.tokens / 16 * 16 ? never : score;
                };
              });
  list.change({"cache-first-row", "", "every batch row reads the first row's keys"}, no_position,
              [](PlainOther& plain) { plain.first_batch_keys = true; });
}

void masks(Defects& list) {
  const auto token = [&](const std::string& name, const std::string& mechanism, const auto& index) {
    list.change({name, "", mechanism}, no_position, [index](PlainOther& plain) { plain.step_token = index; });
  };
  token(
      "decode-mask-at-top", "the causal mask of a step begins at the first key",
      [](std::int64_t query, std::int64_t, const KeyRange& sequence, std::int64_t) { return sequence.first + query; });
  token("decode-own-key-hidden", "a query of a step does not see its own key",
        [](std::int64_t query, std::int64_t queries, const KeyRange& sequence, std::int64_t) {
          return std::max(sequence.end - queries + query - 1, sequence.first);
        });
  token("decode-chunk-sees-all", "every query of a step sees all keys",
        [](std::int64_t, std::int64_t, const KeyRange& sequence, std::int64_t) { return sequence.end - 1; });
  token("decode-unused-end", "queries of a step are taken to be the last of the cache, not of the row",
        [](std::int64_t query, std::int64_t queries, const KeyRange&, std::int64_t keys) {
          return keys - queries + query;
        });
}

// Honest answers to other inputs.
FunctionSubject::Make with_inputs(const std::function<void(Tensors&)>& change) {
  return [change](const Spec& spec) -> FunctionSubject::Call {
    return [change, honest = plain_call(spec)](std::string_view operation, const Tensors& inputs) {
      Tensors changed = inputs;
      change(changed);
      return honest(operation, changed);
    };
  };
}

void paddings(Defects& list) {
  const auto sequence = [&](const std::string& name, const std::string& mechanism, const auto& keys) {
    list.change({name, "", mechanism}, rope, [keys](PlainOther& plain) { plain.sequence_of = keys; });
  };
  sequence("padding-on-the-left", "padding on the left is read", [](const KeyRange& row, std::int64_t) {
    return KeyRange{0, row.end};
  });
  sequence("padding-on-the-right", "in whole calls padding on the right is read",
           [](const KeyRange& row, std::int64_t keys) {
             return KeyRange{row.first, std::max(row.end, keys)};
           });
  sequence("padding-one-too-early", "a row begins one key too early", [](const KeyRange& row, std::int64_t) {
    return KeyRange{std::max<std::int64_t>(row.first - 1, 0), row.end};
  });
  sequence("padding-one-too-late", "a row begins one key too late", [](const KeyRange& row, std::int64_t) {
    return KeyRange{std::min(row.first + (row.first > 0 ? 1 : 0), row.end - 1), row.end};
  });
  list.add({"padding-of-first-row", "H6,H16", "every batch row has the first one's padding"}, rope,
           with_inputs([](Tensors& inputs) {
             for (const char* name : {"starts", "ends"}) {
               const auto found = inputs.find(name);
               if (found == inputs.end()) continue;
               const std::vector<std::int64_t> given = found->second.integers();
               const std::vector<std::int64_t> alike(given.size(), given.front());
               found->second = Tensor::of_integers(found->second.shape, alike);
             }
           }));
}

void special_values(Defects& list) {
  list.add({"nan-of-hidden-values", "", "weights of 0 multiply what is masked"}, no_position, [](const Spec& spec) {
    return [honest = plain_call(spec)](std::string_view operation, const Tensors& inputs) -> Tensors {
      Tensors reply = honest(operation, inputs);
      if (operation != "attend") return reply;
      Tensor& out = reply.at("out");
      const Tensor& v = inputs.at("v");
      const std::int64_t of_group = v.shape[2] * v.shape[3];
      const std::int64_t of_head = out.shape[2] * out.shape[3];
      const std::int64_t group = out.shape[1] / v.shape[1];
      for (std::int64_t i = 0; i < out.elements(); ++i) {
        const std::int64_t first = i / of_head / group * of_group + i % out.shape[3];
        double leaked = 0;
        for (std::int64_t key = first; key < first / of_group * of_group + of_group; key += v.shape[3])
          leaked += 0 * v.at(key);
        if (std::isnan(leaked)) out.set(i, leaked);
      }
      return reply;
    };
  });
  list.add({"nan-taken-for-zero", "", "NaN in a value is taken for 0"}, no_position, with_inputs([](Tensors& inputs) {
             const auto v = inputs.find("v");
             for (std::int64_t i = 0; v != inputs.end() && i < v->second.elements(); ++i) {
               if (std::isnan(v->second.at(i))) v->second.set(i, 0);
             }
           }));
}

void fields(Defects& list) {
  const auto edited = [&](const std::string& name, const std::string& mechanism, const std::string& claim,
                          const std::function<void(Attention&)>& edit) {
    list.add({name, "", mechanism}, claim, of<Attention>([edit](const Spec& spec, Attention encoding) {
               edit(encoding);
               Spec other = spec;
               other.encoding = std::move(encoding);
               return plain_call(other);
             }));
  };
  edited("window-left-out", "the window is left out", window, [](Attention& e) { e.window.reset(); });
  edited("window-one-wider", "the window has one token more", window, [](Attention& e) { *e.window += 1; });
  edited("window-one-narrower", "the window has one token less", window, [](Attention& e) { *e.window -= 1; });
  list.change({"window-from-first-key", "", "windows lie at multiples of their width"}, window, [](PlainOther& plain) {
    plain.finish_score = [](double score, const Seen& seen) { return seen.key < seen.query / 24 * 24 ? never : score; };
  });
  edited("scale-of-head-dim", "softmax_scale is left out", scaled, [](Attention& e) { e.softmax_scale.reset(); });
  list.change({"scale-twice", "", "softmax_scale is applied to the default one"}, scaled,
              [](PlainOther& plain) { plain.score_scale /= 4; });
  edited("softcap-left-out", "the softcap is left out", softcap, [](Attention& e) { e.logit_softcap.reset(); });
  list.change({"softcap-not-scaled-back", "", "capped scores are not multiplied by the cap"}, softcap,
              [](PlainOther& plain) { plain.finish_score = [](double score, const Seen&) { return score / 2; }; });
  list.change({"softcap-after-bias", "", "the bias is added before the softcap"}, alibi_softcap,
              [](PlainOther& plain) { plain.caps_bias = true; });
  list.change({"softcap-clamps", "", "scores beyond the cap are cut off"}, softcap, [](PlainOther& plain) {
    plain.softcap.reset();
    plain.finish_score = [](double score, const Seen&) { return std::clamp(score, -2.0, 2.0); };
  });
  list.change({"sinks-left-out", "", "sinks are left out"}, sinks, [](PlainOther& plain) { plain.use_sinks = false; });
  const auto other_sinks = [&](const std::string& name, const std::string& mechanism,
                               const std::function<double(const Tensor& sinks, std::int64_t head)>& sink) {
    list.add({name, "", mechanism}, sinks, with_inputs([sink](Tensors& inputs) {
               const auto found = inputs.find("sinks");
               if (found == inputs.end()) return;
               const Tensor given = found->second;
               for (std::int64_t head = 0; head < given.elements(); ++head) found->second.set(head, sink(given, head));
             }));
  };
  other_sinks("sinks-of-first-head", "every head has the first one's sink",
              [](const Tensor& given, std::int64_t) { return given.at(0); });
  other_sinks("sinks-as-one", "a sink counts as a score of 0", [](const Tensor&, std::int64_t) { return 0.0; });
}

void add_honest(LocalFaults& list) {
  const auto control = [&](const std::string& name, const std::string& mechanism, const std::string& claim,
                           const std::string& evaluation, const PlainAttention& how) {
    for (const Dtype dtype : {Dtype::float32, Dtype::bfloat16}) {
      const std::string named(name_of(dtype));
      PlainAttention of_dtype = how;
      if (evaluation == "dtype") of_dtype.weights = dtype;
      if (evaluation == "dtype" && how.divided == PlainAttention::Divided::weight) of_dtype.operations = dtype;
      list.add(Kind::control, fmt::format("step-{}-{}", name, named), mechanism,
               spec_text(claim, named, dtype == Dtype::float32 ? "float32" : evaluation),
               [of_dtype](const Spec& spec) { return of_dtype.call(spec); });
    }
  };
  control("plain", "steps and padding, float32 inside", rope, "float32", {});
  control("split", "keys of a step in four parts, whose results are joined", rope, "float32", {.parts = 4});
  control("paged", "pages of 16 keys, weights rounded before they multiply values", rope, "dtype",
          {.weights = Dtype::float32, .tile = 16});
  control("native", "every operation on tensors is rounded", no_position, "dtype",
          {.divided = PlainAttention::Divided::weight});
  control("window", "a window over tiles of 64", window, "float32", {.tile = 64});
  control("softcap", "a softcap between rounded operations", softcap, "dtype",
          {.divided = PlainAttention::Divided::weight});
  control("sinks", "a sink as one more score", sinks, "dtype", {.divided = PlainAttention::Divided::weight});
  control("sinks-in-tiles", "a sink behind the last tile", sinks, "float32", {.tile = 32, .parts = 2});
  for (const auto& [name, claim] :
       {std::pair{"cache", rotated_cache}, {"alibi", alibi}, {"t5", relative}, {"capped-alibi", alibi_softcap}}) {
    list.add(Kind::control, fmt::format("step-{}", name), "steps and padding as they are commonly written",
             spec_text(claim, "float32", "float32"), plain_call);
  }
}

}  // namespace

std::vector<Mutant> all() {
  LocalFaults list;
  Defects defects(list);
  positions(defects);
  caches(defects);
  masks(defects);
  paddings(defects);
  special_values(defects);
  fields(defects);
  add_honest(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::decode_mutants
