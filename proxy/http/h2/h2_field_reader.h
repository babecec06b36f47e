// Collects the lines of the field section that is arriving, within limits.headerBytes and limits.headerFields, or
// limits.responseFields, and as far as the connection's account has room for them.
//
// A connection receives one section at a time (RFC 9113 section 4.3), so one reader serves all its streams. A section
// that grows too large is decoded to its end, because the peer's HPACK state depends on it, but nothing of it is kept.
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/http/head_account.h"
#include "proxy/http/headers.h"
#include "proxy/http/limits.h"

namespace sluice::http {

class H2FieldReader {
 public:
  /// `ofResponses`: the peer is a backend. `account` is null if sections are free.
  H2FieldReader(base::ChunkPool& pool, const Limits& limits, bool ofResponses, HeadAccount* account)
      : arena(pool),
        charge(account),
        limits_(limits),
        mostLines_(ofResponses ? limits.responseFields : limits.headerFields),
        excessOfLines_(ofResponses ? Limit::kResponseFields : Limit::kHeaderFields) {}

  enum class Line : std::uint8_t {
    kTaken,       // or left out, of a section that broke a bound
    kLastOfTurn,  // as kTaken; many fields were decoded, and other connections wait
    kHopeless     // so far beyond the section's bound that decoding it to the end would only serve an attacker
  };

  /// The section that arrives decides which pseudo-header fields it may have (RFC 9113 section 8.3).
  enum class Section : std::uint8_t { kRequest, kResponse, kTrailers };

  void begin(Section section);
  /// Resets the count of bytes that the connection may decode before other connections have their turn.
  void beginTurn() {
    turnBytes_ = 0;
    light_ = HeadCharge::kFree;
  }
  /// Frees the previous section, unless its owner has taken it over.
  void clear() {
    if (arena.held() > 0) forget();
  }
  /// The views need not outlive the call.
  Line add(std::string_view name, std::string_view value);
  /// Marks the line that was added last as never indexed (RFC 7541 section 6.2.3).
  void hideLast();
  /// Returns true if a pseudo-header field is empty, repeated, behind another field, or of another kind of section. A
  /// section that broke a bound is not looked at.
  bool misusesPseudo() const { return misusesPseudo_; }
  /// Returns the bound that the section broke, if any.
  std::optional<Limit> excess() const { return excess_; }

  base::Arena arena;
  HeadCharge charge;
  Headers fields;
  std::string_view method, scheme, authority, path, protocol;
  std::string_view priority;   // the last line of that name (RFC 9218), or empty
  std::uint16_t status = 0;    // 0 also if it is not of three digits
  bool secretControl = false;  // a pseudo-header field was a secret

 private:
  enum class Pseudo : std::uint8_t { kMethod, kScheme, kAuthority, kPath, kProtocol, kStatus, kUnknown };

  static Pseudo pseudoOf(std::string_view name);
  void forget();
  void drop(Limit why);
  void addPseudo(std::string_view name, std::string_view value);
  /// Returns true if this field may come now. Each may come once.
  bool mayHave(Pseudo pseudo);
  /// Kept out of add(), which rarely needs it.
  [[gnu::noinline]] void chargeLine();
  /// Counts a line of a section that is large, or comes late in a turn.
  [[gnu::noinline]] Line weigh(std::size_t bytes);

  const Limits& limits_;
  const std::uint32_t mostLines_;
  const Limit excessOfLines_;
  unsigned allowed_ = 0;    // the pseudo-header fields that may still come, as bits
  std::uint64_t most_ = 0;  // bytes that are kept: none of a section that broke a bound
  std::uint64_t bytes_ = 0;
  std::uint64_t turnBytes_ = 0;  // decoded since beginTurn()
  /// While the arena holds no more than this, lines are not counted one by one, but together when the next section
  /// begins.
  std::size_t light_ = HeadCharge::kFree;
  std::uint32_t lines_ = 0;  // without pseudo-header fields, which come first
  std::optional<Limit> excess_;
  bool misusesPseudo_ = false;
};

}  // namespace sluice::http
