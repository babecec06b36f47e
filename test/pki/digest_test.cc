#include "proxy/pki/digest.h"

#include <gtest/gtest.h>

namespace sluice::pki {
namespace {

TEST(Digest, IsSha256AsPublished) {
  // FIPS 180-2, appendix B.1.
  EXPECT_EQ(toHex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(toHex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Digest, IsSha1AsPublished) {
  // RFC 3174, section 7.3.
  EXPECT_EQ(sha1("abc"), (Sha1Digest{0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a, 0xba, 0x3e,
                                     0x25, 0x71, 0x78, 0x50, 0xc2, 0x6c, 0x9c, 0xd0, 0xd8, 0x9d}));
}

TEST(Digest, IsTheSameForPiecesAndForTheWhole) {
  EXPECT_EQ(Sha256().add("a").add("").add("bc").finish(), sha256("abc"));
}

TEST(Digest, IsHmacAsPublished) {
  // RFC 4231, test cases 1, 2 and 6: a short key, text for a key, a key longer than a block.
  EXPECT_EQ(toHex(hmacSha256(base::Secret(std::string(20, '\x0b')), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(toHex(hmacSha256(base::Secret("Jefe"), "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(toHex(hmacSha256(base::Secret(std::string(131, '\xaa')),
                             "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Digest, AcceptsAnEmptyKey) {
  EXPECT_EQ(toHex(hmacSha256(base::Secret(), "")), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

}  // namespace
}  // namespace sluice::pki
