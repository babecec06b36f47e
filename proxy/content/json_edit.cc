#include "proxy/content/json_edit.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/content/json_cursor.h"

namespace sluice::content {
namespace {

using base::Error;

/// The place in a text that a pointer leads to.
struct EditPlace {
  enum class Kind : std::uint8_t {
    kThere,    // [begin, end) is the value, [cutBegin, cutEnd) the text to be cut when it is removed
    kMissing,  // `begin` is behind the last element of the map or list that has no step `step`
    kNowhere,  // the step `step` is not an index of the list, or leads into a scalar
  };

  Kind kind = Kind::kNowhere;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t cutBegin = 0;
  std::size_t cutEnd = 0;
  std::size_t step = 0;
  bool inMap = false;
  bool first = false;  // true if that map or list is empty
};

class Locator {
 public:
  Locator(std::string_view text, const std::vector<std::string>& steps)
      : text_(text), steps_(steps), cursor_(text, kMostEditedDepth) {}

  base::Result<EditPlace> locate() {
    if (!walk(0)) return fault();
    if (cursor_.next() != text_.size()) return fault();
    return place_;
  }

 private:
  /// Takes one value, into which the steps from `step` on lead.
  bool walk(std::size_t step) {
    if (step < steps_.size()) {
      if (cursor_.peek() == '{' || cursor_.peek() == '[') return walkElements(step);
      place_.step = step;
      return cursor_.skipValue();
    }
    place_.kind = EditPlace::Kind::kThere;
    place_.begin = cursor_.next();
    if (!cursor_.skipValue()) return false;
    place_.end = cursor_.at();
    return true;
  }

  bool walkElements(std::size_t step) {
    const bool isMap = cursor_.peek() == '{';
    const char closing = isMap ? '}' : ']';
    const std::optional<std::size_t> wanted = listIndex(steps_[step]);
    std::vector<std::string> names;
    if (!cursor_.open(isMap ? '{' : '[')) return false;
    std::size_t count = 0;
    std::size_t end = cursor_.at();
    bool met = false;
    bool cutToNext = false;
    for (bool more = cursor_.peek() != closing; more; more = cursor_.take(',')) {
      const std::size_t begin = cursor_.next();
      if (std::exchange(cutToNext, false)) place_.cutEnd = begin;
      if (isMap && !takeName(names)) return false;
      const bool here = isMap ? names.back() == steps_[step] : wanted == count;
      if (!(here ? walk(step + 1) : cursor_.skipValue())) return false;
      if (here && step + 1 == steps_.size()) {
        place_.cutBegin = count == 0 ? begin : end;
        place_.cutEnd = cursor_.at();
        cutToNext = count == 0;
      }
      met |= here;
      end = cursor_.at();
      ++count;
    }
    if (!cursor_.close(closing) || repeats(std::move(names))) return false;
    if (met) return true;
    const bool fits = isMap || steps_[step] == "-" || wanted == count;
    place_ = {fits ? EditPlace::Kind::kMissing : EditPlace::Kind::kNowhere, end, end, 0, 0, step, isMap, count == 0};
    return true;
  }

  bool takeName(std::vector<std::string>& names) {
    std::optional<std::string> name = cursor_.takeString();
    if (!name || !cursor_.take(':')) return false;
    names.push_back(std::move(*name));
    return true;
  }

  // Sorts the names, because a map of a hostile text may have very many.
  bool repeats(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    repeated_ = std::adjacent_find(names.begin(), names.end()) != names.end();
    return repeated_;
  }

  Error fault() const {
    return Error::config("byte " + std::to_string(cursor_.at()) +
                         (repeated_ ? ": ends a map that has a name twice" : ": is no JSON, or too deep"));
  }

  const std::string_view text_;
  const std::vector<std::string>& steps_;
  JsonCursor cursor_;
  EditPlace place_;
  bool repeated_ = false;
};

bool isJson(std::string_view text) { return parseJson(text, {text.size(), kMostEditedDepth}).ok(); }

/// Returns the value inside maps for the steps from `step` on, as text. Fails if that is no JSON: values from scripts
/// and other processes may have invalid numbers and text that is no UTF-8.
base::Result<std::string> written(const JsonEdit& edit, std::size_t step) {
  const std::vector<std::string>& steps = edit.pointer.tokens();
  const std::string value = writeJson(*edit.value);
  std::string text;
  for (std::size_t i = step; i < steps.size(); ++i) text += "{" + jsonString(steps[i]) + ":";
  text += value + std::string(steps.size() - step, '}');
  // The value is checked by itself too: an invalid number could be read as the end of one member and another member.
  if (isJson(value) && (step == steps.size() || isJson(text))) return text;
  return Error::config("\"" + edit.pointer.text() + "\" cannot be set to what is no JSON, or too deep");
}

std::string spliced(std::string_view text, std::size_t begin, std::size_t end, std::string_view with) {
  return std::string(text.substr(0, begin)).append(with).append(text.substr(end));
}

base::Result<std::string> withRemoved(std::string_view text, const EditPlace& place) {
  if (place.kind != EditPlace::Kind::kThere) return std::string(text);
  return spliced(text, place.cutBegin, place.cutEnd, {});
}

base::Result<std::string> withSet(std::string_view text, const EditPlace& place, const JsonEdit& edit) {
  if (place.kind == EditPlace::Kind::kNowhere) {
    return Error::config("\"" + edit.pointer.text() + "\" leads nowhere: its step " + std::to_string(place.step + 1) +
                         " is into no map, and none of a list");
  }
  const bool there = place.kind == EditPlace::Kind::kThere;
  auto value = written(edit, there ? edit.pointer.tokens().size() : place.step + (place.inMap ? 0 : 1));
  if (!value) return value;
  if (there) return spliced(text, place.begin, place.end, *value);
  const std::string_view element = place.inMap ? std::string_view(*value).substr(1, value->size() - 2) : *value;
  return spliced(text, place.begin, place.begin, (place.first ? "" : ",") + std::string(element));
}

base::Result<std::string> edited(std::string_view text, const JsonEdit& edit) {
  const std::vector<std::string>& steps = edit.pointer.tokens();
  if (steps.size() > kMostEditedDepth) return Error::config("\"" + edit.pointer.text() + "\" is too deep");
  if (steps.empty() && !edit.value) return Error::config("a JSON document cannot be removed from itself");
  const auto place = Locator(text, steps).locate();
  if (!place) return place.error();
  return edit.value ? withSet(text, *place, edit) : withRemoved(text, *place);
}

}  // namespace

base::Result<std::string> editJson(std::string_view document, std::span<const JsonEdit> edits) {
  std::string text(document);
  for (const JsonEdit& edit : edits) {
    auto next = edited(text, edit);
    if (!next) return next;
    text = std::move(next).value();
  }
  return text;
}

}  // namespace sluice::content
