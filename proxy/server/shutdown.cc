#include "proxy/server/shutdown.h"

#include <utility>

namespace sluice::server {
namespace {

constexpr base::Duration kLookInterval = std::chrono::milliseconds(50);

}  // namespace

Shutdown::Shutdown(net::Worker& main, const std::vector<std::unique_ptr<WorkerRuntime>>& workers,
                   std::function<void()> finish)
    : main_(main), workers_(workers), finish_(std::move(finish)) {}

void Shutdown::request(base::Duration drainTimeout) {
  if (std::exchange(begun_, true)) return finish();
  for (const auto& worker : workers_) worker->drain();
  deadline_ = main_.now() + drainTimeout;
  main_.timers().set(*this, main_.now() + kLookInterval);
}

void Shutdown::onTimer() {
  if (clients() == 0 || main_.now() >= deadline_) return finish();
  main_.timers().set(*this, main_.now() + kLookInterval);
}

void Shutdown::finish() {
  cancel();
  if (auto finish = std::exchange(finish_, nullptr)) main_.post(std::move(finish));
}

std::size_t Shutdown::clients() const {
  std::size_t total = 0;
  for (const auto& worker : workers_) total += worker->connections();
  return total;
}

}  // namespace sluice::server
