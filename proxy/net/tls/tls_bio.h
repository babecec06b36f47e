// OpenSSL's two ends of a connection: ciphertext comes straight out of the buffer that the socket was read to, and
// goes into the worker's one wire buffer. No byte waits in here between two calls of the engine that owns it.
#pragma once

#include <openssl/bio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace sluice::net {

/// The source and the destination of one connection's records. Its address is the BIO's data, so it must not move.
struct TlsWire {
  std::string_view input;  // not yet taken by OpenSSL
  std::span<char> output;  // the worker's wire buffer
  std::size_t filled = 0;  // bytes of output that wait to be sent

  std::size_t room() const { return output.size() - filled; }
};

struct BioMethodFree {
  void operator()(BIO_METHOD* method) const { BIO_meth_free(method); }
};
using BioMethod = std::unique_ptr<BIO_METHOD, BioMethodFree>;

/// Makes the functions of the BIOs below. They must outlive the BIOs: each context owns one set.
BioMethod makeWireMethod();
/// Makes a BIO whose reads and writes say "retry" when the wire has no input or no room. The caller owns it.
BIO* makeWireBio(const BioMethod& method, TlsWire& wire);

}  // namespace sluice::net
