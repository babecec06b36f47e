// Tests how the small files with credentials for an API server are read.
#include "proxy/kubernetes/access/access_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "test/kubernetes/access/access_folder.h"

namespace sluice::kubernetes {
namespace {

class AccessFiles : public ::testing::Test {
 protected:
  std::string refusal(const std::string& name, std::size_t maxBytes) const {
    const base::Result<base::Secret> text = readAccessFile(folder_ / name, maxBytes);
    return text.ok() ? "read" : text.error().detail;
  }
  const AccessFolder folder_;
};

TEST_F(AccessFiles, AreReadAsTheyAre) {
  const std::string bytes("a\0b\r\n\xFF", 6);
  folder_.write("some", bytes);
  folder_.link("link", "some");
  folder_.write("empty", "");
  EXPECT_EQ(readAccessFile(folder_ / "some", 6)->reveal(), bytes);
  EXPECT_EQ(readAccessFile(folder_ / "link", 6)->reveal(), bytes);
  EXPECT_EQ(readAccessFile(folder_ / "empty", 0)->reveal(), "");
}

TEST_F(AccessFiles, AreRefusedBeyondTheirBound) {
  folder_.write("some", "123456");
  EXPECT_EQ(refusal("some", 6), "read");
  EXPECT_EQ(refusal("some", 5), folder_ / "some: is larger than 5 bytes");
}

// The file system gives these no size, and their content is read all the same.
TEST_F(AccessFiles, AreReadIfTheirSizeIsNotKnown) {
  EXPECT_TRUE(readAccessFile("/proc/self/status", 64 * 1024).ok());
  EXPECT_FALSE(readAccessFile("/proc/self/status", 10).ok());
}

TEST_F(AccessFiles, MustBeRegularFilesThatCanBeRead) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  folder_.link("dangling", "nowhere");
  folder_.write("below/some", "1");
  EXPECT_EQ(refusal("pipe", 6), folder_ / "pipe: is not a regular file, and could not be read again");
  EXPECT_EQ(refusal("missing", 6), folder_ / "missing: cannot be read: No such file or directory");
  EXPECT_EQ(refusal("dangling", 6), folder_ / "dangling: cannot be read: No such file or directory");
  EXPECT_EQ(refusal("below", 6), folder_ / "below: cannot be read: Is a directory");
  EXPECT_EQ(refusal("below/some/more", 6), folder_ / "below/some/more: cannot be read: Not a directory");
}

TEST(AccessTokens, AreStrippedOfWhiteSpace) {
  EXPECT_EQ(parseToken("abc.d-_~+/=")->reveal(), "abc.d-_~+/=");
  EXPECT_EQ(parseToken(" \r\n\tabc\v\f\n")->reveal(), "abc");
}

TEST(AccessTokens, HoldOnlyWhatAHeaderFieldCan) {
  for (const std::string& text :
       {std::string("s3cret one"), std::string("s3cret\none"), std::string("s3cret\r\nX-Other: 1"),
        std::string("s3cret\0", 7), std::string("s3cret\x7F"), std::string("s3cret\xC3\xA9"),
        std::string("\xEF\xBB\xBFs3cret")}) {
    const base::Result<base::Secret> token = parseToken(text);
    ASSERT_FALSE(token.ok()) << text;
    EXPECT_EQ(token.error().detail.find("s3cret"), std::string::npos);
  }
  EXPECT_FALSE(parseToken("").ok());
  EXPECT_FALSE(parseToken(" \n").ok());
}

TEST(AccessTokens, AreAtMost64KibibytesLong) {
  EXPECT_TRUE(parseToken(std::string(kMaxTokenBytes, 'a') + "\n").ok());
  EXPECT_FALSE(parseToken(std::string(kMaxTokenBytes + 1, 'a')).ok());
}

TEST_F(AccessFiles, OfTokensAreNamedInErrors) {
  folder_.write("good", "abc\n");
  folder_.write("empty", "\n");
  EXPECT_EQ(readTokenFile(folder_ / "good")->reveal(), "abc");
  EXPECT_EQ(readTokenFile(folder_ / "empty").error().detail, folder_ / "empty: the token is empty");
}

}  // namespace
}  // namespace sluice::kubernetes
