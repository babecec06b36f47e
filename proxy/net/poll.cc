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
  auto block = std::make_unique<PollHandle>(*this);
  // Fails only if `fd` is no socket or is watched already.
  if (uv_poll_init(worker.loop(), &block->handle, fd) != 0) return;
  block_ = block.release();
  block_->handle.data = static_cast<LoopHandle*>(block_);
}

Poll::~Poll() { close(); }

void Poll::watch(bool readable, bool writable) {
  if (block_ == nullptr) return;
  const int events = (readable ? UV_READABLE : 0) | (writable ? UV_WRITABLE : 0);
  uv_poll_start(&block_->handle, events, [](uv_poll_t* handle, int status, int ready) {
    PollHandle& block = PollHandle::of(handle->data);
    const Worker::Turn turn(block.worker);  // its timers may close this poll
    if (block.owner == nullptr) return;
    block.owner->sink_.onReady(status != 0 || (ready & UV_READABLE) != 0, status != 0 || (ready & UV_WRITABLE) != 0);
  });
}

void Poll::close() {
  if (block_ == nullptr) return;
  PollHandle* block = std::exchange(block_, nullptr);
  block->owner = nullptr;
  uv_close(reinterpret_cast<uv_handle_t*>(&block->handle),
           [](uv_handle_t* handle) { const std::unique_ptr<PollHandle> last(&PollHandle::of(handle->data)); });
}

}  // namespace sluice::net
