// Tests what a bind keeps across generations: its id, and its TLS context if the certificates and demands are the same.
#include "proxy/control/state/generation.h"

#include <gtest/gtest.h>

#include "proxy/routing/policy/client_validation.h"
#include "test/support/test_pki.h"

namespace sluice::control {
namespace {

/// A bind as a test writes it. With identities it uses TLS.
struct WrittenBind {
  std::string address;
  std::uint16_t port;
  std::vector<routing::ListenerIdentity> identities = {};
};

std::shared_ptr<const routing::Snapshot> snapshotOf(const std::vector<WrittenBind>& binds) {
  auto snapshot = std::make_shared<routing::Snapshot>();
  for (const WrittenBind& at : binds) {
    routing::Bind& bind = snapshot->binds.emplace_back();
    bind.address = at.address;
    bind.port = at.port;
    bind.tls = !at.identities.empty();
    bind.identities = at.identities;
  }
  return snapshot;
}

routing::ListenerIdentity identity(const sluice::test::CertifiedKey& from) {
  return {std::make_shared<const pki::CertificateChain>(pki::CertificateChain::parse(from.certificate).value()),
          std::make_shared<const pki::PrivateKey>(pki::PrivateKey::parse(from.secretKey()).value())};
}

class Generations : public ::testing::Test {
 protected:
  std::shared_ptr<const Generation> next(const std::vector<WrittenBind>& binds) {
    auto made = maker_.make(snapshotOf(binds), "1", last_.get());
    EXPECT_TRUE(made.ok());
    last_ = *made;
    return last_;
  }
  static WrittenBind secure(std::vector<routing::ListenerIdentity> identities, std::uint16_t port = 443) {
    return {"", port, std::move(identities)};
  }

  std::shared_ptr<const routing::ClientValidation> validation() const {
    auto rules = std::make_shared<pki::ClientRules>();
    rules->trust = std::make_shared<const pki::TrustStore>(pki::TrustStore::parse(root_.certificate).value());
    routing::ClientValidation made;
    made.rules = std::move(rules);
    return std::make_shared<const routing::ClientValidation>(std::move(made));
  }

