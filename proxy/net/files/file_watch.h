// Tells when files that somebody else writes have changed: saved in place, replaced by a rename or by the swap of a
// symbolic link (as the kubelet does with a mounted ConfigMap), gone or come back, with their folder too.
//
// The system's events are hints that something happened, and a slow look at the files' signatures finds what no event
// tells: file systems without them (NFS), links into other folders, a watch that died or could not be had. Lives on one
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
  struct Options {
    /// Files, or folders (without their subfolders). None of them has to be there.
    std::vector<std::string> paths;
    /// Which files count in a folder.
    FileFilter takes;
    /// A burst of changes is told once it has paused for so long,
    base::Duration quiet = std::chrono::milliseconds(200);
    /// but no later than so long after it began.
    base::Duration longest = std::chrono::seconds(2);
    /// How often the files are looked at without an event.
    base::Duration look = std::chrono::seconds(10);
  };

  /// `changed` is called inside a Turn: some file may have changed since the call before, or since the watch was made.
  /// So make it before the first reading. `weakened` is called at most once, when the system refuses to tell of
  /// changes, which are then seen a little later. Neither may destroy the watch.
  FileWatch(Worker& worker, Options options, std::function<void()> changed,
            std::function<void(const base::Error&)> weakened);
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

 private:
  /// What counts in one folder.
  struct Folder {
    std::set<std::string> names;
    bool files = false;  // those that options_.takes says
    bool holds = false;  // files of ours, not just the folder that does
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
  const Options options_;
  const std::function<void()> changed_;
  const std::function<void(const base::Error&)> weakened_;
  std::vector<std::unique_ptr<FolderWatch>> watches_;
  std::optional<FileSignature> seen_;
  bool refused_ = false;  // a watch, when they were started last
  bool told_ = false;
  Debounce debounce_;
  Look look_{*this};
};

}  // namespace sluice::net
