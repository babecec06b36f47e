#include "proxy/net/tls/tls_bio.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sluice::net {
namespace {

TlsWire& wireOf(BIO* bio) { return *static_cast<TlsWire*>(BIO_get_data(bio)); }

int readWire(BIO* bio, char* into, std::size_t size, std::size_t* count) {
  TlsWire& wire = wireOf(bio);
  BIO_clear_retry_flags(bio);
  if (wire.input.empty()) {
    BIO_set_retry_read(bio);
    *count = 0;
    return 0;
  }
  *count = wire.part(size);
  std::memcpy(into, wire.input.data(), *count);
  wire.input.remove_prefix(*count);
  return 1;
}

int writeWire(BIO* bio, const char* from, std::size_t size, std::size_t* count) {
  TlsWire& wire = wireOf(bio);
  BIO_clear_retry_flags(bio);
  if (wire.room() == 0) {
    BIO_set_retry_write(bio);
    *count = 0;
    return 0;
  }
  *count = std::min(size, wire.room());
  std::memcpy(wire.output.data() + wire.filled, from, *count);
  wire.filled += *count;
  return 1;
}

// Every other command of OpenSSL (kernel TLS, datagrams) is answered with 0. Flushing is the transport's task.
long controlWire(BIO* /*bio*/, int command, long /*number*/, void* /*pointer*/) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

}  // namespace

// A record is its type, two bytes of version, two of length, and the payload (RFC 8446 section 5.1).
std::size_t TlsWire::partOfRecord(std::size_t size) {
  constexpr std::size_t kHead = 5;
  const auto byteAt = [this](std::size_t i) { return static_cast<unsigned char>(input[i]); };
  if (left_ == 0 && headBytes_ == 0 && size >= kHead) {
    left_ = kHead + (std::size_t{byteAt(3)} << 8 | byteAt(4));
  } else if (left_ == 0) {
    size = std::min(size, kHead - headBytes_);
    for (std::size_t i = 0; i < size; ++i) {
      if (++headBytes_ > kHead - sizeof length_) length_ = static_cast<std::uint16_t>(length_ << 8 | byteAt(i));
    }
    if (headBytes_ == kHead) {
      left_ = std::exchange(length_, std::uint16_t{0});
      headBytes_ = 0;
    }
    return size;
  }
  size = std::min(size, left_);
  left_ -= size;
  return size;
}

BioMethod makeWireMethod() {
  BioMethod method(BIO_meth_new(BIO_TYPE_SOURCE_SINK, "wire"));
  BIO_meth_set_read_ex(method.get(), readWire);
  BIO_meth_set_write_ex(method.get(), writeWire);
  BIO_meth_set_ctrl(method.get(), controlWire);
  return method;
}

BIO* makeWireBio(const BioMethod& method, TlsWire& wire) {
  BIO* bio = BIO_new(method.get());
  BIO_set_data(bio, &wire);
  BIO_set_init(bio, 1);
  return bio;
}

}  // namespace sluice::net
