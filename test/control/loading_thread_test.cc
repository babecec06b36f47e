// Tests the thread that loads: its results, the thread that gets them, and its end.
#include "proxy/control/loading_thread.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "proxy/control/file_source.h"
#include "proxy/control/report/status_document.h"
#include "test/support/loop_driver.h"
#include "test/support/manual_clock.h"
#include "test/support/test_pki.h"

namespace sluice::control {
namespace {

class LoadingThreads : public ::testing::Test {
 protected:
  LoadingThreads() {
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    write(8080);
    source_.emplace(std::vector<std::string>{folder_ + "/gateway.yaml"}, main_, log_);
    restart();
  }
  ~LoadingThreads() override {
    loader_.reset();  // it may still write
    std::filesystem::remove_all(folder_);
  }

  void write(int port) const {
    std::ofstream(folder_ + "/gateway.yaml")
        << "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: test}\n"
           "spec: {controllerName: sluice.dev/egress-gateway}\n"
           "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: test, name: egress}\n"
           "spec:\n  gatewayClassName: test\n  listeners: [{name: http, protocol: HTTP, port: "
        << port << "}]\n";
  }
  /// Writes a Gateway that shows this pair.
  void writeWithPair(const sluice::test::CertifiedKey& pair) const {
    std::ofstream(folder_ + "/gateway.yaml")
        << "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: test}\n"
           "spec: {controllerName: sluice.dev/egress-gateway}\n"
           "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: test, name: egress}\n"
           "spec:\n  gatewayClassName: test\n  listeners: [{name: https, protocol: HTTPS, port: 8443, tls: "
           "{certificateRefs: [{name: pair}]}}]\n"
           "---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: test, name: pair}\nstringData:\n"
        << sluice::test::stringDataOf(pair);
  }
  /// Goes on with a new thread, which knows only what the earlier one has stored.
  void restart() {
    if (loader_) clear("");  // everything before it is done then
    loader_.reset();
    served_ = {};
    loader_.emplace(*source_, processors_, log_, main_, folder_ + "/state");
    clear("");  // it has opened the folder then
  }
  void breakIt() const { std::ofstream(folder_ + "/gateway.yaml") << "{[" << std::endl; }

  Loaded resultOf(const std::function<void(Loader::Done)>& begin) {
    std::optional<Loaded> got;
    begin([&](Loaded&& loaded) {
      EXPECT_EQ(std::this_thread::get_id(), main_thread_);
      got = std::move(loaded);
    });
    EXPECT_TRUE(sluice::test::runUntil(main_, [&] { return got.has_value(); }));
    return std::move(*got);
  }
  Loaded load() {
    return resultOf([this](Loader::Done done) { loader_->load(served_, {}, std::move(done)); });
  }
  Loaded restore() {
    return resultOf([this](Loader::Done done) { loader_->restore({}, std::move(done)); });
  }
  bool clear(const std::string& prefix) {
    std::optional<bool> cleared;
    loader_->clearTaint(prefix, [&](bool done) { cleared = done; });
    EXPECT_TRUE(sluice::test::runUntil(main_, [&] { return cleared.has_value(); }));
    return *cleared;
  }
  /// Loads the written configuration, and serves it.
  void serve() {
    served_ = load();
    ASSERT_EQ(served_.outcome, Loaded::Outcome::kServable);
    loader_->keep(served_);
  }
  static std::uint16_t portOf(const Loaded& loaded) { return loaded.generation->snapshot->binds.at(0).port; }

