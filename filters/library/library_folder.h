// The folder of --library-dir, and the libraries that were loaded from it.
//
// A library is loaded once, and stays loaded until the process ends: threads of it may still run when no configuration
// uses it any more. A file that takes the place of a loaded one is not looked at. The process has one LibraryFolder; it
// is used on the loading thread, and by Awaited on any.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "filters/library/sluice_processor.h"
#include "proxy/base/result.h"

namespace sluice::filters::library {

class LibraryFolder {
 public:
  explicit LibraryFolder(std::string path) : path_(std::move(path)) {}

  /// Returns the processor that the library of that file offers, which lives as long as the process. An error names the
  /// file and the reason.
  base::Result<const sluice_processor*> load(const std::string& file) const;
  /// Returns what identifies the file of that name now: another text if it was replaced, empty if there is none.
  std::string identityOf(const std::string& file) const;

 private:
  /// Returns the path of the file, if that is a file of the folder.
  base::Result<std::string> find(const std::string& file) const;

  const std::string path_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, const sluice_processor*, std::less<>> loaded_;
};

}  // namespace sluice::filters::library
