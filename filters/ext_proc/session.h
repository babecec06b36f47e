// The state of an external processor in one exchange: the conversation with its server, and the state of the request
// and the response.
//
// It is shared by the processor's steps of an exchange, or of an attempt.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "filters/ext_proc/conversation.h"
#include "filters/ext_proc/settings.h"
#include "proxy/processing/call.h"
#include "proxy/processing/verdict.h"

namespace sluice::filters::ext_proc {

class ServerSession {
 public:
  ServerSession(const ExtProcSettings& wanted, const std::shared_ptr<const processing::CalloutTarget>& server)
      : settings(wanted), talk(wanted, server) {}

  /// Return messages about the parts of that way. The first of them has the attributes that the settings name.
  Statement headers(const processing::Call& call, Way way);
  Statement body(const processing::Call& call, Way way, std::string bytes, bool ends);
  Statement trailers(const processing::Call& call, Way way);
  /// Returns true if the server gets this body, as far as is known when its headers are sent.
  static bool hasBody(const processing::Call& call);
  /// Returns true if the server wants the trailers of that way, and the body has some.
  bool hasTrailers(const processing::Call& call, Way way) const;
  /// Returns true if nothing of that way will be sent after its headers.
  bool endsWithHeaders(Way way) const;

  /// Applies the server's answer about a head. Returns how the step goes on.
  processing::Verdict obey(processing::Call& call, const ServerAnswer& answer);
  /// Stops sending the parts that a PayloadProcessor does not want any more.
  void endPhases(const ServerAnswer& answer);
  /// Returns how the server gets the body of that way, as far as it is known; the first call of settle() settles it.
  BodyForm formOf(Way way) const;
  BodyForm settle(Way way);
  /// Applies the server's changes to the trailers.
  static void changeTrailers(processing::Call& call, const ServerAnswer& answer);
  processing::Verdict reply(const ImmediateAnswer& answer);
  /// Gives the stream up because of a fault of the server, or because there is no room for it.
  processing::Verdict fail(std::string why, processing::Cause cause = processing::Cause::kError);
  /// Returns the failure of the conversation.
  processing::Verdict failed() const { return processing::Verdict::fail(talk.failure(), talk.cause()); }
  /// Makes the step be asked again when another answer comes, and charges the bytes that are kept because of a body:
  /// those of the conversation and `more`. Returns a failure if there is no room for them.
  std::optional<processing::Verdict> await(processing::Call& call, Way way, std::size_t more);

  const ExtProcSettings& settings;
  Conversation talk;
  processing::Peer client = {};  // as the step that runs is shown it; attributes are read from it
  bool lacksAttributes = false;  // the request takes too much work for them
  struct WayState {
    bool told = false;                       // the server has got its attributes
    bool ended = false;                      // there is no body, or the server does not want it
    std::optional<std::string> replacement;  // the server's body, which replaces one that is still to come
    std::optional<BodyForm> form;            // set once the step of the body is asked
  };
  WayState& of(Way way) { return ways_[static_cast<std::size_t>(way)]; }
  const WayState& of(Way way) const { return ways_[static_cast<std::size_t>(way)]; }

 private:
  Statement about(const processing::Call& call, Part part);
  std::optional<std::string> adopt(const ProcessingModes& wanted, Way told);
  /// Bytes of header fields that all answers of an exchange may set together: they are kept until its end.
  static constexpr std::size_t kMostChanged = 4 * HeaderChanges::kMostBytes;

  std::array<WayState, 2> ways_;
  std::size_t changed_ = 0;
};

}  // namespace sluice::filters::ext_proc
