// Runs kubectl for a test, with a kubeconfig of the test's choice, beside which it keeps its cache of the server's API.
// Each call is a process and takes a tenth of a second or more. Main thread.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/integration/support/child_process.h"

namespace sluice::test {

class Kubectl {
 public:
  /// `kubeconfig` is the path of a file, such as that of a KubeApiServer or of a FaultProxy before one.
  explicit Kubectl(std::string kubeconfig) : kubeconfig_(std::move(kubeconfig)) {}

  /// Runs `kubectl ARGUMENTS` to its end.
  ProgramOutcome run(const std::vector<std::string>& arguments) const;
  /// Like run(), but an exit code other than 0 is a test failure. Returns the standard output.
  std::string expect(const std::vector<std::string>& arguments) const;

  /// Applies documents by server-side apply, or deletes the objects that they name; it is a test failure if that does
  /// not succeed.
  void apply(std::string_view yaml) const;
  /// Creates objects that do not exist; for many of them, this takes much less time than apply().
  void create(std::string_view yaml) const;
  void remove(std::string_view yaml) const;
  /// Returns the text that `jsonpath` ("{.data.a}") selects of an object; empty if there is no such object, or nothing
  /// in it.
  std::string get(const std::string& kind, const std::string& nameSpace, const std::string& name,
                  const std::string& jsonpath) const;
  /// Waits until get() would return `value`; returns false if it does not in time. An object that is waited for may not
  /// be there yet.
  bool waitFor(const std::string& kind, const std::string& nameSpace, const std::string& name,
               const std::string& jsonpath, const std::string& value,
               std::chrono::milliseconds patience = kPatience) const;

 private:
  std::vector<std::string> command(const std::vector<std::string>& arguments) const;

  TempDir folder_;
  std::string kubeconfig_;
};

/// Installs the CustomResourceDefinitions of Gateway API in test/support/kube/crds, and returns when the server serves
/// their kinds; takes one to two seconds.
void installGatewayApi(const Kubectl& kubectl);

}  // namespace sluice::test
