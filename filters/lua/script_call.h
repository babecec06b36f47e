// The message that the running call of a script works on, and the changes that the script has made so far.
//
// It belongs to the step's state; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <lua.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "filters/lua/ground/random_numbers.h"
#include "proxy/content/packed_value.h"
#include "proxy/processing/call.h"
#include "proxy/processing/callout.h"
#include "proxy/processing/verdict.h"

namespace sluice::filters::lua {

/// A Backend that a script may call.
struct ScriptBackend {
  std::string name;
  std::string qualifiedName;  // "namespace/name"; empty if the entry names no namespace
  std::shared_ptr<const processing::CalloutTarget> target;
};

/// One use of a script. Immutable; any thread.
struct ScriptUse {
  content::PackedValue config;
  std::string type;  // "domain/Kind:version"
  std::string name;
  std::uint64_t number = 0;  // that no other use of the script has had
  std::vector<ScriptBackend> backends;
};

/// The form in which the script's function of a phase gets the body.
enum class BodyUse : std::uint8_t {
  kNone,     // it names no body
  kWhole,    // it names `body`
  kStreamed  // it names `chunk`, too
};

class ScriptCall {
 public:
  /// The most fields that one call may change, and bytes of their names and values: they are no memory of the script.
  static constexpr std::size_t kMostChanges = 256;
  static constexpr std::size_t kMostChangedBytes = std::size_t{64} * 1024;
  static constexpr unsigned kMostRecords = 16;

  /// `use` outlives it.
  explicit ScriptCall(const ScriptUse& use) : use_(&use) {}

  /// Called before the script runs; both are valid while it does. `peer` is empty before authentication.
  void enter(processing::Call& call, const processing::Peer& peer) {
    call_ = &call;
    peer_ = &peer;
  }

  processing::Call& call() const { return *call_; }
  const processing::Peer& peer() const { return *peer_; }
  const ScriptUse& use() const { return *use_; }
  bool isOfRequest() const { return processing::isOfRequest(call_->phase); }
  /// Returns the fields of the step's message.
  const http::Headers& headers() const {
    return call_->response != nullptr ? call_->response->headers : call_->request.headers;
  }

  /// Counts a change of that many bytes. Raises an error if there are too many.
  void countChange(lua_State* state, std::size_t bytes);
  /// Returns false if the call has written enough into the log.
  bool mayRecord() { return ++records_ <= kMostRecords; }

  /// Called with the next bytes of a streamed body, which the script has not read yet.
  void offerPiece() {
    hasPiece_ = true;
    hasReadPiece_ = false;
    replacement.reset();
  }
  /// Called when the script reads the bytes that have come.
  void takePiece(bool last) {
    hasPiece_ = awaitsPiece = false;
    hasReadPiece_ = true;
    hasReadAll_ = last;
  }
  bool hasPiece() const { return hasPiece_; }
  bool hasReadAll() const { return hasReadAll_; }
  /// Returns true if the script may put other bytes into the place of those that are there.
  bool mayReplace() const { return bodyUse == BodyUse::kWhole || hasReadPiece_; }

  /// The body that the script has put into the place of the bytes that are there.
  std::optional<std::string> replacement;
  BodyUse bodyUse = BodyUse::kNone;
  bool awaitsPiece = false;  // the script goes on with the next piece
  std::optional<processing::Reply> reply;
  std::optional<RandomNumbers> random;  // once the script has asked for a number
  unsigned callouts = 0;
  processing::Callout* callout = nullptr;  // the one that is awaited

 private:
  processing::Call* call_ = nullptr;
  const processing::Peer* peer_ = nullptr;
  const ScriptUse* use_;
  std::size_t changes_ = 0;
  std::size_t changedBytes_ = 0;
  unsigned records_ = 0;
  bool hasPiece_ = false;
  bool hasReadPiece_ = false;
  bool hasReadAll_ = false;
};

/// Returns the call that runs; raises an error while the script is loaded.
ScriptCall& runningCall(lua_State* state);

}  // namespace sluice::filters::lua
