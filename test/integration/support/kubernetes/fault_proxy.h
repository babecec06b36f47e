// A proxy between a client and a KubeApiServer that breaks connections where a test wants it. It sees the plaintext of
// HTTP/1.1, or, if the test prefers, only the bytes of TLS, in which HTTP/2 passes too. Its functions are called from
// the main thread.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "test/integration/support/kubernetes/kube_api_server.h"
#include "test/integration/support/kubernetes/proxied_connection.h"
#include "test/integration/support/kubernetes/proxy_faults.h"
#include "test/integration/support/kubernetes/tls_pipe.h"

namespace sluice::test {

class FaultProxy {
 public:
  enum class Layer {
    /// TLS ends at the proxy, whose certificate is from the server's authority; it offers http/1.1 only.
    kHttp,
    /// TLS passes through: no requests are seen, and cuts count its bytes.
    kTls,
  };
  enum class User {
    /// Every request is the administrator's, whatever its client claims. The proxy has the certificate.
    kAdministrator,
    /// The server sees only the identity in a request, such as its bearer token; client certificates end at the proxy.
    kOfTheRequest,
  };

  /// It dials the server's port for each connection, so that the server may be restarted. Layer::kTls ignores `user`.
  explicit FaultProxy(const KubeApiServer& server, Layer layer = Layer::kHttp, User user = User::kAdministrator);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  std::uint16_t port() const { return port_; }
  std::string url() const { return "https://127.0.0.1:" + std::to_string(port_); }
  /// Returns the path of a file like that of the server, with the address of the proxy.
  std::string kubeconfig() const { return folder_.path() + "/kubeconfig"; }

  /// Ends one connection somewhere in the server's bytes. A connection that ends before that point leaves the cut to
  /// another one. Each call makes one cut.
  void cut(const Cut& cut);
  /// Ends all connections now.
  void cutAll();
  /// Answers requests in the server's place. Layer::kHttp only.
  void answer(const CannedAnswer& answer) { faults_.add(answer); }
  /// Moves no more bytes, in either direction, of connections whose last request has `request` in its head, or of all
  /// connections if it is empty, new ones too. They stay open until resume().
  void stall(const std::string& request = "");
  void resume();
  /// Refuses new connections until accept(); those that are open stay.
  void refuse();
  void accept();

  /// Waits until this many cuts have been made since the beginning; returns false if they are not in time.
  bool waitForCuts(std::size_t cuts, std::chrono::milliseconds patience = kPatience) {
    return faults_.waitForCuts(cuts, patience);
  }
  /// Returns how many connections were accepted since the beginning.
  std::size_t connections() const { return faults_.connections(); }
  /// Returns how many are open.
  std::size_t openConnections() const;
  /// Returns the heads of all requests in order of arrival, and as "GET /api/v1/namespaces?limit=500".
  std::vector<std::string> heads() const { return faults_.heads(); }
  std::vector<std::string> requests() const;
  /// Waits until a request with `text` in its head has come this often; returns false if it does not in time.
  bool waitForRequests(std::string_view text, std::size_t times = 1, std::chrono::milliseconds patience = kPatience) {
    return faults_.waitForRequests(text, times, patience);
  }
  /// Returns all requests in order of arrival, each with the beginning of the server's answer.
  std::vector<ProxiedExchange> exchanges() const { return faults_.exchanges(); }
  /// Waits until the server itself has answered a request with `request` in its head with `answer`; returns false if it
  /// does not in time. Layer::kHttp only.
  bool waitForAnswer(std::string_view request, std::string_view answer,
                     std::chrono::milliseconds patience = kPatience) {
    return faults_.waitForAnswer(request, answer, patience);
  }

 private:
  void acceptAll(int listener);
  void connect(BlockingSocket client);
  void wakeAll();

  TempDir folder_;
  const std::uint16_t serverPort_;
  const std::uint16_t port_ = freePort();
  std::optional<TlsPipeContext> towardsClients_;
  std::optional<TlsPipeContext> towardsServer_;
  ProxyFaults faults_;
  mutable std::mutex mutex_;
  std::list<ProxiedConnection> connections_;
  int listener_ = -1;
  std::thread acceptor_;
};

}  // namespace sluice::test
