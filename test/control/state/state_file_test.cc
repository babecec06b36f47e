#include "proxy/control/state/state_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace sluice::control {
namespace {

class StateFile : public testing::Test {
 protected:
  StateFile() {
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    path_ = folder_ + "/file";
  }
  ~StateFile() override { std::filesystem::remove_all(folder_); }
  std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  std::vector<std::string> fields() const {
    std::vector<std::string> texts;
    const auto read = readStateFile(path_);
    if (!read.ok()) return {"error: " + read.error().detail};
    for (const base::Secret& field : read.value()) texts.emplace_back(field.reveal());
    return texts;
  }
  static unsigned modeOf(const std::string& path) {
    struct stat found {};
    EXPECT_EQ(::stat(path.c_str(), &found), 0);
    return found.st_mode & 0777;
  }

  std::string folder_ = ::testing::TempDir() + "state.XXXXXX";
  std::string path_;
};

using Fields = std::vector<std::string>;

TEST_F(StateFile, ReturnsTheFieldsThatWereWrittenWhateverTheirBytes) {
  const std::string zeros("\0,:\n", 4);
  ASSERT_TRUE(writeStateFile(path_, {"a", "", zeros}).ok());
  EXPECT_EQ(fields(), (Fields{"a", "", zeros}));
  ASSERT_TRUE(writeStateFile(path_, {}).ok());
  EXPECT_EQ(fields(), Fields{});
}

TEST_F(StateFile, IsForItsOwnerAlone) {
  ASSERT_TRUE(writeStateFile(path_, {"hidden"}).ok());
  EXPECT_EQ(modeOf(path_), 0600U);
  const std::string open = folder_ + "/open";
  ASSERT_EQ(::mkdir(open.c_str(), 0755), 0);
  ASSERT_TRUE(makeStateFolder(open).ok());
  EXPECT_EQ(modeOf(open), 0700U);
  ASSERT_TRUE(makeStateFolder(folder_ + "/new").ok());
  EXPECT_EQ(modeOf(folder_ + "/new"), 0700U);
  EXPECT_EQ(makeStateFolder(path_).error().detail, path_ + ": is no folder");
}

TEST_F(StateFile, IsReplacedEvenIfAnEarlierProcessEndedWhileItWrote) {
  ASSERT_TRUE(writeStateFile(path_, {"old"}).ok());
  std::ofstream(path_ + ".new") << "half";
  EXPECT_EQ(fields(), Fields{"old"});
  ASSERT_TRUE(writeStateFile(path_, {"new"}).ok());
  EXPECT_EQ(fields(), Fields{"new"});
  EXPECT_FALSE(std::filesystem::exists(path_ + ".new"));
}

TEST_F(StateFile, KnowsEveryChangedAndEveryMissingByte) {
  ASSERT_TRUE(writeStateFile(path_, {"some", "fields"}).ok());
  const std::string whole = content();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    put(changed);
    EXPECT_EQ(fields(), Fields{"error: " + path_ + ": is damaged"}) << i;
    put(whole.substr(0, i));
    EXPECT_EQ(fields(), Fields{"error: " + path_ + ": is damaged"}) << i;
  }
  put(whole + "1:x,");
  EXPECT_EQ(fields(), Fields{"error: " + path_ + ": is damaged"});
}

TEST_F(StateFile, NamesThePathThatCannotBeUsed) {
  EXPECT_EQ(fields(), Fields{"error: " + path_ + ": cannot be read: No such file or directory"});
  EXPECT_EQ(writeStateFile(folder_ + "/none/file", {"a"}).error().detail,
            folder_ + "/none/file.new: cannot be written: No such file or directory");
}

}  // namespace
}  // namespace sluice::control
