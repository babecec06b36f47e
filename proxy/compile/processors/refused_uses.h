// The uses of payload processors that cannot run, grouped by the object that each is written in. That object gets the
// condition, wherever the use is attached.
//
// It lives as long as one compilation.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "proxy/compile/processors/compile_processors.h"

namespace sluice::compile {

/// Appends uses that are not known yet. A use attached in several places is refused in each of them, mostly for the
/// same reason, and counts once.
void noteOnce(std::vector<RefusedUse>& known, const std::vector<RefusedUse>& more);

class RefusedUses {
 public:
  bool empty() const { return byObject_.empty(); }
  void note(const std::vector<RefusedUse>& refused);
  void note(const RefusedUses& more);
  /// Returns all of them, by the names of the objects that they are written in.
  std::vector<RefusedUse> all() const;
  /// Returns the refused uses of the object with that objectName(); empty if there are none.
  std::vector<RefusedUse> in(const std::string& object) const;

 private:
  std::map<std::string, std::vector<RefusedUse>> byObject_;
};

/// Returns one fault for all refused uses, those that fail closed first, each with its effect on requests.
std::optional<Fault> degradation(const std::vector<RefusedUse>& refused);

}  // namespace sluice::compile
