// The uses of payload processors that can not run, by the object that each is written in: that is who is told, wherever
// it is attached.
//
// Lives as long as one compilation.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "proxy/control/compile/processors/compile_processors.h"

namespace sluice::control {

/// What is attached in several places is refused in several, mostly for the same reason: it counts once.
void noteOnce(std::vector<RefusedUse>& known, const std::vector<RefusedUse>& more);

class RefusedUses {
 public:
  void note(const std::vector<RefusedUse>& refused);
  /// By objectName(); empty if there are none.
  std::vector<RefusedUse> in(const std::string& object) const;

 private:
  std::map<std::string, std::vector<RefusedUse>> byObject_;
};

/// One after the other, those that are not to be missed first, with what becomes of what they are for.
std::optional<Fault> degradation(const std::vector<RefusedUse>& refused);

}  // namespace sluice::control
