#include "proxy/server/serving/shutdown.h"

#include <utility>

namespace sluice::server {
namespace {

constexpr base::Duration kLookInterval = std::chrono::milliseconds(50);

}  // namespace

Shutdown::Shutdown(net::Worker& main, DrainedClients& clients, std::function<void()> finish)
    : main_(main), clients_(clients), finish_(std::move(finish)) {}

void Shutdown::request(const DrainTimes& times) {
  if (std::exchange(begun_, true)) return finish();
  drainAt_ = main_.now() + times.delay;
  deadline_ = main_.now() + times.timeout;
  if (times.delay > base::Duration::zero()) {
    clients_.announceEnd();
  } else {
    drain();
  }
  main_.timers().set(*this, main_.now() + kLookInterval);
}

void Shutdown::onTimer() {
  if (main_.now() >= deadline_ || (draining_ && clients_.clients() == 0)) return finish();
  if (!draining_ && main_.now() >= drainAt_) drain();
  main_.timers().set(*this, main_.now() + kLookInterval);
}

void Shutdown::drain() {
  draining_ = true;
  clients_.drain();
}

void Shutdown::finish() {
  cancel();
  if (auto finish = std::exchange(finish_, nullptr)) main_.post(std::move(finish));
}

}  // namespace sluice::server
