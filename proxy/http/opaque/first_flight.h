// Tells which protocol a stream of unknown bytes begins with, and which server its TLS names (RFC 8446 section 4.1.2,
// RFC 6066 section 3). It looks at the first bytes of the client alone, and keeps at most kMostHello of them.
//
// Owned by an exchange; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::http {

enum class StreamProtocol : std::uint8_t {
  kTcp,  // none of the others
  kTls,
  kHttp
};
/// Returns "tcp", "tls" or "http" (network.protocol.name).
std::string_view protocolName(StreamProtocol protocol);

class FirstFlight {
 public:
  /// The most bytes of a ClientHello with its record headers. A longer one is not read.
  static constexpr std::size_t kMostHello = 16 * 1024;

  /// Takes the next bytes of the client.
  void add(std::string_view bytes);
  /// Called when no further byte can change anything: the client has ended its way, or has taken too long.
  void finish();

  /// Returns true once the protocol and the name are known.
  bool known() const { return known_; }
  /// Returns true once a byte has come.
  bool begun() const { return begun_; }
  StreamProtocol protocol() const { return protocol_; }
  /// Returns the name of the server in lower case, without a dot at its end. It is empty without TLS and if TLS names
  /// none, and nullopt if the ClientHello cannot be read: it is not whole, too long, or malformed.
  std::optional<std::string_view> serverName() const { return serverName_; }

 private:
  void look();
  void lookAtHello();
  void settle(StreamProtocol protocol);

  std::string seen_;        // until everything is known
  std::size_t needed_ = 0;  // the least number of bytes of a ClientHello that could say more
  std::optional<std::string> serverName_ = std::string();
  StreamProtocol protocol_ = StreamProtocol::kTcp;
  bool begun_ = false;
  bool known_ = false;
};

}  // namespace sluice::http
