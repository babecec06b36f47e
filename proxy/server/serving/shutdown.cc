#include "proxy/server/serving/shutdown.h"

#include <utility>

namespace sluice::server {
namespace {

constexpr base::Duration kLookInterval = std::chrono::milliseconds(50);

}  // namespace

Shutdown::Shutdown(net::Worker& main, DrainedClients& clients, std::function<void()> finish)
    : main_(main), clients_(clients), finish_(std::move(finish)) {}

void Shutdown::request(base::Duration drainTimeout) {
  if (std::exchange(begun_, true)) return finish();
  clients_.drain();
  deadline_ = main_.now() + drainTimeout;
  main_.timers().set(*this, main_.now() + kLookInterval);
}

void Shutdown::onTimer() {
  if (clients_.clients() == 0 || main_.now() >= deadline_) return finish();
  main_.timers().set(*this, main_.now() + kLookInterval);
}

void Shutdown::finish() {
  cancel();
  if (auto finish = std::exchange(finish_, nullptr)) main_.post(std::move(finish));
}

}  // namespace sluice::server
