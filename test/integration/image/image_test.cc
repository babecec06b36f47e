// Tests the container image: that its build is reproducible, its content, and that the gateway serves from it in a
// container. Package lists and packages are kept below ~/.cache, so that they are downloaded once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kBuild = SLUICE_SOURCE_DIR "/config/image/build.sh";
constexpr const char* kSbom = SLUICE_SOURCE_DIR "/config/image/sbom.py";
constexpr const char* kServe = SLUICE_SOURCE_DIR "/test/integration/image/serve_image.sh";
constexpr std::uintmax_t kMaxBytes = 60'000'000;
constexpr uid_t kUser = 65532;
constexpr std::chrono::seconds kBuildPatience{240};

/// The image of these tests: the first one that runs after a change builds it.
const std::string kArchive = SLUICE_PROGRAMS "/image/image.tar";
const std::string kList = SLUICE_PROGRAMS "/image/image.spdx.json";

std::string cacheFolder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  return cache != nullptr ? std::string(cache) + "/sluice/image"
                          : std::string(home != nullptr ? home : "/tmp") + "/.cache/sluice/image";
}

ProgramOutcome build(const std::string& output, const std::vector<std::string>& options) {
  std::vector<std::string> argv = {kBuild, "--cache", cacheFolder(), "--output", output};
  argv.insert(argv.end(), options.begin(), options.end());
  return run(argv, kBuildPatience);
}

std::vector<std::string> linesOfOutput(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Returns the text behind `key` on the line that begins with it; empty if there is none.
std::string valueOfLine(const std::string& text, const std::string& key) {
  for (const std::string& line : linesOfOutput(text)) {
    if (line.starts_with(key)) return line.substr(key.size());
  }
  return {};
}

class Image : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* tool : {"umoci", "python3", "capsh", "ip"}) {
      if (!isInstalled(tool)) GTEST_SKIP() << tool << " is not installed: test/support/install.sh test";
    }
    if (programPath("sluice", true) == programPath("sluice")) GTEST_SKIP() << "build/release is not there";
  }

  static bool isBuilt() {
    if (!fs::exists(kArchive) || !fs::exists(kList)) return false;
    const auto built = fs::last_write_time(kArchive);
    for (const std::string& source : {programPath("sluice", true), std::string(kBuild), std::string(kSbom)}) {
      if (fs::last_write_time(source) > built) return false;
    }
    return true;
  }

  /// Unpacks the image with the owners that its files have, which needs root.
  void unpack() {
    if (!isBuilt()) {
      const ProgramOutcome got = build(kArchive, {});
      ASSERT_EQ(got.exitCode, 0) << got.output << got.errors;
    }
    fs::create_directory(layout_);
    ASSERT_EQ(run({"tar", "-xf", kArchive, "-C", layout_}).exitCode, 0);
    const ProgramOutcome tags = run({"umoci", "ls", "--layout", layout_});
    ASSERT_EQ(linesOfOutput(tags.output).size(), 1u) << tags.output << tags.errors;
    image_ = layout_ + ":" + linesOfOutput(tags.output)[0];
    const ProgramOutcome got = run({"umoci", "unpack", "--image", image_, bundle_});
    ASSERT_EQ(got.exitCode, 0) << got.output << got.errors;
  }

  const TempDir folder_;
  const std::string layout_ = folder_.path() + "/layout";
  const std::string bundle_ = folder_.path() + "/bundle";
  const std::string root_ = bundle_ + "/rootfs";
  std::string image_;
};

TEST_F(Image, IsTheSameWhenItIsBuiltAgain) {
  const ProgramOutcome first = build(kArchive, {});
  ASSERT_EQ(first.exitCode, 0) << first.output << first.errors;
  const std::string again = folder_.path() + "/again.tar";
  const ProgramOutcome second = build(again, {"--no-update"});
  ASSERT_EQ(second.exitCode, 0) << second.output << second.errors;
  EXPECT_THAT(valueOfLine(first.output, "image: digest "), StartsWith("sha256:"));
  EXPECT_EQ(valueOfLine(first.output, "image: digest "), valueOfLine(second.output, "image: digest "));
  EXPECT_TRUE(readFile(kArchive) == readFile(again)) << "the archives differ";
  EXPECT_LT(fs::file_size(kArchive), kMaxBytes);
  std::printf("%s", first.output.c_str());
}

