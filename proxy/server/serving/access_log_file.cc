#include "proxy/server/serving/access_log_file.h"

#include <utility>

namespace sluice::server {

void AccessLogFile::open(const std::string& path, std::string owner) {
  cancel();
  owner_ = std::move(owner);
  fault_.clear();
  auto opened = observe::openAccessLogFile(path);
  if (opened.ok()) {
    file_ = std::move(*opened);
    return;
  }
  file_ = observe::LineFile::unopened(path);
  fault_ = opened.error().detail;
  parts_.log.error("serving without the access log; it is tried again every second", {{"reason", fault_}});
  const base::WallTime now = parts_.clock.wallNow();
  parts_.events.note({observe::EventType::kWarning, "AccessLogUnavailable", owner_,
                      "requests are served without an access log: " + fault_, 1, now, now});
  tryLater();
}

void AccessLogFile::reopen() {
  if (file_ == nullptr) return;
  const base::Status reopened = file_->reopen();
  if (fault_.empty()) {
    if (reopened.ok()) return;
    parts_.log.error("the access log cannot be reopened, and continues in the old file",
                     {{"reason", reopened.error().detail}});
  } else if (reopened.ok()) {
    succeed();
  } else {
    fault_ = reopened.error().detail;
    tryLater();
  }
}

void AccessLogFile::succeed() {
  cancel();
  fault_.clear();
  parts_.log.info("the access log is open");
  const base::WallTime now = parts_.clock.wallNow();
  parts_.events.note({observe::EventType::kNormal, "AccessLogOpened", owner_, "the access log is open", 1, now, now});
  parts_.recovered();
}

}  // namespace sluice::server
