#include "proxy/compile/processors/compiled_uses.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice::compile {

Fault RefusedUse::named() const {
  if (origin.empty()) return fault;
  return summary(fault.reason, origin + fault.text());
}

std::string eventObject(std::string_view objectName) {
  const std::size_t dot = std::min(objectName.find('.'), objectName.size());
  const std::size_t space = std::min(objectName.find(' '), objectName.size());
  return std::string(objectName.substr(0, dot)) + std::string(objectName.substr(space));
}

std::string objectName(const Holder& object, std::string_view name) {
  std::string text = std::string(object.kind) + "." + std::string(object.group) + " ";
  if (!object.nameSpace.empty()) text.append(object.nameSpace).append("/");
  return text.append(name);
}

void CompiledUses::append(CompiledUses more) {
  std::move(more.steps.begin(), more.steps.end(), std::back_inserter(steps));
  std::move(more.refused.begin(), more.refused.end(), std::back_inserter(refused));
  std::move(more.shielded.begin(), more.shielded.end(), std::back_inserter(shielded));
}

void CompiledUses::forgetOpen() {
  std::erase_if(refused, [](const RefusedUse& each) { return each.open; });
}

std::vector<Fault> CompiledUses::faults(bool open) const {
  std::vector<Fault> result;
  for (const RefusedUse& each : refused) {
    if (each.open == open) result.push_back(each.named());
  }
  return result;
}

bool operator==(const CompiledUses& a, const CompiledUses& b) {
  return a.refused == b.refused && sameSteps(a.steps, b.steps);
}

}  // namespace sluice::compile
