#include "proxy/net/files/file_signature.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace sluice::net {
namespace {

std::int64_t nanoseconds(const timespec& time) { return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

FileSignature::File lookAt(const std::string& path, bool& isFolder) {
  FileSignature::File file;
  file.path = path;
  struct stat found {};
  isFolder = false;
  if (::stat(path.c_str(), &found) != 0) return file;
  isFolder = S_ISDIR(found.st_mode);
  file.device = found.st_dev;
  file.inode = found.st_ino;
  // The times of a folder are left out: other changes in it do not matter.
  if (isFolder) return file;
  file.size = found.st_size;
  file.modified = nanoseconds(found.st_mtim);
  file.changed = nanoseconds(found.st_ctim);
  return file;
}

bool meansScarcity(const std::error_code& error) {
  return error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system ||
         error == std::errc::not_enough_memory;
}

}  // namespace

std::optional<FileSignature> lookAtFiles(const std::vector<std::string>& paths, const FileFilter& takes) {
  FileSignature signature;
  for (const std::string& path : paths) {
    bool isFolder = false;
    signature.files.push_back(lookAt(path, isFolder));
    if (!isFolder) continue;
    std::error_code error;
    std::filesystem::directory_iterator entry(path, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      if (!takes(entry->path().filename().string())) continue;
      bool isInner = false;
      FileSignature::File file = lookAt(entry->path().string(), isInner);
      if (!isInner) signature.files.push_back(std::move(file));
    }
    if (meansScarcity(error)) return std::nullopt;
  }
  std::sort(signature.files.begin(), signature.files.end(),
            [](const FileSignature::File& a, const FileSignature::File& b) { return a.path < b.path; });
  return signature;
}

}  // namespace sluice::net