TEST_F(Image, SaysWhatItIsAndNamesAUserWithoutRights) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can unpack an image with its owners";
  unpack();
  if (HasFatalFailure()) return;
  std::string config;
  for (const auto& blob : fs::directory_iterator(layout_ + "/blobs/sha256")) {
    if (blob.file_size() < 65536 && readFile(blob.path()).find("\"rootfs\"") != std::string::npos) {
      config = readFile(blob.path());
    }
  }
  const std::string version = run({programPath("sluice", true), "version", "-o", "json"}).output;
  const std::string commit = version.substr(version.find("\"commit\":\"") + 10, 12);
  EXPECT_THAT(config, HasSubstr(R"("User":"65532:65532")"));
  EXPECT_THAT(config, HasSubstr(R"("Entrypoint":["/usr/bin/sluice"])"));
  EXPECT_THAT(config, HasSubstr(R"("ExposedPorts":{"9902/tcp":{}})"));
  EXPECT_THAT(config, HasSubstr(R"("org.opencontainers.image.title":"Sluice")"));
  EXPECT_THAT(config, HasSubstr(R"("org.opencontainers.image.description":")"));
  EXPECT_THAT(config, HasSubstr(R"("org.opencontainers.image.licenses":"Apache-2.0")"));
  EXPECT_THAT(config, HasSubstr(R"("org.opencontainers.image.version":"0.)"));
  EXPECT_THAT(config, HasSubstr(R"("org.opencontainers.image.revision":")" + commit + "\""));
}

/// Returns the files of the image that no package has, as paths from its root.
std::set<std::string> ownFiles(const std::string& root) {
  std::set<std::string> files = {"etc/debian_version",
                                 "etc/group",
                                 "etc/nsswitch.conf",
                                 "etc/passwd",
                                 "etc/ssl/certs/ca-certificates.crt",
                                 "usr/bin/sluice",
                                 "usr/share/doc/sluice/copyright",
                                 "usr/share/doc/sluice/sbom.spdx.json"};
  for (const auto& record : fs::directory_iterator(root + "/var/lib/dpkg/status.d")) {
    files.insert("var/lib/dpkg/status.d/" + record.path().filename().string());
  }
  return files;
}

/// Returns the files that the lists of the packages name, at the places to which links of folders lead.
std::set<std::string> packagedFiles(const std::string& root) {
  std::set<std::string> files;
  for (const auto& record : fs::directory_iterator(root + "/var/lib/dpkg/status.d")) {
    if (record.path().extension() != ".md5sums") continue;
    for (const std::string& line : linesOfOutput(readFile(record.path()))) {
      const fs::path path = root + "/" + line.substr(line.find("  ") + 2);
      files.insert(fs::relative(fs::canonical(path.parent_path()) / path.filename(), fs::canonical(root)));
    }
  }
  return files;
}

TEST_F(Image, HoldsNothingButTheProgramAndFilesThatItsPackagesList) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can unpack an image with its owners";
  unpack();
  if (HasFatalFailure()) return;
  std::set<std::string> present;
  for (const auto& entry : fs::recursive_directory_iterator(root_)) {
    const std::string path = fs::relative(entry.path().parent_path(), root_) / entry.path().filename();
    struct stat status = {};
    ASSERT_EQ(lstat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, path.ends_with("var/lib/sluice") ? kUser : 0u) << path;
    if (entry.is_symlink()) {
      const fs::path target = fs::read_symlink(entry.path());
      EXPECT_TRUE(fs::exists(target.is_absolute() ? root_ + target.string() : entry.path().string())) << path;
      continue;
    }
    EXPECT_EQ(status.st_mode & (S_ISUID | S_ISGID | S_IWGRP | S_IWOTH), 0u) << path;
    if (!entry.is_regular_file()) continue;
    present.insert(fs::path(path).lexically_normal());
    if ((status.st_mode & S_IXUSR) != 0) {
      EXPECT_THAT(path, AnyOf("usr/bin/sluice", HasSubstr(".so."))) << "may be run";
    }
  }
  EXPECT_TRUE(readFile(root_ + "/usr/bin/sluice") == readFile(programPath("sluice", true)));
  std::set<std::string> listed = packagedFiles(root_);
  listed.merge(ownFiles(root_));
  EXPECT_EQ(present, listed);
  const ProgramOutcome sums =
      run({"sh", "-c", "cd \"$1\" && cat var/lib/dpkg/status.d/*.md5sums | md5sum --quiet --strict -c", "sh", root_});
  EXPECT_EQ(sums.exitCode, 0) << sums.output << sums.errors;
}

