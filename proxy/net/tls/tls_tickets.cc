#include "proxy/net/tls/tls_tickets.h"

#include <utility>

namespace sluice::net {

void TlsTickets::store(TlsTicket ticket) {
  if (SSL_SESSION_is_resumable(ticket.session.get()) != 1) return;
  if (SSL_SESSION_get_protocol_version(ticket.session.get()) < TLS1_3_VERSION) {
    reusable_ = std::move(ticket);
    return;
  }
  if (tickets_.size() == kMaxTickets) tickets_.erase(tickets_.begin());
  tickets_.push_back(std::move(ticket));
}

TlsTicket TlsTickets::take(base::WallTime now) {
  std::erase_if(tickets_, [now](const TlsTicket& ticket) { return !ticket.validity.covers(now); });
  if (!reusable_.validity.covers(now)) reusable_ = {};
  if (!tickets_.empty()) {
    TlsTicket ticket = std::move(tickets_.back());
    tickets_.pop_back();
    return ticket;
  }
  if (reusable_.session != nullptr) SSL_SESSION_up_ref(reusable_.session.get());
  return {SslSession(reusable_.session.get()), reusable_.validity};
}

}  // namespace sluice::net
