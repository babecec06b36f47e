// Tests that crl.pem is used together with ca.crt.
#include <gtest/gtest.h>

#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;

std::string bundle(const std::string& list) {
  return test::configMap("ca", "ca.crt", test::authority().certificate) + "  crl.pem: " + list + "\n";
}
World worldWithBundle(const std::string& bundleDocument, const std::string& kind = "ConfigMap") {
  return World({kClass, kGateway, kRoute, bundleDocument,
                with(kBackend, "port: 8080}}",
                     "port: 8080}}, tls: {mode: Terminate, caBundleRef: {kind: " + kind + ", name: ca}}")});
}
std::string list() { return sluice::test::revocationList(test::authority(), {test::server()}); }

TEST(RevocationList, IsReadBesideTheAuthorities) {
  const World world = worldWithBundle(bundle(test::block(list())));
  ASSERT_EQ(world.outcome(), "default/origin");
  const World without = worldWithBundle(test::configMap("ca", "ca.crt", test::authority().certificate));
  ASSERT_EQ(without.outcome(), "default/origin");
  const auto trust = [](const World& each) { return each.snapshot().backends.at(0)->tls->trust; };
  EXPECT_NE(trust(world)->fingerprint(), trust(without)->fingerprint()) << "other connections, then";
  EXPECT_NE(trust(world)->listsExpire(), trust(without)->listsExpire());
}

TEST(RevocationList, IsReadFromASecretToo) {
  const World world =
      worldWithBundle(test::secret("ca", {{"ca.crt", test::authority().certificate}, {"crl.pem", list()}}), "Secret");
  ASSERT_EQ(world.outcome(), "default/origin");
  EXPECT_NE(world.snapshot().backends.at(0)->tls->trust->listsExpire(), base::WallTime::max());
}

TEST(RevocationList, IsNeverIgnored) {
  for (const std::string& text :
       {std::string("''"), std::string("' '"), std::string("nonsense"), test::block(test::authority().certificate)}) {
    const World world = worldWithBundle(bundle(text));
    EXPECT_EQ(world.condition("Backend", "origin", "ResolvedRefs"), "False/InvalidCACertificateRef") << text;
    EXPECT_NE(world.message("Backend", "origin", "ResolvedRefs").find("crl.pem"), std::string::npos) << text;
    EXPECT_EQ(world.outcome(), "500") << text;
  }
}

}  // namespace
}  // namespace sluice::compile
