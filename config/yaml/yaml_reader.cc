#include "config/yaml/yaml_reader.h"

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <optional>
#include <streambuf>
#include <unordered_set>
#include <utility>

#include "config/yaml/lookahead.h"
#include "config/yaml/yaml_messages.h"
#include "config/yaml/yaml_scalar.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

/// The handler throws this through the parser, and the reader catches it below.
struct YamlError {
  YAML::Mark mark;
  std::string message;
};

/// Reads a text in place, because std::istringstream would copy it. Throws if the parser reads too far ahead.
class ViewBuffer final : public std::streambuf {
 public:
  ViewBuffer(std::string_view text, Lookahead& lookahead) : text_(text), lookahead_(lookahead) {
    char* begin = const_cast<char*>(text.data());  // never written, but setg has no const form
    setg(begin, begin, begin + text.size());
    // The constructor of the parser reads this much, and would leak memory if that threw.
    count(kFirstRead);
  }

 protected:
  std::streamsize xsgetn(char* to, std::streamsize most) override {
    const std::streamsize size = std::streambuf::xsgetn(to, most);
    count(static_cast<std::size_t>(gptr() - eback()));
    return size;
  }

 private:
  static constexpr std::size_t kFirstRead = 2048;

  /// Counts the characters up to `end` that were not counted before.
  void count(std::size_t end) {
    if (end <= counted_) return;
    const std::size_t begin = std::exchange(counted_, std::min(end, text_.size()));
    const std::size_t bad = lookahead_.take(text_.substr(begin, counted_ - begin));
    if (bad != std::string_view::npos) throw YamlError{markAt(begin + bad), "a value of too many tokens"};
  }

  YAML::Mark markAt(std::size_t offset) const {
    const std::string_view before = text_.substr(0, offset);
    YAML::Mark mark;
    mark.pos = static_cast<int>(offset);
    mark.line = static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    mark.column = static_cast<int>(offset - (before.rfind('\n') + 1));
    return mark;
  }

  const std::string_view text_;
  Lookahead& lookahead_;
  std::size_t counted_ = 0;
};

class TreeBuilder final : public YAML::EventHandler {
 public:
  using Take = std::function<void(const Value& root)>;

  TreeBuilder(std::string_view text, const YamlOrigin& origin, const YamlLimits& limits, const Take& take)
      : text_(text), origin_(origin), limits_(limits), take_(take), lookahead_(limits.tokens) {}

  Lookahead& lookahead() { return lookahead_; }

  Position positionOf(const YAML::Mark& mark) const {
    if (mark.is_null()) return Position{origin_.file, 0, 0};
    return Position{origin_.file, static_cast<std::uint32_t>(mark.line) + 1 + origin_.lineOffset,
                    static_cast<std::uint32_t>(mark.column) + 1 + origin_.columnOffset};
  }

  /// Throws if the last document began at the same place. The parser takes a comma for an empty document, again and
  /// again.
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (std::exchange(documentBegin_, mark.pos) == mark.pos)
      throw YamlError{mark, "not YAML: a comma in no collection"};
    frames_.clear();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { add(mark, node(mark, Value::Kind::kNull)); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw YamlError{mark, "aliases are not supported: write the value out"};
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuseAnchor(mark, anchor);
    const bool plain = tag == "?";
    if (!plain && !tag.empty() && tag != "!" && tag != "tag:yaml.org,2002:str") refuseTag(mark);
    Value scalar = node(mark, plain ? plainScalarKind(value) : Value::Kind::kString);
    scalar.text = scalar.kind == Value::Kind::kBool ? base::toLower(value) : value;
    if (!plain) scalar.blockColumn = blockColumn(mark);
    const std::size_t end = plain ? offsetOf(mark) + value.size() : endOfQuotes(mark);
    if (isKeyNext()) requireColon(mark, end);
    add(mark, std::move(scalar));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    refuseAnchor(mark, anchor);
    open(mark, tag, "tag:yaml.org,2002:seq", Value::Kind::kList);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    refuseAnchor(mark, anchor);
    open(mark, tag, "tag:yaml.org,2002:map", Value::Kind::kMap);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    Value value;
    YAML::Mark mark;
    std::optional<Member> pending;  // the key of a map whose value comes next
    std::unordered_set<std::string> keys;
  };

  [[noreturn]] static void refuseTag(const YAML::Mark& mark) { throw YamlError{mark, "tags are not supported"}; }

