#include "test/support/external/spop_dialogue.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "test/support/external/spop_wire.h"

namespace sluice::external {
namespace {

enum FrameType : std::uint8_t {
  kHaproxyHello = 1,
  kHaproxyDisconnect = 2,
  kNotify = 3,
  kAgentHello = 101,
  kAgentDisconnect = 102,
  kAck = 103
};

constexpr std::uint32_t kFin = 1;  // the frame is whole
constexpr std::uint32_t kMostFrame = 1024 * 1024;
constexpr std::size_t kLengthBytes = 4;

// The codes that a DISCONNECT has.
constexpr std::uint32_t kNormal = 0;
constexpr std::uint32_t kTooBig = 3;
constexpr std::uint32_t kInvalid = 4;

struct SpopFrame {
  std::uint8_t type = 0;
  std::uint64_t stream = 0;
  std::uint64_t id = 0;
};

void appendFixed32(std::string& to, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(value >> shift & 0xFF);
}

class SpopDialogue final : public Dialogue {
 public:
  SpopDialogue(base::ChunkPool& pool, const SpopVariable& variable) : variable_(variable), out_(pool) {}

  void feed(std::string_view bytes) override {
    in_ += bytes;
    std::string_view rest = in_;
    while (!isOver_ && rest.size() >= kLengthBytes) {
      const std::uint32_t length = *SpopReader(rest).fixed32();
      if (length > mostFrame_) {
        disconnect(kTooBig);
      } else if (rest.size() - kLengthBytes < length) {
        break;
      } else {
        take(rest.substr(kLengthBytes, length));
        rest.remove_prefix(kLengthBytes + length);
      }
    }
    in_.erase(0, in_.size() - rest.size());
  }
  void produce(base::ByteQueue& out, std::size_t) override { out.splice(out_, out_.size()); }
  bool isOver() const override { return isOver_; }

 private:
  void take(std::string_view bytes) {
    SpopReader reader(bytes);
    const auto type = reader.byte();
    const auto flags = reader.fixed32();
    const auto stream = reader.integer();
    const auto id = reader.integer();
    if (!type || !flags || !stream || !id || (*flags & kFin) == 0) return disconnect(kInvalid);
    switch (*type) {
      case kHaproxyHello:
        return greet(reader);
      case kHaproxyDisconnect:
        return disconnect(kNormal);
      case kNotify:
        return acknowledge({kAck, *stream, *id}, reader);
      default:
        return;  // frames of other types are ignored
    }
  }

  void greet(SpopReader& reader) {
    while (!reader.isEmpty()) {
      const auto name = reader.text();
      const auto value = reader.data();
      if (!name || !value) return disconnect(kInvalid);
      if (*name == "max-frame-size") {
        std::uint32_t most = mostFrame_;
        std::from_chars(value->data(), value->data() + value->size(), most);
        mostFrame_ = std::min(mostFrame_, most);
      }
      if (*name == "healthcheck") isOver_ = *value == "1";
    }
    std::string said;
    appendSpopText(said, "version");
    appendSpopString(said, "2.0");
    appendSpopText(said, "max-frame-size");
    appendSpopNumber(said, mostFrame_);
    appendSpopText(said, "capabilities");
    appendSpopString(said, "pipelining");
    say({kAgentHello, 0, 0}, said);
  }

  /// Reads the messages, at the cost of an agent that evaluates them, and sets the variable.
  void acknowledge(const SpopFrame& frame, SpopReader& reader) {
    while (!reader.isEmpty()) {
      const auto message = reader.text();
      const auto count = reader.byte();
      if (!message || !count) return disconnect(kInvalid);
      for (int i = 0; i < *count; ++i) {
        if (!reader.text() || !reader.data()) return disconnect(kInvalid);
      }
    }
    constexpr char kSetVariable = 1;
    constexpr char kItsArguments = 3;
    constexpr char kScopeOfTransaction = 2;
    std::string said = {kSetVariable, kItsArguments, kScopeOfTransaction};
    appendSpopText(said, variable_.name);
    appendSpopString(said, variable_.value);
    say(frame, said);
  }

  void disconnect(std::uint32_t code) {
    std::string said;
    appendSpopText(said, "status-code");
    appendSpopNumber(said, code);
    appendSpopText(said, "message");
    appendSpopString(said, code == kNormal ? "bye" : "a frame cannot be read");
    say({kAgentDisconnect, 0, 0}, said);
    isOver_ = true;
  }

  void say(const SpopFrame& frame, std::string_view payload) {
    std::string head = {static_cast<char>(frame.type)};
    appendFixed32(head, kFin);
    appendSpopInteger(head, frame.stream);
    appendSpopInteger(head, frame.id);
    std::string length;
    appendFixed32(length, static_cast<std::uint32_t>(head.size() + payload.size()));
    out_.append(length);
    out_.append(head);
    out_.append(payload);
  }

  const SpopVariable& variable_;
  std::string in_;
  base::ByteQueue out_;
  std::uint32_t mostFrame_ = kMostFrame;
  bool isOver_ = false;
};

}  // namespace

MakeDialogue makeSpopDialogues(SpopVariable variable) {
  return [variable = std::move(variable)](base::ChunkPool& pool) {
    return std::make_unique<SpopDialogue>(pool, variable);
  };
}

}  // namespace sluice::external
