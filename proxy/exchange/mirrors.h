// The mirrored requests of a worker: their table, their part of the beat, and the events of theirs among those that
// come to Exchanges. Owned by Exchanges.
//
// Exchanges and mirrors use the same pools and codecs, which know them by token alone. A mirror's token has a bit that
// no exchange's has, so that each is looked for in one table only.
#pragma once

#include <cstddef>
#include <optional>

#include "proxy/base/beat_table.h"
#include "proxy/exchange/mirror.h"

namespace sluice::exchange {

class Context;

class Mirrors final : private MirrorTable {
 public:
  explicit Mirrors(Context& owner) : owner_(owner) {}

  /// nullptr if limits.backendRequests has no room for it.
  Mirror* create(const MirrorSource& source);
  Mirror* find(base::Handle<Mirror> handle) { return table_.find(handle); }
  /// nullptr for the token of an exchange, and of a mirror that is gone.
  Mirror* find(http::Token token) {
    return (token & Mirror::kMark) == 0 ? nullptr
                                        : table_.find(base::Handle<Mirror>::fromToken(token & ~Mirror::kMark));
  }
  std::size_t size() const { return table_.size(); }

  /// Between beats: the rules of those that exist may go.
  void pin();

  /// Beats.
  void drive() { table_.flush(); }
  void reap() { table_.reap(); }
  bool quiet() const { return table_.quiet(); }
  /// All go, unreported.
  void shutdown() { table_.clear(); }

 private:
  // MirrorTable
  void mark(Mirror& mirror) override { table_.mark(mirror); }

  Context& owner_;
  base::BeatTable<Mirror> table_;
};

}  // namespace sluice::exchange