  const std::thread::id main_thread_ = std::this_thread::get_id();
  std::string folder_ = ::testing::TempDir() + "loader.XXXXXX";
  sluice::test::ManualClock clock_;
  observe::Log log_{observe::LogLevel::kOff, clock_, observe::LineFile::over(STDERR_FILENO)};
  net::Worker main_{clock_};
  std::optional<FileSource> source_;
  const processing::BuiltinTypes processors_;
  Loaded served_;
  std::optional<LoadingThread> loader_;
};

TEST_F(LoadingThreads, RememberWhatIsServedAtOnceAndStoreItWithTheConfiguration) {
  served_ = load();
  loader_->remember(served_);
  EXPECT_FALSE(clear("none"));  // everything before it is done then
  ASSERT_EQ(loader_->ledger()->revisions().size(), 1U);
  loader_.emplace(*source_, processors_, log_, main_, folder_ + "/state");
  EXPECT_FALSE(clear("none"));
  EXPECT_TRUE(loader_->ledger()->revisions().empty()) << "it was not stored";
  loader_->keep(served_);
  restart();
  EXPECT_EQ(loader_->ledger()->revisions().size(), 1U);
}

TEST_F(LoadingThreads, HandOverACompleteGenerationWithItsObjects) {
  served_ = load();
  ASSERT_EQ(served_.outcome, Loaded::Outcome::kServable);
  EXPECT_EQ(served_.generation->revision, served_.configuration->revision);
  EXPECT_TRUE(served_.generation->objects.contains("test/egress"));
}

TEST_F(LoadingThreads, RememberWhichGatewayHasWhichAddressOfThePool) {
  loader_.emplace(*source_, processors_, log_, main_, "", nullptr, compile::AddressPool::parse("127.8.0.7/32").value());
  serve();
  const auto holders = [](const Loaded& loaded) { return loaded.configuration->compiled.addresses; };
  const compile::GatewayAddresses first{{"Gateway test/egress", "127.8.0.7"}};
  EXPECT_EQ(holders(served_), first);
  EXPECT_EQ(served_.generation->snapshot->binds.at(0).address, "127.8.0.7");
  std::ofstream(folder_ + "/gateway.yaml", std::ios::app)
      << "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: test, name: earlier}\n"
         "spec:\n  gatewayClassName: test\n  listeners: [{name: http, protocol: HTTP, port: 8080}]\n";
  EXPECT_EQ(holders(load()), first) << "the new one comes first by name";
  served_ = {};
  EXPECT_EQ(holders(load()), (compile::GatewayAddresses{{"Gateway test/earlier", "127.8.0.7"}}));
}

TEST_F(LoadingThreads, ReportAnUnchangedConfiguration) {
  served_ = load();
  const Loaded again = load();
  EXPECT_EQ(again.outcome, Loaded::Outcome::kUnchanged);
  EXPECT_EQ(again.generation, nullptr);
  write(8081);
  const Loaded other = load();
  ASSERT_EQ(other.outcome, Loaded::Outcome::kServable);
  EXPECT_NE(other.configuration->revision, served_.configuration->revision);
}

TEST_F(LoadingThreads, ReportWhyAConfigurationCannotBeServed) {
  served_ = load();
  breakIt();
  const Loaded broken = load();
  EXPECT_EQ(broken.outcome, Loaded::Outcome::kRefused);
  EXPECT_EQ(broken.generation, nullptr);
  ASSERT_FALSE(broken.problems->empty());
  write(8080);
  EXPECT_EQ(load().outcome, Loaded::Outcome::kUnchanged) << "it is compared with what is served";
}

TEST_F(LoadingThreads, DistinguishWrongContentFromAPathThatCannotBeRead) {
  served_ = load();
  std::filesystem::rename(folder_ + "/gateway.yaml", folder_ + "/elsewhere");
  const Loaded missing = load();
  EXPECT_EQ(missing.outcome, Loaded::Outcome::kUnavailable);
  EXPECT_TRUE(loader_->ledger()->revisions().empty()) << "it is not tainted";
  std::filesystem::rename(folder_ + "/elsewhere", folder_ + "/gateway.yaml");
  EXPECT_EQ(load().outcome, Loaded::Outcome::kUnchanged);
}

TEST_F(LoadingThreads, TaintARefusedRevisionUntilItIsCleared) {
  serve();
  breakIt();
  const std::string bad = load().configuration->digest;
  ASSERT_EQ(loader_->ledger()->revisions().size(), 2U);
  EXPECT_TRUE(loader_->ledger()->revisions()[0].tainted());
  EXPECT_EQ(loader_->ledger()->revisions()[0].digest, bad);
  EXPECT_FALSE(clear("none"));
  restart();
  EXPECT_NE(loader_->ledger()->findTainted(bad), nullptr) << "it outlives the process";
  EXPECT_EQ(load().configuration->digest, bad) << "the key of digests is the same";
  EXPECT_TRUE(clear(bad.substr(0, 12)));
  EXPECT_EQ(loader_->ledger()->revisions().size(), 1U);
}

TEST_F(LoadingThreads, ShareTheirRevisionsIfTheirSettingsNameAKey) {
  const std::string secret =
      "---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: test, name: revisions}\n"
      "stringData: {key: '0123456789abcdef0123456789abcdef'}\n";
  const auto withSettings = [&](const std::string& text) {
    write(8080);
    std::ofstream(folder_ + "/gateway.yaml", std::ios::app)
        << secret
        << "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: a}\nspec:\n"
           "  controllerName: sluice.dev/egress-gateway\n"
           "  parametersRef: {group: '', kind: ConfigMap, namespace: test, name: s}\n"
           "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: test, name: s}\ndata: {settings.yaml: \"" +
               text + "\"}\n";
  };
  const auto revisionsOfTwo = [&] {
    const std::string one = load().configuration->digest;
    std::filesystem::remove_all(folder_ + "/state");
    restart();
    return std::pair(one, load().configuration->digest);
  };
  withSettings("{}");
  const auto own = revisionsOfTwo();
  EXPECT_NE(own.first, own.second);
  withSettings("revisions: {keyRef: {namespace: test, name: revisions}, keep: 1}");
  const auto shared = revisionsOfTwo();
  EXPECT_EQ(shared.first, shared.second);
  EXPECT_EQ(load().configuration->digest, shared.first) << "and stays so";
  withSettings("revisions: {keyRef: {namespace: test, name: other}}");
  const Loaded missing = load();
  EXPECT_EQ(missing.outcome, Loaded::Outcome::kServable);
  ASSERT_EQ(missing.problems->size(), 1U);
  EXPECT_EQ(missing.problems->front().message,
            "Secret test/other does not exist; this process has a key of its own until then");
}

TEST_F(LoadingThreads, RestoreTheLastGoodConfiguration) {
  EXPECT_EQ(restore().configuration, nullptr) << "there is none";
  serve();
  write(8081);
  serve();
  breakIt();
  EXPECT_EQ(load().outcome, Loaded::Outcome::kRefused);
  restart();
  const Loaded restored = restore();
  ASSERT_EQ(restored.outcome, Loaded::Outcome::kServable);
  EXPECT_EQ(portOf(restored), 8081);
  EXPECT_FALSE(restored.configuration->digest.empty());
}

TEST_F(LoadingThreads, RestoreAnEarlierConfigurationIfTheLastGoodOneIsDamaged) {
  serve();
  write(8081);
  serve();
  restart();
  std::ofstream(folder_ + "/state/last-good") << "nonsense";
  EXPECT_EQ(portOf(restore()), 8081) << "the newest of the history";
  std::ofstream(folder_ + "/state/revision-" + loader_->ledger()->revisions()[0].digest) << "nonsense";
  EXPECT_EQ(portOf(restore()), 8080);
}

TEST_F(LoadingThreads, RestoreTheEarlierVersionsOfRefusedObjects) {
  serve();
  std::ofstream(folder_ + "/gateway.yaml", std::ios::app) << "  surprise: 1\n";
  serve();
  EXPECT_EQ(served_.configuration->kept.size(), 1U);
  const std::string digest = served_.configuration->servedDigest;
  restart();
  const Loaded restored = restore();
  ASSERT_EQ(restored.outcome, Loaded::Outcome::kServable);
  EXPECT_EQ(restored.configuration->servedDigest, digest);
  EXPECT_EQ(portOf(restored), 8080);
}

TEST_F(LoadingThreads, RestoreThePairThatServedOnUntilItExpires) {
  const sluice::test::CertifiedKey first = sluice::test::selfSigned({});
  const sluice::test::CertifiedKey second = sluice::test::selfSigned({});
  writeWithPair(first);
  serve();
  writeWithPair({second.certificate, first.key});
  serve();
  ASSERT_EQ(served_.generation->snapshot->binds.size(), 1U);
  const std::string digest = served_.configuration->servedDigest;
  restart();
  served_ = restore();
  ASSERT_EQ(served_.outcome, Loaded::Outcome::kServable);
  EXPECT_EQ(served_.configuration->servedDigest, digest);
  ASSERT_EQ(served_.generation->snapshot->binds.size(), 1U);
  const auto& shown = served_.generation->snapshot->binds[0].identities.at(0).certificate;
  EXPECT_EQ(shown->fingerprint(), pki::CertificateChain::parse(first.certificate)->fingerprint());
  EXPECT_EQ(load().outcome, Loaded::Outcome::kUnchanged);

  clock_.setWall(shown->notAfter());
  const Loaded expired = load();
  ASSERT_EQ(expired.outcome, Loaded::Outcome::kServable);
  EXPECT_TRUE(expired.generation->snapshot->binds.empty());
  EXPECT_EQ(expired.configuration->servedDigest, expired.configuration->digest);
}

TEST_F(LoadingThreads, KeepTheirStateWhereTheSettingsSay) {
  std::ofstream(folder_ + "/gateway.yaml", std::ios::app)
      << "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: test, name: settings}\ndata:\n  settings.yaml: "
         "\"stateDir: " +
             folder_ +
             "/elsewhere\"\n"
             "---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: test, name: s}\nstringData: {a: b}\n";
  std::string text;
  {
    std::ifstream in(folder_ + "/gateway.yaml");
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  const std::string spec = "spec: {controllerName: sluice.dev/egress-gateway";
  text.insert(text.find(spec) + spec.size(),
              ", parametersRef: {group: '', kind: ConfigMap, namespace: test, name: settings}");
  std::ofstream(folder_ + "/gateway.yaml") << text;
  clear("");
  loader_.emplace(*source_, processors_, log_, main_);
  serve();
  EXPECT_EQ(load().outcome, Loaded::Outcome::kUnchanged) << "digests are by one key from the first one on";
  const std::string digest = served_.configuration->digest;
  loader_.emplace(*source_, processors_, log_, main_);
  served_ = {};
  EXPECT_EQ(load().configuration->digest, digest) << "the key is kept";
  EXPECT_EQ(loader_->ledger()->revisions().at(0).digest, digest);
}

TEST_F(LoadingThreads, JudgeATaintedRevisionAsLoadingItDoes) {
  const auto verdict = [this] {
    std::ifstream in(folder_ + "/gateway.yaml");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    std::optional<std::string> document;
    loader_->judge({}, text, {}, [&](const LoadingThread::Judgement& given) { document = given.document; });
    EXPECT_TRUE(sluice::test::runUntil(main_, [&] { return document.has_value(); }));
    return *document;
  };
  EXPECT_TRUE(verdict().starts_with("{\"valid\":true,\"state\":\"InSync\"")) << verdict();
  const std::string digest = load().configuration->digest;
  loader_.reset();
  RevisionLedger ledger;
  ledger.addTainted(digest, "a worker could not take it", clock_.wallNow());
  ASSERT_TRUE(RevisionStore::open(folder_ + "/state")->keep(ledger).ok());
  restart();
  EXPECT_EQ(load().outcome, Loaded::Outcome::kRefused);
  EXPECT_TRUE(verdict().starts_with("{\"valid\":false,\"state\":\"Rollback\"")) << verdict();
  EXPECT_NE(verdict().find("refused before (a worker could not take it)"), std::string::npos);
}

TEST_F(LoadingThreads, SayWhichVersionOfAnObjectIsServedAndSinceWhen) {
  const auto gateway = [this] { return served_.configuration->compiled.statuses.back(); };
  serve();
  const config::ObjectStatus first = gateway();
  EXPECT_EQ(first.servedRevision.size(), 12U);
  EXPECT_EQ(first.servedSince, clock_.wallNow());
  clear("");  // it has stored the served configuration, and reads no clock now
  clock_.advance(std::chrono::seconds(1));
  std::ofstream(folder_ + "/gateway.yaml", std::ios::app) << "  surprise: 1\n";
  serve();
  EXPECT_EQ(gateway().servedRevision, first.servedRevision) << "its earlier version";
  EXPECT_EQ(gateway().servedSince, first.servedSince);
  EXPECT_EQ(gateway().changes, 2);
  write(8081);
  serve();
  EXPECT_NE(gateway().servedRevision, first.servedRevision);
  EXPECT_EQ(gateway().servedSince, clock_.wallNow());
}

TEST_F(LoadingThreads, SayNoVersionOfAnObjectThatIsRefusedFromTheStart) {
  std::ofstream(folder_ + "/gateway.yaml", std::ios::app) << "  surprise: 1\n";
  EXPECT_EQ(load().configuration->compiled.statuses.back().servedRevision, "");
}

TEST_F(LoadingThreads, LetTheServedConfigurationBeReadMeanwhile) {
  served_ = load();
  for (int i = 0; i < 20; ++i) {
    write(9000 + i);
    std::optional<Loaded> got;
    loader_->load(served_, {}, [&](Loaded&& loaded) { got = std::move(loaded); });
    const Revisions revisions;
    std::size_t length = 0;
    ASSERT_TRUE(sluice::test::runUntil(main_, [&] {
      length += statusDocument(*served_.configuration, revisions).size();
      return got.has_value();
    }));
    EXPECT_GT(length, 0u);
    std::swap(served_, *got);
    loader_->discard(std::move(*got));
  }
}

TEST_F(LoadingThreads, EndDuringAJob) {
  for (int i = 0; i < 20; ++i) {
    loader_.emplace(*source_, processors_, log_, main_);
    loader_->load(served_, {}, [](Loaded&&) {});
    if (i % 2 == 0) loader_->discard({});
    loader_.reset();
  }
}

}  // namespace
}  // namespace sluice::control
