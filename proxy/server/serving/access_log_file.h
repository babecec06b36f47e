// The file of the access log, which all workers write to. A gateway whose log cannot be opened serves without it: lines
// are lost and counted, the log and an event say so, and the file is tried again every second.
//
// It belongs to the main thread; the LineFile takes lines from any.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "proxy/base/clock.h"
#include "proxy/net/timers.h"
#include "proxy/observe/access_log.h"
#include "proxy/observe/events.h"
#include "proxy/observe/log.h"

namespace sluice::server {

class AccessLogFile final : private net::Timer {
 public:
  static constexpr base::Duration kTryAgainAfter = std::chrono::seconds(1);

  /// All of them outlive it. `recovered` is called inside a Turn when a file that could not be opened is open.
  struct LogFileParts {
    const observe::Log& log;
    observe::EventRing& events;
    net::TimerWheel& timers;
    const base::Clock& clock;
    std::function<void()> recovered;
  };
  explicit AccessLogFile(LogFileParts parts) : parts_(std::move(parts)) {}

  /// Opens the file of settings.yaml `accessLog.path` in place of the one before, which nobody may use any more.
  /// `owner` is the object with the settings, as events name it.
  void open(const std::string& path, std::string owner);
  /// Opens it again, after a rotation.
  void reopen();
  /// Returns the file, or nullptr if the log is off.
  observe::LineFile* file() const { return file_.get(); }
  /// Returns why there is no access log although the settings name one; empty if there is one, or if it is off.
  const std::string& fault() const { return fault_; }

 private:
  void onTimer() override { reopen(); }
  void tryLater() { parts_.timers.set(*this, parts_.clock.now() + kTryAgainAfter); }
  void succeed();

  const LogFileParts parts_;
  std::unique_ptr<observe::LineFile> file_;
  std::string owner_;
  std::string fault_;
};

}  // namespace sluice::server
