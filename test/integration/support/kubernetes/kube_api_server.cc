#include "test/integration/support/kubernetes/kube_api_server.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace sluice::test {
namespace {

/// Returns the folder in which test/run.sh has kapi built.
std::string kapiFolder() {
  if (const char* folder = std::getenv("SLUICE_KAPI_DIR")) return folder;
  if (const char* caches = std::getenv("XDG_CACHE_HOME"); caches != nullptr && *caches != '\0') {
    return std::string(caches) + "/sluice/kapi";
  }
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : "") + "/.cache/sluice/kapi";
}

/// Go collects garbage once the heap has doubled, which takes a quarter of kapi's CPU. Here it may grow to half a GiB.
const std::vector<std::string> kRareCollections = {"GOGC=400", "GOMEMLIMIT=512MiB"};

}  // namespace

bool KubeApiServer::available() {
  return access(kapiProgram("kapi").c_str(), X_OK) == 0 && access(kapiProgram("kubectl").c_str(), X_OK) == 0;
}

KubeApiServer::KubeApiServer(std::vector<std::string> options, std::string address, const std::string& from)
    : address_(std::move(address)),
      argv_{kapiProgram("kapi"), "--data-dir", dataFolder(), "--listen", address_ + ":" + std::to_string(port_)} {
  argv_.insert(argv_.end(), std::make_move_iterator(options.begin()), std::make_move_iterator(options.end()));
  // etcd reserves files of 64 MB, of which little is used.
  if (!from.empty()) {
    EXPECT_EQ(ChildProcess({"cp", "-r", "--sparse=always", from, dataFolder()}).wait(), 0);
  }
  restart();
}

void KubeApiServer::restart() {
  process_ = std::make_unique<ChildProcess>(argv_, kRareCollections);
  if (!process_->waitForLine("ready " + url())) ADD_FAILURE() << "kapi does not serve:\n" << process_->errors();
}

void KubeApiServer::stop() {
  process_->signal(SIGTERM);
  EXPECT_EQ(process_->wait(), 0) << process_->errors();
}

void KubeApiServer::kill() {
  process_->signal(SIGKILL);
  process_->wait();
}

void KubeApiServer::forget() {
  const std::size_t before = process_->said("forgot ");
  process_->signal(SIGUSR1);
  if (!process_->waitUntilSaid("forgot ", before + 1)) ADD_FAILURE() << "kapi keeps objects:\n" << process_->errors();
}

CertifiedKey KubeApiServer::authority() const {
  return {readFile(dataFolder() + "/ca.crt"), readFile(dataFolder() + "/ca.key")};
}

void KubernetesTest::SetUp() {
  if (!KubeApiServer::available()) GTEST_SKIP() << kNoKapi;
}

std::string kapiProgram(const std::string& name) { return kapiFolder() + "/bin/" + name; }

std::string kubeconfigOf(const std::string& url, const std::string& caFile, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: test\n"
         "clusters: [{name: test, cluster: {server: \"" +
         url + "\", certificate-authority: \"" + caFile +
         "\"}}]\n"
         "users: [{name: test, user: " +
         user +
         "}]\n"
         "contexts: [{name: test, context: {cluster: test, user: test}}]\n";
}

}  // namespace sluice::test
