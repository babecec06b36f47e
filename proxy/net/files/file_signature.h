// What can be seen of files without reading them: two looks that are equal saw the same files, as far as one can tell.
//
// Plain values. Looking is a few calls of stat(2), on the calling thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::net {

/// Whether a file of this name counts in a folder that is watched.
using FileFilter = std::function<bool(std::string_view name)>;

struct FileSignature {
  struct File {
    std::string path;
    dev_t device = 0;
    ino_t inode = 0;  // 0: there is none
    std::int64_t size = 0;
    std::int64_t modified = 0;  // the content, in ns
    std::int64_t changed = 0;   // the content, the name or the permissions, in ns
    friend bool operator==(const File&, const File&) = default;
  };
  std::vector<File> files;  // by path
  friend bool operator==(const FileSignature&, const FileSignature&) = default;
};

/// `paths` are files, or folders of which those files count that `takes` says; symbolic links are followed. What is not
/// there is a part of what is seen. Nothing if the process has no descriptors or memory left to look.
std::optional<FileSignature> lookAtFiles(const std::vector<std::string>& paths, const FileFilter& takes);

}  // namespace sluice::net
