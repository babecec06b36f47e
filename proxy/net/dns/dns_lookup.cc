#include "proxy/net/dns/dns_lookup.h"

#include <algorithm>
#include <utility>

namespace sluice::net {

struct DnsLookup::RecordQuestion final : DnsTrySink {
  RecordQuestion(DnsLookup& owner, bool forAaaa) : lookup(owner), ipv6(forAaaa) {}
  // The lookup may be destroyed in there: no code may follow the call.
  void onTried() override {
    lookup.proceed(*this);
    if (lookup.ended()) lookup.sink_.onEnded(lookup);
  }

  DnsLookup& lookup;
  const bool ipv6;
  std::size_t tries = 0;  // that have ended
  std::unique_ptr<DnsTry> current;
  std::optional<DnsAnswer> answer;
};

DnsLookup::DnsLookup(const DnsPlan& plan, std::string name, DnsLookupSink& sink)
    : plan_(plan), name_(std::move(name)), sink_(sink) {
  for (const bool ipv6 : {false, true}) {
    if (!ipv6 || plan_.ipv6) questions_.push_back(std::make_unique<RecordQuestion>(*this, ipv6));
  }
  for (const auto& question : questions_) {
    question->current = nextTry(*question);
    proceed(*question);
  }
}

bool DnsLookup::ended() const {
  return std::all_of(questions_.begin(), questions_.end(), [](const auto& one) { return one->answer.has_value(); });
}

bool DnsLookup::hasAddresses() const {
  return std::any_of(questions_.begin(), questions_.end(),
                     [](const auto& one) { return one->answer && one->answer->addresses.ok(); });
}

std::unique_ptr<DnsTry> DnsLookup::nextTry(RecordQuestion& question) {
  const std::size_t round = question.tries / plan_.servers.size();
  const Address& server = plan_.servers[question.tries % plan_.servers.size()];
  const bool edns = round + 1 < plan_.attempts || plan_.attempts == 1;
  const DnsTry::DnsTryParts parts{plan_.worker, name_, question.ipv6, server, edns, plan_.timeout, plan_.maxAddresses};
  return std::make_unique<DnsTry>(parts, question);
}

void DnsLookup::proceed(RecordQuestion& question) {
  while (question.current != nullptr && question.current->outcome()) {
    DnsAnswer answer = *std::move(question.current->outcome());
    if (answer.failed() && ++question.tries < plan_.tries() && !hasAddresses()) {
      question.current = nextTry(question);
    } else {
      question.answer = std::move(answer);
      question.current.reset();
    }
  }
}

DnsAnswer DnsLookup::takeAnswer() {
  DnsAnswer whole = *std::move(questions_.front()->answer);
  for (std::size_t i = 1; i < questions_.size(); ++i) {
    DnsAnswer& other = *questions_[i]->answer;
    if (whole.addresses.ok() && other.addresses.ok()) {
      const Addresses& more = *other.addresses;
      const std::size_t room = std::min(more.size(), plan_.maxAddresses - whole.addresses->size());
      whole.addresses->insert(whole.addresses->end(), more.begin(), more.begin() + static_cast<std::ptrdiff_t>(room));
      whole.ttl = std::min(whole.ttl, other.ttl);
    } else if (other.addresses.ok() || (whole.denied && !other.denied)) {
      whole = std::move(other);
    }
  }
  return whole;
}

}  // namespace sluice::net
