#include "proxy/net/dns/dns_lookup.h"

#include <algorithm>
#include <iterator>
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
  std::size_t tries = 0;  // tries that have ended
  std::unique_ptr<DnsTry> current;
  std::optional<DnsAnswer> answer;
};

namespace {

bool asksFor(base::LookupFamily family, bool ipv6, bool ipv6OfSettings) {
  switch (family) {
    case base::LookupFamily::kOfSettings:
      return !ipv6 || ipv6OfSettings;
    case base::LookupFamily::kIpv4:
      return !ipv6;
    case base::LookupFamily::kIpv6:
      return ipv6;
    case base::LookupFamily::kIpv4Preferred:
    case base::LookupFamily::kIpv6Preferred:
    case base::LookupFamily::kBoth:
      break;
  }
  return true;
}

/// Returns the addresses of one IP version; all addresses if there are none of it and `alone` is false.
Addresses ofVersion(bool ipv6, bool alone, const Addresses& all) {
  Addresses found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [ipv6](const Address& each) { return each.isIpv6() == ipv6; });
  return found.empty() && !alone ? all : found;
}

/// Returns the sentence about a name all of whose addresses are of the family that is not looked up.
std::string onlyOther(base::LookupFamily family) {
  switch (family) {
    case base::LookupFamily::kIpv4:
      return "the name has only IPv6 addresses, and its lookupFamily is IPv4";
    case base::LookupFamily::kIpv6:
      return "the name has only IPv4 addresses, and its lookupFamily is IPv6";
    default:
      return "the name has only IPv6 addresses, and dns.ipv6 is off";
  }
}

}  // namespace

Addresses addressesOf(base::LookupFamily family, const Addresses& all) {
  switch (family) {
    case base::LookupFamily::kIpv4:
    case base::LookupFamily::kIpv4Preferred:
      return ofVersion(false, family == base::LookupFamily::kIpv4, all);
    case base::LookupFamily::kIpv6:
    case base::LookupFamily::kIpv6Preferred:
      return ofVersion(true, family == base::LookupFamily::kIpv6, all);
    case base::LookupFamily::kOfSettings:
    case base::LookupFamily::kBoth:
      break;
  }
  return all;
}

DnsLookup::DnsLookup(const DnsPlan& plan, std::string name, const base::DnsTerms& terms, DnsLookupSink& sink)
    : plan_(plan), name_(std::move(name)), terms_(terms), sink_(sink) {
  // If there are too many addresses, those of the first question are kept.
  const bool ipv6First = terms_.family == base::LookupFamily::kIpv6Preferred;
  for (const bool ipv6 : {ipv6First, !ipv6First}) {
    if (asksFor(terms_.family, ipv6, plan_.ipv6)) questions_.push_back(std::make_unique<RecordQuestion>(*this, ipv6));
  }
  for (const auto& question : questions_) {
    question->current = nextTry(*question);
    proceed(*question);
  }
}

bool DnsLookup::ended() const {
  return (otherFamily_ == nullptr || otherFamily_->answer) &&
         std::all_of(questions_.begin(), questions_.end(), [](const auto& one) { return one->answer.has_value(); });
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
    const bool mayRetry = &question != otherFamily_.get();
    if (answer.failed() && mayRetry && ++question.tries < plan_.tries() && !hasAddresses()) {
      question.current = nextTry(question);
    } else {
      question.answer = std::move(answer);
      question.current.reset();
      if (question.answer->hasNoRecord) inquire(question);
    }
  }
}

void DnsLookup::inquire(const RecordQuestion& denied) {
  if (questions_.size() != 1 || otherFamily_ != nullptr) return;
  otherFamily_ = std::make_unique<RecordQuestion>(*this, !denied.ipv6);
  otherFamily_->tries = denied.tries;  // the server that has answered
  otherFamily_->current = nextTry(*otherFamily_);
  proceed(*otherFamily_);
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
  if (otherFamily_ != nullptr && otherFamily_->answer->addresses.ok()) {
    base::Error error = whole.addresses.error();
    error.detail = name_ + ": " + onlyOther(terms_.family);
    whole.addresses = std::move(error);
  }
  whole.terms = terms_;
  if (whole.addresses.ok()) whole.addresses = addressesOf(terms_.family, *whole.addresses);
  return whole;
}

}  // namespace sluice::net
