#include "proxy/content/packed_value.h"

#include <algorithm>
#include <utility>

namespace sluice::content {
namespace {

// A value begins with a byte of its kind and its length. The length is the number of bytes of a text, of items or of
// members. kLongLength means that the rest of the length follows, seven bits at a time.
constexpr unsigned kLengthBits = 5;
constexpr std::size_t kLongLength = (std::size_t{1} << kLengthBits) - 1;
constexpr unsigned kRestBits = 7;
constexpr std::size_t kMoreFollows = std::size_t{1} << kRestBits;

char byteOf(std::size_t number) { return static_cast<char>(static_cast<unsigned char>(number)); }

void addNumber(std::string& bytes, std::size_t number) {
  for (; number >= kMoreFollows; number >>= kRestBits) bytes += byteOf((number & (kMoreFollows - 1)) | kMoreFollows);
  bytes += byteOf(number);
}

std::size_t takeNumber(std::string_view& bytes) {
  std::size_t number = 0;
  for (unsigned shift = 0;; shift += kRestBits) {
    const auto byte = std::size_t{static_cast<unsigned char>(bytes.front())};
    bytes.remove_prefix(1);
    number |= (byte & (kMoreFollows - 1)) << shift;
    if (byte < kMoreFollows) return number;
  }
}

// The places of all values and keys in their file, in the order in which they are packed. Each one is a number of lines
// since the last one, with the flags below, and a column.
constexpr std::size_t kIsAbove = 1;  // the lines are counted upwards
constexpr std::size_t kIsBlock = 2;  // a literal block, whose own column follows
constexpr unsigned kPlaceFlags = 2;

class PlacePacker {
 public:
  explicit PlacePacker(const Position& whole) : line_(whole.line) {}

  void add(const Position& position, std::uint32_t blockColumn = 0) {
    const bool above = position.line < line_;
    const std::size_t lines = above ? line_ - position.line : position.line - line_;
    addNumber(places_, lines << kPlaceFlags | (above ? kIsAbove : 0) | (blockColumn != 0 ? kIsBlock : 0));
    addNumber(places_, position.column);
    if (blockColumn != 0) addNumber(places_, blockColumn);
    line_ = position.line;
  }
  std::string take() && {
    places_.shrink_to_fit();
    return std::move(places_);
  }

 private:
  std::string places_;
  std::uint32_t line_;
};

class PlaceReader {
 public:
  /// Without `places`, all parts have the place of the whole.
  PlaceReader(std::string_view places, const Position& whole)
      : rest_(places), isGiven_(!places.empty()), last_(whole) {}

  const Position& take() {
    if (!isGiven_) return last_;
    const std::size_t number = takeNumber(rest_);
    const auto lines = static_cast<std::uint32_t>(number >> kPlaceFlags);
    last_.line = (number & kIsAbove) != 0 ? last_.line - lines : last_.line + lines;
    last_.column = static_cast<std::uint32_t>(takeNumber(rest_));
    blockColumn_ = (number & kIsBlock) != 0 ? static_cast<std::uint32_t>(takeNumber(rest_)) : 0;
    return last_;
  }
  /// Returns Value::blockColumn of the value whose place was taken last.
  std::uint32_t blockColumn() const { return blockColumn_; }

 private:
  std::string_view rest_;
  bool isGiven_;
  Position last_;
  std::uint32_t blockColumn_ = 0;
};

std::size_t lengthOf(const Value& value) {
  if (value.isList()) return value.items.size();
  return value.isMap() ? value.members.size() : value.text.size();
}

class Packer {
 public:
  explicit Packer(PlacePacker* places) : places_(places) {}

  void add(const Value& value) {
    if (places_ != nullptr) places_->add(value.position, value.blockColumn);
    addHead(value.kind, lengthOf(value));
    if (value.isList()) {
      for (const Value& item : value.items) add(item);
    } else if (value.isMap()) {
      for (const Member& member : value.members) {
        if (places_ != nullptr) places_->add(member.position);
        addNumber(bytes_, member.key.size());
        bytes_ += member.key;
        add(member.value);
      }
    } else {
      bytes_ += value.text;
    }
  }
  std::string take() && {
    bytes_.shrink_to_fit();
    return std::move(bytes_);
  }

