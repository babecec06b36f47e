// The metadata of files: two equal signatures mean that the same files were seen, as far as one can tell without
// reading them.
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

/// Returns true if a file of this name is watched in a folder.
using FileFilter = std::function<bool(std::string_view name)>;

struct FileSignature {
  struct File {
    std::string path;
    dev_t device = 0;
    ino_t inode = 0;  // 0 if there is no file
    std::int64_t size = 0;
    std::int64_t modified = 0;  // when the content changed, in ns
    std::int64_t changed = 0;   // when the content, the name or the permissions changed, in ns
    friend bool operator==(const File&, const File&) = default;
  };
  std::vector<File> files;  // sorted by path
  friend bool operator==(const FileSignature&, const FileSignature&) = default;
};

/// Looks at files, and in folders at the files whose names `takes` accepts; symbolic links are followed. A missing
/// file is a part of the signature. Returns nothing if the process has no descriptors or memory left to look.
std::optional<FileSignature> lookAtFiles(const std::vector<std::string>& paths, const FileFilter& takes);

}  // namespace sluice::net
