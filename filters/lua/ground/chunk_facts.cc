#include "filters/lua/ground/chunk_facts.h"

#include <cstring>
#include <lua.hpp>
#include <map>
#include <utility>

namespace sluice::filters::lua {
namespace {

// lopcodes.h and lobject.h of Lua 5.4, which are not part of its interface.
constexpr std::uint32_t kSetUpvalue = 10;
constexpr unsigned kOpcodeBits = 7;
constexpr unsigned kShiftOfB = 16;
constexpr unsigned char kInteger = 0x03;
constexpr unsigned char kFloat = 0x13;
constexpr unsigned char kShortString = 0x04;
constexpr unsigned char kLongString = 0x14;
constexpr int kMostNested = 200;
constexpr int kAbsoluteLine = -128;

/// The origin of an upvalue of a function, and the place where it is assigned.
struct UpvalueFacts {
  bool isLocalOfParent = false;
  std::size_t index = 0;
  int line = 0;  // of an assignment; 0 if there is none
  std::string name;
};

class ChunkReader {
 public:
  explicit ChunkReader(std::string_view bytes) : left_(bytes) {}

  std::optional<ChunkFacts> read() {
    if (!header()) return std::nullopt;
    std::vector<UpvalueFacts> upvalues;
    if (!function(upvalues, 0) || !left_.empty()) return std::nullopt;
    for (UpvalueFacts& each : upvalues) {
      if (each.line > 0) facts_.assigned.push_back({std::move(each.name), each.line});
    }
    return std::move(facts_);
  }

 private:
  bool header() {
    // The signature, version 5.4, format 0, and bytes that a transfer as text would damage.
    static constexpr std::string_view kStart(LUA_SIGNATURE "\x54\x00\x19\x93\r\n\x1a\n", 12);
    if (!left_.starts_with(kStart)) return false;
    take(kStart.size());
    const std::string_view sizes = take(3);
    if (sizes != std::string_view("\x04\x08\x08", 3)) return false;
    take(sizeof(lua_Integer) + sizeof(lua_Number));
    byte();  // the number of upvalues
    return good_;
  }

  std::string_view take(std::size_t count) {
    if (count > left_.size()) {
      good_ = false;
      count = 0;
    }
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }
  unsigned char byte() {
    const std::string_view one = take(1);
    return one.empty() ? 0 : static_cast<unsigned char>(one.front());
  }
  std::size_t number() {
    std::size_t value = 0;
    while (good_) {
      const unsigned char next = byte();
      if (value > std::size_t{1} << 48) good_ = false;
      value = value << 7 | (next & 0x7FU);
      if ((next & 0x80U) != 0) break;
    }
    return value;
  }
  std::string_view text() {
    const std::size_t size = number();  // 0: none; else the size and one
    return size == 0 ? std::string_view() : take(size - 1);
  }

  bool constants() {
    for (std::size_t left = number(); good_ && left > 0; --left) {
      switch (byte()) {
        case kInteger:
        case kFloat:
          take(8);
          break;
        case kShortString:
        case kLongString:
          facts_.strings.emplace_back(text());
          break;
        case 0x00:  // nil
        case 0x01:  // false
        case 0x11:  // true
          break;
        default:
          good_ = false;
      }
    }
    return good_;
  }

  /// Returns the instruction of each function that assigns an upvalue, by the upvalue's number.
  static std::map<std::size_t, std::size_t> assignments(std::string_view code) {
    std::map<std::size_t, std::size_t> found;
    for (std::size_t at = 0; at + 4 <= code.size(); at += 4) {
      std::uint32_t instruction = 0;
      std::memcpy(&instruction, code.data() + at, sizeof(instruction));
      if ((instruction & ((1U << kOpcodeBits) - 1)) != kSetUpvalue) continue;
      found.emplace(instruction >> kShiftOfB & 0xFFU, at / 4);
    }
    return found;
  }

  bool function(std::vector<UpvalueFacts>& upvalues, int depth) {
    if (depth > kMostNested) return false;
    text();  // the name of the source
    const int begin = static_cast<int>(number());
    number();  // the last line
    take(3);   // parameters, varargs, stack
    const std::map<std::size_t, std::size_t> assigns = assignments(take(number() * 4));
    if (!constants()) return false;
    upvalues.resize(number());
    for (UpvalueFacts& each : upvalues) {
      each.isLocalOfParent = byte() != 0;
      each.index = byte();
      byte();  // its kind
    }
    for (std::size_t left = number(); good_ && left > 0; --left) {
      std::vector<UpvalueFacts> inner;
      if (!function(inner, depth + 1)) return false;
      for (const UpvalueFacts& each : inner) {
        if (each.isLocalOfParent || each.line == 0) continue;
        if (each.index >= upvalues.size()) return false;
        upvalues[each.index].line = each.line;
      }
    }
    return debugFacts(upvalues, assigns, begin);
  }

  bool debugFacts(std::vector<UpvalueFacts>& upvalues, const std::map<std::size_t, std::size_t>& assigns, int line) {
    const std::string_view steps = take(number());
    std::map<std::size_t, int> absolute;
    for (std::size_t left = number(); good_ && left > 0; --left) {
      const std::size_t at = number();
      absolute[at] = static_cast<int>(number());
    }
    for (std::size_t left = number(); good_ && left > 0; --left) {
      text();  // a local variable, with its scope
      number();
      number();
    }
    std::vector<int> lines;
    for (std::size_t at = 0; at < steps.size(); ++at) {
      const int step = static_cast<signed char>(steps[at]);
      line = step == kAbsoluteLine ? absolute[at] : line + step;
      lines.push_back(line);
    }
    const std::size_t names = number();
    if (names > upvalues.size()) return false;
    for (std::size_t i = 0; i < names; ++i) upvalues[i].name = text();
    for (const auto& [index, at] : assigns) {
      if (index >= upvalues.size()) return false;
      upvalues[index].line = at < lines.size() && lines[at] > 0 ? lines[at] : 1;
    }
    return good_;
  }

  std::string_view left_;
  bool good_ = true;
  ChunkFacts facts_;
};

}  // namespace

std::optional<ChunkFacts> readChunk(std::string_view dumped) { return ChunkReader(dumped).read(); }

}  // namespace sluice::filters::lua
