// RefusedUses lists the uses of payload processors that cannot run, grouped by the object in which each use is written.
// That object gets the condition, wherever the use is attached.
//
// The object lives as long as one compilation.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "proxy/compile/processors/compile_processors.h"

namespace sluice::compile {

/// Appends uses that are not in the list yet. A use that is attached in several places is refused in each of them,
/// mostly for the same reason, and is listed once.
void noteOnce(std::vector<RefusedUse>& known, const std::vector<RefusedUse>& more);

class RefusedUses {
 public:
  bool empty() const { return byObject_.empty(); }
  void note(const std::vector<RefusedUse>& refused);
  void note(const RefusedUses& more);
  /// Returns all of them, sorted by the names of the objects in which they are written.
  std::vector<RefusedUse> all() const;
  /// Returns the refused uses of the object with that objectName(); empty if there are none.
  std::vector<RefusedUse> in(const std::string& object) const;

 private:
  std::map<std::string, std::vector<RefusedUse>> byObject_;
};

/// Returns one fault for all refused uses, with the effect of each on requests. Uses that fail closed come first.
std::optional<Fault> degradation(const std::vector<RefusedUse>& refused);

}  // namespace sluice::compile
