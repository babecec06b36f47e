// Reports changes of files that other programs write: saved in place, replaced by a rename or by the swap of a
// symbolic link (as the kubelet does with a mounted ConfigMap), gone or come back, with their folder too.
//
// The system's events are only hints, and a periodic look at the files' signatures finds changes without an event:
// file systems that have none (NFS), links into other folders, a watch that died or could not be made. Lives on one
// worker's thread, which should be one without traffic: looking blocks.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/net/files/debounce.h"
#include "proxy/net/files/file_signature.h"
#include "proxy/net/files/folder_watch.h"
#include "proxy/net/worker.h"

namespace sluice::net {

class FileWatch {
 public:
  struct WatchOptions {
    /// Files, or folders (without their subfolders). A path need not exist.
    std::vector<std::string> paths;
    /// Decides which files of a folder are watched.
    FileFilter takes;
    /// A burst of changes is reported once it has paused for this long.
    base::Duration quiet = std::chrono::milliseconds(200);
    /// A burst without such a pause is reported this long after it began.
    base::Duration longest = std::chrono::seconds(2);
    /// How often the files are looked at without an event.
    base::Duration look = std::chrono::seconds(10);
  };

  /// `changed` is called inside a Turn: some file may have changed since the call before, or since the watch was made.
  /// So make the watch before the first reading. `weakened` is called at most once, when the system refuses to watch;
  /// changes are then seen a little later. Neither callback may destroy the watch.
  FileWatch(Worker& worker, WatchOptions options, std::function<void()> changed,
            std::function<void(const base::Error&)> weakened);
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

 private:
  /// How one folder is watched.
  struct Folder {
    std::set<std::string> names;
    bool files = false;  // it holds files that options_.takes accepts
    bool holds = false;  // it holds watched files itself, not just a folder that does
  };
  class Look final : public Timer {
   public:
    explicit Look(FileWatch& owner) : owner_(owner) {}

   private:
    void onTimer() override { owner_.look(); }
    FileWatch& owner_;
  };

  std::map<std::string, Folder> folders() const;
  void watchFolders();
  bool counts(const Folder& folder, std::string_view name) const;
  void look();
  void settled();

  Worker& worker_;
  const WatchOptions options_;
  const std::function<void()> changed_;
  const std::function<void(const base::Error&)> weakened_;
  std::vector<std::unique_ptr<FolderWatch>> watches_;
  std::optional<FileSignature> seen_;
  bool refused_ = false;  // a watch was refused when they were started last
  bool told_ = false;
  Debounce debounce_;
  Look look_{*this};
};

}  // namespace sluice::net
