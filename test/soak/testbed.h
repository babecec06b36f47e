// The parts that are there throughout the soak: authorities, origins, the name server, and the gateway in the middle.
//
// The paths lead to:
//   /            one of two sluice-echo, over TLS, HTTP/2           /plain    sluice-echo, plain HTTP/1.1
//   /weighted    both of them, by weights                           /files    nginx, over TLS
//   /flip        a name whose addresses change                      /gone     a name that comes and goes
//   /never       a name that does not exist                         /rough    an origin that breaks the protocol
//   /version     an answer that names the configuration             /pinned   an authority that is right or wrong
//   /service     a Service whose endpoints come and go, one of which is dead
//   /socket      the npm package "ws", plain, which echoes messages
//   /sluice.test.Echo   @grpc/grpc-js, over TLS
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/name_server.h"
#include "test/integration/support/raw_origin.h"
#include "test/soak/variant.h"
#include "test/support/test_pki.h"

namespace sluice::soak {

inline constexpr std::chrono::seconds kRequestHeader{4};
inline constexpr std::chrono::seconds kStreamIdle{8};
inline constexpr std::chrono::seconds kUpstreamIdle{2};
/// Something may end this much later than its timeout on a busy machine.
inline constexpr std::chrono::seconds kSlack{25};

class Testbed {
 public:
  Testbed();
  ~Testbed();

  test::GatewayProcess& gateway() { return *gateway_; }
  test::NameServer& names() { return names_; }
  test::GatewaySpec spec(const Variant& variant) const;
  /// Returns the bytes of the gateway's heap that are in use; 0 before the first second.
  double heapBytes() const;
  /// Returns the name server's records, with and without those of /gone.
  test::NameServer::Records records(const std::vector<std::string>& flip, bool gone) const;

  std::uint16_t extraPort() const { return extraPort_; }
  const std::string& accessLog() const { return accessLog_; }
  /// Return a file with every authority that a listener's certificate may come from, and one with a single authority.
  const std::string& authoritiesFile() const { return authoritiesFile_; }
  const std::string& authorityFile(bool other) const { return other ? otherFile_ : rootFile_; }
  /// Returns sluice-echo's answer to /bytes/SIZE.
  std::string pattern(std::size_t size) const { return pattern_.substr(0, size); }
  static constexpr std::size_t kMostPattern = 4'000'000;
  /// A file of kMostPattern / 4 bytes, which nginx serves as /files/large too.
  const std::string& largeFile() const { return largeFile_; }
  static constexpr std::size_t kLargeFile = kMostPattern / 4;

 private:
  void startEchoesAtTwoAddresses();
  void startNginx();
  /// Starts a program of test/integration/clients that prints its port.
  std::unique_ptr<test::ChildProcess> startNode(const std::vector<std::string>& script, std::uint16_t& port) const;
  void tellEveryWorkerTheNames() const;
  std::vector<test::BackendSpec> backends(const Variant& variant) const;

  test::TempDir folder_;
  const test::CertifiedKey root_ = test::makeAuthority("Root");
  const test::CertifiedKey other_ = test::makeAuthority("Other");
  const test::CertifiedKey server_ = test::issueServer(root_, "origin.test");
  const test::CertifiedKey listeners_[2] = {test::issueServer(root_, "localhost"),
                                            test::issueServer(other_, "localhost")};
  const test::CertifiedKey client_ = test::issueClient(root_, "soak");
  std::string pattern_;
  const std::string heapFile_ = folder_.write("heap", "");
  const std::string accessLog_ = folder_.write("access.log", "");
  const std::string rootFile_ = folder_.write("root.crt", root_.certificate);
  const std::string otherFile_ = folder_.write("other.crt", other_.certificate);
  const std::string authoritiesFile_ = folder_.write("authorities.crt", root_.certificate + other_.certificate);
  std::string largeFile_;
  const std::uint16_t extraPort_ = test::freePort();
  const std::uint16_t nginxPort_ = test::freePort();
  const std::uint16_t flipPort_ = test::freePort();
  std::uint16_t grpcPort_ = 0;
  std::uint16_t socketPort_ = 0;
  test::EchoOrigin one_{server_};
  test::EchoOrigin two_{server_};
  test::EchoOrigin plain_{std::nullopt, {"--h1-only"}};
  std::unique_ptr<test::ChildProcess> flip_[2];
  std::unique_ptr<test::ChildProcess> nginx_;
  std::unique_ptr<test::ChildProcess> grpc_;
  std::unique_ptr<test::ChildProcess> socket_;
  test::RawOrigin rough_;
  test::RawOrigin occupant_;
  test::NameServer names_;
  std::unique_ptr<test::GatewayProcess> gateway_;
};

}  // namespace sluice::soak
