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
    : changed_(std::move(changed)), handle_(std::make_unique<WatchHandle>(worker, *this).release()) {
  uv_fs_event_init(worker.loop(), &handle_->handle);
  handle_->handle.data = static_cast<LoopHandle*>(handle_);
}

FolderWatch::~FolderWatch() { close(); }

base::Status FolderWatch::start(const std::string& folder) {
  if (handle_ == nullptr) return base::Done{};
  const auto event = [](uv_fs_event_t* handle, const char* name, int, int) {
    WatchHandle& own = WatchHandle::of(handle->data);
    const Worker::Turn turn(own.worker);  // its timers may close this watch
    if (own.owner == nullptr) return;
    own.owner->changed_(name == nullptr ? std::string_view() : std::string_view(name));
  };
  const int error = uv_fs_event_start(&handle_->handle, event, folder.c_str(), 0);
  if (error == 0 || error == UV_ENOENT || error == UV_ENOTDIR) return base::Done{};
  return base::Error::config("cannot watch " + folder + ": " + uv_strerror(error));
}

void FolderWatch::close() {
  if (handle_ == nullptr) return;
  WatchHandle* own = std::exchange(handle_, nullptr);
  own->owner = nullptr;
  uv_close(reinterpret_cast<uv_handle_t*>(&own->handle),
           [](uv_handle_t* handle) { const std::unique_ptr<WatchHandle> last(&WatchHandle::of(handle->data)); });
}

}  // namespace sluice::net