  GenerationMaker maker_;
  std::shared_ptr<const Generation> last_;
  const sluice::test::CertifiedKey root_ = sluice::test::makeAuthority();
  const sluice::test::CertifiedKey one_ = sluice::test::issueServer(root_, "one.test");
  const sluice::test::CertifiedKey two_ = sluice::test::issueServer(root_, "two.test");
};

TEST_F(Generations, ABindKeepsItsIdAtAnyPosition) {
  const auto first = next({WrittenBind{"", 80}, WrittenBind{"127.0.0.1", 81}});
  const auto second = next({WrittenBind{"127.0.0.1", 81}, WrittenBind{"", 82}, WrittenBind{"", 80}});
  EXPECT_EQ(second->binds[0].id, first->binds[1].id);
  EXPECT_EQ(second->binds[2].id, first->binds[0].id);
  EXPECT_EQ(first->find(second->binds[1].id), nullptr);
  EXPECT_EQ(second->find(first->binds[0].id)->service, &second->snapshot->binds[2].service);
}

TEST_F(Generations, ABindThatReturnsHasItsOldId) {
  const BindId before = next({WrittenBind{"", 80}})->binds[0].id;
  next({WrittenBind{"", 81}});
  EXPECT_EQ(next({WrittenBind{"", 80}})->binds[0].id, before);
}

TEST_F(Generations, APortThatChangesToTlsIsANewBind) {
  const BindId plain = next({WrittenBind{"", 443}})->binds[0].id;
  const auto after = next({secure({identity(one_)})});
  EXPECT_NE(after->binds[0].id, plain);
  EXPECT_NE(after->binds[0].tls, nullptr);
}

TEST_F(Generations, UnchangedCertificatesKeepTheirContext) {
  const auto before = next({secure({identity(one_), identity(two_)})});
  const auto after = next({WrittenBind{"", 80}, secure({identity(one_), identity(two_)})});
  EXPECT_EQ(after->binds[1].tls, before->binds[0].tls);
  EXPECT_EQ(after->binds[0].tls, nullptr);
}

TEST_F(Generations, ChangedCertificatesGetANewContext) {
  const std::vector<std::vector<routing::ListenerIdentity>> courses = {
      {identity(one_)},
      {identity(two_)},
      {identity(two_), identity(one_)},
      {identity(one_), identity(two_)},
      {identity(one_)},
      {identity(sluice::test::issueServer(root_, "one.test"))},
      {identity(sluice::test::withChain(one_, root_))},
      {identity(one_)}};
  std::shared_ptr<const net::TlsServerContext> before;
  for (std::size_t i = 0; i < courses.size(); ++i) {
    const auto made = next({secure(courses[i])});
    EXPECT_NE(made->binds[0].tls, before) << i;
    before = made->binds[0].tls;
  }
}

TEST_F(Generations, AChangedDemandGetsANewContext) {
  const auto demanding = [this](std::shared_ptr<const routing::ClientValidation> clients) {
    routing::ListenerIdentity asked = identity(one_);
    asked.clients = std::move(clients);
    return secure({asked});
  };
  const auto one = validation();
  const auto before = next({demanding(nullptr)});
  const auto asking = next({demanding(one)});
  EXPECT_NE(asking->binds[0].tls, before->binds[0].tls);
  EXPECT_EQ(next({demanding(one)})->binds[0].tls, asking->binds[0].tls);
  const auto other = next({demanding(validation())});
  EXPECT_NE(other->binds[0].tls, asking->binds[0].tls);
  EXPECT_NE(next({demanding(nullptr)})->binds[0].tls, other->binds[0].tls);
}

TEST_F(Generations, TheFallbackDemandsNothingOfTheHandshake) {
  struct Terms {
    bool required;
    bool insecureFallback;
    bool demandRequires;
    bool demandRefuses;
  };
  for (const Terms& terms : std::vector<Terms>{{true, false, true, true},
                                               {false, false, false, true},
                                               {true, true, false, false},
                                               {false, true, false, false}}) {
    auto clients = *validation();
    clients.required = terms.required;
    clients.insecureFallback = terms.insecureFallback;
    routing::Bind bind;
    bind.identities = {identity(one_), identity(two_)};
    bind.identities[1].clients = std::make_shared<const routing::ClientValidation>(clients);
    const net::TlsServerSettings settings = tlsServerSettings(bind);
    EXPECT_EQ(settings.identities[0].clients, nullptr);
    ASSERT_NE(settings.identities[1].clients, nullptr);
    EXPECT_EQ(settings.identities[1].clients->rules, clients.rules);
    EXPECT_EQ(settings.identities[1].clients->required, terms.demandRequires);
    EXPECT_EQ(settings.identities[1].clients->refuses, terms.demandRefuses);
  }
}

TEST_F(Generations, EachBindHasItsOwnContext) {
  const auto made = next({secure({identity(one_)}), secure({identity(one_)}, 8443)});
  EXPECT_NE(made->binds[0].tls, made->binds[1].tls);
}

TEST_F(Generations, ARefusedGenerationLeavesNoTrace) {
  const auto before = next({secure({identity(one_)})});
  routing::ListenerIdentity broken = identity(one_);
  broken.key = identity(two_).key;
  EXPECT_FALSE(maker_.make(snapshotOf({secure({broken}, 8443)}), "2", before.get()).ok());
  const auto after = next({secure({identity(one_)}), secure({identity(two_)}, 8443)});
  EXPECT_EQ(after->binds[0].id, before->binds[0].id);
  EXPECT_EQ(after->binds[0].tls, before->binds[0].tls);
  EXPECT_NE(after->binds[1].id, before->binds[0].id);
}

TEST_F(Generations, ATlsListenerOffersBothVersionsAndAllItsCertificates) {
  routing::Bind bind;
  bind.identities.resize(2);
  const net::TlsServerSettings settings = tlsServerSettings(bind);
  EXPECT_EQ(settings.alpn, (std::vector<std::string>{"h2", "http/1.1"}));
  EXPECT_EQ(settings.identities.size(), 2U);
}

}  // namespace
}  // namespace sluice::control
