// An IntervalTable finds the rules of an EgressPolicy whose intervals of ports or addresses contain a value, in
// logarithmic time, however many there are and however they overlap.
//
// It cuts the values at every bound of an interval. Between two cuts, the set of rules is the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace sluice::routing {

template <typename Value, typename Rules>
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
  IntervalTable(const Rules& everywhere, const std::vector<Interval>& intervals, Value greatest, Next&& next)
      : sets_(1, everywhere) {
    std::multimap<Value, std::size_t> begins;
    std::multimap<Value, std::size_t> ends;  // by the first value behind the interval
    for (const Interval& each : intervals) {
      begins.emplace(each.first, each.rule);
      if (each.last != greatest) ends.emplace(next(each.last), each.rule);
    }
    std::vector<std::size_t> open(Rules::kRules);  // intervals of each rule that contain the value
    Rules rules;
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
      sets_.push_back(rules | everywhere);
    }
  }

  const Rules& find(const Value& value) const {
    // Halves the cuts from `first` on. There is no jump that depends on the value.
    const Value* first = cuts_.data();
    for (std::size_t left = cuts_.size(); left > 0; left /= 2) {
      const std::size_t half = (left + 1) / 2;
      first += value < first[half - 1] ? 0 : half;
    }
    return sets_[static_cast<std::size_t>(first - cuts_.data())];
  }

 private:
  std::vector<Value> cuts_;                          // sorted
  std::vector<Rules> sets_ = std::vector<Rules>(1);  // before the first cut, and from each cut on
};

}  // namespace sluice::routing
