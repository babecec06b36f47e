// Finds one value of a JSON text (RFC 8259) while the text arrives, in pieces that are cut anywhere: builds no tree,
// and keeps nothing of the text but that value.
//
// Owned by one reading; one thread; sans-IO. It checks the whole text, also outside of the path, as strictly as
// parseJson() does with its default depth: both accept the same texts. The one exception is two different names of one
// map whose hashes are equal; see NameSet. Its memory is a constant, the value, the candidates of a list whose elements
// the path counts from the end, and 16 bytes for each name of the open maps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/content/json_step.h"
#include "proxy/content/name_set.h"
#include "proxy/content/value.h"

namespace sluice::content {

/// The value that was found.
struct FoundJson {
  Value::Kind kind = Value::Kind::kNull;
  /// The text as in Value::text; strings and numbers are cut after the requested number of bytes. Empty for lists, maps
  /// and null.
  std::string text;
  bool isCut = false;
};

class JsonScan {
 public:
  static constexpr std::size_t kMostDepth = 64;
  static constexpr std::size_t kMostSteps = 32;
  /// The lowest index of a step is the negative of this number.
  static constexpr std::int32_t kMostFromEnd = 64;

  using Found = FoundJson;

  /// `path` has at most kMostSteps and outlives the scan; without steps the whole text is the value. At most
  /// `mostText` bytes of the value are kept.
  JsonScan(std::span<const JsonStep> path, std::size_t mostText) : path_(path), mostText_(mostText) {}

  /// Takes the next piece. Returns false, from then on, if no text that begins like this is JSON.
  bool feed(std::string_view piece);
  /// Ends the text. Returns false if the input is not JSON, or not complete.
  bool end();
  /// Returns the value once end() has returned true; null if there is none.
  const Found* found() const { return found_ ? &*found_ : nullptr; }
  /// Returns true if no byte has arrived.
  bool isEmpty() const { return state_ == State::kMark && word_.empty(); }

  /// Returns the bytes in use beyond its own size and the value.
  std::size_t memory() const { return names_.memory(); }

 private:
  enum class State : std::uint8_t {
    kMark,  // a byte order mark, or anything of kValue
    kValue,
    kFirstElement,  // or the end of the list
    kFirstName,     // or the end of the map
    kName,
    kColon,
    kAfterValue,
    kString,
    kEscape,
    kHex,
    kPairBackslash,  // half of a surrogate pair has arrived: the other one must follow
    kPairLetter,
    kMinus,
    kZero,
    kInteger,
    kPoint,
    kFraction,
    kExponent,
    kExponentSign,
    kExponentDigits,
    kWord,
    kFailed
  };
  /// The purpose for which the bytes of the current string or number are used.
  enum class Use : std::uint8_t { kNone, kName, kFound };

  // Each of these takes the bytes it can between `at` and `end` and returns where it stopped; null if the text is no
  // JSON.
  const char* take(const char* at, const char* end);
  const char* takeMark(const char* at, const char* end);
  const char* takeValue(const char* at, const char* end);
  const char* takeName(const char* at, const char* end);
  const char* takeMembers(const char* at, const char* end);
  const char* takeAfterValue(const char* at, const char* end);
  const char* takeString(const char* at, const char* end);
  const char* takeCharacter(const char* at, const char* end);
  const char* takeEscape(const char* at, const char* end);
  const char* takeHex(const char* at, const char* end);
  const char* takeNumber(const char* at, const char* end);
  const char* takeWord(const char* at, const char* end);

  bool beginValue(Value::Kind kind);
  bool beginContainer(Value::Kind kind);
  void beginString(Use use);
  void beginElement();
  bool endString();
  bool endCode();
  void endValue();
  void endContainer();
  bool isNumberWhole() const;
  void put(const char* begin, const char* end);

  bool inMap() const { return (maps_ & 1) != 0; }
  /// Returns true if the innermost open container is on the path.
  bool isOnPath() const { return onPath_ == depth_; }
  const JsonStep& step() const { return path_[depth_ - 1]; }
  bool countsFromEnd() const { return isOnPath() && depth_ > 0 && !inMap() && step().index && *step().index < 0; }

  const std::span<const JsonStep> path_;
  const std::size_t mostText_;
  State state_ = State::kMark;
  Use use_ = Use::kNone;
  bool selected_ = true;       // the next value is on the path
  std::uint8_t needed_ = 0;    // bytes of a UTF-8 character, or digits of an escape, that are still to come
  unsigned char lowest_ = 0;   // lower bound of the next such byte
  unsigned char highest_ = 0;  // upper bound of the next such byte
  std::uint16_t code_ = 0;     // the code of an escape
  std::uint16_t pair_ = 0;     // the first half of a surrogate pair
  std::uint32_t depth_ = 0;
  std::uint32_t onPath_ = 0;  // how many containers, from the outermost on, are on the path
  std::uint64_t maps_ = 0;    // bit 0 is the innermost open container
  std::string_view word_;     // the rest of a word that has begun, or of the byte order mark
  NameHash name_;
  const std::string* wanted_ = nullptr;  // the name that the path takes, as long as the current one matches it
  std::size_t alike_ = 0;                // bytes that match so far
  NameSet names_;
  std::array<std::uint64_t, kMostSteps> elements_{};  // the number of elements begun so far, for each list on the path
  std::vector<std::deque<std::optional<Found>>>
      lastOnes_;  // by depth, for lists whose elements are counted from the end
  std::optional<Found> found_;
};

}  // namespace sluice::content
