#include "proxy/control/report/counted_objects.h"

#include <string_view>

#include "proxy/compile/processors/compile_processors.h"

namespace sluice::control {

ObjectCounting::ObjectCounting(const compile::CompileResult& compiled, CountedObjects which) {
  if (which == CountedObjects::kAll) return;
  served_.emplace(compiled);
  for (const config::ObjectStatus& each : compiled.statuses) {
    const bool isServed = served_->has(each);
    bool& anyIsServed = byTitle_[config::objectName(each)];
    anyIsServed = anyIsServed || isServed;
    if (isServed) names_.insert(compile::objectName({each.group, each.kind, each.nameSpace}, each.name));
  }
}

bool ObjectCounting::has(const config::Problem& problem) const {
  if (!served_) return true;
  if (const auto known = byTitle_.find(problem.object); known != byTitle_.end()) return known->second;
  const std::string_view nameSpace = config::namespaceOf(problem);
  return nameSpace.empty() || served_->hasNamespace(std::string(nameSpace));
}

}  // namespace sluice::control
