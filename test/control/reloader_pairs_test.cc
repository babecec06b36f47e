// Tests when the Reloader ends a key pair that serves on although its Secret has another one half replaced.
#include <gtest/gtest.h>

#include <utility>

#include "test/control/reloader_fixture.h"
#include "test/support/test_pki.h"

namespace sluice::control {
namespace {

class ReloaderPairsTest : public ReloaderTest {
 protected:
  ReloaderPairsTest() { clock_.setWall(pair_.certificate->notAfter() - std::chrono::minutes(5)); }

  /// Serves a configuration with the pair.
  void serveWithPair() {
    begin();
    reloader_.reload();
    CompiledConfiguration keeping;
    keeping.revision = keeping.servedRevision = "two";
    keeping.set.serial = fromApiServer_ ? 1 : 0;
    keeping.model.lastPairs.insert({{"test", "pair"}, pair_});
    Loaded two = loaded("two");
    two.configuration = std::make_shared<const CompiledConfiguration>(std::move(keeping));
    loader_.hand(std::move(two));
    server_.answer();
    server_.answer();
  }

 private:
  static config::KeyPair made() {
    const sluice::test::CertifiedKey written = sluice::test::selfSigned({});
    return {std::make_shared<const pki::CertificateChain>(pki::CertificateChain::parse(written.certificate).value()),
            std::make_shared<const pki::PrivateKey>(pki::PrivateKey::parse(written.secretKey()).value())};
  }

  const config::KeyPair pair_ = made();
};

TEST_F(ReloaderPairsTest, ReadsTheSourceAgainWhenThePairHasExpired) {
  serveWithPair();
  for (int i = 0; i < 10; ++i) passes(std::chrono::seconds(20));
  EXPECT_FALSE(loader_.loading());
  for (int i = 0; i < 10; ++i) passes(std::chrono::seconds(20));
  EXPECT_TRUE(loader_.loading());
  EXPECT_EQ(loader_.recompilations, 0);
  serve("three");
  const int loads = loader_.loads;
  for (int i = 0; i < 10; ++i) passes(std::chrono::seconds(20));
  EXPECT_EQ(loader_.loads, loads) << "no pair is left";
}

TEST_F(ReloaderPairsTest, CompilesWhatIsServedAgainIfTheSourceIsRefused) {
  serveWithPair();
  reloader_.reload();
  loader_.hand(refused("bad"));
  for (int i = 0; i < 20; ++i) passes(std::chrono::seconds(20));
  EXPECT_TRUE(loader_.loading());
  EXPECT_EQ(loader_.recompilations, 1);
  serve("two without it");
  EXPECT_EQ(served(), "two without it");
  EXPECT_EQ(state(), "Rollback");
}

}  // namespace
}  // namespace sluice::control
