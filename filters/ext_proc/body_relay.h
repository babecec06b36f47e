// A step that sends a body to the server piece by piece, and passes on the server's answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "filters/ext_proc/session.h"

namespace sluice::filters::ext_proc {

/// State of the step. Its body is BodyMode::kDuplex.
class BodyRelay {
 public:
  processing::Verdict ask(processing::Call& call, ServerSession& session, Way way);

 private:
  /// The part of a body that is collected for BodyForm::kBufferedPartial.
  static constexpr std::size_t kMostPartial = std::size_t{64} * 1024;
  /// Bytes that the step sends at a time.
  static constexpr std::size_t kMostGiven = std::size_t{64} * 1024;
  /// Answers that it reads at a time, so that other exchanges have their turn.
  static constexpr int kMostHeard = 256;
  /// No further pieces are sent while so many bytes of them have no answer.
  static constexpr std::size_t kMostUnanswered = std::size_t{128} * 1024;

  std::optional<processing::Verdict> begin(processing::Call& call, ServerSession& session, Way way);
  /// Takes the answers that have come. Returns a verdict if one of them ends the step.
  std::optional<processing::Verdict> listen(processing::Call& call, ServerSession& session, Way way);
  std::optional<processing::Verdict> obey(processing::Call& call, ServerSession& session, const ServerAnswer& answer);
  std::optional<processing::Verdict> obeyBody(processing::Call& call, ServerSession& session, const PartAnswer& told);
  /// Sends the bytes that have come. Returns false if it takes none of them now.
  bool give(processing::Call& call, ServerSession& session, Way way);
  void say(processing::Call& call, ServerSession& session, Way way, std::string piece);
  bool isDone(const ServerSession& session, Way way) const;
  processing::Verdict finish(processing::Call& call, ServerSession& session, Way way) const;
  /// Called when the server is done. The parts that it has not answered go on unchanged.
  processing::Verdict goOnWithout(processing::Call& call, ServerSession& session, Way way);
  static processing::Verdict passRest(processing::Call& call);
  static std::size_t sizeOf(const std::string& piece) { return sizeof piece + piece.size(); }
  processing::Verdict replace(processing::Call& call, ServerSession& session, Way way);
  Conversation::Answers answers() const {
    return form_ == BodyForm::kFullDuplex ? Conversation::Answers::kInItsOwnTime : Conversation::Answers::kDue;
  }

  BodyForm form_ = BodyForm::kSkipped;
  bool begun_ = false;
  bool decided_ = false;            // the head may go on
  bool bodySaid_ = false;           // a part of the body was sent
  bool endSaid_ = false;            // nothing more will be sent
  bool answered_ = false;           // the server has given its last piece
  bool replaced_ = false;           // the server has given a whole body instead
  bool passes_ = false;             // later bytes pass without the server, up to the trailers
  std::deque<std::string> pieces_;  // sent, and not answered
  std::size_t bytes_ = 0;           // size of pieces_
  std::string held_;  // collected for BodyForm::kBufferedPartial, or kept because the server has asked for that
};

}  // namespace sluice::filters::ext_proc
