// A Source is where a configuration comes from: it has a complete set of objects, and tells when the set may have
// changed.
//
// The main thread makes and watches it, the loading thread reads it. Objects carry the uid and the resourceVersion that
// their source gave them.
#pragma once

#include <functional>

#include "config/object_set.h"
#include "proxy/base/secret.h"

namespace sluice::control {

class Source {
 public:
  virtual ~Source() = default;
  /// Reads the whole set as it is now. It may block; the loading thread alone calls it, one call after the other. `key`
  /// is that of revisions (config/revision.h), the same in every call. The set itself says what could not be read.
  virtual config::ObjectSet read(const base::Secret& key) = 0;
  /// From here on `changed` is called on the main thread, inside a Turn, whenever a set that is read afterwards may be
  /// another one. Call it once, before the first reading, so that no change is missed.
  virtual void watch(std::function<void()> changed) = 0;
};

}  // namespace sluice::control
