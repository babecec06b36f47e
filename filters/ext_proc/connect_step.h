// A step of connect that asks the server about each address to which the attempt may be connected. It sends attributes
// alone, on a stream for each address, about one after the other. An address passes if the server answers, unless it
// answers with an immediate response. The step fails if no address passes and none was denied.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "filters/ext_proc/conversation.h"
#include "filters/ext_proc/settings.h"
#include "proxy/processing/call.h"
#include "proxy/processing/verdict.h"

namespace sluice::filters::ext_proc {

/// State of the step.
class ConnectStep {
 public:
  /// The server is asked about the first of the addresses, and the others are left out.
  static constexpr std::size_t kMostAddresses = 64;

  /// `settings` and `server` outlive the state, and are the same in each call.
  processing::Verdict ask(processing::Call& call, const processing::Peer& peer, const ExtProcSettings& settings,
                          const std::shared_ptr<const processing::CalloutTarget>& server);
  /// Called when the server has not answered in time. Goes on with the next address.
  processing::Verdict expired(processing::Call& call, const ExtProcSettings& settings,
                              const std::shared_ptr<const processing::CalloutTarget>& server);

 private:
  enum class Standing : std::uint8_t { kAsked, kPassed, kDenied, kFailed };
  struct Question {
    std::size_t number;  // that of the address
    std::unique_ptr<Conversation> talk;
    Standing standing = Standing::kAsked;
  };

  void say(processing::Call& call, const processing::Peer& peer, const ExtProcSettings& settings, Question& question,
           const processing::Destination::ResolvedAddress& address);
  void hear(processing::Call& call, Question& question);
  void fail(Question& question, processing::Verdict failure);
  processing::Verdict decide(processing::Call& call);

  std::vector<Question> questions_;             // all but the last are decided
  processing::Peer peer_;                       // the client, after the first call of ask()
  std::optional<ImmediateAnswer> denial_;       // the first
  std::optional<processing::Verdict> failure_;  // the first
};

}  // namespace sluice::filters::ext_proc
