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

std::size_t lengthOf(const Value& value) {
  if (value.isList()) return value.items.size();
  return value.isMap() ? value.members.size() : value.text.size();
}

class Packer {
 public:
  void add(const Value& value) {
    addHead(value.kind, lengthOf(value));
    if (value.isList()) {
      for (const Value& item : value.items) add(item);
    } else if (value.isMap()) {
      for (const Member& member : value.members) {
        addLength(member.key.size());
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
    if (here == kLongLength) addLength(length - kLongLength);
  }
  void addLength(std::size_t length) {
    for (; length >= kMoreFollows; length >>= kRestBits) bytes_ += byteOf((length & (kMoreFollows - 1)) | kMoreFollows);
    bytes_ += byteOf(length);
  }

  std::string bytes_;
};

/// Reads the bytes of a Packer, which are complete.
class Unpacker {
 public:
  Unpacker(std::string_view bytes, const Position& position) : rest_(bytes), position_(position) {}

  Value take() {
    const Head head = takeHead();
    Value value;
    value.kind = head.kind;
    value.position = position_;
    if (head.kind == Value::Kind::kList) {
      value.items.reserve(head.length);
      for (std::size_t i = 0; i < head.length; ++i) value.items.push_back(take());
    } else if (head.kind == Value::Kind::kMap) {
      value.members.reserve(head.length);
      for (std::size_t i = 0; i < head.length; ++i) {
        std::string key(takeKey());
        value.members.push_back(Member{std::move(key), position_, take()});
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
    for (std::size_t i = 0; i < head.length; ++i) {
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
    const std::size_t rest = here == kLongLength ? takeLength() : 0;
    return {static_cast<Value::Kind>(byte >> kLengthBits), here + rest};
  }
  std::size_t takeLength() {
    std::size_t length = 0;
    for (unsigned shift = 0;; shift += kRestBits) {
      const std::size_t byte = takeByte();
      length |= (byte & (kMoreFollows - 1)) << shift;
      if (byte < kMoreFollows) return length;
    }
  }
  std::string_view takeText(std::size_t length) {
    const std::string_view text = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return text;
  }
  std::string_view takeKey() { return takeText(takeLength()); }

  void skip() {
    const Head head = takeHead();
    if (head.kind == Value::Kind::kList) {
      for (std::size_t i = 0; i < head.length; ++i) skip();
    } else if (head.kind == Value::Kind::kMap) {
      for (std::size_t i = 0; i < head.length; ++i) {
        takeKey();
        skip();
      }
    } else {
      takeText(head.length);
    }
  }

  std::string_view rest_;
  const Position& position_;
};

}  // namespace

PackedValue::PackedValue(const Value& value) : position_(value.position) {
  if (value.isNull()) return;
  Packer packer;
  packer.add(value);
  bytes_ = std::move(packer).take();
}

Value PackedValue::unpacked() const {
  if (!bytes_.empty()) return Unpacker(bytes_, position_).take();
  Value null;
  null.position = position_;
  return null;
}

std::optional<Value> PackedValue::find(std::string_view key) const {
  return isMap() ? Unpacker(bytes_, position_).takeMember(key) : std::nullopt;
}

bool PackedValue::holds(const Value& value) const {
  return bytes_.empty() ? value.isNull() : Unpacker(bytes_, position_).takes(value);
}

Value::Kind PackedValue::kind() const {
  if (bytes_.empty()) return Value::Kind::kNull;
  return static_cast<Value::Kind>(static_cast<unsigned char>(bytes_.front()) >> kLengthBits);
}

}  // namespace sluice::content
