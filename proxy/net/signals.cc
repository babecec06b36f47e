#include "proxy/net/signals.h"

#include <uv.h>

#include <csignal>
#include <utility>

#include "proxy/net/loop_handle.h"

namespace sluice::net {

void ignoreFailedWrites() {
  for (const int each : {SIGPIPE, SIGXFSZ}) std::signal(each, SIG_IGN);
}

struct SignalWatch::UvSignal final : LoopHandle {
  UvSignal(Worker& owner, std::function<void()> callback) : worker(owner), raised(std::move(callback)) {}

  void close() {
    if (std::exchange(closing, true)) return;
    raised = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(&handle), [](uv_handle_t* closed) {
      auto* self = static_cast<UvSignal*>(static_cast<LoopHandle*>(closed->data));
      self->loopDone = true;
      if (self->orphaned) std::unique_ptr<UvSignal>(self).reset();
    });
  }
  void onLoopEnds() override { close(); }

  Worker& worker;
  std::function<void()> raised;
  uv_signal_t handle{};
  bool closing = false;
  bool loopDone = false;
  bool orphaned = false;
};

SignalWatch::SignalWatch(Worker& worker, int signal, std::function<void()> raised)
    : signal_(std::make_unique<UvSignal>(worker, std::move(raised)).release()) {
  uv_signal_init(worker.loop(), &signal_->handle);
  signal_->handle.data = static_cast<LoopHandle*>(signal_);
  uv_signal_start(
      &signal_->handle,
      [](uv_signal_t* handle, int) {
        auto* self = static_cast<UvSignal*>(static_cast<LoopHandle*>(handle->data));
        const Worker::Turn turn(self->worker);
        if (self->raised) self->raised();
      },
      signal);
}

SignalWatch::~SignalWatch() {
  if (signal_->loopDone) {
    std::unique_ptr<UvSignal>(signal_).reset();
    return;
  }
  signal_->orphaned = true;
  signal_->close();
}

}  // namespace sluice::net
