// One folder whose entries' changes the system tells of (inotify). Internal to proxy/net.
//
// Watches the folder that has the path when it is made: one that is put in its place later is another one. Lives
// on one thread; anything but its own call may destroy it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "proxy/base/result.h"
#include "proxy/net/worker.h"

namespace sluice::net {

class FolderWatch {
 public:
  /// Inside a Turn. `name` is the entry's, or the folder's own if it is the folder that changed; empty if it is
  /// unknown.
  using Changed = std::function<void(std::string_view name)>;

  FolderWatch(Worker& worker, Changed changed);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  /// Once. That there is no such folder is no error, and then there is nothing to tell.
  base::Status start(const std::string& folder);

 private:
  struct Block;
  void close();

  Changed changed_;
  Block* block_;  // nullptr once closed; frees itself when libuv has let go of it
};

}  // namespace sluice::net
