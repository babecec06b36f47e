#include "proxy/exchange/authentication/password_checks.h"

#include <system_error>
#include <utility>

namespace sluice::exchange {

void PasswordChecks::setMost(std::uint64_t most) {
  const std::lock_guard lock(mutex_);
  queue_.setMost(most);
}

bool PasswordChecks::ask(net::ClientNetwork client, PasswordCheck check) {
  const std::lock_guard lock(mutex_);
  if (ending_) return false;
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
      return false;
    }
  }
  if (!queue_.add(client, std::move(check))) return false;
  changed_.notify_one();
  return true;
}

std::uint64_t PasswordChecks::waiting() {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

void PasswordChecks::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    queue_.clear();
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
}

void PasswordChecks::run() {
  while (auto check = next()) {
    const bool right = check->claim.check();
    tell(*std::move(check), right);
  }
}

std::optional<PasswordCheck> PasswordChecks::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ending_ || !queue_.empty(); });
  if (ending_) return std::nullopt;
  return queue_.take();
}

// Answers also what others have asked meanwhile about the same claim. The lock is held, so that no worker is told after
// end().
void PasswordChecks::tell(PasswordCheck checked, bool right) {
  const std::lock_guard lock(mutex_);
  if (ending_) return;
  std::vector<PasswordCheck> all = queue_.takeSame(checked.claim.digest());
  all.push_back(std::move(checked));
  for (PasswordCheck& each : all) {
    each.worker->post([answer = std::move(each.answer), right] { answer(right); });
  }
}

}  // namespace sluice::exchange
