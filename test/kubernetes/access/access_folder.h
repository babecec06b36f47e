// A temporary folder with the files by which an API server is reached: written, replaced and swapped as their owners
// do it.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace sluice::kubernetes {

class AccessFolder {
 public:
  AccessFolder() {
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~AccessFolder() { std::filesystem::remove_all(path_); }
  AccessFolder(const AccessFolder&) = delete;
  AccessFolder& operator=(const AccessFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  /// Writes a file as a whole, with the folders above it. Returns its path.
  std::string write(const std::string& name, const std::string& content) const {
    const std::string file = path_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
    return file;
  }

  /// Makes the link `name` lead to `target` by a rename, as the kubelet does with `..data`.
  void link(const std::string& name, const std::string& target) const {
    std::filesystem::create_symlink(target, path_ + "/" + name + ".new");
    std::filesystem::rename(path_ + "/" + name + ".new", path_ + "/" + name);
  }

 private:
  std::string path_ = ::testing::TempDir() + "access.XXXXXX";
};

}  // namespace sluice::kubernetes
