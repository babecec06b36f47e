// OpenSSL's two ends of a connection: ciphertext comes straight out of the buffer that the socket was read to, and
// goes into the worker's one wire buffer. No byte waits in here between two calls of the engine that owns it.
#pragma once

#include <openssl/bio.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
  /// Lets each read from now on end with a record: OpenSSL reads ahead as far as it can, and would move all bytes that
  /// it has of further records in its buffer with each record that it returns. The input is at the beginning of a
  /// record.
  void startRecords() { byRecord_ = true; }
  /// Returns true if OpenSSL has taken only whole records since then.
  bool betweenRecords() const { return byRecord_ && left_ == 0 && headBytes_ == 0; }
  /// Returns how many bytes of the input, at most `size`, the next read takes. They count as taken.
  std::size_t part(std::size_t size) {
    size = std::min(size, input.size());
    return byRecord_ ? partOfRecord(size) : size;
  }

 private:
  std::size_t partOfRecord(std::size_t size);

  bool byRecord_ = false;
  std::uint8_t headBytes_ = 0;  // of a header that comes in pieces
  std::uint16_t length_ = 0;    // as far as that header has it
  std::size_t left_ = 0;        // bytes of the record under way that have not been taken
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
