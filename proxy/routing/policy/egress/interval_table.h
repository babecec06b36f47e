// An IntervalTable finds the rules of an EgressPolicy whose intervals of ports or addresses contain a value, in
// logarithmic time, however many there are and however they overlap.
//
// It cuts the values at every bound of an interval. Between two cuts, the set of rules is the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "proxy/routing/policy/egress/rule_set.h"

namespace sluice::routing {

template <typename Value>
class IntervalTable {
 public:
  /// An interval of a rule, from `first` to `last`, both included.
  struct Interval {
    Value first;
    Value last;
    std::size_t rule;
  };

  IntervalTable() = default;
  /// The rules of `everywhere` contain all values. `next` returns the value behind another one, which is not the
  /// greatest.
  template <typename Next>
  IntervalTable(const RuleSet& everywhere, const std::vector<Interval>& intervals, Value greatest, Next&& next)
      : everywhere_(everywhere) {
    std::multimap<Value, std::size_t> begins;
    std::multimap<Value, std::size_t> ends;  // by the first value behind the interval
    for (const Interval& each : intervals) {
      begins.emplace(each.first, each.rule);
      if (each.last != greatest) ends.emplace(next(each.last), each.rule);
    }
    std::vector<std::size_t> open(base::kMostEgressRules);  // intervals of each rule that contain the value
    RuleSet rules;
    auto begin = begins.begin();
    auto end = ends.begin();
    while (begin != begins.end() || end != ends.end()) {
      const bool endsFirst = begin == begins.end() || (end != ends.end() && end->first < begin->first);
      const Value at = endsFirst ? end->first : begin->first;
      for (; end != ends.end() && end->first == at; ++end) {
        if (--open[end->second] == 0) rules.remove(end->second);
      }
      for (; begin != begins.end() && begin->first == at; ++begin) {
        ++open[begin->second];
        rules.insert(begin->second);
      }
      cuts_.push_back(at);
      sets_.push_back(rules | everywhere_);
    }
  }

  const RuleSet& find(const Value& value) const {
    const auto behind = std::upper_bound(cuts_.begin(), cuts_.end(), value);
    return behind == cuts_.begin() ? everywhere_ : sets_[static_cast<std::size_t>(behind - cuts_.begin()) - 1];
  }

 private:
  RuleSet everywhere_;
  std::vector<Value> cuts_;  // sorted
  std::vector<RuleSet> sets_;
};

}  // namespace sluice::routing
