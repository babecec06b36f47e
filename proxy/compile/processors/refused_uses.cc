#include "proxy/compile/processors/refused_uses.h"

#include <algorithm>

namespace sluice::compile {

void noteOnce(std::vector<RefusedUse>& known, const std::vector<RefusedUse>& more) {
  for (const RefusedUse& each : more) {
    if (std::find(known.begin(), known.end(), each) == known.end()) known.push_back(each);
  }
}

void RefusedUses::note(const std::vector<RefusedUse>& refused) {
  for (const RefusedUse& each : refused) noteOnce(byObject_[each.writtenIn], {each});
}

void RefusedUses::note(const RefusedUses& more) {
  for (const auto& [object, refused] : more.byObject_) noteOnce(byObject_[object], refused);
}

std::vector<RefusedUse> RefusedUses::all() const {
  std::vector<RefusedUse> uses;
  for (const auto& [object, refused] : byObject_) uses.insert(uses.end(), refused.begin(), refused.end());
  return uses;
}

std::vector<RefusedUse> RefusedUses::in(const std::string& object) const {
  const auto found = byObject_.find(object);
  return found == byObject_.end() ? std::vector<RefusedUse>() : found->second;
}

std::optional<Fault> degradation(const std::vector<RefusedUse>& refused) {
  std::vector<Fault> faults;
  for (const bool open : {false, true}) {
    for (const RefusedUse& each : refused) {
      if (each.open != open) continue;
      faults.push_back(withConsequence(each.fault, open ? kLeftOut : "; requests that need it get 500"));
    }
  }
  return joined(faults);
}

}  // namespace sluice::compile
