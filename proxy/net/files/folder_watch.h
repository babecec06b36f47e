// Watches one folder for changes of its entries (inotify). Internal to proxy/net.
//
// It watches the folder that has the path when start() is called; a folder that replaces it later is not watched.
// Lives on one thread; anything but its own callback may destroy it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "proxy/base/result.h"
#include "proxy/net/worker.h"

namespace sluice::net {

class FolderWatch {
 public:
  /// Called inside a Turn. `name` is the entry's name, or the folder's own if the folder itself changed; empty if it
  /// is unknown.
  using Changed = std::function<void(std::string_view name)>;

  FolderWatch(Worker& worker, Changed changed);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  /// Starts to watch; to be called once. A missing folder is no error, and is not watched.
  base::Status start(const std::string& folder);

 private:
  struct WatchHandle;
  void close();

  Changed changed_;
  WatchHandle* handle_;  // nullptr once closed; frees itself when libuv has let go of it
};

}  // namespace sluice::net
