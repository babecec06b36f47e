// The Date field (RFC 9110 section 6.6.1), whose text changes once a second.
//
// One thread.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "proxy/base/clock.h"

namespace sluice::http {

class DateText {
 public:
  /// Returns the time as an IMF-fixdate (RFC 9110 section 5.6.7), "Sun, 06 Nov 1994 08:49:37 GMT". The view is valid
  /// until the next call.
  std::string_view at(base::WallTime now);

 private:
  std::chrono::sys_seconds second_ = std::chrono::sys_seconds::min();
  std::string text_;
};

}  // namespace sluice::http
