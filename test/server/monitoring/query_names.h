// Finds the names of metrics and labels in a query of PromQL. It does not judge the query; promtool does that.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::server {

struct QueryMatcher {
  std::string label;
  std::string op;  // "=", "!=", "=~" or "!~"
  std::string value;
};

struct QuerySelector {
  std::string series;
  std::vector<QueryMatcher> matchers;
};

struct QueryNames {
  std::vector<QuerySelector> selectors;
  std::set<std::string> grouped;  // the labels of by, without, on, ignoring, group_left and group_right
};

class QueryNameReader {
 public:
  explicit QueryNameReader(std::string_view query) : query_(query) {}

  QueryNames read() {
    while (at_ < query_.size()) {
      const char c = query_[at_];
      if (c == '[') {
        skipUntil(']');
      } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
        word();  // a number, or a duration
      } else if (isOfWord(c)) {
        takeWord(word());
      } else {
        ++at_;
      }
    }
    return std::move(names_);
  }

 private:
  static bool isOfWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':'; }

  void skipUntil(char end) { at_ = std::min(query_.find(end, at_), query_.size() - 1) + 1; }

  void skipBlanks() {
    while (at_ < query_.size() && std::isspace(static_cast<unsigned char>(query_[at_])) != 0) ++at_;
  }

  bool isNext(char c) {
    skipBlanks();
    return at_ < query_.size() && query_[at_] == c;
  }

  std::string word() {
    const std::size_t begin = at_;
    while (at_ < query_.size() && isOfWord(query_[at_])) ++at_;
    return std::string(query_.substr(begin, at_ - begin));
  }

  void takeWord(const std::string& name) {
    static constexpr std::array<std::string_view, 6> kGroupings{"by",       "without",    "on",
                                                                "ignoring", "group_left", "group_right"};
    static constexpr std::array<std::string_view, 14> kOthers{"and",  "or",    "unless", "bool",   "offset",
                                                              "sum",  "min",   "max",    "count",  "avg",
                                                              "topk", "group", "stddev", "bottomk"};
    if (std::find(kGroupings.begin(), kGroupings.end(), name) != kGroupings.end()) {
      takeGrouping();
    } else if (std::find(kOthers.begin(), kOthers.end(), name) == kOthers.end() && !isNext('(')) {
      takeSelector(name);
    }
  }

  void takeGrouping() {
    if (!isNext('(')) return;
    while (at_ < query_.size() && query_[at_] != ')') {
      if (isOfWord(query_[at_])) {
        names_.grouped.insert(word());
      } else {
        ++at_;
      }
    }
  }

  void takeSelector(const std::string& series) {
    names_.selectors.push_back({series, {}});
    if (!isNext('{')) return;
    for (++at_; at_ < query_.size() && query_[at_] != '}';) {
      if (isOfWord(query_[at_])) {
        takeMatcher(names_.selectors.back());
      } else {
        ++at_;
      }
    }
  }

  void takeMatcher(QuerySelector& selector) {
    QueryMatcher matcher;
    matcher.label = word();
    for (skipBlanks(); at_ < query_.size() && query_[at_] != '"' && query_[at_] != '\''; ++at_)
      matcher.op += query_[at_];
    if (at_ == query_.size()) return;
    const char quote = query_[at_++];
    for (; at_ < query_.size() && query_[at_] != quote; ++at_) {
      if (query_[at_] == '\\') ++at_;
      if (at_ < query_.size()) matcher.value += query_[at_];
    }
    ++at_;
    selector.matchers.push_back(std::move(matcher));
  }

  const std::string_view query_;
  std::size_t at_ = 0;
  QueryNames names_;
};

inline QueryNames namesInQuery(std::string_view query) { return QueryNameReader(query).read(); }

}  // namespace sluice::server
