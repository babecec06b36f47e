// A use as a library has configured it.
#pragma once

#include <memory>
#include <string>

#include "filters/library/sluice_processor.h"
#include "proxy/base/result.h"
#include "proxy/processing/factory.h"

namespace sluice::filters::library {

class LibraryUse {
 public:
  /// Has the library configure the use. The error is the library's.
  static base::Result<std::unique_ptr<const LibraryUse>> make(const sluice_processor& processor,
                                                              const processing::Use& use);

  LibraryUse(const sluice_processor& processor, void* configured) : processor_(processor), configured_(configured) {}
  ~LibraryUse();
  LibraryUse(const LibraryUse&) = delete;
  LibraryUse& operator=(const LibraryUse&) = delete;

  const sluice_processor& processor() const { return processor_; }
  void* configured() const { return configured_; }

 private:
  const sluice_processor& processor_;
  void* const configured_;
};

}  // namespace sluice::filters::library
