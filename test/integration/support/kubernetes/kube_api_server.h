// Runs kapi (test/support/kube), a real Kubernetes API server, for one test: on loopback, with data of its own.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/blocking_socket.h"
#include "test/integration/support/child_process.h"
#include "test/support/test_pki.h"

namespace sluice::test {

/// The reason with which tests that need kapi are skipped where it could not be built.
inline constexpr const char* kNoKapi = "kapi is not built: sh test/support/kube/build.sh ~/.cache/sluice/kapi";

class KubeApiServer {
 public:
  /// Returns true if kapi and kubectl were built, in $SLUICE_KAPI_DIR or else in ~/.cache/sluice/kapi.
  static bool available();

  /// Returns when it serves, after about a second; it is a test failure if it never does. `options` are further ones of
  /// kapi, such as "--authorization-mode", "RBAC"; `address` is where it listens. With `from` it begins with the data
  /// that another server had stored in its dataFolder() when it ended. Main thread.
  explicit KubeApiServer(std::vector<std::string> options = {}, std::string address = "127.0.0.1",
                         const std::string& from = "");

  std::string url() const { return "https://" + address_ + ":" + std::to_string(port_); }
  std::uint16_t port() const { return port_; }
  /// The folder has the files of the server's authority and of the administrator: ca.crt, ca.key, admin.crt, admin.key.
  std::string dataFolder() const { return folder_.path() + "/data"; }
  /// Returns the path of a file with which kubectl acts as the administrator.
  std::string kubeconfig() const { return dataFolder() + "/kubeconfig"; }
  /// Returns the authority that issued the server's certificate and whose clients the server trusts.
  CertifiedKey authority() const;
  ChildProcess& process() { return *process_; }

  /// Ends it by SIGTERM, which takes a second or two; another exit code than 0 is a test failure. Watches of kinds that
  /// have no CRD are waited for, for up to a minute, which is a test failure too: kill() is for servers that have any.
  void stop();
  /// Ends it as a lost machine would.
  void kill();
  /// Returns when all objects are gone that were not there when it became ready, but CustomResourceDefinitions.
  void forget();
  /// Restarts it after stop() or kill(), with the same port and the same data. Returns when it serves.
  void restart();

 private:
  TempDir folder_;
  std::string address_;
  std::uint16_t port_ = freePort();
  std::vector<std::string> argv_;
  std::unique_ptr<ChildProcess> process_;
};

/// Base of suites that need kapi: their tests are skipped where it could not be built.
class KubernetesTest : public testing::Test {
 protected:
  void SetUp() override;
};

/// Returns the path of a program that build.sh leaves: "kapi" or "kubectl".
std::string kapiProgram(const std::string& name);

/// Returns a kubeconfig for a server. `user` is a map in YAML of its users' credentials, such as "{token: abc}".
std::string kubeconfigOf(const std::string& url, const std::string& caFile, const std::string& user);

}  // namespace sluice::test