TEST_F(Image, HasAnSpdxListOfItsPackagesInsideAndBesideTheArchive) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can unpack an image with its owners";
  unpack();
  if (HasFatalFailure()) return;
  const std::string list = readFile(kList);
  EXPECT_EQ(list, readFile(root_ + "/usr/share/doc/sluice/sbom.spdx.json"));
  EXPECT_THAT(list, HasSubstr(R"("spdxVersion": "SPDX-2.3")"));
  for (const char* name : {"sluice", "CLI11", "libssl3", "libc6", "ca-certificates", "base-files"}) {
    EXPECT_THAT(list, HasSubstr(std::string(R"("name": ")") + name + "\""));
  }
  std::size_t packages = 0;
  for (const auto& record : fs::directory_iterator(root_ + "/var/lib/dpkg/status.d")) {
    if (record.path().extension() == ".md5sums") continue;
    ++packages;
    const std::string control = readFile(record.path());
    const std::string name = valueOfLine(control, "Package: ");
    EXPECT_EQ(name, record.path().filename());
    EXPECT_THAT(list, HasSubstr("\"versionInfo\": \"" + valueOfLine(control, "Version: ") + "\""));
    EXPECT_THAT(list, HasSubstr("\"name\": \"" + name + "\""));
    EXPECT_TRUE(fs::exists(root_ + "/usr/share/doc/" + name + "/copyright")) << name;
  }
  std::size_t listed = 0;
  for (std::size_t at = list.find("pkg:deb/"); at != std::string::npos; at = list.find("pkg:deb/", at + 1)) ++listed;
  EXPECT_EQ(listed, packages);
}

TEST_F(Image, ServesFromAReadOnlyRootWithoutAnyRight) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can change the root of a process";
  unpack();
  if (HasFatalFailure()) return;
  const std::string programs = fs::path(programPath("sluice", true)).parent_path();
  const ProgramOutcome got = run({"env", "SLUICE_PROGRAMS=" + programs, kServe, root_}, kBuildPatience);
  ASSERT_EQ(got.exitCode, 0) << got.output << got.errors;
  EXPECT_EQ(valueOfLine(got.output, "user: "), "65532 65532 65532 65532");
  EXPECT_EQ(valueOfLine(got.output, "group: "), "65532 65532 65532 65532");
  EXPECT_EQ(valueOfLine(got.output, "capabilities: "), "0000000000000000 of 0000000000000000");
  EXPECT_EQ(valueOfLine(got.output, "no new privileges: "), "1");
  EXPECT_EQ(valueOfLine(got.output, "answer: "), "200");
  EXPECT_EQ(valueOfLine(got.output, "target: "), "/hello");
  EXPECT_EQ(valueOfLine(got.output, "state: "), "InSync");
  EXPECT_EQ(valueOfLine(got.output, "exit code: "), "0");
  EXPECT_THAT(valueOfLine(got.output, "written: "), Not(StartsWith("0 "))) << got.output;
  EXPECT_THAT(valueOfLine(got.output, "written elsewhere: "), IsEmpty());
  // The log of a run shows which isolation of the container the machine allowed.
  std::printf("%s", got.output.c_str());
}

TEST(ImageBuild, SaysWhatToDoIfItCannotBegin) {
  const ProgramOutcome none = run({kBuild, "--binary", "/nowhere/sluice"});
  EXPECT_EQ(none.exitCode, 1);
  EXPECT_THAT(none.errors, HasSubstr("there is no program /nowhere/sluice; build it"));
  const ProgramOutcome misspelt = run({kBuild, "--outptu", "image.tar"});
  EXPECT_EQ(misspelt.exitCode, 2);
  EXPECT_THAT(misspelt.errors, HasSubstr("there is no option '--outptu'"));
  const ProgramOutcome help = run({kBuild, "--help"});
  EXPECT_EQ(help.exitCode, 0);
  for (const char* option : {"--output", "--binary", "--tree", "--cache", "--no-update", "--source"}) {
    EXPECT_THAT(help.output, HasSubstr(option));
  }
}

}  // namespace
}  // namespace sluice::test