  static void refuseAnchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) throw YamlError{mark, "anchors are not supported: write the value out"};
  }

  bool isKeyNext() const { return !frames_.empty() && frames_.back().value.isMap() && !frames_.back().pending; }

  std::size_t offsetOf(const YAML::Mark& mark) const {
    return mark.is_null() ? text_.size() : std::min(static_cast<std::size_t>(mark.pos), text_.size());
  }

  /// Returns the offset after the scalar's closing quote, or the offset of `mark` if there are no quotes. Throws if the
  /// quote is not closed. The parser accepts that at the end of the text, so that a truncated file would pass.
  std::size_t endOfQuotes(const YAML::Mark& mark) const {
    const std::size_t begin = offsetOf(mark);
    const char quote = begin < text_.size() ? text_[begin] : '\0';
    if (quote != '\'' && quote != '"') return begin;
    for (std::size_t at = begin + 1; at < text_.size(); ++at) {
      const bool escaped = quote == '"' ? text_[at] == '\\' : text_.substr(at, 2) == "''";
      if (escaped) {
        ++at;
      } else if (text_[at] == quote) {
        return at + 1;
      }
    }
    throw YamlError{mark, "a quote that is never closed"};
  }

  /// Throws if the key has no colon. The parser accepts a single word as a key without a value, which would be treated
  /// as an absent field.
  void requireColon(const YAML::Mark& mark, std::size_t end) const {
    const std::size_t next = text_.find_first_not_of(" \t\r\n", end);
    if (next == std::string_view::npos || text_[next] != ':') throw YamlError{mark, "a key without a colon"};
  }

  Value node(const YAML::Mark& mark, Value::Kind kind) {
    lookahead_.passOn();
    if (++nodes_ > limits_.nodes) {
      throw YamlError{mark, "more than " + std::to_string(limits_.nodes) + " values in one text"};
    }
    Value value;
    value.kind = kind;
    value.position = positionOf(mark);
    return value;
  }

  void open(const YAML::Mark& mark, const std::string& tag, std::string_view expected, Value::Kind kind) {
    if (!tag.empty() && tag != "?" && tag != "!" && tag != expected) refuseTag(mark);
    if (frames_.size() >= limits_.depth) {
      throw YamlError{mark, "nested deeper than " + std::to_string(limits_.depth) + " levels"};
    }
    if (isKeyNext()) {
      throw YamlError{mark, "a key must be a string: a { or [ cannot begin one, nor a template's {{"};
    }
    frames_.push_back(Frame{node(mark, kind), mark, std::nullopt, {}});
  }

  void close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    add(frame.mark, std::move(frame.value));
  }

  void add(const YAML::Mark& mark, Value value) {
    if (frames_.empty()) {
      take_(value);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.value.isList()) {
      frame.value.items.push_back(std::move(value));
    } else if (frame.pending) {
      frame.pending->value = std::move(value);
      frame.value.members.push_back(std::move(*frame.pending));
      frame.pending.reset();
    } else {
      addKey(mark, frame, std::move(value));
    }
  }

  void addKey(const YAML::Mark& mark, Frame& frame, Value key) {
    if (key.isNull()) throw YamlError{mark, "a key must be a string"};
    if (!frame.keys.insert(key.text).second) throw YamlError{mark, "duplicate key " + base::quote(key.text)};
    frame.pending = Member{std::move(key.text), std::move(key.position), Value()};
  }

  /// Returns the indentation of the first line with text after a "|". All its lines have this indentation.
  std::uint32_t blockColumn(const YAML::Mark& mark) const {
    std::size_t at = offsetOf(mark);
    if (at >= text_.size() || text_[at] != '|') return 0;
    for (at = text_.find('\n', at); at != std::string_view::npos; at = text_.find('\n', at)) {
      const std::size_t begin = ++at;
      at = text_.find_first_not_of(' ', begin);
      if (at == std::string_view::npos) break;
      if (text_[at] != '\n' && text_[at] != '\r')
        return static_cast<std::uint32_t>(at - begin) + 1 + origin_.columnOffset;
    }
    return 0;
  }

  std::string_view text_;
  const YamlOrigin& origin_;
  const YamlLimits& limits_;
  const Take& take_;
  Lookahead lookahead_;
  std::vector<Frame> frames_;
  std::size_t nodes_ = 0;
  int documentBegin_ = -1;
};

/// Finds control characters, which YAML 1.2 section 5.1 forbids. yaml-cpp would take some of them for the end of the
/// text and ignore the rest without an error.
std::optional<Problem> findForbiddenByte(std::string_view text, const YamlOrigin& origin) {
  const std::size_t bad = base::findInvalidUtf8OrControl(text);
  if (bad == std::string_view::npos) return std::nullopt;
  Problem problem;
  const std::string_view before = text.substr(0, bad);
  const std::size_t lineBegin = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  std::uint32_t line = 1;
  for (const char byte : before) line += byte == '\n';
  problem.position = Position{origin.file, line + origin.lineOffset,
                              static_cast<std::uint32_t>(bad - lineBegin) + 1 + origin.columnOffset};
  problem.message = "a byte that is neither printable nor UTF-8";
  return problem;
}

}  // namespace

bool forEachDocument(std::string_view text, const YamlOrigin& origin, Problems& problems,
                     const std::function<void(const Value& root)>& take, const YamlLimits& limits) {
  Problem problem;
  problem.position.file = origin.file;
  if (text.size() > limits.textBytes) {
    problem.message = "larger than " + std::to_string(limits.textBytes) + " bytes";
    problems.push_back(std::move(problem));
    return false;
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (std::optional<Problem> forbidden = findForbiddenByte(text, origin)) {
    problems.push_back(std::move(*forbidden));
    return false;
  }
  TreeBuilder builder(text, origin, limits, take);
  try {
    ViewBuffer buffer(text, builder.lookahead());
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    return true;
  } catch (const YamlError& refused) {
    problem.position = builder.positionOf(refused.mark);
    problem.message = refused.message;
  } catch (const YAML::Exception& exception) {
    problem.position = builder.positionOf(exception.mark);
    problem.message = "not YAML: " + explainYamlError(exception.msg);
  } catch (const std::exception& exception) {
    problem.message = std::string("not YAML: ") + exception.what();
  }
  problems.push_back(std::move(problem));
  return false;
}

std::vector<Document> readYaml(std::string_view text, const YamlOrigin& origin, Problems& problems,
                               const YamlLimits& limits) {
  std::vector<Document> documents;
  const auto take = [&](const Value& root) { documents.push_back(Document{root}); };
  if (!forEachDocument(text, origin, problems, take, limits)) documents.clear();
  return documents;
}

}  // namespace sluice::config
