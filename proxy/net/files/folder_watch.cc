#include "proxy/net/files/folder_watch.h"

#include <uv.h>

#include <memory>
#include <utility>

#include "proxy/net/loop_handle.h"

namespace sluice::net {

struct FolderWatch::WatchHandle final : LoopHandle {
  WatchHandle(Worker& loopOwner, FolderWatch& watch) : worker(loopOwner), owner(&watch) {}
  static WatchHandle& of(void* data) { return *static_cast<WatchHandle*>(static_cast<LoopHandle*>(data)); }
  void onLoopEnds() override { owner->close(); }

  uv_fs_event_t handle{};
  Worker& worker;
  FolderWatch* owner;
};

FolderWatch::FolderWatch(Worker& worker, Changed changed)
    : changed_(std::move(changed)), block_(std::make_unique<WatchHandle>(worker, *this).release()) {
  uv_fs_event_init(worker.loop(), &block_->handle);
  block_->handle.data = static_cast<LoopHandle*>(block_);
}

FolderWatch::~FolderWatch() { close(); }

base::Status FolderWatch::start(const std::string& folder) {
  if (block_ == nullptr) return base::Done{};
  const auto event = [](uv_fs_event_t* handle, const char* name, int, int) {
    WatchHandle& block = WatchHandle::of(handle->data);
    const Worker::Turn turn(block.worker);  // its timers may close this watch
    if (block.owner == nullptr) return;
    block.owner->changed_(name == nullptr ? std::string_view() : std::string_view(name));
  };
  const int error = uv_fs_event_start(&block_->handle, event, folder.c_str(), 0);
  if (error == 0 || error == UV_ENOENT || error == UV_ENOTDIR) return base::Done{};
  return base::Error::config("can not watch " + folder + ": " + uv_strerror(error));
}

void FolderWatch::close() {
  if (block_ == nullptr) return;
  WatchHandle* block = std::exchange(block_, nullptr);
  block->owner = nullptr;
  uv_close(reinterpret_cast<uv_handle_t*>(&block->handle),
           [](uv_handle_t* handle) { const std::unique_ptr<WatchHandle> last(&WatchHandle::of(handle->data)); });
}

}  // namespace sluice::net
