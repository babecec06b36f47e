// Values by hostname, found from the most to the least specific: the name itself, then wildcards from the longest
// suffix on ("*.example.com" matches one or more labels before it), then the value for every host.
//
// Built once, then immutable: any number of threads may look things up. The cost of a look-up depends on the host
// alone.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "proxy/routing/table/text_map.h"

namespace sluice::routing {

template <typename T>
class HostMap {
 public:
  /// Longer names are no DNS names (RFC 1035 section 2.3.4): only the value for every host fits them, so a host made of
  /// thousands of labels costs nothing.
  static constexpr std::size_t kMaxHostLength = 253;

  /// Returns the value of a pattern, made if there is none yet: a name in lower case, "*.suffix", or "" for every host.
  T& slot(std::string_view pattern) {
    if (pattern.empty()) {
      if (!any_) any_ = std::make_unique<T>();
      return *any_;
    }
    if (pattern.starts_with("*.")) return wildcards_[std::string(pattern.substr(2))];
    return exact_[std::string(pattern)];
  }

  /// Calls visit(const T&) for each value that fits the host (lower case), the most specific first, until it returns
  /// true.
  template <typename Visit>
  bool visit(std::string_view host, Visit&& visit) const {
    if (!host.empty() && host.size() <= kMaxHostLength && visitNamed(host, visit)) return true;
    return any_ && visit(static_cast<const T&>(*any_));
  }

  /// Calls each(pattern, T&) for every value, in no order.
  template <typename Each>
  void forEach(Each&& each) {
    visitAll(*this, each);
  }
  template <typename Each>
  void forEach(Each&& each) const {
    visitAll(*this, each);
  }

 private:
  template <typename Map, typename Each>
  static void visitAll(Map& map, Each& each) {
    for (auto& [name, value] : map.exact_) each(name, value);
    for (auto& [suffix, value] : map.wildcards_) each("*." + suffix, value);
    if (map.any_) each(std::string(), *map.any_);
  }

  template <typename Visit>
  bool visitNamed(std::string_view host, Visit& visit) const {
    if (!exact_.empty()) {
      if (const auto found = exact_.find(host); found != exact_.end() && visit(found->second)) return true;
    }
    if (wildcards_.empty()) return false;
    for (std::size_t dot = host.find('.'); dot != std::string_view::npos; dot = host.find('.', dot + 1)) {
      if (dot == 0) continue;
      const auto found = wildcards_.find(host.substr(dot + 1));
      if (found != wildcards_.end() && visit(found->second)) return true;
    }
    return false;
  }

  TextMap<T> exact_;
  TextMap<T> wildcards_;
  std::unique_ptr<T> any_;
};

}  // namespace sluice::routing
