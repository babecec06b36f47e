// A Source provides the configuration as a complete set of objects and reports when the set may have changed.
//
// The main thread creates and watches it, and the loading thread reads it. Objects have the uid and the resourceVersion
// that their source gave them.
#pragma once

#include <cstddef>

#include "config/load/object_set.h"
#include "proxy/base/secret.h"
#include "proxy/control/state/reloadable.h"

namespace sluice::control {

class Source {
 public:
  virtual ~Source() = default;
  /// Reads the whole set as it is now. It may block; only the loading thread calls it, one call after the other. `key`
  /// is the key of revisions (config/load/revision.h), which seldom changes. The set contains the problems of whatever
  /// could not be read.
  virtual config::ObjectSet read(const base::Secret& key) = 0;
  /// Returns the served set with the Secrets and endpoints of `newest`, which was read later. Any thread.
  virtual config::ObjectSet refreshed(const config::ObjectSet& served, const config::ObjectSet&) const {
    return served;
  }
  /// Returns how many earlier configurations, which were good, the source keeps. Only the loading thread calls it.
  virtual std::size_t earlier() { return 0; }
  /// Reads one of those that earlier() has counted last, as read() does. The newest is number 0. One that is not what
  /// it claims to be is refused.
  virtual config::ObjectSet readEarlier(std::size_t /*which*/, const base::Secret& key) { return read(key); }
  /// Returns ObjectSet::keeping for all sets of the source. Any thread, once it is watched.
  virtual config::PodKeeping keeping() const { return {}; }
  /// Asks `reader`, which outlives it, to read again whenever the set may have changed. Call it once, before the first
  /// reading, so that no change is missed.
  virtual void watch(Reloadable& reader) = 0;
  /// Ends a reading that waits. To be called on the main thread before its loop ends; objects that are read after that
  /// may be incomplete.
  virtual void close() {}
};

}  // namespace sluice::control
