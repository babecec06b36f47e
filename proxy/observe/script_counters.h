// Counters that scripts name: sluice_lua_<name>_total{type}. Each type of processor has at most kMostNames of them.
//
// They live as long as the registry of metrics. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace sluice::observe {

class ScriptCounters {
 public:
  static constexpr std::size_t kMostNames = 16;
  static constexpr std::size_t kMostTypes = 256;

  /// Returns the counter, which is made when it is first asked for; nullptr if there are too many. `name` is a part of
  /// a metric's name.
  std::atomic<std::uint64_t>* find(std::string_view type, std::string_view name);
  /// Appends all of them in Prometheus' text format.
  void expose(std::string& out) const;

 private:
  using ByType = std::map<std::string, std::atomic<std::uint64_t>, std::less<>>;

  mutable std::mutex mutex_;  // guards the maps, not the values
  std::map<std::string, ByType, std::less<>> byName_;
  std::map<std::string, std::size_t, std::less<>> namesOfType_;
};

}  // namespace sluice::observe