 private:
  void addHead(Value::Kind kind, std::size_t length) {
    const std::size_t here = length < kLongLength ? length : kLongLength;
    bytes_ += byteOf(static_cast<std::size_t>(kind) << kLengthBits | here);
    if (here == kLongLength) addNumber(bytes_, length - kLongLength);
  }

  PlacePacker* const places_;
  std::string bytes_;
};

/// Reads the bytes of a Packer, which are complete.
class Unpacker {
 public:
  Unpacker(std::string_view bytes, std::string_view places, const Position& whole)
      : rest_(bytes), places_(places, whole) {}

  Value take() {
    const Head head = takeHead();
    Value value;
    value.kind = head.kind;
    value.position = places_.take();
    value.blockColumn = places_.blockColumn();
    if (head.kind == Value::Kind::kList) {
      value.items.reserve(head.length);
      for (std::size_t i = 0; i < head.length; ++i) value.items.push_back(take());
    } else if (head.kind == Value::Kind::kMap) {
      value.members.reserve(head.length);
      for (std::size_t i = 0; i < head.length; ++i) {
        Position position = places_.take();
        std::string key(takeKey());
        value.members.push_back(Member{std::move(key), std::move(position), take()});
      }
    } else {
      value.text = takeText(head.length);
    }
    return value;
  }

  /// Takes a value, and returns true if it is equal to `value`. If it returns false, it may have taken a part.
  bool takes(const Value& value) {
    const Head head = takeHead();
    if (head.kind != value.kind || head.length != lengthOf(value)) return false;
    if (head.kind == Value::Kind::kList) {
      return std::all_of(value.items.begin(), value.items.end(), [this](const Value& item) { return takes(item); });
    }
    if (head.kind == Value::Kind::kMap) {
      return std::all_of(value.members.begin(), value.members.end(),
                         [this](const Member& member) { return takeKey() == member.key && takes(member.value); });
    }
    return takeText(head.length) == value.text;
  }

  std::optional<Value> takeMember(std::string_view key) {
    const Head head = takeHead();
    if (head.kind != Value::Kind::kMap) return std::nullopt;
    places_.take();
    for (std::size_t i = 0; i < head.length; ++i) {
      places_.take();
      if (takeKey() == key) return take();
      skip();
    }
    return std::nullopt;
  }

 private:
  struct Head {
    Value::Kind kind;
    std::size_t length;
  };

  std::size_t takeByte() {
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    return byte;
  }
  Head takeHead() {
    const std::size_t byte = takeByte();
    const std::size_t here = byte & kLongLength;
    const std::size_t rest = here == kLongLength ? takeNumber(rest_) : 0;
    return {static_cast<Value::Kind>(byte >> kLengthBits), here + rest};
  }
  std::string_view takeText(std::size_t length) {
    const std::string_view text = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return text;
  }
  std::string_view takeKey() { return takeText(takeNumber(rest_)); }

  void skip() {
    places_.take();
    const Head head = takeHead();
    if (head.kind == Value::Kind::kList) {
      for (std::size_t i = 0; i < head.length; ++i) skip();
    } else if (head.kind == Value::Kind::kMap) {
      for (std::size_t i = 0; i < head.length; ++i) {
        places_.take();
        takeKey();
        skip();
      }
    } else {
      takeText(head.length);
    }
  }

  std::string_view rest_;
  PlaceReader places_;
};

}  // namespace

PackedValue::PackedValue(const Value& value) : position_(value.position) {
  if (value.isNull()) return;
  PlacePacker places(position_);
  Packer packer(position_.file ? &places : nullptr);
  packer.add(value);
  bytes_ = std::move(packer).take();
  places_ = std::move(places).take();
}

Value PackedValue::unpacked() const {
  if (!bytes_.empty()) return Unpacker(bytes_, places_, position_).take();
  Value null;
  null.position = position_;
  return null;
}

std::optional<Value> PackedValue::find(std::string_view key) const {
  return isMap() ? Unpacker(bytes_, places_, position_).takeMember(key) : std::nullopt;
}

bool PackedValue::holds(const Value& value) const {
  return bytes_.empty() ? value.isNull() : Unpacker(bytes_, places_, position_).takes(value);
}

Value::Kind PackedValue::kind() const {
  if (bytes_.empty()) return Value::Kind::kNull;
  return static_cast<Value::Kind>(static_cast<unsigned char>(bytes_.front()) >> kLengthBits);
}

}  // namespace sluice::content
