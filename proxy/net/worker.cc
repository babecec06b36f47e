#include "proxy/net/worker.h"

#include <uv.h>

#include <algorithm>
#include <csignal>
#include <mutex>
#include <utility>
#include <vector>

#include "proxy/net/loop_handle.h"

namespace sluice::net {

/// Tasks from other threads.
struct Worker::Mailbox final : LoopHandle {
  explicit Mailbox(Worker& owner) : worker(owner) {
    uv_async_init(worker.loop(), &async,
                  [](uv_async_t* handle) { static_cast<Mailbox*>(static_cast<LoopHandle*>(handle->data))->deliver(); });
    async.data = static_cast<LoopHandle*>(this);
  }

  void post(std::function<void()> task) {
    const std::lock_guard lock(mutex);
    if (closed) return;
    tasks.push_back(std::move(task));
    // Sent under the lock, or the handle could be closed in between.
    if (tasks.size() == 1) uv_async_send(&async);
  }

  void deliver() {
    const Turn turn(worker);
    std::vector<std::function<void()>> batch;
    {
      const std::lock_guard lock(mutex);
      batch.swap(tasks);
    }
    for (auto& task : batch) task();
  }

  void onLoopEnds() override {
    std::vector<std::function<void()>> dropped;
    {
      const std::lock_guard lock(mutex);
      closed = true;
      dropped.swap(tasks);
    }
    uv_close(reinterpret_cast<uv_handle_t*>(&async), nullptr);
  }

  Worker& worker;
  uv_async_t async{};
  std::mutex mutex;
  std::vector<std::function<void()>> tasks;
  bool closed = false;
};

/// The one libuv timer behind the wheel. Moving it is an operation on libuv's heap, not a system call.
struct Worker::Ticker final : LoopHandle {
  explicit Ticker(Worker& owner) : worker(owner) {
    uv_timer_init(worker.loop(), &timer);
    timer.data = static_cast<LoopHandle*>(this);
  }

  bool due() const { return armed && worker.now_ >= at; }

  void arm() {
    if (worker.timers_.empty()) return;  // an armed timer that is no longer needed ticks once, and not again
    const base::MonotonicTime next = worker.timers_.nextDue();
    if (armed && at <= next) return;
    armed = true;
    at = next;
    const base::Duration wait = std::max(next - worker.now_, base::Duration(0));
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
    uv_timer_start(
        &timer,
        [](uv_timer_t* handle) {
          auto* self = static_cast<Ticker*>(static_cast<LoopHandle*>(handle->data));
          const Turn turn(self->worker);
          self->armed =
              false;  // also when libuv was early: then the wheel is not due, and the end of the turn arms it again
        },
        static_cast<std::uint64_t>(milliseconds), 0);
  }

  void onLoopEnds() override { uv_close(reinterpret_cast<uv_handle_t*>(&timer), nullptr); }

  Worker& worker;
  uv_timer_t timer{};
  base::MonotonicTime at{};
  bool armed = false;
};

/// The end of a round: libuv calls it right before it waits.
struct Worker::RoundEnd final : LoopHandle {
  explicit RoundEnd(Worker& owner) : worker(owner) {
    uv_prepare_init(worker.loop(), &prepare);
    prepare.data = static_cast<LoopHandle*>(this);
    uv_prepare_start(&prepare, [](uv_prepare_t* handle) {
      Worker& self = static_cast<RoundEnd*>(static_cast<LoopHandle*>(handle->data))->worker;
      if (self.roundOpen_) self.beat();
    });
    uv_unref(reinterpret_cast<uv_handle_t*>(&prepare));
  }

  void onLoopEnds() override { uv_close(reinterpret_cast<uv_handle_t*>(&prepare), nullptr); }

  Worker& worker;
  uv_prepare_t prepare{};
};

Worker::Worker(const base::Clock& clock)
    : clock_(clock),
      now_(clock.now()),
      timers_(now_),
      readBuffer_(std::make_unique_for_overwrite<char[]>(kReadBufferSize)),
      plainBuffer_(std::make_unique_for_overwrite<char[]>(kPlainBufferSize)),
      loop_(std::make_unique<uv_loop_t>()) {
  uv_loop_init(loop_.get());
  mailbox_ = std::make_unique<Mailbox>(*this);
  ticker_ = std::make_unique<Ticker>(*this);
  roundEnd_ = std::make_unique<RoundEnd>(*this);
}

Worker::~Worker() {
  closeLoop();
  uv_loop_close(loop_.get());
}

void Worker::run() {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  {
    const Turn first(*this);  // for timers and tasks from before the loop ran
  }
  running_ = true;
  uv_run(loop_.get(), UV_RUN_DEFAULT);
  running_ = false;
  if (roundOpen_) beat();  // stop() ended the loop before the round's end
  closeLoop();
}

void Worker::stop() { uv_stop(loop_.get()); }

void Worker::post(std::function<void()> task) { mailbox_->post(std::move(task)); }

void Worker::closeLoop() {
  const auto close = [](uv_handle_t* handle, void*) {
    if (uv_is_closing(handle) == 0) static_cast<LoopHandle*>(handle->data)->onLoopEnds();
  };
  uv_walk(loop_.get(), close, nullptr);
  // The loop may return more than once, because a stop() that came before run() is still in effect.
  while (uv_run(loop_.get(), UV_RUN_DEFAULT) != 0) {
  }
}

void Worker::openTurn() {
  if (depth_++ > 0 || roundOpen_) return;
  now_ = clock_.now();
  if (ticker_->due()) {
    ticker_->armed = false;
    timers_.advance(now_);
  }
}

void Worker::closeTurn() {
  if (--depth_ > 0) return;
  roundOpen_ = true;
  if (!running_ || hurried_) beat();
}

void Worker::beat() {
  ++depth_;  // a Turn that is opened within a beat is part of it
  while (beats_ != nullptr && !beats_->quiet()) {
    beats_->drive();
    beats_->flush();
    beats_->reap();
  }
  ticker_->arm();
  --depth_;
  roundOpen_ = hurried_ = false;
}

Worker::Turn::Turn(Worker& worker) : worker_(worker) { worker_.openTurn(); }
Worker::Turn::~Turn() { worker_.closeTurn(); }

}  // namespace sluice::net
