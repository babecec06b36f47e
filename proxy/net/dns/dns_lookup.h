// The lookup of one name: a question for its A records and, if ipv6 is enabled, another one for its AAAA records; or
// those for the family that the terms of the lookup name.
//
// A question is sent to one server after the other until one answers or reports that there is no such name. Silence, a
// failure, a refusal and a malformed answer all lead to the next server, and after the last one to the first again,
// `attempts` times. A question that fails gives up as soon as the other one has addresses. The last round of several
// goes without EDNS, which some servers do not support.
//
// If the name exists and has no address of the one family that is asked for, the same server is asked once for the
// other family: an error that says which addresses there are saves people a search. Internal to proxy/net, owned by a
// DnsClient. One thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/net/dns/dns_answer.h"
#include "proxy/net/dns/dns_try.h"

namespace sluice::net {

/// The settings that all lookups of a resolver share; outlives them.
struct DnsPlan {
  Worker& worker;
  Addresses servers;
  base::Duration timeout;  // of one try
  std::size_t attempts;    // at each server
  std::size_t maxAddresses;
  bool ipv6;

  std::size_t tries() const { return attempts * servers.size(); }
};

/// Returns those of the addresses that the family allows, in its order.
Addresses addressesOf(base::LookupFamily family, const Addresses& all);

class DnsLookup;

class DnsLookupSink {
 public:
  virtual ~DnsLookupSink() = default;
  /// Called inside a Turn when the lookup has ended, but not from within its constructor. May destroy the lookup.
  virtual void onEnded(DnsLookup& lookup) = 0;
};

class DnsLookup {
 public:
  /// Asks. If nothing can be asked at all, the lookup has ended when the constructor returns.
  DnsLookup(const DnsPlan& plan, std::string name, const base::DnsTerms& terms, DnsLookupSink& sink);
  DnsLookup(const DnsLookup&) = delete;
  DnsLookup& operator=(const DnsLookup&) = delete;

  bool ended() const;
  /// Returns the combined answer of the questions, once, when the lookup has ended.
  DnsAnswer takeAnswer();

 private:
  struct RecordQuestion;
  void proceed(RecordQuestion& question);
  /// Asks why there is no address, if that may be found out.
  void inquire(const RecordQuestion& denied);
  std::unique_ptr<DnsTry> nextTry(RecordQuestion& question);
  bool hasAddresses() const;

  const DnsPlan& plan_;
  const std::string name_;
  const base::DnsTerms terms_;
  DnsLookupSink& sink_;
  std::vector<std::unique_ptr<RecordQuestion>> questions_;  // one or two
  std::unique_ptr<RecordQuestion> otherFamily_;             // asks for addresses that are not used
};

}  // namespace sluice::net
