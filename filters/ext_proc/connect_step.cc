#include "filters/ext_proc/connect_step.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "filters/ext_proc/head_changes.h"

namespace sluice::filters::ext_proc {
namespace {

using processing::Verdict;

/// Adds an attribute unless the settings name it.
void addAttribute(content::Value& attributes, std::string name, content::Value::Kind kind, std::string text) {
  if (attributes.find(name) != nullptr) return;
  content::Member& member = attributes.members.emplace_back();
  member.key = std::move(name);
  member.value.kind = kind;
  member.value.text = std::move(text);
}

/// Returns the attributes that the settings name, and those of the connection and its client; nullopt if the request
/// takes too much work for them.
std::optional<content::Value> attributesOf(const processing::Call& call, const processing::Peer& peer,
                                           const ExtProcSettings& settings,
                                           const processing::Destination::ResolvedAddress& address) {
  using Kind = content::Value::Kind;
  auto values = settings.requestAttributes.valuesIn(call, peer);
  if (!values) return std::nullopt;
  content::Value& attributes = *values;
  addAttribute(attributes, "destination.address", Kind::kString, std::string(address.ip));
  addAttribute(attributes, "destination.port", Kind::kNumber, std::to_string(address.port));
  addAttribute(attributes, "connection.requested_server_name", Kind::kString,
               std::string(call.destination->serverName()));
  addAttribute(attributes, "source.address", Kind::kString, std::string(peer.address));
  addAttribute(attributes, "source.namespace", Kind::kString, std::string(peer.nameSpace));
  addAttribute(attributes, "source.serviceAccount", Kind::kString, std::string(peer.serviceAccount));
  addAttribute(attributes, "source.principal", Kind::kString, std::string(peer.principal));
  addAttribute(attributes, "source.assurance", Kind::kString, std::string(processing::shownAssurance(peer)));
  return values;
}

}  // namespace

void ConnectStep::say(processing::Call& call, const processing::Peer& peer, const ExtProcSettings& settings,
                      Question& question, const processing::Destination::ResolvedAddress& address) {
  Statement statement{Part::kRequestHeaders};
  statement.ends = true;
  auto attributes = attributesOf(call, peer, settings, address);
  if (!attributes && !settings.observes) return fail(question, Verdict::overWork());
  if (attributes) statement.attributes = *std::move(attributes);
  if (settings.observes) {
    question.talk->mention(call, std::move(statement));
    question.talk->finish(Way::kRequest);
    question.standing = Standing::kPassed;
  } else {
    question.talk->say(call, std::move(statement), Conversation::Answers::kDue);
  }
}

void ConnectStep::fail(Question& question, Verdict failure) {
  question.standing = Standing::kFailed;
  question.talk->close();
  // One that no failOpen passes over must not hide behind another one.
  if (!failure_ || failure.cause() == processing::Cause::kOverWork) failure_ = std::move(failure);
}

void ConnectStep::hear(processing::Call& call, Question& question) {
  ServerAnswer answer;
  switch (question.talk->hear(call, Way::kRequest, answer)) {
    case Conversation::Heard::kNothing:
      return;
    case Conversation::Heard::kFailure:
      return fail(question, Verdict::fail(question.talk->failure(), question.talk->cause()));
    case Conversation::Heard::kEnd:
      question.standing = Standing::kPassed;
      return;
    case Conversation::Heard::kAnswer:
      break;
  }
  if (answer.immediate) {
    question.standing = Standing::kDenied;
    question.talk->close();
    if (!denial_) denial_ = std::move(answer.immediate);
  } else {
    question.standing = Standing::kPassed;
    question.talk->finish(Way::kRequest);
  }
}

// An address that was denied stays denied, even if the step then fails open because of another one.
Verdict ConnectStep::decide(processing::Call& call) {
  const auto passed = [this](const processing::Destination::ResolvedAddress& address) {
    return std::any_of(questions_.begin(), questions_.end(), [&address](const Question& each) {
      return each.number == address.number && each.standing == Standing::kPassed;
    });
  };
  const auto& addresses = call.destination->addresses();
  if (std::any_of(addresses.begin(), addresses.end(), passed)) {
    call.destination->narrow(call.arena, passed);
    return Verdict::goOn();
  }
  return denial_ ? Verdict::reply(replyFrom(*denial_)) : *std::move(failure_);
}

Verdict ConnectStep::expired(processing::Call& call, const ExtProcSettings& settings,
                             const std::shared_ptr<const processing::CalloutTarget>& server) {
  Question& last = questions_.back();
  hear(call, last);  // the answer may have come in time
  if (last.standing == Standing::kAsked) {
    fail(last, Verdict::fail("the server took longer for its answer than its timeout", processing::Cause::kTimeout));
  }
  return ask(call, peer_, settings, server);
}

// One after the other, because a step that waits is resumed by one answer.
Verdict ConnectStep::ask(processing::Call& call, const processing::Peer& peer, const ExtProcSettings& settings,
                         const std::shared_ptr<const processing::CalloutTarget>& server) {
  peer_ = peer;
  if (!questions_.empty() && questions_.back().standing == Standing::kAsked) hear(call, questions_.back());
  const auto& addresses = call.destination->addresses();
  const std::size_t most = std::min(addresses.size(), kMostAddresses);
  while (questions_.empty() || questions_.back().standing != Standing::kAsked) {
    if (questions_.size() == most) return decide(call);
    const auto& address = addresses[questions_.size()];
    Question& question =
        questions_.emplace_back(Question{address.number, std::make_unique<Conversation>(settings, server)});
    say(call, peer, settings, question, address);
    if (question.standing == Standing::kAsked) hear(call, question);
  }
  Conversation& talk = *questions_.back().talk;
  talk.await(call, Way::kRequest, talk.due(Way::kRequest));
  return Verdict::wait();
}

}  // namespace sluice::filters::ext_proc
