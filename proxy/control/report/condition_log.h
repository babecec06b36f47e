// Logs which objects are not served as they are written, each condition once for as long as it lasts.
//
// It belongs to the loading thread.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/status/status_list.h"
#include "proxy/base/clock.h"
#include "proxy/observe/events.h"
#include "proxy/observe/log.h"

namespace sluice::control {

/// The reason of the event about an object that is not served as it is written.
inline constexpr std::string_view kNotFullyServed = "NotFullyServed";

class ConditionLog {
 public:
  /// The log outlives it.
  explicit ConditionLog(const observe::Log& log) : log_(log) {}

  /// Logs the bad conditions of the configuration's objects that were not there the last time, and adds an event for
  /// each object that has one. The event says why, by the first of these conditions that says something itself, and
  /// how many there are beside it.
  void note(const config::StatusList& statuses, base::WallTime now, observe::EventBatch& events);

 private:
  std::string noteObject(const config::ObjectStatus& object, std::set<std::string>& bad) const;

  const observe::Log& log_;
  std::set<std::string> bad_;  // of the last configuration
};

}  // namespace sluice::control
