#include "proxy/observe/script_counters.h"

#include "proxy/observe/exposition.h"

namespace sluice::observe {

std::atomic<std::uint64_t>* ScriptCounters::find(std::string_view type, std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto family = byName_.find(name);
  if (family != byName_.end()) {
    const auto known = family->second.find(type);
    if (known != family->second.end()) return &known->second;
  }
  const auto names = namesOfType_.find(type);
  if (names == namesOfType_.end() ? namesOfType_.size() >= kMostTypes : names->second >= kMostNames) return nullptr;
  ++namesOfType_[std::string(type)];
  return &byName_[std::string(name)].try_emplace(std::string(type), 0).first->second;
}

void ScriptCounters::expose(std::string& out) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [name, types] : byName_) {
    const std::string metric = "sluice_lua_" + name + "_total";
    Exposition exposition(out);
    const ReadFamily family{MetricKind::kCounter, metric, {"type"}, "Counted by the scripts of a processor type."};
    exposition.begin(family);
    for (const auto& [type, count] : types) exposition.add({type}, count.load(std::memory_order_relaxed));
  }
}

}  // namespace sluice::observe
