#include "proxy/net/tls/tls_tickets.h"

namespace sluice::net {

void TlsTickets::store(SslSession session) {
  if (SSL_SESSION_is_resumable(session.get()) != 1) return;
  if (SSL_SESSION_get_protocol_version(session.get()) < TLS1_3_VERSION) {
    reusable_ = std::move(session);
    return;
  }
  if (tickets_.size() == kMaxTickets) tickets_.erase(tickets_.begin());
  tickets_.push_back(std::move(session));
}

SslSession TlsTickets::take() {
  if (!tickets_.empty()) {
    SslSession ticket = std::move(tickets_.back());
    tickets_.pop_back();
    return ticket;
  }
  if (reusable_ != nullptr) SSL_SESSION_up_ref(reusable_.get());
  return SslSession(reusable_.get());
}

}  // namespace sluice::net
