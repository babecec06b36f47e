// The thread that checks passwords, which takes too long for a worker. All workers share it; it starts with the first
// check.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "proxy/exchange/authentication/password_queue.h"

namespace sluice::exchange {

/// The bound of the checks that wait, as settings and metrics name it.
inline constexpr std::string_view kPasswordLimit = "passwordChecks";

class PasswordChecks {
 public:
  /// `most` is limits.passwordChecks.
  explicit PasswordChecks(std::uint64_t most) : queue_(most) {}
  ~PasswordChecks() { end(); }
  PasswordChecks(const PasswordChecks&) = delete;
  PasswordChecks& operator=(const PasswordChecks&) = delete;

  /// Any thread.
  void setMost(std::uint64_t most);
  /// Has a password of the client checked, and answered. Returns false if there is no room, or no thread. Any thread.
  bool ask(net::ClientNetwork client, PasswordCheck check);
  /// Returns how many checks wait. Any thread.
  std::uint64_t waiting();
  /// Ends the thread after the check that it makes. No check is answered from then on, so workers may be destroyed.
  void end();

 private:
  void run();
  /// Waits for the next check. Returns nothing if the thread is to end.
  std::optional<PasswordCheck> next();
  void tell(PasswordCheck checked, bool right);

  std::mutex mutex_;
  std::condition_variable changed_;
  PasswordQueue queue_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace sluice::exchange
