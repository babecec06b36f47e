#include "proxy/net/files/file_watch.h"

#include <filesystem>
#include <utility>

namespace sluice::net {
namespace {

// Returns absolute paths without a slash at the end. A relative path may contain no folder's name, and after a slash at
// the end there would be no file's name.
std::vector<std::string> absolute(std::vector<std::string> paths) {
  for (std::string& path : paths) {
    std::error_code error;
    const std::filesystem::path whole = std::filesystem::absolute(path, error);
    if (!error) path = whole.string();
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  }
  return paths;
}

FileWatch::WatchOptions prepared(FileWatch::WatchOptions options) {
  options.paths = absolute(std::move(options.paths));
  return options;
}

}  // namespace

FileWatch::FileWatch(Worker& worker, WatchOptions options, std::function<void()> changed,
                     std::function<void(const base::Error&)> weakened)
    : worker_(worker),
      options_(prepared(std::move(options))),
      changed_(std::move(changed)),
      weakened_(std::move(weakened)),
      debounce_(worker.timers(), {options_.quiet, options_.longest}, [this] { settled(); }) {
  watchFolders();
  seen_ = lookAtFiles(options_.paths, options_.takes);
  worker_.timers().set(look_, worker_.now() + options_.look);
}

/// Returns the folders that hold the watched files, and their parents, in which a folder is seen to vanish and to come
/// back.
std::map<std::string, FileWatch::Folder> FileWatch::folders() const {
  std::map<std::string, Folder> folders;
  for (const std::string& name : options_.paths) {
    const std::filesystem::path path(name);
    std::error_code error;
    const bool isFolder = std::filesystem::is_directory(path, error);
    const std::filesystem::path folder = isFolder ? path : path.parent_path();
    Folder& holder = folders[folder.string()];
    holder.holds = true;
    holder.files = holder.files || isFolder;
    holder.names.insert((isFolder ? folder : path).filename().string());
    folders[folder.parent_path().string()].names.insert(folder.filename().string());
  }
  return folders;
}

/// Renews the watch of every folder, because a watch does not report a folder that has replaced the watched one.
void FileWatch::watchFolders() {
  watches_.clear();
  refused_ = false;
  for (auto& [path, folder] : folders()) {
    auto watch = std::make_unique<FolderWatch>(worker_, [this, what = folder](std::string_view name) {
      if (counts(what, name)) debounce_.note(worker_.now());
    });
    const base::Status started = watch->start(path);
    watches_.push_back(std::move(watch));
    if (started.ok() || !folder.holds) continue;
    refused_ = true;
    if (!std::exchange(told_, true)) weakened_(started.error());
  }
}

bool FileWatch::counts(const Folder& folder, std::string_view name) const {
  // The kubelet swaps "..data".
  if (name.empty() || (folder.holds && name.starts_with(".."))) return true;
  return folder.names.contains(std::string(name)) || (folder.files && options_.takes(name));
}

void FileWatch::look() {
  worker_.timers().set(look_, worker_.now() + options_.look);
  if (refused_) watchFolders();
  const std::optional<FileSignature> found = lookAtFiles(options_.paths, options_.takes);
  if (found && found != seen_) debounce_.note(worker_.now());
}

void FileWatch::settled() {
  watchFolders();
  // The signature is taken before the files are read, so that a later change is seen as one.
  if (auto found = lookAtFiles(options_.paths, options_.takes)) seen_ = std::move(found);
  changed_();
}

}  // namespace sluice::net
