#include "proxy/content/json_edit.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/content/json_scanner.h"

namespace sluice::content {
namespace {

using base::Error;

/// Where a pointer leads in a text.
struct Place {
  enum class Kind : std::uint8_t {
    kThere,    // [begin, end) is the value, [cutBegin, cutEnd) what goes when it is removed
    kMissing,  // `begin` is behind the last element of the map or list in which the step `step` is not
    kNowhere,  // the step `step` is none of a list, or leads into what is neither list nor map
  };

  Kind kind = Kind::kNowhere;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t cutBegin = 0;
  std::size_t cutEnd = 0;
  std::size_t step = 0;
  bool inMap = false;
  bool first = false;  // that map or list is empty
};

class Locator {
 public:
  Locator(std::string_view text, const std::vector<std::string>& steps)
      : text_(text), steps_(steps), scanner_(text, kMostEditedDepth) {}

  base::Result<Place> locate() {
    if (!walk(0)) return fault();
    if (scanner_.next() != text_.size()) return fault();
    return place_;
  }

 private:
  /// Takes one value, into which the steps from `step` on lead.
  bool walk(std::size_t step) {
    if (step < steps_.size()) {
      if (scanner_.peek() == '{' || scanner_.peek() == '[') return walkElements(step);
      place_.step = step;
      return scanner_.skipValue();
    }
    place_.kind = Place::Kind::kThere;
    place_.begin = scanner_.next();
    if (!scanner_.skipValue()) return false;
    place_.end = scanner_.at();
    return true;
  }

  bool walkElements(std::size_t step) {
    const bool isMap = scanner_.peek() == '{';
    const char closing = isMap ? '}' : ']';
    const std::optional<std::size_t> wanted = listIndex(steps_[step]);
    std::vector<std::string> names;
    if (!scanner_.open(isMap ? '{' : '[')) return false;
    std::size_t count = 0;
    std::size_t end = scanner_.at();
    bool met = false;
    bool cutToNext = false;
    for (bool more = scanner_.peek() != closing; more; more = scanner_.take(',')) {
      const std::size_t begin = scanner_.next();
      if (std::exchange(cutToNext, false)) place_.cutEnd = begin;
      if (isMap && !takeName(names)) return false;
      const bool here = isMap ? names.back() == steps_[step] : wanted == count;
      if (!(here ? walk(step + 1) : scanner_.skipValue())) return false;
      if (here && step + 1 == steps_.size()) {
        place_.cutBegin = count == 0 ? begin : end;
        place_.cutEnd = scanner_.at();
        cutToNext = count == 0;
      }
      met |= here;
      end = scanner_.at();
      ++count;
    }
    if (!scanner_.close(closing) || repeats(std::move(names))) return false;
    if (met) return true;
    const bool fits = isMap || steps_[step] == "-" || wanted == count;
    place_ = {fits ? Place::Kind::kMissing : Place::Kind::kNowhere, end, end, 0, 0, step, isMap, count == 0};
    return true;
  }

  bool takeName(std::vector<std::string>& names) {
    std::optional<std::string> name = scanner_.takeString();
    if (!name || !scanner_.take(':')) return false;
    names.push_back(std::move(*name));
    return true;
  }

  // Sorted, since a map of a hostile text may have very many.
  bool repeats(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    repeated_ = std::adjacent_find(names.begin(), names.end()) != names.end();
    return repeated_;
  }

  Error fault() const {
    return Error::config("byte " + std::to_string(scanner_.at()) +
                         (repeated_ ? ": ends a map that has a name twice" : ": is no JSON, or too deep"));
  }

  const std::string_view text_;
  const std::vector<std::string>& steps_;
  JsonScanner scanner_;
  Place place_;
  bool repeated_ = false;
};

/// The value, and maps around it for the steps from `step` on.
std::string nested(const Value& value, const std::vector<std::string>& steps, std::size_t step) {
  std::string text;
  for (std::size_t i = step; i < steps.size(); ++i) text += "{" + jsonString(steps[i]) + ":";
  return text + writeJson(value) + std::string(steps.size() - step, '}');
}

base::Result<std::string> edited(std::string_view text, const JsonEdit& edit) {
  const std::vector<std::string>& steps = edit.pointer.tokens();
  if (steps.size() > kMostEditedDepth) return Error::config("\"" + edit.pointer.text() + "\" is too deep");
  if (steps.empty() && !edit.value) return Error::config("a JSON document can not be removed from itself");
  const auto place = Locator(text, steps).locate();
  if (!place) return place.error();
  const auto spliced = [&](std::size_t begin, std::size_t end, const std::string& with) {
    return std::string(text.substr(0, begin)) + with + std::string(text.substr(end));
  };
  switch (place->kind) {
    case Place::Kind::kThere:
      return edit.value ? spliced(place->begin, place->end, writeJson(*edit.value))
                        : spliced(place->cutBegin, place->cutEnd, {});
    case Place::Kind::kMissing: {
      if (!edit.value) return std::string(text);
      std::string added = place->first ? "" : ",";
      if (place->inMap) added += jsonString(steps[place->step]) + ":";
      return spliced(place->begin, place->end, added + nested(*edit.value, steps, place->step + 1));
    }
    case Place::Kind::kNowhere:
      if (!edit.value) return std::string(text);
      return Error::config("\"" + edit.pointer.text() + "\" leads nowhere: its step " +
                           std::to_string(place->step + 1) + " is into no map, and none of a list");
  }
  return Error::internal("a place in a JSON document is of no kind");
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
