#include "proxy/net/files/file_signature.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace sluice::net {
namespace {

namespace fs = std::filesystem;

class FileSignatureTest : public ::testing::Test {
 protected:
  FileSignatureTest() {
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    write("a.yaml", "1");
  }
  ~FileSignatureTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, std::string_view text) const {
    std::ofstream(path(name), std::ios::binary | std::ios::trunc) << text;
  }
  FileSignature look() const {
    return lookAtFiles({folder_}, [](std::string_view name) { return name.ends_with(".yaml"); }).value();
  }

  std::string folder_ = ::testing::TempDir() + "file_signature_test.XXXXXX";
};

TEST_F(FileSignatureTest, IsTheSameUntilSomethingChanges) {
  const FileSignature before = look();
  EXPECT_EQ(before, look());
  write("b.txt", "what does not count");
  fs::create_directory(path("inner.yaml"));
  EXPECT_EQ(before, look());
}

TEST_F(FileSignatureTest, DependsOnSizesTimesInodesAndNames) {
  std::vector<FileSignature> seen{look()};
  const auto expectNew = [&](const char* what) {
    seen.push_back(look());
    for (std::size_t i = 0; i + 1 < seen.size(); ++i) EXPECT_NE(seen[i], seen.back()) << what;
  };
  ASSERT_EQ(::truncate(path("a.yaml").c_str(), 9), 0);
  expectNew("size");
  const timespec times[2] = {{1'700'000'000, 0}, {1'700'000'000, 1}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path("a.yaml").c_str(), times, 0), 0);
  expectNew("a nanosecond");
  write("b.yaml", "1");
  expectNew("a new file");
  fs::rename(path("b.yaml"), path("c.yaml"));
  expectNew("another name");
  fs::rename(path("c.yaml"), path("a.yaml"));
  expectNew("another file of the same name");
  fs::remove(path("a.yaml"));
  expectNew("none");
}

TEST_F(FileSignatureTest, FollowsLinks) {
  fs::create_directory(path("target"));
  write("target/x", "1");
  fs::create_symlink("target/x", path("b.yaml"));
  const FileSignature before = look();
  write("target/x", "22");
  EXPECT_NE(before, look());
}

TEST_F(FileSignatureTest, IncludesMissingFiles) {
  const auto none = lookAtFiles({path("nowhere")}, [](std::string_view) { return true; });
  ASSERT_TRUE(none);
  ASSERT_EQ(none->files.size(), 1U);
  EXPECT_EQ(none->files[0].inode, 0U);
  EXPECT_EQ(none, lookAtFiles({path("nowhere")}, [](std::string_view) { return true; }));
}

}  // namespace
}  // namespace sluice::net
