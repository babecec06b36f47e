// One value of a JSON text (RFC 8259), found while the text comes, in pieces that are cut anywhere: no tree, and of the
// text nothing is held but that value.
//
// Owned by one reading; one thread; sans-IO. As strict as parseJson() with its usual depth, whatever of the text the
// path leads past: a text is complete JSON to both or to neither. The one exception are two different names of one map
// whose hashes are equal; see NameSet. Its memory is a constant, the value, the candidates of a list that the path
// counts from the end of, and 16 bytes for each name of the maps that are open.
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

#include "proxy/content/name_set.h"
#include "proxy/content/value.h"

namespace sluice::content {

/// One step of a path into a value: by name into a map, by index into a list. One that has both takes either way.
struct JsonStep {
  std::optional<std::string> name;
  std::optional<std::int32_t> index;  // below 0: from the end
};

/// This is what was found there.
struct FoundJson {
  Value::Kind kind = Value::Kind::kNull;
  /// The text of a string or a number is that of Value::text, cut behind the bytes that were asked for; else it is
  /// empty.
  std::string text;
  bool isCut = false;
};

class JsonScan {
 public:
  static constexpr std::size_t kMostDepth = 64;
  static constexpr std::size_t kMostSteps = 32;
  /// No index is below its negative.
  static constexpr std::int32_t kMostFromEnd = 64;

  using Found = FoundJson;

  /// `path` has at most kMostSteps, and outlives the scan; without steps it is the whole text. At most `mostText` bytes
  /// of the value are kept.
  JsonScan(std::span<const JsonStep> path, std::size_t mostText) : path_(path), mostText_(mostText) {}

  /// The next piece. False, from then on: no text that begins like this is JSON.
  bool feed(std::string_view piece);
  /// Ends the text. Returns false if what has come is not JSON, or not all of it.
  bool end();
  /// Once end() has said true: the value; null if there is none.
  const Found* found() const { return found_ ? &*found_ : nullptr; }
  /// No byte has come.
  bool isEmpty() const { return state_ == State::kMark && word_.empty(); }

  /// Returns the bytes that it takes beyond its own size and the value.
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
    kPairBackslash,  // half of a surrogate pair has come: the other one follows
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
  /// This says what the bytes of a string or number are for.
  enum class Use : std::uint8_t { kNone, kName, kFound };

  // Each takes what it can of what is at `at` and before `end`, and says where it stopped; null: it is no JSON.
  const char* take(const char* at, const char* end);
  const char* takeMark(const char* at, const char* end);
  const char* takeValue(const char* at, const char* end);
  const char* takeName(const char* at, const char* end);
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
  /// The container that is open last stands where the path leads through.
  bool isOnPath() const { return onPath_ == depth_; }
  const JsonStep& step() const { return path_[depth_ - 1]; }
  bool countsFromEnd() const { return isOnPath() && depth_ > 0 && !inMap() && step().index && *step().index < 0; }

  const std::span<const JsonStep> path_;
  const std::size_t mostText_;
  State state_ = State::kMark;
  Use use_ = Use::kNone;
  bool selected_ = true;       // the value that comes next stands where the path leads
  std::uint8_t needed_ = 0;    // bytes of a character in UTF-8 that are still to come, or digits of an escape
  unsigned char lowest_ = 0;   // the next one of them is from here
  unsigned char highest_ = 0;  // to here
  std::uint16_t code_ = 0;     // of an escape
  std::uint16_t pair_ = 0;     // the first half of a surrogate pair
  std::uint32_t depth_ = 0;
  std::uint32_t onPath_ = 0;  // containers from the outermost on through which the path leads
  std::uint64_t maps_ = 0;    // bit 0 is the container that is open last
  std::string_view word_;     // what is left of a word that has begun, or of the byte order mark
  NameHash name_;
  const std::string* wanted_ = nullptr;  // the name that the path takes, as long as the one that comes is like it
  std::size_t alike_ = 0;                // bytes
  NameSet names_;
  std::array<std::uint64_t, kMostSteps> elements_{};        // of each list on the path: those that have begun
  std::vector<std::deque<std::optional<Found>>> lastOnes_;  // by depth: of lists that are counted from the end
  std::optional<Found> found_;
};

}  // namespace sluice::content
