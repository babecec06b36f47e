#include "proxy/net/poll.h"

#include <uv.h>

#include <memory>
#include <utility>

#include "proxy/net/loop_handle.h"

namespace sluice::net {

struct Poll::PollHandle final : LoopHandle {
  explicit PollHandle(Poll& poll) : worker(poll.worker_), owner(&poll) {}
  static PollHandle& of(void* data) { return *static_cast<PollHandle*>(static_cast<LoopHandle*>(data)); }
  void onLoopEnds() override { owner->close(); }

  Worker& worker;
  uv_poll_t handle{};
  Poll* owner;  // nullptr once closed
};

Poll::Poll(Worker& worker, int fd, PollSink& sink) : worker_(worker), sink_(sink) {
  auto own = std::make_unique<PollHandle>(*this);
  // Fails only if `fd` is no socket or is watched already.
  if (uv_poll_init(worker.loop(), &own->handle, fd) != 0) return;
  handle_ = own.release();
  handle_->handle.data = static_cast<LoopHandle*>(handle_);
}

Poll::~Poll() { close(); }

void Poll::watch(bool readable, bool writable) {
  if (handle_ == nullptr) return;
  const int events = (readable ? UV_READABLE : 0) | (writable ? UV_WRITABLE : 0);
  uv_poll_start(&handle_->handle, events, [](uv_poll_t* handle, int status, int ready) {
    PollHandle& own = PollHandle::of(handle->data);
    const Worker::Turn turn(own.worker);  // its timers may close this poll
    if (own.owner == nullptr) return;
    own.owner->sink_.onReady(status != 0 || (ready & UV_READABLE) != 0, status != 0 || (ready & UV_WRITABLE) != 0);
  });
}

void Poll::close() {
  if (handle_ == nullptr) return;
  PollHandle* own = std::exchange(handle_, nullptr);
  own->owner = nullptr;
  uv_close(reinterpret_cast<uv_handle_t*>(&own->handle),
           [](uv_handle_t* handle) { const std::unique_ptr<PollHandle> last(&PollHandle::of(handle->data)); });
}

}  // namespace sluice::net
