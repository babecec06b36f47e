#include "proxy/net/tls/tls_client_hello.h"

#include <cstddef>

namespace sluice::net {

// Parses struct { NameType name_type; opaque HostName<1..2^16-1>; } server_name_list<1..2^16-1>, of which clients send
// one.
std::string_view helloServerName(SSL* ssl) {
  constexpr std::size_t kBefore = 5;  // the list's length, the type, the name's length
  const unsigned char* bytes = nullptr;
  std::size_t size = 0;
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &bytes, &size) != 1 || size < kBefore) return {};
  const auto number = [bytes](std::size_t at) { return std::size_t{bytes[at]} << 8U | bytes[at + 1]; };
  if (number(0) != size - 2 || bytes[2] != TLSEXT_NAMETYPE_host_name || number(3) != size - kBefore) return {};
  return {reinterpret_cast<const char*>(bytes) + kBefore, size - kBefore};
}

}  // namespace sluice::net
