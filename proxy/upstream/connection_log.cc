#include "proxy/upstream/connection_log.h"

#include <string>

namespace sluice::upstream {

void ConnectionLog::tellOpen(std::string_view backend, const net::Address& peer, http::Version version,
                             const net::TlsFacts* tls, base::MonotonicTime now) {
  if (out_ == nullptr || !out_->wants()) return;
  const base::Duration handshake = tls != nullptr ? tls->handshake : base::Duration::zero();
  out_->write("a connection to a Backend is open",
              {{"backend", backend},
               {"upstream.address", peer.toString()},
               {"network.protocol.version", http::versionName(version)},
               {"tls.protocol.version", tls != nullptr ? tls->version : std::string_view()},
               {"tls.resumed", tls != nullptr && tls->resumed},
               {"dial_ms", now - dialled_ - handshake},
               {"handshake_ms", handshake}});
}

void ConnectionLog::note(const base::Error& error) {
  if (end_ != ConnectionEnd::kStopped) return;
  end_ = ConnectionEnd::kError;
  error_ = error;
}

void ConnectionLog::tellEnd(std::string_view backend, const net::Address& peer, std::uint64_t requests,
                            base::MonotonicTime now) {
  if (out_ == nullptr || !out_->wants()) return;
  out_->write("a connection to a Backend has ended",
              {{"backend", backend},
               {"upstream.address", peer.toString()},
               {"reason", kConnectionEndNames[static_cast<std::size_t>(end_)]},
               {"requests", requests},
               {"duration_ms", now - dialled_},
               {"error.type", error_ ? base::errorTypeName(error_->type) : std::string_view()},
               {"error.message", error_ ? error_->message() : std::string()}});
}

}  // namespace sluice::upstream
