#include "filters/library/library_folder.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <system_error>

#include "filters/library/border.h"
#include "filters/library/host_functions.h"

namespace sluice::filters::library {
namespace {

using Entry = const sluice_processor* (*)(const sluice_host* host);

constexpr const char* kEntry = "sluice_processor_v1";
constexpr std::size_t kLeastSize = offsetof(sluice_processor, end) + sizeof(sluice_processor::end);
constexpr std::size_t kMostSize = std::size_t{64} * 1024;

base::Error refused(const std::string& file, std::string why) {
  return base::Error::config("library " + file + ": " + std::move(why));
}

/// Unloads a library that is refused, so that another file of that name can be loaded.
struct Unloader {
  void operator()(void* handle) const { ::dlclose(handle); }
};

/// Returns what is wrong with the table of a library; empty if nothing is.
std::string faultOfTable(const sluice_processor& offered) {
  if (offered.size < kLeastSize || offered.size > kMostSize) {
    return "its table has a size of " + std::to_string(offered.size) + " bytes, and " + std::to_string(kLeastSize) +
           " are the least";
  }
  if (offered.major != SLUICE_PROCESSOR_MAJOR) {
    return "it has version " + std::to_string(offered.major) + "." + std::to_string(offered.minor) +
           " of the interface, and this gateway has " + std::to_string(SLUICE_PROCESSOR_MAJOR) + "." +
           std::to_string(SLUICE_PROCESSOR_MINOR);
  }
  const bool whole = offered.configure != nullptr && offered.release != nullptr && offered.process != nullptr;
  if (!whole) return "it lacks configure, release or process";
  return (offered.phases & ~0x7fU) == 0 && offered.phases != 0 ? "" : "it names phases that do not exist, or none";
}

}  // namespace

base::Result<const sluice_processor*> LibraryFolder::load(const std::string& file) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto known = loaded_.find(file); known != loaded_.end()) return known->second;
  auto found = find(file);
  if (!found) return std::move(found).error();
  std::unique_ptr<void, Unloader> handle(::dlopen(found->c_str(), RTLD_NOW | RTLD_LOCAL));
  if (handle == nullptr) {
    const char* const why = ::dlerror();
    return refused(file, why == nullptr ? "it cannot be loaded" : why);
  }
  void* const symbol = ::dlsym(handle.get(), kEntry);
  if (symbol == nullptr) return refused(file, "it has no function " + std::string(kEntry));
  std::string thrown;
  const sluice_processor* const offered = across<const sluice_processor*>(
      [&] { return reinterpret_cast<Entry>(symbol)(&hostFunctions()); }, nullptr, thrown);
  if (!thrown.empty()) return refused(file, std::string(kEntry) + "() has thrown " + thrown);
  if (offered == nullptr) return refused(file, std::string(kEntry) + "() refuses this gateway");
  if (std::string fault = faultOfTable(*offered); !fault.empty()) return refused(file, std::move(fault));
  loaded_.emplace(file, offered);
  static_cast<void>(handle.release());  // it stays loaded until the process ends
  return offered;
}

std::string LibraryFolder::identityOf(const std::string& file) const {
  const auto found = find(file);
  struct stat status {};
  if (!found || ::stat(found->c_str(), &status) != 0) return {};
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) + ":" + std::to_string(status.st_size) +
         ":" + std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

// The folder may be a symbolic link, and a file of it one to another file of it, as libraries with versions are.
base::Result<std::string> LibraryFolder::find(const std::string& file) const {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::path folder = fs::canonical(path_, failed);
  if (failed) return refused(file, "the folder of --library-dir cannot be read: " + failed.message());
  if (file.empty() || file.find('/') != std::string::npos || file == "." || file == "..") {
    return refused(file, "it is not the name of a file without a path");
  }
  const fs::path target = fs::canonical(folder / file, failed);
  if (failed) return refused(file, "it is not in the folder of --library-dir: " + failed.message());
  if (target.parent_path() != folder) return refused(file, "it leads out of the folder of --library-dir");
  if (!fs::is_regular_file(target, failed)) return refused(file, "it is not a file");
  return target.string();
}

}  // namespace sluice::filters::library
