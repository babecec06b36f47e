// Mirrors holds the mirrored requests of a worker: their table and their part of the beat. Exchanges owns it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proxy/base/beat_table.h"
#include "proxy/exchange/mirror/mirror.h"

namespace sluice::exchange {

class ExchangeContext;

class Mirrors final : private MirrorTable {
 public:
  explicit Mirrors(ExchangeContext& owner) : owner_(owner) {}

  /// Returns nullptr if limits.backendRequests has no room for it.
  Mirror* create(const MirrorSource& source);
  Mirror* find(base::Handle<Mirror> handle) { return table_.find(handle); }
  std::size_t size() const { return table_.size(); }

  /// Called between beats, before rules of mirrors may go.
  void pin();

  /// Exchanges calls these three in its beats.
  void drive() { table_.flush(); }
  void reap() { table_.reap(); }
  bool quiet() const { return table_.quiet(); }
  /// Drops all mirrors, unreported.
  void shutdown() { table_.clear(); }

 private:
  // MirrorTable
  void mark(Mirror& mirror) override { table_.mark(mirror); }
  void onResumed(std::uint64_t token, processing::Ticket ticket, bool dropped) override;

  ExchangeContext& owner_;
  base::BeatTable<Mirror> table_;
};

}  // namespace sluice::exchange
