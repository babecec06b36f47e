// The cache of DNS answers. It sends no queries itself, but reports when a name is due for another query. Internal to
// proxy/net, owned by the resolver. One thread.
//
// Addresses are valid for their TTL within [minTtl, maxTtl], or for the time in the terms of their lookup. A name that
// was used since its answer came is due for a refresh when four fifths of that time have passed, so that no request
// waits for it; an answer that another worker got is due later, because that worker will probably refresh it. When name
// servers fail, the last good answer stays valid for staleTtl beyond its TTL (RFC 8767), and is due again every
// negativeTtl; if they answer that there is no such name, the answer is dropped. Failures are valid for negativeTtl.
#pragma once

#include <array>
#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "proxy/base/result.h"
#include "proxy/base/settings.h"
#include "proxy/net/dns/dns_answer.h"
#include "proxy/net/timers.h"
#include "proxy/net/worker.h"

namespace sluice::net {

struct DnsNameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
};
template <typename T>
using DnsNameMap = std::unordered_map<std::string, T, DnsNameHash, std::equal_to<>>;

class DnsCacheOwner {
 public:
  virtual ~DnsCacheOwner() = default;
  /// The name should be asked for now, unless a query for it is under way. May be called from within find().
  virtual void onRefreshDue(std::string_view name, const base::DnsTerms& terms) = 0;
};

class DnsCache {
 public:
  /// Answers that are valid for less are not refreshed ahead of their end: that would take a query per turn.
  static constexpr base::Duration kShortestRefreshed = std::chrono::seconds(1);

  DnsCache(Worker& worker, const base::DnsSettings& settings, std::size_t maxNames, DnsCacheOwner& owner);
  ~DnsCache();

  /// Returns the valid answer and marks it as used; nullptr if there is none. `key` is the text of a DnsKey. The
  /// pointer is valid until the next turn.
  const base::Result<Addresses>* find(std::string_view key);
  /// Takes an answer that this worker has asked for.
  void remember(DnsAnswer answer);
  /// Takes an answer that another worker got. A failure there only keeps a good answer here valid.
  void learn(DnsAnswer answer);
  /// Keeps a result that find() cannot give; it lives until the next turn.
  const base::Result<Addresses>* keepForThisTurn(base::Result<Addresses> result);

 private:
  struct CachedName;
  using Entries = std::list<CachedName>;
  /// The answers for names of the configuration, or for those that clients choose.
  struct AnswerShare {
    explicit AnswerShare(std::size_t most);
    ~AnswerShare();
    const std::size_t most;
    Entries entries;  // the oldest answer first, which makes room
  };

  /// The share of its lifetime at the end of which an answer is refreshed.
  static constexpr int kOwnRefresh = 5;
  static constexpr int kLearnedRefresh = 10;

  AnswerShare& shareOf(const base::DnsTerms& terms) { return shares_[terms.ofClients()]; }
  void replace(DnsAnswer&& answer, int refreshPart);
  base::Duration lifetimeOf(const DnsAnswer& answer) const;
  bool goesOn(CachedName& entry);
  void forget(Entries::iterator entry);
  void clearPassing();

  Worker& worker_;
  DnsCacheOwner& owner_;
  const base::Duration minTtl_;
  const base::Duration maxTtl_;
  const base::Duration negativeTtl_;
  const base::Duration staleTtl_;
  std::array<AnswerShare, 2> shares_;
  DnsNameMap<Entries::iterator> index_;
  // Results that find() has pointed to and that are no longer cached. They live until a later turn.
  std::list<base::Result<Addresses>> passing_;
  base::MonotonicTime passingSince_{};
};

}  // namespace sluice::net
