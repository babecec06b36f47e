// Uses of the libraries of the tests (test/support/libraries).
#pragma once

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <utility>

#include "filters/library/library_engine.h"
#include "test/filters/filter_rig.h"

namespace sluice::filters {

/// A folder of libraries that a test fills.
class OwnLibraries {
 public:
  OwnLibraries() { EXPECT_NE(::mkdtemp(path_.data()), nullptr); }
  ~OwnLibraries() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }
  std::filesystem::path at(const std::string& file) const { return std::filesystem::path(path_) / file; }
  /// Copies the good library of the tests.
  void add(const std::string& file) const {
    std::filesystem::copy_file(std::filesystem::path(SLUICE_TEST_LIBRARIES) / "good.so", at(file));
  }

 private:
  std::string path_ = ::testing::TempDir() + "libraries.XXXXXX";
};

/// A rig for a use of a library of the tests.
class LibraryRig {
 public:
  explicit LibraryRig(std::string folder = SLUICE_TEST_LIBRARIES) : rig(libraryEngine(std::move(folder))) {
    rig.typeOfCatalog = "acme.test/Any:v1";
    file("good.so");
  }
  void file(const std::string& name) { rig.engine = "{file: " + name + "}"; }
  /// Makes the processor of a use that does this. Returns "" or the reason and the message.
  std::string make(const std::string& does) { return rig.make("{do: " + does + "}"); }
  /// Makes a use that does this in a phase, and runs it there.
  processing::Verdict run(const std::string& does, processing::Phase phase = processing::Phase::kRequestHeaders,
                          processing::Body* body = nullptr) {
    rig.phase = phase;
    EXPECT_EQ(make(does), "");
    return rig.run(phase, body);
  }

  test::FilterRig rig;
};

}  // namespace sluice::filters
