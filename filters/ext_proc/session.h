// The state of an external processor in one exchange: the conversation with its server, and what has become of the
// request and the response.
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
  /// Returns true if the server gets this body, as far as is known when its headers are said.
  static bool hasBody(const processing::Call& call);
  /// Returns true if the server wants to know the trailers of that way, and there are some behind the body.
  bool hasTrailers(const processing::Call& call, Way way) const;
  /// Returns true if nothing of that way will be said behind its headers.
  bool endsWithHeaders(Way way) const;

  /// Does what the server wants about a head. Returns how the step goes on.
  processing::Verdict obey(processing::Call& call, const ServerAnswer& answer);
  /// Leaves out what a PayloadProcessor has ended.
  void endPhases(const ServerAnswer& answer);
  /// Returns how the server gets the body of that way, as far as it is known; the first call of settle() settles it.
  BodyForm formOf(Way way) const;
  BodyForm settle(Way way);
  /// Changes the trailers as the server wants it.
  static void changeTrailers(processing::Call& call, const ServerAnswer& answer);
  processing::Verdict reply(const ImmediateAnswer& answer);
  /// Gives the stream up because of what the server did, or because there is no room for it.
  processing::Verdict fail(std::string why, processing::Cause cause = processing::Cause::kError);
  /// Returns the failure of the conversation.
  processing::Verdict failed() const { return processing::Verdict::fail(talk.failure(), talk.cause()); }
  /// Has the step asked again when there is more to hear, and accounts for what is held because of a body, `more` bytes
  /// besides what the conversation holds. Returns a failure if there is no room for that.
  std::optional<processing::Verdict> await(processing::Call& call, Way way, std::size_t more);

  const ExtProcSettings& settings;
  Conversation talk;
  struct WayState {
    bool told = false;                       // the server has got its attributes
    bool ended = false;                      // there is no body, or the server wants none of it
    std::optional<std::string> replacement;  // the server's, for a body that is yet to come
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
